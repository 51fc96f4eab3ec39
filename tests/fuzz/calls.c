/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes sequences of HIP calls.  The input is a program: a byte picks a call, the next ones its arguments,
 * among which are null, wild and destroyed handles, sizes that do not fit, pointers beside what was
 * allocated, and copies from and to where there is no memory.  Nothing may crash or hang, and afterwards a
 * kernel must still run.
 *
 * EHP_FUZZ_KERNELS names the code object tests/hip_api/kernels.hsaco, EHP_MODE the mode of the runtime.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <hip/hip_runtime_api.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { SLOTS = 8, HOST_BYTES = 1 << 16, CALLS_MOST = 120 };
/* Around the host's buffer there is nothing, so that what goes beyond it meets nobody else. */
enum { GUARD_BYTES = 4 << 20, BEYOND_MOST = 1 << 20 };

/* What calls returned, destroyed or not. */
struct fuzz {
    const uint8_t *data, *end;
    hipStream_t stream[SLOTS];
    hipEvent_t event[SLOTS];
    hipGraph_t graph[SLOTS];
    hipGraphNode_t node[SLOTS];
    hipGraphExec_t exec[SLOTS];
    hipMemPool_t pool[SLOTS];
    hipArray_t array[SLOTS];
    hipModule_t module[SLOTS];
    hipFunction_t function[SLOTS];
    hipMemGenericAllocationHandle_t memory[SLOTS];
    void *pointer[SLOTS];
    char *host;
    void *constant; /* memory that may only be read */
    void *image;
};

static unsigned take(struct fuzz *f)
{
    return f->data < f->end ? *f->data++ : 0;
}

static size_t size(struct fuzz *f)
{
    static const size_t odd[] = {0,          1,          3,          4,         64,         100,
                                 4095,       4096,       4097,       16384,     (size_t)-1, (size_t)-4096,
                                 1ull << 20, 1ull << 40, 1ull << 47, 1ull << 63};
    return odd[take(f) % (sizeof odd / sizeof odd[0])];
}

static size_t small(struct fuzz *f)
{
    static const size_t odd[] = {0, 1, 2, 3, 4, 16, 64, 256, (size_t)-1, 1ull << 63, 1ull << 32, 1000};
    return odd[take(f) % (sizeof odd / sizeof odd[0])];
}

/* The same, but no more than a guard holds when three are multiplied. */
static size_t tiny(struct fuzz *f)
{
    static const size_t odd[] = {0, 1, 2, 3, 4, 16, 64};
    return odd[take(f) % (sizeof odd / sizeof odd[0])];
}

static int number(struct fuzz *f)
{
    static const int odd[] = {0, 1, 2, 3, 4, 5, 8, -1, -2, 100, INT32_MAX, INT32_MIN};
    return odd[take(f) % (sizeof odd / sizeof odd[0])];
}

/* A slot's handle, or none, a wild one, or one that lies within another. */
static void *handle(struct fuzz *f, void *const *slots)
{
    unsigned pick = take(f);
    switch (pick >> 4) {
    case 15:
        return NULL;
    case 14:
        return (void *)(uintptr_t)(pick & 7); /* hipStreamPerThread and the like, and their neighbours */
    case 13:
        return (void *)UINTPTR_MAX;
    case 12:
        return f->host + (pick & 15);
    case 11:
        return slots[pick & 7] ? (char *)slots[pick & 7] + 8 : NULL;
    default:
        return slots[pick & 7];
    }
}
#define HANDLE(kind) handle(f, (void *const *)f->kind)
#define SLOT(kind)   (&f->kind[take(f) % SLOTS])

/* Where nobody, or not everybody, may read or write. */
static void *wild(struct fuzz *f)
{
    switch (take(f) % 10) {
    case 0:
        return f->host - GUARD_BYTES / 2;
    case 1:
        return f->host - 8; /* ends where there is memory */
    case 2:
        return f->host + HOST_BYTES - 8; /* begins there */
    case 3:
        return f->constant;
    case 4:
        return (void *)(uintptr_t)16;
    case 5:
        return (void *)((UINT64_C(1) << 48) + 64); /* LDS */
    case 6:
        return (void *)((UINT64_C(1) << 49) + 64); /* scratch */
    case 7:
        return (void *)(UINT64_C(1) << 51);
    case 8:
        return (void *)UINT64_C(0xffff800000000000);
    default:
        return (void *)(UINTPTR_MAX - 7);
    }
}

