/* SPDX-License-Identifier: MIT */
/*
 * The registration calls that clang generates for a HIP translation unit: they
 * run before main(), so they only note what they are given.  A host address
 * (the kernel's stub, the variable's shadow) is the key to it all.
 */
#include "hip/core/state.h"
#include "hip/core/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hip/memory/memory.h"
#include "hip/stream/stream.h"

/* __CudaFatBinaryWrapper of clang's HIP code generation. */
struct hip_fatbin_wrapper {
    uint32_t magic, version;
    const void *binary;
    void *unused;
};
_Static_assert(sizeof(struct hip_fatbin_wrapper) == 24, "clang emits 24 bytes");

#define FATBIN_MAGIC UINT32_C(0x48495046) /* "HIPF" */

struct hip_fatbin {
    const void *image;
    struct ihipModule_t *module[HIP_DEVICES_MAX];
    bool loaded;                       /* on some device, at some time */
    hipError_t error[HIP_DEVICES_MAX]; /* why loading failed; it is not tried again */
    struct hip_symbol *managed;
    struct hip_fatbin *next;
};

struct hip_symbol {
    const void *host;
    bool kernel;
    char *name;
    size_t bytes;
    struct hip_fatbin *fat;
    struct ihipModuleSymbol_t *_Atomic function[HIP_DEVICES_MAX];
    void *address[HIP_DEVICES_MAX];
    /* __managed__: the one copy, and the next of the fat binary */
    void *memory;
    struct hip_symbol *next_managed;
};

static struct hip_registry *registry(void)
{
    return &hip_state()->registry;
}

