/* SPDX-License-Identifier: MIT */
/* Sizes that do not fit, in launches and in memory: each is an error, and nothing is done. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hip_check.h"

/* hip_ext.h is C++. */
hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t x, uint32_t y, uint32_t z, uint32_t local_x,
                                    uint32_t local_y, uint32_t local_z, size_t lds, hipStream_t stream,
                                    void **params, void **extra, hipEvent_t start, hipEvent_t stop,
                                    uint32_t flags);

static hipModule_t module;
static hipFunction_t args_kernel;

#define HALF ((size_t)1 << 63)

struct triple {
    int a, b, c;
};

/* args(char, short, int *out, const double *in, struct triple, float) with 384 bytes of static LDS. */
struct args {
    char c;
    short s;
    int *out;
    double *in;
    struct triple agg;
    float f;
    void *list[6];
};

static void args_open(struct args *a)
{
    *a = (struct args){.c = 1, .s = 2, .agg = {1, 2, 3}, .f = 1};
    OK(hipMalloc((void **)&a->out, 1024 * sizeof *a->out));
    OK(hipMalloc((void **)&a->in, 1024 * sizeof *a->in));
    void *list[] = {&a->c, &a->s, &a->out, &a->in, &a->agg, &a->f};
    memcpy(a->list, list, sizeof list);
    OK(hipMemset(a->in, 0, 1024 * sizeof *a->in));
    OK(hipMemset(a->out, 0, 1024 * sizeof *a->out));
}

static void args_close(struct args *a)
{
    OK(hipDeviceSynchronize());
    OK(hipFree(a->out));
    OK(hipFree(a->in));
}

static hipError_t launch(const struct args *a, unsigned x, unsigned y, unsigned z, unsigned block,
                         unsigned lds)
{
    return hipModuleLaunchKernel(args_kernel, x, y, z, block, 1, 1, lds, NULL, (void **)a->list, NULL);
}

static hipError_t launch_ext(const struct args *a, unsigned x, unsigned y, unsigned z, unsigned block,
                             size_t lds)
{
    return hipExtModuleLaunchKernel(args_kernel, x, y, z, block, 1, 1, lds, NULL, (void **)a->list, NULL,
                                    NULL, NULL, 0);
}

static hipError_t launch_together(const struct args *a, unsigned x, unsigned y, unsigned z, unsigned lds)
{
    return hipModuleLaunchCooperativeKernel(args_kernel, x, y, z, 64, 1, 1, lds, NULL, (void **)a->list);
}

static void grids(void)
{
    const unsigned huge = 1u << 31;
    struct args a;

    args_open(&a);
    CHECK_HIP(launch(&a, huge, huge, 4, 1, 0), hipErrorInvalidConfiguration);
    CHECK_HIP(launch(&a, huge, huge, 2, 1, 0), hipErrorInvalidConfiguration);
    CHECK_HIP(launch(&a, UINT32_MAX, UINT32_MAX, UINT32_MAX, 1, 0), hipErrorInvalidConfiguration);
    CHECK_HIP(launch_ext(&a, huge, huge, 4, 1, 0), hipErrorInvalidConfiguration);
    CHECK_HIP(launch_ext(&a, huge, huge, 4, 64, 0), hipErrorInvalidConfiguration);
    CHECK_HIP(launch_together(&a, huge / 64, huge, 1, 0), hipErrorCooperativeLaunchTooLarge);
    CHECK_HIP(launch_together(&a, huge, huge, 4, 0), hipErrorInvalidConfiguration);
    CHECK_HIP(launch_together(&a, 1 << 20, 1, 1, 0), hipErrorCooperativeLaunchTooLarge);
    hipFunctionLaunchParams params = {.function = args_kernel,
                                      .gridDimX = huge,
                                      .gridDimY = huge,
                                      .gridDimZ = 4,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = a.list};
    OK(hipStreamCreate(&params.hStream));
    CHECK_HIP(hipModuleLaunchCooperativeKernelMultiDevice(&params, 1, 0), hipErrorInvalidConfiguration);
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.kernelParams = NULL;
    CHECK_HIP(hipModuleLaunchCooperativeKernelMultiDevice(&params, 1, 0), hipErrorInvalidValue);
    OK(hipStreamDestroy(params.hStream));

    hipGraph_t graph;
    hipGraphNode_t node;
    OK(hipGraphCreate(&graph, 0));
    const hipKernelNodeParams kernel = {
        .func = args_kernel, .gridDim = {huge, huge, 4}, .blockDim = {1, 1, 1}, .kernelParams = a.list};
    CHECK_HIP(hipGraphAddKernelNode(&node, graph, NULL, 0, &kernel), hipErrorInvalidConfiguration);
    OK(hipGraphDestroy(graph));
    args_close(&a);
}