/* A pointer to an allocation, freed or not, to the host's memory, to nothing, or a wild one. */
static void *pointer(struct fuzz *f)
{
    unsigned pick = take(f);
    if (pick >= 0xf8)
        return NULL;
    if (pick >= 0xf0)
        return wild(f);
    if (pick >= 0x80 || !f->pointer[pick & 7])
        return f->host + (pick & 63);
    return (char *)f->pointer[pick & 7] + (pick >> 3 & 15);
}

static bool allocated(const struct fuzz *f, const void *pointer)
{
    for (unsigned i = 0; i < SLOTS; i++)
        if (f->pointer[i] && (const char *)pointer - (char *)f->pointer[i] >= 0 &&
            (const char *)pointer - (char *)f->pointer[i] < 16)
            return true;
    return false;
}

/* Sizes that go beyond the host's buffer and what is around it would be the program's mistake. */
static size_t span(struct fuzz *f, const void *a, const void *b)
{
    size_t bytes = size(f);
    bool all = allocated(f, a) && allocated(f, b);
    return !all && bytes > BEYOND_MOST ? BEYOND_MOST : bytes;
}

static void host_call(void *user)
{
    ++*(char *)user;
}

static void stream_call(hipStream_t stream, hipError_t status, void *user)
{
    (void)stream;
    (void)status;
    ++*(char *)user;
}

static dim3 shape(struct fuzz *f)
{
    return (dim3){(uint32_t)small(f), (uint32_t)small(f), (uint32_t)small(f)};
}

/* A grid that would run for ever is a program's own affair. */
static bool endless(dim3 a, dim3 b)
{
    double all = (double)a.x * a.y * a.z * b.x * b.y * b.z;
    return all > 1e5 && all < 1e19;
}

static void launch(struct fuzz *f)
{
    int value = 7, *out = (int *)f->pointer[0];
    void *args[] = {&out, &value}, *holes[] = {NULL, NULL};
    dim3 grid = shape(f), block = shape(f);
    unsigned kind = take(f);
    if (endless(grid, block) || !out)
        return;
    if ((double)grid.x * block.x * 4 > 4096) /* what the kernel writes */
        grid.x = 1, block.x = 64;
    void **params = kind & 16 ? NULL : kind & 32 ? holes : args;
    size_t shared = size(f);
    hipStream_t stream = HANDLE(stream);
    hipFunction_t function = kind & 64 ? HANDLE(function) : f->function[0];
    switch (kind % 3) {
    case 0:
        (void)hipModuleLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                    (unsigned)shared, stream, params, NULL);
        break;
    case 1:
        (void)hipModuleLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                               (unsigned)shared, stream, params);
        break;
    default: {
        hipFunctionLaunchParams list[2] = {
            {function, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared, stream, params}};
        list[1] = list[0];
        (void)hipModuleLaunchCooperativeKernelMultiDevice(list, (unsigned)number(f), (unsigned)number(f));
        break;
    }
    }
}

static void node_kernel(struct fuzz *f)
{
    int value = 7, *out = (int *)f->pointer[0];
    void *args[] = {&out, &value};
    hipKernelNodeParams p = {.func = take(f) & 1 ? f->function[0] : HANDLE(function),
                             .gridDim = shape(f),
                             .blockDim = shape(f),
                             .kernelParams = take(f) & 7 ? args : NULL,
                             .sharedMemBytes = (unsigned)size(f)};
    if (!out || endless(p.gridDim, p.blockDim) || (double)p.gridDim.x * p.blockDim.x * 4 > 4096)
        return;
    hipGraphNode_t after = HANDLE(node);
    (void)hipGraphAddKernelNode(SLOT(node), HANDLE(graph), &after, take(f) & 1, &p);
}

