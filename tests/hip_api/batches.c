/* SPDX-License-Identifier: MIT */
/* What HIP 7 added: fills of wider elements in rows, copies in batches and between devices, places of memory,
 * attributes of streams, libraries, and calls by name. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hip_check.h"

static void fills(void)
{
    enum { PITCH = 64, ROWS = 3, WIDTH = 5 };
    unsigned char *rows;
    hipStream_t stream;

    OK(hipStreamCreate(&stream));
    OK(hipHostMalloc((void **)&rows, (size_t)PITCH * ROWS, hipHostMallocUncached));
    for (unsigned element = 1; element <= 4; element *= 2)
        for (int async = 0; async < 2; async++) {
            const uint32_t value = element == 1 ? 0xa1 : element == 2 ? 0xb1b2 : 0xc1c2c3c4;
            memset(rows, 0, (size_t)PITCH * ROWS);
            if (element == 1)
                OK(async ? hipMemsetD2D8Async(rows, PITCH, (unsigned char)value, WIDTH, ROWS, stream)
                         : hipMemsetD2D8(rows, PITCH, (unsigned char)value, WIDTH, ROWS));
            else if (element == 2)
                OK(async ? hipMemsetD2D16Async(rows, PITCH, (unsigned short)value, WIDTH, ROWS, stream)
                         : hipMemsetD2D16(rows, PITCH, (unsigned short)value, WIDTH, ROWS));
            else
                OK(async ? hipMemsetD2D32Async(rows, PITCH, value, WIDTH, ROWS, stream)
                         : hipMemsetD2D32(rows, PITCH, value, WIDTH, ROWS));
            OK(hipDeviceSynchronize());
            for (unsigned i = 0; i < PITCH * ROWS; i++) {
                const unsigned at = i % PITCH;
                const unsigned char want =
                    at < WIDTH * element ? (unsigned char)(value >> (8 * (at % element))) : 0;
                CHECK_EQ(rows[i], want);
            }
        }
    CHECK_HIP(hipMemsetD2D32(rows + 2, PITCH, 1, WIDTH, ROWS), hipErrorInvalidValue);
    CHECK_HIP(hipMemsetD2D32(rows, PITCH + 2, 1, WIDTH, 2), hipErrorInvalidValue);
    CHECK_HIP(hipMemsetD2D32(rows, 16, 1, WIDTH, ROWS), hipErrorInvalidValue);
    CHECK_HIP(hipMemsetD2D16(rows, PITCH, 1, WIDTH, ROWS + 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemsetD2D8(NULL, PITCH, 1, WIDTH, ROWS), hipErrorInvalidValue);
    OK(hipHostFree(rows));
    OK(hipStreamDestroy(stream));
}

static void linear(void)
{
    enum { COUNT = 5, BYTES = 4096 };
    unsigned char *host[COUNT], *device[COUNT], *back;
    void *dsts[COUNT], *srcs[COUNT];
    size_t sizes[COUNT], failed = 77, indices[2] = {0, 3};
    hipMemcpyAttributes attributes[2] = {{.srcAccessOrder = hipMemcpySrcAccessOrderStream},
                                         {.srcAccessOrder = hipMemcpySrcAccessOrderDuringApiCall}};
    hipStream_t stream;

    OK(hipStreamCreate(&stream));
    back = malloc(BYTES);
    for (int i = 0; i < COUNT; i++) {
        host[i] = malloc(BYTES);
        memset(host[i], 10 + i, BYTES);
        OK(hipMalloc((void **)&device[i], BYTES));
        dsts[i] = device[i];
        srcs[i] = host[i];
        sizes[i] = BYTES - (size_t)i;
    }
    OK(hipMemcpyBatchAsync(dsts, srcs, sizes, COUNT, attributes, indices, 2, &failed, stream));
    CHECK_EQ(failed, 77);
    for (int i = 3; i < COUNT; i++) /* read before the call returned */
        memset(host[i], 0, BYTES);
    OK(hipStreamSynchronize(stream));
    for (int i = 0; i < COUNT; i++) {
        OK(hipMemcpy(back, device[i], BYTES, hipMemcpyDeviceToHost));
        CHECK_EQ(back[0], 10 + i);
        CHECK_EQ(back[sizes[i] - 1], 10 + i);
    }
    sizes[2] = BYTES + 1;
    CHECK_HIP(hipMemcpyBatchAsync(dsts, srcs, sizes, COUNT, attributes, indices, 2, &failed, stream),
              hipErrorInvalidValue);
    CHECK_EQ(failed, 2);
    CHECK_HIP(hipMemcpyBatchAsync(dsts, srcs, sizes, 0, attributes, indices, 1, &failed, stream),
              hipErrorInvalidValue);
    CHECK(failed == SIZE_MAX);
    indices[0] = 1;
    CHECK_HIP(hipMemcpyBatchAsync(dsts, srcs, sizes, 2, attributes, indices, 1, NULL, stream),
              hipErrorInvalidValue);
    indices[0] = 0;
    attributes[0].srcAccessOrder = hipMemcpySrcAccessOrderInvalid;
    CHECK_HIP(hipMemcpyBatchAsync(dsts, srcs, sizes, 2, attributes, indices, 1, &failed, stream),
              hipErrorInvalidValue);
    CHECK_EQ(failed, 0);
    OK(hipStreamSynchronize(stream));
    for (int i = 0; i < COUNT; i++) {
        OK(hipFree(device[i]));
        free(host[i]);
    }
    free(back);
    OK(hipStreamDestroy(stream));
}