/* The last workgroup of the Ext form's may be smaller. */
static void partial(void)
{
    struct args a;

    args_open(&a);
    OK(launch_ext(&a, 65, 1, 1, 96, 0));
    OK(hipDeviceSynchronize());
    CHECK_EQ(a.out[64] != 0, 1);
    CHECK_EQ(a.out[65], 0);
    CHECK_HIP(launch_ext(&a, 0, 1, 1, 64, 0), hipErrorInvalidConfiguration);
    CHECK_HIP(launch_ext(&a, 64, 1, 1, 0, 0), hipErrorInvalidConfiguration);
    CHECK_HIP(launch_ext(&a, 64, 1, 1, 1025, 0), hipErrorInvalidConfiguration);
    args_close(&a);
}

static void lds(void)
{
    struct args a;
    int blocks = -1;

    args_open(&a);
    OK(launch_ext(&a, 64, 1, 1, 64, 65536 - 384));
    CHECK_HIP(launch_ext(&a, 64, 1, 1, 64, 65536 - 383), hipErrorInvalidValue);
    CHECK_HIP(launch_ext(&a, 64, 1, 1, 64, (size_t)-4), hipErrorInvalidValue);
    CHECK_HIP(launch_ext(&a, 64, 1, 1, 64, ((size_t)1 << 32) + 4), hipErrorInvalidValue);
    CHECK_HIP(launch(&a, 1, 1, 1, 64, (unsigned)-4), hipErrorInvalidValue);
    CHECK_HIP(launch_together(&a, 1, 1, 1, 65536), hipErrorCooperativeLaunchTooLarge);
    CHECK_HIP(launch_together(&a, 1, 1, 1, (unsigned)-4), hipErrorCooperativeLaunchTooLarge);
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, args_kernel, 64, (size_t)-4));
    CHECK_EQ(blocks, 0);
    args_close(&a);
}