static hipMemcpy3DParms box(struct fuzz *f)
{
    void *to = pointer(f), *from = pointer(f);
    /* Unallocated memory has no bounds. */
    size_t (*length)(struct fuzz *) = allocated(f, to) && allocated(f, from) ? small : tiny;
    hipMemcpy3DParms p = {.dstPos = {length(f), length(f), length(f)},
                          .srcPos = {length(f), length(f), length(f)},
                          .dstPtr = {to, length(f), length(f), length(f)},
                          .srcPtr = {from, length(f), length(f), length(f)},
                          .extent = {length(f), length(f), length(f)},
                          .kind = (hipMemcpyKind)number(f)};
    unsigned arrays = take(f);
    if (arrays & 1)
        p.dstArray = HANDLE(array);
    if (arrays & 2)
        p.srcArray = HANDLE(array);
    if (arrays & 4 && p.dstArray)
        p.dstPtr.ptr = NULL;
    if (arrays & 8 && p.srcArray)
        p.srcPtr.ptr = NULL;
    return p;
}

static void call_memory(struct fuzz *f)
{
    void *to, *from;
    size_t bytes, pitch;
    hipMemcpy3DParms p;
    hipPitchedPtr pitched;
    hipPointerAttribute_t attributes;
    const hipMemAllocationProp prop = {.type = (hipMemAllocationType)number(f),
                                       .location = {(hipMemLocationType)number(f), number(f)}};
    const hipMemAccessDesc access = {{hipMemLocationTypeDevice, number(f)}, (hipMemAccessFlags)number(f)};
    const hipChannelFormatDesc format = {number(f), number(f), 0, 0, hipChannelFormatKindUnsigned};

    switch (take(f) % 32) {
    case 0:
        (void)hipMalloc(SLOT(pointer), size(f));
        break;
    case 1:
        (void)hipHostMalloc(SLOT(pointer), size(f), (unsigned)number(f));
        break;
    case 2:
        (void)hipMallocManaged(SLOT(pointer), size(f), (unsigned)number(f));
        break;
    case 3:
        (void)hipFree(HANDLE(pointer));
        break;
    case 4:
        (void)hipHostFree(HANDLE(pointer));
        break;
    case 5:
        (void)hipMallocAsync(SLOT(pointer), size(f), HANDLE(stream));
        break;
    case 6:
        (void)hipFreeAsync(HANDLE(pointer), HANDLE(stream));
        break;
    case 7:
        to = pointer(f), from = pointer(f), bytes = span(f, to, from);
        (void)hipMemcpy(to, from, bytes, (hipMemcpyKind)number(f));
        break;
    case 8:
        to = pointer(f), from = pointer(f), bytes = span(f, to, from);
        (void)hipMemcpyAsync(to, from, bytes, (hipMemcpyKind)number(f), HANDLE(stream));
        break;
    case 9:
        to = HANDLE(pointer);
        (void)hipMemset(to, number(f), size(f));
        break;
    case 10:
        to = HANDLE(pointer);
        (void)hipMemsetD32Async(to, number(f), size(f), HANDLE(stream));
        break;
    case 11:
        (void)hipMemset2D(HANDLE(pointer), small(f), number(f), small(f), small(f));
        break;
    case 12:
        pitched = (hipPitchedPtr){HANDLE(pointer), small(f), small(f), small(f)};
        (void)hipMemset3DAsync(pitched, number(f), (hipExtent){small(f), small(f), small(f)}, HANDLE(stream));
        break;
    case 13:
        p = box(f);
        (void)hipMemcpy3D(&p);
        break;
    case 14:
        p = box(f);
        (void)hipMemcpy3DAsync(&p, HANDLE(stream));
        break;
    case 15:
        (void)hipMallocPitch(SLOT(pointer), &pitch, size(f), size(f));
        break;
    case 16:
        (void)hipMalloc3D(&pitched, (hipExtent){size(f), size(f), size(f)});
        f->pointer[take(f) % SLOTS] = NULL;
        break;
    case 17:
        (void)hipMallocArray(SLOT(array), &format, size(f), small(f), (unsigned)number(f));
        break;
    case 18:
        (void)hipFreeArray(HANDLE(array));
        break;
    case 19:
        (void)hipPointerGetAttributes(&attributes, HANDLE(pointer));
        break;
    case 20:
        (void)hipMemGetAddressRange(&to, &bytes, HANDLE(pointer));
        break;
    case 21:
        (void)hipMemPrefetchAsync(HANDLE(pointer), size(f), number(f), HANDLE(stream));
        break;
    case 22:
        (void)hipMemAdvise(HANDLE(pointer), size(f), (hipMemoryAdvise)number(f), number(f));
        break;
    case 23:
        (void)hipMemCreate(SLOT(memory), size(f), &prop, take(f) & 1);
        break;
    case 24:
        (void)hipMemRelease(HANDLE(memory));
        break;
    case 25:
        (void)hipMemAddressReserve(&to, size(f), small(f), NULL, 0);
        (void)hipMemMap(to, size(f), size(f), HANDLE(memory), 0);
        (void)hipMemSetAccess(to, size(f), &access, take(f) & 1);
        (void)hipMemUnmap(to, size(f));
        (void)hipMemAddressFree(to, size(f));
        break;
    case 26:
        (void)hipHostRegister(f->host + (take(f) & 63), size(f), (unsigned)number(f));
        break;
    case 27:
        (void)hipHostUnregister(f->host + (take(f) & 63));
        break;
    case 28:
        to = wild(f);
        (void)hipHostRegister(to, size(f), (unsigned)number(f));
        (void)hipHostUnregister(to);
        break;
    case 29:
        to = pointer(f), from = pointer(f), pitch = tiny(f), bytes = tiny(f);
        (void)hipMemcpy2D(to, pitch, from, tiny(f), bytes, tiny(f), (hipMemcpyKind)number(f));
        break;
    case 30:
        to = pointer(f);
        (void)hipStreamWriteValue32(HANDLE(stream), to, 5, 0);
        break;
    default:
        to = wild(f);
        (void)hipMemset(to, number(f), span(f, to, to));
        break;
    }
}

