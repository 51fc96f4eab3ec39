/* SPDX-License-Identifier: MIT */
/* Loading code objects and preparing their kernels for launches. */
#include "hip/core/state.h"
#include "hip/core/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/core/launch.h"
#include "hip/core/registry.h"
#include "hip/stream/stream.h"

static struct module_list *module_list(void)
{
    return &hip_state()->modules;
}

static hipError_t module_error(int status)
{
    ehp_machine *machine = hip_runtime()->machine;

    if (status == EHP_ERR_BAD_IMAGE || status == EHP_ERR_WRONG_ISA || status == EHP_ERR_UNSUPPORTED ||
        status == EHP_ERR_NOT_FOUND)
        fprintf(stderr, "ehp: %s\n", ehp_error_text(machine));
    if (status == EHP_ERR_UNSUPPORTED)
        return hipErrorInvalidImage;
    if (status == EHP_ERR_NOT_FOUND) /* a symbol that nobody defines: ROCm's loader refuses the executable */
        return hipErrorSharedObjectInitFailed;
    return hip_from_status(status);
}

hipError_t hip_module_load(struct hip_device *device, const void *image, size_t bytes,
                           struct ihipModule_t **out)
{
    struct module_list *list = module_list();
    ehp_code *code;

    int status = ehp_code_load(hip_runtime()->machine, device->agent, image, bytes, &code);
    if (status != EHP_OK)
        return module_error(status);
    struct ihipModule_t *module = hip_handle_new(HIP_KIND_MODULE, sizeof *module);
    if (!module) {
        ehp_code_unload(code);
        return hipErrorOutOfMemory;
    }
    module->device = device;
    module->code = code;
    pthread_mutex_lock(&list->lock);
    module->next = list->first;
    if (module->next)
        module->next->previous = module;
    list->first = module;
    pthread_mutex_unlock(&list->lock);
    *out = module;
    return hipSuccess;
}

/* Launches, one after another, the kernels of this kind with a single work-item, and waits for them. */
static hipError_t module_run(struct ihipModule_t *module, int kind)
{
    struct ehp_kernel kernel = EHP_KERNEL_INIT;
    struct ihipModuleSymbol_t *function;
    struct ihipStream_t *stream = NULL;
    const dim3 one = {1, 1, 1};
    hipError_t error = hipSuccess;

    for (unsigned i = 0; error == hipSuccess && ehp_code_kernel_at(module->code, i, &kernel) == EHP_OK; i++) {
        if (kernel.kind != kind)
            continue;
        if (!stream)
            error = hip_stream_internal(module->device, 0, &stream);
        if (error == hipSuccess)
            error = hip_module_function(module, kernel.name, &function);
        if (error != hipSuccess)
            break;
        struct hip_op op = {.kind = HIP_OP_KERNEL};
        hip_launch_set(&op.launch, function, one, one, 0);
        error = hip_stream_submit(stream, &op);
        if (error == hipSuccess)
            error = hip_stream_wait(stream);
    }
    if (stream)
        hip_stream_delete(stream);
    return error;
}

hipError_t hip_module_start(struct ihipModule_t *module)
{
    hipError_t error = module_run(module, EHP_KERNEL_INIT_ARRAY);

    module->started = error == hipSuccess;
    return error;
}

void hip_module_unload(struct ihipModule_t *module)
{
    struct module_list *list = module_list();

    if (module->started && hip_device_error(module->device) == hipSuccess)
        module_run(module, EHP_KERNEL_FINI_ARRAY);

    pthread_mutex_lock(&list->lock);
    if (module->previous)
        module->previous->next = module->next;
    else
        list->first = module->next;
    if (module->next)
        module->next->previous = module->previous;
    pthread_mutex_unlock(&list->lock);
    while (module->functions) {
        struct ihipModuleSymbol_t *function = module->functions;
        module->functions = function->next;
        free(function->explicit_args);
        free(function->hidden_args);
        hip_handle_free(function);
    }
    ehp_code_unload(module->code);
    hip_handle_free(module);
}

void hip_modules_reset(struct hip_device *device)
{
    struct module_list *list = module_list();
    struct ihipModule_t *module;

    hip_registry_forget(device);
    for (;;) {
        pthread_mutex_lock(&list->lock);
        for (module = list->first; module && module->device != device; module = module->next)
            ;
        pthread_mutex_unlock(&list->lock);
        if (!module)
            return;
        hip_module_unload(module);
    }
}

static bool module_is_hidden(int kind)
{
    return kind >= EHP_ARG_HIDDEN_GLOBAL_OFFSET_X;
}

