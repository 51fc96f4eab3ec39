/* SPDX-License-Identifier: MIT */
/* Memory: what HIP remembers of an allocation beyond what the machine does. */
#ifndef HIP_MEMORY_H
#define HIP_MEMORY_H

#include "hip/core/handle.h"
#include "hip/core/runtime.h"

struct graph_memory;

struct hip_memory {
    void *base;
    size_t bytes;
    int kind; /* enum ehp_memory_kind */
    unsigned flags;
    int device;
    uint64_t id;
    struct ihipMemPoolHandle_t *pool;
    struct graph_memory *graph; /* of a graph's allocation node */
    bool adopted;               /* a __managed__ variable: registered memory that counts as managed */
    bool mapped;                /* registered memory that counts as the device's */
    bool read_only;             /* mapped without the right to write */
    bool shareable;             /* mapped, of memory that can be exported */
    bool sync_memops;           /* hipPointerSetAttribute: no copy or fill returns early */
    int fd;                     /* -1, or the file that other processes open it by */
    size_t opened;              /* another process's memory: bytes of the mapping */
    bool imported;              /* opened through a memory pool: freed like the pool's own */
    /* hipMemAdvise, hipMemPrefetchAsync: */
    bool read_mostly, coarse;
    int preferred, prefetched; /* hipInvalidDeviceId: none */
    uint32_t accessed_by;      /* a bit for each device; bit 31 the CPU */
    int advise;                /* its index in hip_advise */
    struct hip_memory *next, *previous;
};

/* hipArray_t: plain memory with a shape; CDNA has no images, but copies work. */
struct hipArray {
    struct hip_handle head;
    unsigned char *data;
    uint64_t memory;             /* the allocation's id: hipDeviceReset() takes it away */
    size_t width, height, depth; /* elements; height or depth 0 when the array has fewer dimensions */
    size_t pitch, slice;         /* bytes */
    hipChannelFormatDesc desc;
    hipArray_Format format;
    unsigned channels, flags;
    size_t element;
    bool borrowed; /* a level of a mipmapped array */
};

hipError_t hip_memory_alloc(struct hip_device *device, int kind, size_t bytes, size_t align, unsigned flags,
                            void **out);
hipError_t hip_memory_release(void *base);
/* Remembers where in the program this is allocated or about to be freed: EHP_MEM_ALLOCATED, EHP_MEM_FREED. */
void hip_memory_site(void *base, int event);
/* Says on stderr what is wrong with a pointer that `call` shall free; hipErrorInvalidValue. */
hipError_t hip_memory_blame(const char *call, void *base);
/* Takes process memory in as a managed allocation. */
void hip_memory_adopt(void *base, size_t bytes);
/* Takes mapped device memory (hipMemMap), which lies with an agent, in as an allocation, and gives it up. */
hipError_t hip_memory_own(void *base, size_t bytes, int device, unsigned agent);
void hip_memory_disown(void *base);
/*
 * Puts an allocation's contents into a file in memory, memory->fd, at the same
 * address; waits for the devices before the first time.  Its bytes, or 0.
 */
size_t hip_memory_share(struct hip_memory *memory);
/* The allocation that `address` lies in, or NULL; bytes from `address` to its end. */
struct hip_memory *hip_memory_find(const void *address, size_t *left);
/*
 * Whether any allocator knows this address, device variables in loaded code
 * included; bytes from there to the allocation's end.
 */
bool hip_memory_known(const void *address, size_t *left);
/* Whether devices reach it: as hip_memory_known(), or with XNACK as the process's own, of which nobody knows
 * the end. */
bool hip_memory_reached(const void *address, size_t *left);
/* Whether all of it is the process's, to be read at least, by what the host's kernel says. */
bool hip_memory_is_there(const void *base, size_t bytes);
/* Pages of a range that nobody has touched yet go to a package; -1: to that of whoever touches them. */
void hip_memory_prefer(const void *ptr, size_t count, int package);
/* Whether devices may write there; true also of what nobody knows. */
bool hip_memory_writable(const void *address, size_t bytes);
/* Of an address that is not known: whether HIP's memory was there, or could be, and no other can. */
bool hip_memory_gone(const void *address);
void hip_memory_reset(struct hip_device *device);

/* Frees memory of a graph; false when it was not in use. */
bool hip_graph_memory_free(struct graph_memory *memory);
/* Frees memory that the program no longer uses: waits for the devices first. */
hipError_t hip_memory_free(void *base, bool host);

struct memory_list {
    pthread_mutex_t lock;
    struct hip_memory *first;
};

#endif