static void call_stream(struct fuzz *f)
{
    hipStreamCaptureStatus status;
    float ms;
    unsigned flags;
    int priority;

    switch (take(f) % 20) {
    case 0:
        (void)hipStreamCreateWithPriority(SLOT(stream), (unsigned)number(f), number(f));
        break;
    case 1:
        (void)hipStreamDestroy(HANDLE(stream));
        break;
    case 2:
        (void)hipStreamSynchronize(HANDLE(stream));
        break;
    case 3:
        (void)hipStreamQuery(HANDLE(stream));
        break;
    case 4:
        (void)hipStreamWaitEvent(HANDLE(stream), HANDLE(event), (unsigned)number(f));
        break;
    case 5:
        (void)hipEventCreateWithFlags(SLOT(event), (unsigned)number(f));
        break;
    case 6:
        (void)hipEventDestroy(HANDLE(event));
        break;
    case 7:
        (void)hipEventRecord(HANDLE(event), HANDLE(stream));
        break;
    case 8:
        (void)hipEventSynchronize(HANDLE(event));
        break;
    case 9:
        (void)hipEventElapsedTime(&ms, HANDLE(event), HANDLE(event));
        break;
    case 10:
        (void)hipLaunchHostFunc(HANDLE(stream), host_call, f->host + 100);
        break;
    case 11:
        (void)hipStreamAddCallback(HANDLE(stream), stream_call, f->host + 101, (unsigned)number(f));
        break;
    case 12:
        (void)hipStreamBeginCapture(HANDLE(stream), (hipStreamCaptureMode)number(f));
        break;
    case 13:
        (void)hipStreamEndCapture(HANDLE(stream), SLOT(graph));
        break;
    case 14:
        (void)hipStreamIsCapturing(HANDLE(stream), &status);
        break;
    case 15:
        (void)hipDeviceSynchronize();
        break;
    case 16:
        (void)hipStreamGetFlags(HANDLE(stream), &flags);
        (void)hipStreamGetPriority(HANDLE(stream), &priority);
        break;
    case 17:
        (void)hipEventQuery(HANDLE(event));
        break;
    case 18:
        (void)hipSetDevice(number(f));
        break;
    default:
        launch(f);
        break;
    }
}