/* Splits the metadata's argument list into what the caller passes and what the runtime fills in. */
static hipError_t module_plan(struct ihipModuleSymbol_t *function)
{
    const struct ehp_kernel *kernel = &function->kernel;
    unsigned n = kernel->arg_count;

    function->explicit_args = calloc(n + 1, sizeof *function->explicit_args);
    function->hidden_args = calloc(n + 1, sizeof *function->hidden_args);
    if (!function->explicit_args || !function->hidden_args)
        return hipErrorOutOfMemory;
    for (unsigned i = 0; i < n; i++) {
        const struct ehp_arg *arg = &kernel->args[i];
        if ((uint64_t)arg->offset + arg->bytes > kernel->kernarg_bytes)
            return hipErrorInvalidImage;
        if (module_is_hidden(arg->kind)) {
            function->prints |= arg->kind == EHP_ARG_HIDDEN_PRINTF_BUFFER;
            if (arg->kind != EHP_ARG_HIDDEN_NONE && arg->bytes <= 8)
                function->hidden_args[function->hidden_count++] =
                    (struct hip_hidden_arg){arg->offset, (uint16_t)arg->bytes, (uint16_t)arg->kind};
        } else {
            function->explicit_args[function->explicit_count++] =
                (struct hip_explicit_arg){arg->offset, arg->bytes};
            if (arg->offset + arg->bytes > function->explicit_bytes)
                function->explicit_bytes = arg->offset + arg->bytes;
        }
    }
    return hipSuccess;
}

hipError_t hip_module_function(struct ihipModule_t *module, const char *name, struct ihipModuleSymbol_t **out)
{
    struct module_list *list = module_list();
    struct ihipModuleSymbol_t *function;
    hipError_t error = hipSuccess;

    pthread_mutex_lock(&list->lock);
    for (function = module->functions; function; function = function->next)
        if (!strcmp(function->kernel.name, name))
            break;
    if (!function) {
        struct ehp_kernel kernel = EHP_KERNEL_INIT;
        int status = ehp_code_kernel(module->code, name, &kernel);
        if (status != EHP_OK)
            error = hip_from_status(status);
        else if (!(function = hip_handle_new(HIP_KIND_FUNCTION, sizeof *function)))
            error = hipErrorOutOfMemory;
        if (error == hipSuccess) {
            function->module = module;
            function->device = module->device;
            function->kernel = kernel;
            const uint64_t lds = module->device->info.lds_bytes;
            function->max_dynamic_shared = kernel.group_bytes < lds ? (int)(lds - kernel.group_bytes) : 0;
            error = module_plan(function);
            function->next = module->functions;
            module->functions = function;
        }
    }
    pthread_mutex_unlock(&list->lock);
    *out = function;
    return error;
}

/* Of buffered printf: "0:0:" and the format's hash in hexadecimal, a comma, the format. */
const char *hip_module_format(const struct hip_device *device, uint64_t hash)
{
    struct module_list *list = module_list();
    const char *found = NULL, *text;

    pthread_mutex_lock(&list->lock);
    for (const struct ihipModule_t *module = list->first; module && !found; module = module->next)
        for (unsigned i = 0; module->device == device && !found && (text = ehp_code_printf(module->code, i));
             i++) {
            char *end = NULL;
            if (!strncmp(text, "0:0:", 4) && strtoull(text + 4, &end, 16) == hash && *end == ',')
                found = end + 1;
        }
    pthread_mutex_unlock(&list->lock);
    return found;
}

/* ---- entry points -------------------------------------------------------------------------------------- */

static hipError_t module_load_image(hipModule_t *module, const void *image, size_t bytes)
{
    struct hip_device *device;
    hipError_t error = hip_current(&device);

    if (error == hipSuccess)
        error = hip_device_error(device);
    if (error == hipSuccess)
        error = hip_module_load(device, image, bytes, module);
    if (error != hipSuccess)
        return error;
    error = hip_module_start(*module);
    if (error != hipSuccess)
        hip_module_unload(*module);
    return error;
}

static hipError_t module_load_file(hipModule_t *module, const char *name)
{
    hipError_t error = hipErrorFileNotFound;
    void *image = NULL;
    FILE *file = fopen(name, "rb");

    if (!file)
        return error;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size == 0)
        error = hipErrorInvalidImage;
    if (size > 0 && fseek(file, 0, SEEK_SET) == 0 && (image = malloc((size_t)size)) &&
        fread(image, 1, (size_t)size, file) == (size_t)size)
        error = module_load_image(module, image, (size_t)size);
    free(image);
    fclose(file);
    return error;
}

HIP_ENTRY hipError_t hipModuleLoad(hipModule_t *module, const char *fname)
{
    if (!module || !fname)
        return hip_return(hipErrorInvalidValue);
    return hip_return(module_load_file(module, fname));
}

HIP_ENTRY hipError_t hipModuleLoadData(hipModule_t *module, const void *image)
{
    if (!module || !image)
        return hip_return(hipErrorInvalidValue);
    return hip_return(module_load_image(module, image, EHP_IMAGE_SIZE_UNKNOWN));
}

/* hipModuleLoadData() takes bundles of several targets' code too. */
HIP_ENTRY hipError_t hipModuleLoadFatBinary(hipModule_t *module, const void *fatbin)
{
    return hipModuleLoadData(module, fatbin);
}

HIP_ENTRY hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned int numOptions,
                                         hipJitOption *options, void **optionValues)
{
    /* Options steer a just-in-time compiler; a code object is already machine code. */
    if (!module || !image || (numOptions && (!options || !optionValues)))
        return hip_return(hipErrorInvalidValue);
    return hip_return(module_load_image(module, image, EHP_IMAGE_SIZE_UNKNOWN));
}

