/* SPDX-License-Identifier: MIT */
/*
 * Code: what the program registered at start (fat binaries, kernels, device
 * variables) and what it loads as modules.  Code objects are loaded on a
 * device when something of them is first used there.
 */
#ifndef HIP_MODULE_H
#define HIP_MODULE_H

#include "hip/core/handle.h"
#include "hip/core/runtime.h"

struct hip_explicit_arg {
    uint32_t offset, bytes;
};

struct hip_hidden_arg {
    uint32_t offset;
    uint16_t bytes, kind; /* enum ehp_arg_kind */
};

struct ihipModule_t {
    struct hip_handle head;
    struct hip_device *device;
    ehp_code *code;
    bool registered; /* of a fat binary: not the program's to unload */
    bool started;    /* its constructors have run */
    struct ihipModuleSymbol_t *functions;
    struct ihipModule_t *next, *previous; /* all of the process */
};

struct ihipModuleSymbol_t {
    struct hip_handle head;
    struct ihipModule_t *module;
    struct hip_device *device;
    struct ehp_kernel kernel;
    unsigned explicit_count, hidden_count;
    struct hip_explicit_arg *explicit_args;
    struct hip_hidden_arg *hidden_args;
    uint32_t explicit_bytes; /* end of the last explicit argument */
    bool prints;             /* into its stream's buffer */
    int max_dynamic_shared;  /* hipFuncSetAttribute */
    int shared_carveout;     /* the same; a hint, that is kept */
    struct ihipModuleSymbol_t *next;
};

/* The kernel behind a host stub on this device. */
hipError_t hip_function_of(const void *host, struct hip_device *device, struct ihipModuleSymbol_t **function);
/* The device variable behind a host variable. */
hipError_t hip_symbol_of(const void *host, struct hip_device *device, void **address, size_t *bytes);
/* The device name of a registered kernel, or NULL. */
const char *hip_symbol_name(const void *host);

/* The format of buffered printf with this hash among the device's modules, or NULL; a kernel that has printed
 * with it keeps its module loaded. */
const char *hip_module_format(const struct hip_device *device, uint64_t hash);

hipError_t hip_module_load(struct hip_device *device, const void *image, size_t bytes,
                           struct ihipModule_t **module);
hipError_t hip_module_function(struct ihipModule_t *module, const char *name,
                               struct ihipModuleSymbol_t **function);
/* Runs the global constructors of its code, once everything they may use is there. */
hipError_t hip_module_start(struct ihipModule_t *module);
/* Runs the global destructors, if the constructors have run, and takes the code away. */
void hip_module_unload(struct ihipModule_t *module);
/* hipDeviceReset(). */
void hip_modules_reset(struct hip_device *device);

struct module_list {
    pthread_mutex_t lock;
    struct ihipModule_t *first;
};

#endif