static void call_graph(struct fuzz *f)
{
    hipGraphNode_t node = HANDLE(node), other = HANDLE(node), nodes[4];
    hipHostNodeParams host = {.fn = take(f) & 7 ? host_call : NULL, .userData = f->host + 102};
    hipMemsetParams fill = {.dst = HANDLE(pointer),
                            .elementSize = (unsigned)number(f),
                            .height = small(f),
                            .width = small(f),
                            .pitch = small(f),
                            .value = 3};
    hipMemcpy3DParms p;
    size_t count = take(f) % 5;
    hipGraphNodeType type;
    hipGraphExecUpdateResult result;

    switch (take(f) % 22) {
    case 0:
        (void)hipGraphCreate(SLOT(graph), (unsigned)number(f));
        break;
    case 1:
        (void)hipGraphDestroy(HANDLE(graph));
        break;
    case 2:
        node_kernel(f);
        break;
    case 3:
        (void)hipGraphAddEmptyNode(SLOT(node), HANDLE(graph), &node, take(f) & 1);
        break;
    case 4:
        (void)hipGraphAddHostNode(SLOT(node), HANDLE(graph), &node, take(f) & 1, &host);
        break;
    case 5:
        (void)hipGraphAddMemsetNode(SLOT(node), HANDLE(graph), &node, take(f) & 1, &fill);
        break;
    case 6:
        p = box(f);
        (void)hipGraphAddMemcpyNode(SLOT(node), HANDLE(graph), &node, take(f) & 1, &p);
        break;
    case 7:
        (void)hipGraphAddDependencies(HANDLE(graph), &node, &other, 1);
        break;
    case 8:
        (void)hipGraphRemoveDependencies(HANDLE(graph), &node, &other, 1);
        break;
    case 9:
        (void)hipGraphInstantiate(SLOT(exec), HANDLE(graph), NULL, NULL, 0);
        break;
    case 10:
        (void)hipGraphLaunch(HANDLE(exec), HANDLE(stream));
        break;
    case 11:
        (void)hipGraphExecDestroy(HANDLE(exec));
        break;
    case 12:
        (void)hipGraphDestroyNode(node);
        break;
    case 13:
        (void)hipGraphGetNodes(HANDLE(graph), nodes, &count);
        break;
    case 14:
        (void)hipGraphNodeGetType(node, &type);
        break;
    case 15:
        (void)hipGraphAddChildGraphNode(SLOT(node), HANDLE(graph), &node, take(f) & 1, HANDLE(graph));
        break;
    case 16:
        (void)hipGraphClone(SLOT(graph), HANDLE(graph));
        break;
    case 17:
        (void)hipGraphExecUpdate(HANDLE(exec), HANDLE(graph), &other, &result);
        break;
    case 18:
        (void)hipGraphAddEventRecordNode(SLOT(node), HANDLE(graph), &node, take(f) & 1, HANDLE(event));
        break;
    case 19:
        (void)hipGraphAddEventWaitNode(SLOT(node), HANDLE(graph), &node, take(f) & 1, HANDLE(event));
        break;
    case 20:
        (void)hipGraphExecMemsetNodeSetParams(HANDLE(exec), node, &fill);
        break;
    default:
        (void)hipGraphMemsetNodeSetParams(node, &fill);
        break;
    }
}