HIP_ENTRY hipError_t hipModuleUnload(hipModule_t module)
{
    if (!hip_handle_ok(HIP_KIND_MODULE, module))
        return hip_return(module ? hipErrorNotFound : hipErrorInvalidResourceHandle);
    if (module->registered)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_wait_users(module->device);
    if (error == hipSuccess)
        hip_module_unload(module);
    return hip_return(error);
}

HIP_ENTRY hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *kname)
{
    if (!function || !kname || !*kname)
        return hip_return(hipErrorInvalidValue);
    if (!hip_handle_ok(HIP_KIND_MODULE, module))
        return hip_return(hipErrorInvalidResourceHandle);
    return hip_return(hip_module_function(module, kname, function));
}

static unsigned module_functions(const struct ihipModule_t *module)
{
    struct ehp_kernel kernel = EHP_KERNEL_INIT;
    unsigned count = 0;

    for (unsigned i = 0; ehp_code_kernel_at(module->code, i, &kernel) == EHP_OK; i++)
        count += kernel.kind == EHP_KERNEL_NORMAL;
    return count;
}

HIP_ENTRY hipError_t hipModuleGetFunctionCount(unsigned int *count, hipModule_t mod)
{
    if (!count)
        return hip_return(hipErrorInvalidValue);
    if (!hip_handle_ok(HIP_KIND_MODULE, mod))
        return hip_return(hipErrorInvalidResourceHandle);
    *count = module_functions(mod);
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipModuleGetGlobal(hipDeviceptr_t *dptr, size_t *bytes, hipModule_t hmod,
                                        const char *name)
{
    void *address;
    uint64_t size;

    if (!name || !*name || (!dptr && !bytes))
        return hip_return(hipErrorInvalidValue);
    if (!hip_handle_ok(HIP_KIND_MODULE, hmod))
        return hip_return(hipErrorInvalidResourceHandle);
    if (ehp_code_symbol(hmod->code, name, &address, &size) != EHP_OK)
        return hip_return(hipErrorNotFound);
    if (dptr)
        *dptr = address;
    if (bytes)
        *bytes = size;
    return hip_return(hipSuccess);
}

/* ---- libraries: modules of the device that is current when they are loaded ------------------------------
 */

static struct ihipModule_t *module_of_library(hipLibrary_t library)
{
    struct ihipModule_t *module = (struct ihipModule_t *)library;

    return hip_handle_ok(HIP_KIND_MODULE, module) && !module->registered ? module : NULL;
}

static bool module_options_ok(unsigned options, const void *names, const void *values)
{
    return !options || (names && values);
}

HIP_ENTRY hipError_t hipLibraryLoadData(hipLibrary_t *library, const void *code, hipJitOption **jitOptions,
                                        void **jitOptionsValues, unsigned int numJitOptions,
                                        hipLibraryOption **libraryOptions, void **libraryOptionValues,
                                        unsigned int numLibraryOptions)
{
    if (!library || !code || !module_options_ok(numJitOptions, jitOptions, jitOptionsValues) ||
        !module_options_ok(numLibraryOptions, libraryOptions, libraryOptionValues))
        return hip_return(hipErrorInvalidValue);
    return hip_return(module_load_image((hipModule_t *)library, code, EHP_IMAGE_SIZE_UNKNOWN));
}

HIP_ENTRY hipError_t hipLibraryLoadFromFile(hipLibrary_t *library, const char *fileName,
                                            hipJitOption **jitOptions, void **jitOptionsValues,
                                            unsigned int numJitOptions, hipLibraryOption **libraryOptions,
                                            void **libraryOptionValues, unsigned int numLibraryOptions)
{
    if (!library || !fileName || !module_options_ok(numJitOptions, jitOptions, jitOptionsValues) ||
        !module_options_ok(numLibraryOptions, libraryOptions, libraryOptionValues))
        return hip_return(hipErrorInvalidValue);
    return hip_return(module_load_file((hipModule_t *)library, fileName));
}

HIP_ENTRY hipError_t hipLibraryUnload(hipLibrary_t library)
{
    struct ihipModule_t *module = module_of_library(library);

    return module ? hipModuleUnload(module) : hip_return(hipErrorInvalidValue);
}

/* Launches take it for a hipFunction_t, which it is. */
HIP_ENTRY hipError_t hipLibraryGetKernel(hipKernel_t *pKernel, hipLibrary_t library, const char *name)
{
    struct ihipModule_t *module = module_of_library(library);

    if (!pKernel || !module || !name || !*name)
        return hip_return(hipErrorInvalidValue);
    return hip_return(hip_module_function(module, name, (hipFunction_t *)pKernel));
}

HIP_ENTRY hipError_t hipLibraryGetKernelCount(unsigned int *count, hipLibrary_t library)
{
    const struct ihipModule_t *module = module_of_library(library);

    if (!count || !module)
        return hip_return(hipErrorInvalidValue);
    *count = module_functions(module);
    return hip_return(hipSuccess);
}
