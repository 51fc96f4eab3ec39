/* SPDX-License-Identifier: MIT */
/*
 * Memory pools between processes: a pool's shareable handle is the descriptor
 * of a file with its properties, which the program sends over a socket; the
 * memory of its blocks is opened as hipIpc* opens memory.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hip/memory/ipc.h"
#include "hip/memory/pool.h"

#define SHARE_MAGIC UINT64_C(0x6568702d706f6f6c)

struct share_file {
    uint64_t magic;
    hipMemPoolProps props;
};

HIP_ENTRY hipError_t hipMemPoolExportToShareableHandle(void *shared_handle, hipMemPool_t mem_pool,
                                                       hipMemAllocationHandleType handle_type,
                                                       unsigned int flags)
{
    struct share_file file = {.magic = SHARE_MAGIC};

    if (!shared_handle || !hip_pool_ok(mem_pool) || flags || hip_pool_imported(mem_pool) ||
        handle_type != hipMemHandleTypePosixFileDescriptor)
        return hip_return(hipErrorInvalidValue);
    file.props = *hip_pool_props(mem_pool);
    if (file.props.handleTypes != handle_type)
        return hip_return(hipErrorInvalidValue);
    int fd = memfd_create("ehp-pool", MFD_CLOEXEC);
    if (fd < 0 || write(fd, &file, sizeof file) != sizeof file) {
        if (fd >= 0)
            close(fd);
        return hip_return(hipErrorOutOfMemory);
    }
    memcpy(shared_handle, &fd, sizeof fd);
    return hip_return(hipSuccess);
}

/* The descriptor comes as the pointer's value. */
HIP_ENTRY hipError_t hipMemPoolImportFromShareableHandle(hipMemPool_t *mem_pool, void *shared_handle,
                                                         hipMemAllocationHandleType handle_type,
                                                         unsigned int flags)
{
    struct share_file file;
    struct hip_device *device;

    if (!mem_pool || flags || handle_type != hipMemHandleTypePosixFileDescriptor)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_open();
    if (error != hipSuccess)
        return hip_return(error);
    if (pread((int)(intptr_t)shared_handle, &file, sizeof file, 0) != sizeof file ||
        file.magic != SHARE_MAGIC || hip_device_at(file.props.location.id, &device) != hipSuccess)
        return hip_return(hipErrorInvalidValue);
    return hip_return(hip_pool_import(device, &file.props, mem_pool));
}

HIP_ENTRY hipError_t hipMemPoolExportPointer(hipMemPoolPtrExportData *export_data, void *dev_ptr)
{
    struct hip_device *device;

    if (!export_data || !dev_ptr)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_enter(&device);
    if (error != hipSuccess)
        return hip_return(error);
    struct hip_memory *memory = hip_memory_find(dev_ptr, NULL);
    if (!memory || !memory->pool ||
        hip_pool_props(memory->pool)->handleTypes != hipMemHandleTypePosixFileDescriptor)
        return hip_return(hipErrorInvalidValue);
    return hip_return(hip_ipc_export(memory, dev_ptr, HIP_IPC_POOLED, export_data));
}

HIP_ENTRY hipError_t hipMemPoolImportPointer(void **dev_ptr, hipMemPool_t mem_pool,
                                             hipMemPoolPtrExportData *export_data)
{
    if (!dev_ptr || !export_data || !hip_pool_ok(mem_pool) || !hip_pool_imported(mem_pool))
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_ipc_import(hip_pool_device(mem_pool), export_data, HIP_IPC_POOLED, dev_ptr);
    if (error == hipSuccess)
        hip_memory_find(*dev_ptr, NULL)->imported = true;
    return hip_return(error);
}