static void call_rest(struct fuzz *f)
{
    hipDeviceProp_t props;
    hipDeviceptr_t address;
    size_t bytes;
    int value, grid, block;
    hipMemPoolProps pool = {.allocType = (hipMemAllocationType)number(f),
                            .location = {(hipMemLocationType)number(f), number(f)}};
    uint64_t attribute = size(f);

    switch (take(f) % 17) {
    case 0:
        (void)hipModuleLoadData(SLOT(module), take(f) & 3 ? f->image : f->host);
        break;
    case 1:
        (void)hipModuleUnload(HANDLE(module));
        break;
    case 2:
        (void)hipModuleGetFunction(&f->function[1 + take(f) % (SLOTS - 1)], HANDLE(module),
                                   take(f) & 3 ? "store" : "nothing");
        break;
    case 3:
        (void)hipModuleGetGlobal(&address, &bytes, HANDLE(module), "counter");
        break;
    case 4:
        (void)hipFuncGetAttribute(&value, (hipFunction_attribute)number(f), HANDLE(function));
        break;
    case 5:
        (void)hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&value, HANDLE(function), number(f),
                                                                 size(f));
        break;
    case 6:
        (void)hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, HANDLE(function), size(f), number(f));
        break;
    case 7:
        (void)hipGetDeviceProperties(&props, number(f));
        break;
    case 8:
        (void)hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)number(f), number(f));
        break;
    case 9:
        (void)hipDeviceSetLimit((enum hipLimit_t)number(f), take(f) & 1 ? 1024 : size(f));
        break;
    case 10:
        (void)hipMemPoolCreate(SLOT(pool), &pool);
        break;
    case 11:
        (void)hipMemPoolDestroy(HANDLE(pool));
        break;
    case 12:
        (void)hipMallocFromPoolAsync(SLOT(pointer), size(f), HANDLE(pool), HANDLE(stream));
        break;
    case 13:
        (void)hipMemPoolSetAttribute(HANDLE(pool), (hipMemPoolAttr)number(f), &attribute);
        break;
    case 14:
        (void)hipMemPoolTrimTo(HANDLE(pool), size(f));
        break;
    case 15:
        (void)hipDeviceReset();
        break;
    default:
        (void)hipGetErrorString((hipError_t)number(f));
        (void)hipGetLastError();
        break;
    }
}

static void must(hipError_t error, const char *what)
{
    if (error == hipSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, hipGetErrorName(error));
    abort();
}
#define MUST(call) must(call, #call)

static void *kernels(void)
{
    static void *image;
    if (image)
        return image;
    const char *path = getenv("EHP_FUZZ_KERNELS");
    FILE *file = path ? fopen(path, "rb") : NULL;
    image = malloc(1 << 16);
    if (!file || !image || fread(image, 1, 1 << 16, file) == 0) {
        fprintf(stderr, "EHP_FUZZ_KERNELS does not name tests/hip_api/kernels.hsaco\n");
        exit(2);
    }
    fclose(file);
    return image;
}

/* The host's buffer between its guards, and behind the second one as much that may only be read. */
static char *host_memory(void)
{
    static char *host;
    const size_t whole = (GUARD_BYTES + HOST_BYTES) * (size_t)2 + GUARD_BYTES;
    if (host)
        return host;
    char *all = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED || mprotect(all + GUARD_BYTES, HOST_BYTES, PROT_READ | PROT_WRITE) != 0 ||
        mprotect(all + 2 * GUARD_BYTES + HOST_BYTES, HOST_BYTES, PROT_READ) != 0) {
        perror("mmap");
        exit(2);
    }
    return host = all + GUARD_BYTES;
}

static void begin(struct fuzz *f)
{
    f->image = kernels();
    f->host = host_memory();
    f->constant = f->host + HOST_BYTES + GUARD_BYTES;
    MUST(hipSetDevice(0));
    MUST(hipModuleLoadData(&f->module[0], f->image));
    MUST(hipModuleGetFunction(&f->function[0], f->module[0], "store"));
    MUST(hipMalloc(&f->pointer[0], 4096));
}

/* Everything away, whatever is captured, mapped or broken, and the device works as before. */
static void finish(void)
{
    int value = 9, *out;
    void *args[] = {&out, &value};
    hipModule_t module;
    hipFunction_t store;
    for (int device = 0; hipSetDevice(device) == hipSuccess; device++)
        (void)hipDeviceReset();
    (void)hipGetLastError();
    MUST(hipSetDevice(0));
    MUST(hipModuleLoadData(&module, kernels()));
    MUST(hipModuleGetFunction(&store, module, "store"));
    MUST(hipMalloc((void **)&out, 256));
    MUST(hipModuleLaunchKernel(store, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
    MUST(hipDeviceSynchronize());
    if (out[63] != 9)
        abort();
    MUST(hipDeviceReset());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fuzz f = {.data = data, .end = data + bytes};
    begin(&f);
    for (int i = 0; i < CALLS_MOST && f.data < f.end; i++)
        switch (take(&f) % 4) {
        case 0:
            call_memory(&f);
            break;
        case 1:
            call_stream(&f);
            break;
        case 2:
            call_graph(&f);
            break;
        default:
            call_rest(&f);
            break;
        }
    finish();
    return 0;
}