/* In two forms, of which a launch has one, and whole. */
static void arguments(void)
{
    struct {
        char c;
        short s;
        int *out;
        double *in;
        struct triple agg;
        float f;
    } block = {.c = 1, .s = 2};
    size_t bytes = sizeof block;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &block, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};
    void *sizeless[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &block, HIP_LAUNCH_PARAM_BUFFER_SIZE, NULL,
                        HIP_LAUNCH_PARAM_END};
    void *nowhere[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, NULL, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                       HIP_LAUNCH_PARAM_END};
    void *endless[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER,
                       &block,
                       HIP_LAUNCH_PARAM_BUFFER_POINTER,
                       &block,
                       HIP_LAUNCH_PARAM_BUFFER_POINTER,
                       &block,
                       HIP_LAUNCH_PARAM_END};
    void *unknown[] = {(void *)17, &block, HIP_LAUNCH_PARAM_END};
    void **bad[] = {sizeless, nowhere, endless, unknown};
    struct args a;

    args_open(&a);
    block.out = a.out;
    block.in = a.in;
    OK(hipModuleLaunchKernel(args_kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
    CHECK_HIP(hipModuleLaunchKernel(args_kernel, 1, 1, 1, 64, 1, 1, 0, NULL, a.list, extra),
              hipErrorInvalidValue);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_HIP(hipModuleLaunchKernel(args_kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, bad[i]),
                  hipErrorInvalidValue);
    a.list[3] = NULL;
    CHECK_HIP(launch(&a, 1, 1, 1, 64, 0), hipErrorInvalidValue);
    args_close(&a);
}

static void fills(void)
{
    char *d;

    OK(hipMalloc((void **)&d, 4096));
    OK(hipMemset(d, 7, 4096));
    CHECK_HIP(hipMemset(d, 1, (size_t)-1), hipErrorInvalidValue);
    CHECK_HIP(hipMemsetD16(d, 1, HALF), hipErrorInvalidValue);
    CHECK_HIP(hipMemsetD32(d, 1, ((size_t)1 << 62) + 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemset2D(d, 64, 1, 64, ((size_t)1 << 58) + 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemset2D(d, HALF, 1, 64, 3), hipErrorInvalidValue);
    const hipPitchedPtr deep = {d, HALF, 64, 2}, flat = {d, 64, 64, 1};
    CHECK_HIP(hipMemset3D(deep, 1, (hipExtent){64, 2, 2}), hipErrorInvalidValue);
    CHECK_HIP(hipMemset3D(flat, 1, (hipExtent){64, 1, ((size_t)1 << 58) + 1}), hipErrorInvalidValue);
    CHECK_HIP(hipMemset3D(flat, 1, (hipExtent){64, ((size_t)1 << 58) + 1, 1}), hipErrorInvalidValue);
    hipGraph_t graph;
    hipGraphNode_t node;
    OK(hipGraphCreate(&graph, 0));
    hipMemsetParams fill = {.dst = d, .elementSize = 4, .width = ((size_t)1 << 62) + 1, .height = 1};
    CHECK_HIP(hipGraphAddMemsetNode(&node, graph, NULL, 0, &fill), hipErrorInvalidValue);
    fill = (hipMemsetParams){.dst = d, .elementSize = 1, .width = 64, .pitch = HALF, .height = 3};
    CHECK_HIP(hipGraphAddMemsetNode(&node, graph, NULL, 0, &fill), hipErrorInvalidValue);
    OK(hipGraphDestroy(graph));
    for (int i = 0; i < 4096; i++)
        if (!CHECK_EQ(d[i], 7))
            break;
    OK(hipFree(d));
}

static void copies(void)
{
    const size_t wrap = (size_t)1 << 58; /* times 64 */
    char *d, host[256] = "";
    hipArray_t array;

    OK(hipMalloc((void **)&d, 4096));
    OK(hipMemset(d, 7, 4096));
    CHECK_HIP(hipMemcpy(d, host, (size_t)-1, hipMemcpyDefault), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2D(d, 64, host, 64, 64, wrap + 1, hipMemcpyDefault), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2D(host, 64, d, 64, 64, wrap + 1, hipMemcpyDefault), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2D(host, 1 << 30, host, 64, 64, ((size_t)1 << 34) + 1, hipMemcpyHostToHost),
              hipErrorInvalidValue);
    hipMemcpy3DParms p = {.srcPtr = {host, 64, 64, 0},
                          .dstPtr = {d, 64, 64, 0},
                          .dstPos = {0, wrap, 0}, /* rows that wrap round to the start */
                          .extent = {64, 1, 1},
                          .kind = hipMemcpyDefault};
    CHECK_HIP(hipMemcpy3D(&p), hipErrorInvalidValue);
    p.dstPos = (struct hipPos){0, 0, wrap};
    CHECK_HIP(hipMemcpy3D(&p), hipErrorInvalidValue);
    p.dstPos = (struct hipPos){0};
    p.extent = (hipExtent){64, 1, wrap + 1};
    CHECK_HIP(hipMemcpy3D(&p), hipErrorInvalidValue);

    const hipChannelFormatDesc format = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindUnsigned);
    CHECK_HIP(hipMallocArray(&array, &format, (size_t)1 << 62, 4, 0), hipErrorOutOfMemory);
    CHECK_HIP(hipMalloc3DArray(&array, &format, (hipExtent){16, (size_t)1 << 30, (size_t)1 << 30}, 0),
              hipErrorOutOfMemory);
    OK(hipMallocArray(&array, &format, 16, 16, 0));
    p = (hipMemcpy3DParms){.srcPtr = {host, 64, 64, 1},
                           .dstArray = array,
                           .extent = {(size_t)1 << 62, 1, 1}, /* elements of four bytes */
                           .kind = hipMemcpyDefault};
    CHECK_HIP(hipMemcpy3D(&p), hipErrorInvalidValue);
    p.extent.width = 1;
    p.dstPos.x = (size_t)1 << 62;
    CHECK_HIP(hipMemcpy3D(&p), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpyToArray(array, 0, wrap, host, 64, hipMemcpyDefault), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2DToArray(array, 0, 0, host, 64, 64, wrap + 1, hipMemcpyDefault),
              hipErrorInvalidValue);
    OK(hipFreeArray(array));

    HIP_MEMCPY3D drv = {.srcMemoryType = hipMemoryTypeHost,
                        .srcHost = host,
                        .srcPitch = 64,
                        .dstMemoryType = hipMemoryTypeDevice,
                        .dstDevice = d,
                        .dstPitch = 64,
                        .dstY = wrap,
                        .WidthInBytes = 64,
                        .Height = 1,
                        .Depth = 1};
    CHECK_HIP(hipDrvMemcpy3D(&drv), hipErrorInvalidValue);
    drv.dstY = 0;
    drv.dstPitch = 0;
    drv.dstXInBytes = (size_t)-32;
    CHECK_HIP(hipDrvMemcpy3D(&drv), hipErrorInvalidValue);
    for (int i = 0; i < 4096; i++)
        if (!CHECK_EQ(d[i], 7))
            break;
    OK(hipFree(d));
}

static void allocations(void)
{
    const size_t sizes[] = {(size_t)-1, HALF, (size_t)-4096, (size_t)1 << 47};
    hipPitchedPtr pitched;
    size_t pitch;
    void *p;

    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        CHECK_HIP(hipMalloc(&p, sizes[i]), hipErrorOutOfMemory);
        CHECK_HIP(hipHostMalloc(&p, sizes[i], 0), hipErrorOutOfMemory);
        CHECK_HIP(hipMallocManaged(&p, sizes[i], hipMemAttachGlobal), hipErrorOutOfMemory);
        CHECK_HIP(hipMallocAsync(&p, sizes[i], NULL), hipErrorOutOfMemory);
    }
    CHECK_HIP(hipMallocPitch(&p, &pitch, HALF, 2), hipErrorOutOfMemory);
    CHECK_HIP(hipMallocPitch(&p, &pitch, (size_t)-1, 1), hipErrorOutOfMemory);
    CHECK_HIP(hipMalloc3D(&pitched, (hipExtent){1, HALF, 2}), hipErrorOutOfMemory);
    CHECK_HIP(hipHostRegister(&p, (size_t)-1, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressReserve(&p, (size_t)-4096, HALF, NULL, 0), hipErrorOutOfMemory);
    CHECK_HIP(hipMemAddressReserve(&p, HALF, HALF, NULL, 0), hipErrorOutOfMemory);
    OK(hipMalloc(&p, 64));
    CHECK_HIP(hipMemPrefetchAsync(p, (size_t)-1, 0, NULL), hipErrorInvalidValue);
    OK(hipFree(p));
}

static int stub, variable;

/* As clang's code registers what a program contains. */
static void symbols(const void *image)
{
    void **__hipRegisterFatBinary(const void *data);
    void __hipUnregisterFatBinary(void **modules);
    void __hipRegisterFunction(void **, const void *, char *, const char *, unsigned, void *, void *, dim3 *,
                               dim3 *, int *);
    void __hipRegisterVar(void **, void *, char *, char *, int, size_t, int, int);
    const struct {
        uint32_t magic, version;
        const void *binary;
        void *unused;
    } wrapper = {0x48495046, 1, image, NULL};
    void **fat = __hipRegisterFatBinary(&wrapper);
    char name[] = "table";
    int words[4];
    struct args a;

    __hipRegisterFunction(fat, &stub, "args", "args", 0, NULL, NULL, NULL, NULL, NULL);
    __hipRegisterVar(fat, &variable, name, name, 0, 16, 0, 0);
    args_open(&a);
    OK(hipMemcpyFromSymbol(words, &variable, 4, 12, hipMemcpyDeviceToHost));
    CHECK_EQ(words[0], 13);
    CHECK_HIP(hipMemcpyFromSymbol(words, &variable, 4, (size_t)-4, hipMemcpyDeviceToHost),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemcpyFromSymbol(words, &variable, (size_t)-4, 8, hipMemcpyDeviceToHost),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemcpyToSymbol(&variable, words, 16, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpyToSymbol(&variable, words, (size_t)-1, 1, hipMemcpyHostToDevice),
              hipErrorInvalidValue);
    CHECK_HIP(hipLaunchKernel(&stub, (dim3){1, 1, 1}, (dim3){64, 1, 1}, a.list, (size_t)-4, NULL),
              hipErrorInvalidValue);
    CHECK_HIP(hipLaunchKernel(&stub, (dim3){1u << 31, 1u << 31, 4}, (dim3){1, 1, 1}, a.list, 0, NULL),
              hipErrorInvalidConfiguration);
    CHECK_HIP(hipLaunchKernel(&stub, (dim3){1, 1, 1}, (dim3){1024, 2, 1}, a.list, 0, NULL),
              hipErrorInvalidConfiguration);
    OK(hipLaunchKernel(&stub, (dim3){1, 1, 1}, (dim3){64, 1, 1}, a.list, 0, NULL));
    args_close(&a);
    __hipUnregisterFatBinary(fat);
}

/* A value kind of the image becomes another one of the same length. */
static void rename_kind(char *image, size_t bytes, const char *from, const char *to)
{
    char *at = memmem(image, bytes, from, strlen(from));

    if (CHECK(at && strlen(from) == strlen(to)))
        memcpy(at, to, strlen(from));
}

/* What a later compiler hides is zero and nothing that the caller passes; what it wants passed is refused. */
static void unknown_arguments(const void *image, size_t bytes)
{
    const size_t page = 4096;
    char *copy = malloc(bytes), *map;
    hipFunction_t hidden;
    hipModule_t other;
    int *out;

    memcpy(copy, image, bytes);
    rename_kind(copy, bytes, "hidden_block_count_x", "hidden_of_year_2042x");
    OK(hipModuleLoadData(&other, copy));
    OK(hipModuleGetFunction(&hidden, other, "hidden"));
    OK(hipMalloc((void **)&out, 4));
    map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mprotect(map + page, page, PROT_NONE) == 0);
    void **params = (void **)(void *)(map + page) - 1; /* nothing can be read behind the one there is */
    *params = &out;
    *out = 5;
    OK(hipModuleLaunchKernel(hidden, 3, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(hipDeviceSynchronize());
    CHECK_EQ(*out, 0); /* the first hidden argument */
    OK(hipModuleUnload(other));
    rename_kind(copy, bytes, "hidden_of_year_2042x", "explicit_of_year2042");
    CHECK_HIP(hipModuleLoadData(&other, copy), hipErrorInvalidImage);
    OK(hipFree(out));
    munmap(map, 2 * page);
    free(copy);
}

/* Modules by an address alone, cut off where nothing can be read any more. */
static void cut_off(const void *image, size_t bytes)
{
    const size_t page = 4096, pages = (bytes + page - 1) / page;
    char *map = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    hipModule_t other;

    CHECK(mprotect(map + pages * page, page, PROT_NONE) == 0);
    for (size_t some = 1; some < bytes; some += 997) {
        char *at = map + pages * page - some;
        memcpy(at, image, some);
        CHECK_HIP(hipModuleLoadData(&other, at), hipErrorInvalidImage);
    }
    CHECK_HIP(hipModuleLoadData(&other, map + pages * page), hipErrorInvalidImage);
    CHECK_HIP(hipModuleLoadData(&other, (void *)16), hipErrorInvalidImage);
    munmap(map, (pages + 1) * page);
}

/* The same in a mapped file, whose pages are listed as readable behind its end too. */
static void cut_off_file(const void *image, size_t bytes)
{
    const size_t page = 4096;
    char path[] = "/tmp/ehp-limits-XXXXXX";
    int fd = mkstemp(path);
    hipModule_t other;

    CHECK(fd >= 0 && unlink(path) == 0 && write(fd, image, bytes) == (ssize_t)bytes);
    void *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    OK(hipModuleLoadData(&other, map));
    OK(hipModuleUnload(other));
    for (size_t left = (bytes - 1) / page * page;; left -= page) {
        CHECK(ftruncate(fd, (off_t)left) == 0);
        CHECK_HIP(hipModuleLoadData(&other, map), hipErrorInvalidImage);
        if (!left)
            break;
    }
    munmap(map, bytes);
    close(fd);
}

static void *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    void *image = calloc(1, 1 << 20);

    *bytes = file && image ? fread(image, 1, 1 << 20, file) : 0;
    if (!CHECK(*bytes))
        exit(1);
    fclose(file);
    return image;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    size_t bytes;
    void *image = read_file(argv[1], &bytes);
    OK(hipModuleLoadData(&module, image));
    OK(hipModuleGetFunction(&args_kernel, module, "args"));
    grids();
    partial();
    lds();
    arguments();
    fills();
    copies();
    allocations();
    symbols(image);
    unknown_arguments(image, bytes);
    cut_off(image, bytes);
    cut_off_file(image, bytes);
    OK(hipModuleUnload(module));
    free(image);
    return check_status();
}