static size_t registry_slot(const struct hip_registry *r, const void *host)
{
    size_t at = (size_t)(((uintptr_t)host >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (r->room - 1);

    while (r->table[at] && r->table[at]->host != host)
        at = (at + 1) & (r->room - 1);
    return at;
}

static struct hip_symbol *registry_find(const void *host)
{
    struct hip_registry *r = registry();
    struct hip_symbol *symbol = NULL;

    pthread_rwlock_rdlock(&r->lock);
    if (r->room)
        symbol = r->table[registry_slot(r, host)];
    pthread_rwlock_unlock(&r->lock);
    return symbol;
}

static bool registry_grow(struct hip_registry *r)
{
    struct hip_registry bigger = {.room = r->room ? r->room * 2 : 256};

    bigger.table = calloc(bigger.room, sizeof *bigger.table);
    if (!bigger.table)
        return false;
    for (size_t i = 0; i < r->room; i++)
        if (r->table[i])
            bigger.table[registry_slot(&bigger, r->table[i]->host)] = r->table[i];
    free(r->table);
    r->table = bigger.table;
    r->room = bigger.room;
    return true;
}

static struct hip_symbol *registry_add(struct hip_fatbin *fat, const void *host, const char *name,
                                       size_t bytes, bool kernel)
{
    struct hip_registry *r = registry();
    struct hip_symbol *symbol = calloc(1, sizeof *symbol);
    char *copy = strdup(name);

    if (!symbol || !copy) {
        free(symbol);
        free(copy);
        return NULL;
    }
    symbol->host = host;
    symbol->kernel = kernel;
    symbol->name = copy;
    symbol->bytes = bytes;
    symbol->fat = fat;
    pthread_rwlock_wrlock(&r->lock);
    if ((r->count + 1) * 2 <= r->room || registry_grow(r)) {
        size_t at = registry_slot(r, host);
        r->count += r->table[at] == NULL;
        r->table[at] = symbol; /* of several (dlopen), the last */
    }
    pthread_rwlock_unlock(&r->lock);
    return symbol;
}

/* Everything of one fat binary, when its library is unloaded. */
static void registry_remove(struct hip_fatbin *fat)
{
    struct hip_registry *r = registry();
    struct hip_registry left = {.room = r->room};

    pthread_rwlock_wrlock(&r->lock);
    left.table = calloc(r->room ? r->room : 1, sizeof *left.table);
    for (size_t i = 0; left.table && i < r->room; i++) {
        struct hip_symbol *symbol = r->table[i];
        if (!symbol)
            continue;
        if (symbol->fat == fat) {
            free(symbol->name);
            free(symbol);
            r->count--;
        } else {
            left.table[registry_slot(&left, symbol->host)] = symbol;
        }
    }
    if (left.table) {
        free(r->table);
        r->table = left.table;
    }
    pthread_rwlock_unlock(&r->lock);
}

static void *registry_base(const struct hip_symbol *symbol, const void *address)
{
    for (int d = -1; d < HIP_DEVICES_MAX; d++) {
        void *base = d < 0 ? symbol->memory : symbol->address[d];
        if (base && (uintptr_t)address - (uintptr_t)base < symbol->bytes)
            return base;
    }
    return NULL;
}

bool hip_symbol_at(const void *address, const char **name, void **base, size_t *bytes)
{
    struct hip_registry *r = registry();
    bool found = false;

    pthread_rwlock_rdlock(&r->lock);
    for (size_t i = 0; i < r->room && !found; i++) {
        const struct hip_symbol *symbol = r->table[i];
        if (symbol && !symbol->kernel && (*base = registry_base(symbol, address))) {
            found = true;
            *name = symbol->name;
            *bytes = symbol->bytes;
        }
    }
    pthread_rwlock_unlock(&r->lock);
    return found;
}

/* ---- loading ------------------------------------------------------------------------------------------- */

/* A managed variable's device side is a pointer with the variable's name; both sides share one copy. */
static void registry_bind_managed(struct hip_fatbin *fat, struct ihipModule_t *module)
{
    for (struct hip_symbol *symbol = fat->managed; symbol; symbol = symbol->next_managed) {
        void *address;
        uint64_t bytes;
        hip_memory_adopt(symbol->memory, symbol->bytes);
        if (ehp_code_symbol(module->code, symbol->name, &address, &bytes) == EHP_OK &&
            bytes == sizeof(void *))
            memcpy(address, &symbol->memory, sizeof(void *));
    }
}

static hipError_t registry_load(struct hip_fatbin *fat, struct hip_device *device,
                                struct ihipModule_t **module)
{
    struct hip_registry *r = registry();
    int d = device->ordinal;

    hip_arrive();
    pthread_mutex_lock(&r->load);
    if (!fat->module[d] && fat->error[d] == hipSuccess) {
        fat->error[d] = hip_module_load(device, fat->image, EHP_IMAGE_SIZE_UNKNOWN, &fat->module[d]);
        if (fat->module[d]) {
            /* Its library's end comes after this at exit: it was registered before. */
            if (!fat->loaded)
                atexit(hip_wait_ends);
            fat->loaded = true;
            fat->module[d]->registered = true;
            registry_bind_managed(fat, fat->module[d]);
            fat->error[d] = hip_module_start(fat->module[d]);
        }
    }
    *module = fat->module[d];
    hipError_t error = fat->error[d];
    pthread_mutex_unlock(&r->load);
    return error;
}

hipError_t hip_function_of(const void *host, struct hip_device *device, struct ihipModuleSymbol_t **function)
{
    struct hip_symbol *symbol = registry_find(host);
    struct ihipModule_t *module;

    if (!symbol || !symbol->kernel)
        return hipErrorInvalidDeviceFunction;
    *function = atomic_load_explicit(&symbol->function[device->ordinal], memory_order_acquire);
    if (*function)
        return hipSuccess;
    hipError_t error = registry_load(symbol->fat, device, &module);
    if (error == hipSuccess)
        error = hip_module_function(module, symbol->name, function);
    if (error == hipErrorNotFound)
        error = hipErrorInvalidDeviceFunction;
    if (error == hipSuccess)
        atomic_store_explicit(&symbol->function[device->ordinal], *function, memory_order_release);
    return error;
}

hipError_t hip_symbol_of(const void *host, struct hip_device *device, void **address, size_t *bytes)
{
    struct hip_symbol *symbol = registry_find(host);
    struct ihipModule_t *module;
    uint64_t size;

    if (!symbol || symbol->kernel)
        return hipErrorInvalidSymbol;
    hipError_t error = registry_load(symbol->fat, device, &module);
    if (error != hipSuccess)
        return error;
    if (symbol->memory) {
        *address = symbol->memory;
        *bytes = symbol->bytes;
        return hipSuccess;
    }
    if (!symbol->address[device->ordinal]) {
        if (ehp_code_symbol(module->code, symbol->name, address, &size) != EHP_OK)
            return hipErrorInvalidSymbol;
        symbol->bytes = size;
        symbol->address[device->ordinal] = *address;
    }
    *address = symbol->address[device->ordinal];
    *bytes = symbol->bytes;
    return hipSuccess;
}

const char *hip_symbol_name(const void *host)
{
    const struct hip_symbol *symbol = registry_find(host);

    return symbol ? symbol->name : NULL;
}

void hip_registry_forget(struct hip_device *device)
{
    struct hip_registry *r = registry();
    int d = device->ordinal;

    hip_arrive();
    pthread_mutex_lock(&r->load);
    for (struct hip_fatbin *fat = r->fats; fat; fat = fat->next) {
        fat->module[d] = NULL;
        fat->error[d] = hipSuccess;
    }
    pthread_rwlock_wrlock(&r->lock);
    for (size_t i = 0; i < r->room; i++)
        if (r->table[i]) {
            atomic_store(&r->table[i]->function[d], NULL);
            r->table[i]->address[d] = NULL;
        }
    pthread_rwlock_unlock(&r->lock);
    pthread_mutex_unlock(&r->load);
}

/* ---- what clang calls ---------------------------------------------------------------------------------- */

void **__hipRegisterFatBinary(const void *data);
void __hipUnregisterFatBinary(void **modules);
void __hipRegisterFunction(void **modules, const void *hostFunction, char *deviceFunction,
                           const char *deviceName, unsigned int threadLimit, void *tid, void *bid,
                           dim3 *blockDim, dim3 *gridDim, int *wSize);
void __hipRegisterVar(void **modules, void *var, char *hostVar, char *deviceVar, int ext, size_t size,
                      int constant, int global);
void __hipRegisterManagedVar(void *hipModule, void **pointer, void *init_value, const char *name, size_t size,
                             unsigned align);
void __hipRegisterSurface(void **modules, void *var, char *hostVar, char *deviceVar, int type, int ext);
void __hipRegisterTexture(void **modules, void *var, char *hostVar, char *deviceVar, int type, int norm,
                          int ext);

HIP_ENTRY void **__hipRegisterFatBinary(const void *data)
{
    const struct hip_fatbin_wrapper *wrapper = data;
    struct hip_registry *r = registry();
    struct hip_fatbin *fat;

    if (!wrapper || wrapper->magic != FATBIN_MAGIC || wrapper->version != 1) {
        fprintf(stderr, "ehp: the program registers a fat binary that is not HIP's\n");
        return NULL;
    }
    fat = calloc(1, sizeof *fat);
    if (!fat)
        return NULL;
    fat->image = wrapper->binary;
    pthread_mutex_lock(&r->load);
    fat->next = r->fats;
    r->fats = fat;
    pthread_mutex_unlock(&r->load);
    return (void **)fat;
}

HIP_ENTRY void __hipUnregisterFatBinary(void **modules)
{
    struct hip_registry *r = registry();
    struct hip_fatbin *fat = (struct hip_fatbin *)modules;

    if (!fat || hip_forked())
        return;
    for (int d = 0; d < HIP_DEVICES_MAX; d++)
        if (fat->module[d] && !hip_wait_unload())
            return;
    pthread_mutex_lock(&r->load);
    for (struct hip_fatbin **link = &r->fats; *link; link = &(*link)->next)
        if (*link == fat) {
            *link = fat->next;
            break;
        }
    for (int d = 0; d < HIP_DEVICES_MAX; d++)
        if (fat->module[d])
            hip_module_unload(fat->module[d]);
    pthread_mutex_unlock(&r->load);
    registry_remove(fat);
    free(fat);
}

HIP_ENTRY void __hipRegisterFunction(void **modules, const void *hostFunction, char *deviceFunction,
                                     const char *deviceName, unsigned int threadLimit, void *tid, void *bid,
                                     dim3 *blockDim, dim3 *gridDim, int *wSize)
{
    (void)deviceFunction;
    (void)threadLimit;
    (void)tid;
    (void)bid;
    (void)blockDim;
    (void)gridDim;
    (void)wSize;
    if (modules)
        registry_add((struct hip_fatbin *)modules, hostFunction, deviceName, 0, true);
}

HIP_ENTRY void __hipRegisterVar(void **modules, void *var, char *hostVar, char *deviceVar, int ext,
                                size_t size, int constant, int global)
{
    (void)hostVar;
    (void)ext;
    (void)constant;
    (void)global;
    if (modules)
        registry_add((struct hip_fatbin *)modules, var, deviceVar, size, false);
}

HIP_ENTRY void __hipRegisterManagedVar(void *hipModule, void **pointer, void *init_value, const char *name,
                                       size_t size, unsigned align)
{
    struct hip_fatbin *fat = hipModule;

    /* Host code may use the variable before its first HIP call: give it memory now, pages are well aligned.
     */
    (void)align;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!fat || memory == MAP_FAILED)
        return;
    if (init_value)
        memcpy(memory, init_value, size);
    *pointer = memory;
    /* In host code &variable is already the memory's address: that is the key. */
    struct hip_symbol *symbol = registry_add(fat, memory, name, size, false);
    if (!symbol)
        return;
    symbol->memory = memory;
    symbol->next_managed = fat->managed;
    fat->managed = symbol;
}

/* Texture and surface references: noted by nobody, CDNA has no image hardware; their use is an error. */
HIP_ENTRY void __hipRegisterSurface(void **modules, void *var, char *hostVar, char *deviceVar, int type,
                                    int ext)
{
    (void)modules;
    (void)var;
    (void)hostVar;
    (void)deviceVar;
    (void)type;
    (void)ext;
}

HIP_ENTRY void __hipRegisterTexture(void **modules, void *var, char *hostVar, char *deviceVar, int type,
                                    int norm, int ext)
{
    (void)modules;
    (void)var;
    (void)hostVar;
    (void)deviceVar;
    (void)type;
    (void)norm;
    (void)ext;
}