/* Into an array's middle and out again; rows of the pointers are longer than what is copied. */
static void boxes(void)
{
    enum { WIDTH = 6, HEIGHT = 4, DEPTH = 2, ROW = 9 };
    const hipChannelFormatDesc desc = {32, 0, 0, 0, hipChannelFormatKindUnsigned};
    uint32_t from[DEPTH][HEIGHT][ROW], to[DEPTH][HEIGHT][WIDTH];
    hipArray_t array;
    size_t failed = 0;

    for (uint32_t i = 0; i < DEPTH * HEIGHT * ROW; i++)
        (&from[0][0][0])[i] = i;
    memset(to, 0, sizeof to);
    OK(hipMalloc3DArray(&array, &desc, (hipExtent){WIDTH + 2, HEIGHT + 1, DEPTH + 1}, 0));
    hipMemcpy3DBatchOp ops[2] = {
        {.src = {.type = hipMemcpyOperandTypePointer, .op.ptr = {.ptr = from, .rowLength = ROW}},
         .dst = {.type = hipMemcpyOperandTypeArray, .op.array = {array, {2, 1, 1}}},
         .extent = {WIDTH, HEIGHT, DEPTH},
         .srcAccessOrder = hipMemcpySrcAccessOrderStream},
        {.src = {.type = hipMemcpyOperandTypeArray, .op.array = {array, {2, 1, 1}}},
         .dst = {.type = hipMemcpyOperandTypePointer, .op.ptr = {.ptr = to}},
         .extent = {WIDTH, HEIGHT, DEPTH},
         .srcAccessOrder = hipMemcpySrcAccessOrderDuringApiCall}};
    OK(hipMemcpy3DBatchAsync(2, ops, &failed, 0, NULL));
    for (int z = 0; z < DEPTH; z++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                CHECK_EQ(to[z][y][x], from[z][y][x]);
    ops[1].extent.width = WIDTH + 1; /* out of the array */
    CHECK_HIP(hipMemcpy3DBatchAsync(2, ops, &failed, 0, NULL), hipErrorInvalidValue);
    CHECK_EQ(failed, 1);
    ops[0].dst.type = (hipMemcpy3DOperandType)7;
    CHECK_HIP(hipMemcpy3DBatchAsync(2, ops, &failed, 0, NULL), hipErrorInvalidValue);
    CHECK_EQ(failed, 0);
    CHECK_HIP(hipMemcpy3DBatchAsync(0, ops, &failed, 0, NULL), hipErrorInvalidValue);
    CHECK(failed == SIZE_MAX);
    hipMemcpy3DPeerParms peer = {.srcArray = array,
                                 .srcPos = {2, 1, 1},
                                 .dstPtr = {to, WIDTH * sizeof(uint32_t), WIDTH, HEIGHT},
                                 .extent = {WIDTH, HEIGHT, DEPTH}};
    uint32_t *device;
    OK(hipMalloc((void **)&device, sizeof to));
    peer.dstPtr.ptr = device;
    for (int async = 0; async < 2; async++) {
        memset(to, 0, sizeof to);
        OK(hipMemset(device, 0, sizeof to));
        OK(async ? hipMemcpy3DPeerAsync(&peer, NULL) : hipMemcpy3DPeer(&peer));
        OK(hipMemcpy(to, device, sizeof to, hipMemcpyDeviceToHost));
        CHECK_EQ(to[DEPTH - 1][HEIGHT - 1][WIDTH - 1], from[DEPTH - 1][HEIGHT - 1][WIDTH - 1]);
    }
    peer.srcDevice = 99;
    CHECK_HIP(hipMemcpy3DPeer(&peer), hipErrorInvalidDevice);
    CHECK_HIP(hipMemcpy3DPeer(NULL), hipErrorInvalidValue);
    OK(hipFree(device));
    OK(hipFreeArray(array));
}

static void places(void)
{
    const hipMemLocation device = {hipMemLocationTypeDevice, 0}, host = {hipMemLocationTypeHost, 5},
                         none = {hipMemLocationTypeNone, 0};
    int place;
    char *p;

    OK(hipMallocManaged((void **)&p, 8192, hipMemAttachGlobal));
    OK(hipMemAdvise_v2(p, 8192, hipMemAdviseSetPreferredLocation, host));
    OK(hipMemRangeGetAttribute(&place, sizeof place, hipMemRangeAttributePreferredLocation, p, 8192));
    CHECK_EQ(place, hipCpuDeviceId);
    OK(hipMemAdvise_v2(p, 8192, hipMemAdviseSetPreferredLocation, device));
    OK(hipMemRangeGetAttribute(&place, sizeof place, hipMemRangeAttributePreferredLocation, p, 8192));
    CHECK_EQ(place, 0);
    CHECK_HIP(hipMemAdvise_v2(p, 8192, hipMemAdviseSetPreferredLocation, none), hipErrorInvalidValue);
    CHECK_HIP(hipMemAdvise_v2(p, 8192, hipMemAdviseSetPreferredLocation,
                              (hipMemLocation){hipMemLocationTypeHostNuma, 64}),
              hipErrorInvalidDevice);
    OK(hipMemPrefetchAsync_v2(p, 8192, device, 0, NULL));
    OK(hipMemRangeGetAttribute(&place, sizeof place, hipMemRangeAttributeLastPrefetchLocation, p, 8192));
    CHECK_EQ(place, 0);
    CHECK_HIP(hipMemPrefetchAsync_v2(p, 8192, device, 1, NULL), hipErrorInvalidValue);
    OK(hipDeviceSynchronize());
    OK(hipFree(p));
}

static void streams(void)
{
    hipStreamAttrValue value = {.syncPolicy = hipSyncPolicyYield};
    unsigned long long id[3];
    hipStream_t stream[2];
    int priority, number;

    for (int i = 0; i < 2; i++) {
        OK(hipStreamCreate(&stream[i]));
        OK(hipStreamGetId(stream[i], &id[i]));
    }
    OK(hipStreamGetId(NULL, &id[2]));
    CHECK(id[0] != id[1] && id[1] != id[2] && id[0] != id[2]);
    CHECK_HIP(hipStreamGetId(stream[0], NULL), hipErrorInvalidValue);
    OK(hipStreamSetAttribute(stream[0], hipStreamAttributeSynchronizationPolicy, &value));
    value.priority = -1;
    OK(hipStreamSetAttribute(stream[0], hipStreamAttributePriority, &value));
    value.priority = 2;
    CHECK_HIP(hipStreamSetAttribute(stream[0], hipStreamAttributePriority, &value), hipErrorInvalidValue);
    OK(hipStreamGetPriority(stream[0], &priority));
    CHECK_EQ(priority, -1);
    OK(hipStreamGetAttribute(stream[0], hipStreamAttributeSynchronizationPolicy, &value));
    CHECK_EQ(value.syncPolicy, hipSyncPolicyYield);
    OK(hipStreamGetAttribute(stream[1], hipStreamAttributeSynchronizationPolicy, &value));
    CHECK_EQ(value.syncPolicy, hipSyncPolicyAuto);
    CHECK_HIP(hipStreamGetAttribute(stream[0], hipLaunchAttributeCooperative, &value), hipErrorInvalidValue);
    CHECK_HIP(hipStreamSetAttribute(stream[0], hipStreamAttributePriority, NULL), hipErrorInvalidValue);
    OK(hipStreamDestroy(stream[0]));
    OK(hipStreamDestroy(stream[1]));
    OK(hipDeviceGetAttribute(&number, hipDeviceAttributeNumberOfXccs, 0));
    CHECK_EQ(number, 6);
}

static void libraries(const char *path)
{
    unsigned functions, kernels;
    hipLibrary_t library;
    hipModule_t module;
    hipKernel_t store;
    int *out, value = 8;

    OK(hipModuleLoad(&module, path));
    OK(hipModuleGetFunctionCount(&functions, module));
    CHECK(functions > 1);
    OK(hipModuleUnload(module));
    OK(hipLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    OK(hipLibraryGetKernelCount(&kernels, library));
    CHECK_EQ(kernels, functions);
    OK(hipLibraryGetKernel(&store, library, "store"));
    CHECK_HIP(hipLibraryGetKernel(&store, library, "no such"), hipErrorNotFound);
    OK(hipLibraryGetKernel(&store, library, "store"));
    OK(hipMalloc((void **)&out, 64 * sizeof *out));
    OK(hipModuleLaunchKernel((hipFunction_t)store, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&out, &value},
                             NULL));
    OK(hipDeviceSynchronize());
    CHECK_EQ(out[63], 8);
    OK(hipFree(out));
    OK(hipLibraryUnload(library));
    CHECK_HIP(hipLibraryUnload(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipLibraryLoadFromFile(&library, path, NULL, NULL, 1, NULL, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipLibraryLoadFromFile(&library, "no such", NULL, NULL, 0, NULL, NULL, 0),
              hipErrorFileNotFound);
}

static void names(void)
{
    hipDriverEntryPointQueryResult status;
    void *call;

    OK(hipGetDriverEntryPoint("hipMemcpyBatchAsync", &call, hipEnableDefault, &status));
    CHECK(call == (void *)hipMemcpyBatchAsync);
    CHECK_EQ(status, hipDriverEntryPointSuccess);
    OK(hipGetDriverEntryPoint("hipNothing", &call, hipEnableDefault, &status));
    CHECK(!call);
    CHECK_EQ(status, hipDriverEntryPointSymbolNotFound);
    CHECK_HIP(hipGetDriverEntryPoint("hipNothing", &call, hipEnableDefault, NULL), hipErrorNotFound);
    CHECK_HIP(hipGetDriverEntryPoint("hipMalloc", &call, 3, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipMemGetHandleForAddressRange(&call, &call, 1, hipMemRangeHandleTypeDmaBufFd, 0),
              hipErrorNotSupported); /* there is no driver to export to others */
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    fills();
    linear();
    boxes();
    places();
    streams();
    libraries(argv[1]);
    names();
    return check_status();
}
