/* SPDX-License-Identifier: MIT */
/* Memory without kernels: allocation, pointers, copies of every shape, sets, arrays.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "hip_check.h"

static void allocation(void)
{
    void *a = NULL, *b = NULL;
    size_t before, after, total;
    int on_stack;

    OK(hipMemGetInfo(&before, &total));
    OK(hipMalloc(&a, 1 << 20));
    OK(hipMemGetInfo(&after, &total));
    CHECK(before - after >= 1 << 20);
    OK(hipFree(a));
    OK(hipMemGetInfo(&after, &total));
    CHECK_EQ(before, after);
    CHECK_HIP(hipFree(a), hipErrorInvalidValue);
    OK(hipFree(NULL));
    CHECK_HIP(hipFree(&on_stack), hipErrorInvalidValue);
    OK(hipMalloc(&a, 0));
    CHECK(a == NULL);
    CHECK_HIP(hipMalloc(&a, total + 1), hipErrorOutOfMemory);
    CHECK_HIP(hipMalloc(&a, SIZE_MAX), hipErrorOutOfMemory);
    OK(hipMalloc(&a, 4096));
    CHECK_HIP(hipFree((char *)a + 64), hipErrorInvalidValue);
    CHECK_HIP(hipHostFree(a), hipErrorInvalidValue);
    OK(hipFree(a));
    OK(hipHostMalloc(&b, 100, hipHostMallocDefault));
    memset(b, 7, 100);
    OK(hipHostFree(b));
    CHECK_HIP(hipHostMalloc(&b, 100, hipHostMallocCoherent | hipHostMallocNonCoherent), hipErrorInvalidValue);
    CHECK_HIP(hipMallocManaged(&b, 100, 77), hipErrorInvalidValue);
}

/* Small allocations share blocks: more of them than the host allows mappings. */
static void many(void)
{
    enum { COUNT = 40000 };
    static int *p[COUNT];
    size_t before, between, after, total;
    OK(hipMemGetInfo(&before, &total));
    for (int i = 0; i < COUNT; i++) {
        hipError_t error = hipMalloc((void **)&p[i], 16);
        CHECK(error == hipSuccess);
        if (error != hipSuccess)
            return;
        p[i][3] = i;
    }
    OK(hipMemGetInfo(&between, &total));
    CHECK(before - between >= COUNT * (size_t)4096 && before - between < 2 * COUNT * (size_t)4096);
    CHECK((before - between) % (2 << 20) == 0);
    for (int i = 0; i < COUNT; i++) {
        CHECK(p[i][3] == i);
        OK(hipFree(p[i]));
    }
    OK(hipMemGetInfo(&after, &total));
    CHECK(after == before);
}

/* What may be registered: memory of the process, once. */
static void registered(void)
{
    char *pages = mmap(NULL, 6 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned flags;
    void *device;

    munmap(pages + 3 * 4096, 4096);
    mprotect(pages + 5 * 4096, 4096, PROT_NONE);
    CHECK_HIP(hipHostRegister(pages + 3 * 4096, 4096, 0), hipErrorInvalidValue);
    CHECK_HIP(hipHostRegister(pages + 2 * 4096, 8192, 0), hipErrorInvalidValue);
    CHECK_HIP(hipHostRegister(pages + 3 * 4096 + 4000, 4096, 0), hipErrorInvalidValue);
    CHECK_HIP(hipHostRegister(pages + 5 * 4096, 4096, 0), hipErrorInvalidValue);
    CHECK_HIP(hipHostRegister((void *)(uintptr_t)0x1000, 64, 0), hipErrorInvalidValue);
    CHECK_HIP(hipHostRegister(pages, SIZE_MAX, 0), hipErrorInvalidValue);
    CHECK_HIP(hipHostRegister(pages, 0, 0), hipErrorInvalidValue);
    CHECK_HIP(hipHostRegister(NULL, 4096, 0), hipErrorInvalidValue);
    CHECK_HIP(hipHostRegister(pages, 4096, 0x10), hipErrorInvalidValue);
    OK(hipHostRegister(pages + 100, 4096, hipHostRegisterMapped | hipHostRegisterPortable));
    CHECK_HIP(hipHostRegister(pages, 4096, 0), hipErrorHostMemoryAlreadyRegistered);
    CHECK_HIP(hipHostRegister(pages + 200, 8192, 0), hipErrorHostMemoryAlreadyRegistered);
    CHECK_HIP(hipHostRegister(pages, 3 * 4096, 0), hipErrorHostMemoryAlreadyRegistered);
    OK(hipHostGetFlags(&flags, pages + 100));
    CHECK_EQ(flags, hipHostRegisterMapped | hipHostRegisterPortable);
    OK(hipHostGetDevicePointer(&device, pages + 4000, 0));
    CHECK(device == pages + 4000);
    CHECK_HIP(hipHostGetDevicePointer(&device, pages + 4000, 1), hipErrorInvalidValue);
    CHECK_HIP(hipHostUnregister(pages + 101), hipErrorHostMemoryNotRegistered);
    CHECK_HIP(hipHostFree(pages + 100), hipErrorInvalidValue);
    CHECK_HIP(hipFree(pages + 100), hipErrorInvalidValue);
    OK(hipHostUnregister(pages + 100));
    CHECK_HIP(hipHostUnregister(pages + 100), hipErrorHostMemoryNotRegistered);
    CHECK_HIP(hipHostUnregister(NULL), hipErrorInvalidValue);
    OK(hipMalloc(&device, 4096));
    CHECK_HIP(hipHostRegister(device, 4096, 0), hipErrorHostMemoryAlreadyRegistered);
    CHECK_HIP(hipHostUnregister(device), hipErrorHostMemoryNotRegistered);
    OK(hipFree(device));
    munmap(pages, 6 * 4096);
}

/* What is asked of pointers one by one. */
static void attributes(void)
{
    const hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned,
                                   .handleTypes = hipMemHandleTypePosixFileDescriptor,
                                   .location = {hipMemLocationTypeDevice, 0}};
    hipMemPool_t pool, got;
    hipMemAllocationHandleType types;
    hipDeviceptr_t base;
    char *device, *pooled;
    int on_stack = 0;
    unsigned type;
    bool flag = true;
    size_t size;
    uint64_t id, other;

    OK(hipMalloc((void **)&device, 1000));
    OK(hipMemPoolCreate(&pool, &props));
    OK(hipMallocFromPoolAsync((void **)&pooled, 1000, pool, NULL));
    OK(hipPointerGetAttribute(&flag, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, device));
    CHECK(!flag);
    flag = true;
    OK(hipPointerSetAttribute(&flag, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, device + 5));
    flag = false;
    OK(hipPointerGetAttribute(&flag, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, device));
    CHECK(flag);
    CHECK_HIP(hipPointerSetAttribute(NULL, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, device), hipErrorInvalidValue);
    CHECK_HIP(hipPointerSetAttribute(&flag, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipPointerSetAttribute(&flag, HIP_POINTER_ATTRIBUTE_MAPPED, device), hipErrorInvalidValue);
    CHECK_HIP(hipPointerSetAttribute(&flag, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, &on_stack),
              hipErrorInvalidDevicePointer);
    OK(hipPointerGetAttribute(&types, HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, device));
    CHECK_EQ(types, hipMemHandleTypeNone);
    OK(hipPointerGetAttribute(&types, HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, pooled));
    CHECK_EQ(types, hipMemHandleTypePosixFileDescriptor);
    OK(hipPointerGetAttribute(&got, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pooled));
    CHECK(got == pool);
    OK(hipPointerGetAttribute(&base, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, device + 77));
    OK(hipPointerGetAttribute(&size, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, device + 77));
    CHECK(base == device && size == 1000);
    OK(hipPointerGetAttribute(&id, HIP_POINTER_ATTRIBUTE_BUFFER_ID, device));
    OK(hipPointerGetAttribute(&other, HIP_POINTER_ATTRIBUTE_BUFFER_ID, device + 999));
    CHECK(id == other && id);
    OK(hipPointerGetAttribute(&other, HIP_POINTER_ATTRIBUTE_BUFFER_ID, pooled));
    CHECK(id != other);
    CHECK_HIP(hipPointerGetAttribute(&base, HIP_POINTER_ATTRIBUTE_HOST_POINTER, device),
              hipErrorInvalidValue);
    CHECK_HIP(hipPointerGetAttribute(&size, (hipPointer_attribute)99, device), hipErrorInvalidValue);
    CHECK_HIP(hipPointerGetAttribute(NULL, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, device), hipErrorInvalidValue);
    CHECK_HIP(hipPointerGetAttribute(&size, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipPointerGetAttribute(&size, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, &on_stack),
              hipErrorInvalidValue);
    hipPointer_attribute list[] = {HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, HIP_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *data[] = {&type, &size};
    size = 0;
    OK(hipDrvPointerGetAttributes(2, list, data, device));
    CHECK(type == hipMemoryTypeDevice && size == 1000);
    CHECK_HIP(hipDrvPointerGetAttributes(0, list, data, device), hipErrorInvalidValue);
    CHECK_HIP(hipDrvPointerGetAttributes(2, NULL, data, device), hipErrorInvalidValue);
    CHECK_HIP(hipDrvPointerGetAttributes(2, list, NULL, device), hipErrorInvalidValue);
    CHECK_HIP(hipMemGetAddressRange(&base, &size, &on_stack), hipErrorNotFound);
    CHECK_HIP(hipMemGetAddressRange(&base, &size, NULL), hipErrorNotFound);
    CHECK_HIP(hipMemPtrGetInfo(&on_stack, &size), hipErrorInvalidValue);
    CHECK_HIP(hipMemPtrGetInfo(NULL, &size), hipErrorInvalidValue);
    CHECK_HIP(hipMemPtrGetInfo(device, NULL), hipErrorInvalidValue);
    OK(hipFreeAsync(pooled, NULL));
    OK(hipMemPoolDestroy(pool));
    OK(hipFree(device));
    CHECK_HIP(hipMemGetAddressRange(&base, &size, device), hipErrorNotFound);
}

static void pointers(void)
{
    hipPointerAttribute_t attributes;
    char *device, *host, *managed, *plain = malloc(8192);
    void *got;
    size_t size;
    hipDeviceptr_t base;
    unsigned flags;

    OK(hipMalloc((void **)&device, 1000));
    OK(hipHostMalloc((void **)&host, 1000, hipHostMallocMapped));
    OK(hipMallocManaged((void **)&managed, 1000, hipMemAttachGlobal));

    OK(hipPointerGetAttributes(&attributes, device + 10));
    CHECK_EQ(attributes.type, hipMemoryTypeDevice);
    CHECK(attributes.devicePointer == device + 10 && attributes.hostPointer == NULL);
    OK(hipPointerGetAttributes(&attributes, host));
    CHECK_EQ(attributes.type, hipMemoryTypeHost);
    CHECK(attributes.hostPointer == host && attributes.devicePointer == host);
    OK(hipPointerGetAttributes(&attributes, managed));
    CHECK_EQ(attributes.type, hipMemoryTypeManaged);
    CHECK_EQ(attributes.isManaged, 1);
    OK(hipPointerGetAttributes(&attributes, plain));
    CHECK_EQ(attributes.type, hipMemoryTypeUnregistered);

    OK(hipMemGetAddressRange(&base, &size, device + 999));
    CHECK(base == device);
    CHECK_EQ(size, 1000);
    CHECK_HIP(hipMemGetAddressRange(&base, &size, device + 1000), hipErrorNotFound);
    OK(hipMemPtrGetInfo(device, &size));
    CHECK_EQ(size, 1000);
    OK(hipHostGetDevicePointer(&got, host, 0));
    CHECK(got == host);
    CHECK_HIP(hipHostGetDevicePointer(&got, plain, 0), hipErrorInvalidValue);
    OK(hipHostGetDevicePointer(&got, managed + 9, 0));
    CHECK(got == managed + 9);
    OK(hipHostGetDevicePointer(&got, device, 0));
    CHECK_HIP(hipHostGetDevicePointer(&got, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipHostGetDevicePointer(NULL, host, 0), hipErrorInvalidValue);
    CHECK_HIP(hipHostGetFlags(&flags, device), hipErrorInvalidValue);
    CHECK_HIP(hipHostGetFlags(&flags, plain), hipErrorInvalidValue);
    CHECK_HIP(hipHostGetFlags(NULL, host), hipErrorInvalidValue);
    CHECK_HIP(hipHostGetFlags(&flags, NULL), hipErrorInvalidValue);
    OK(hipHostGetFlags(&flags, host));
    CHECK_EQ(flags, hipHostMallocMapped);

    OK(hipHostRegister(plain, 8192, hipHostRegisterDefault));
    CHECK_HIP(hipHostRegister(plain, 8192, hipHostRegisterDefault), hipErrorHostMemoryAlreadyRegistered);
    OK(hipPointerGetAttributes(&attributes, plain + 8191));
    CHECK_EQ(attributes.type, hipMemoryTypeHost);
    CHECK_HIP(hipHostUnregister(plain + 1), hipErrorHostMemoryNotRegistered);
    OK(hipHostUnregister(plain));
    CHECK_HIP(hipHostUnregister(plain), hipErrorHostMemoryNotRegistered);
    free(plain);
    registered();

    OK(hipMemAdvise(managed, 1000, hipMemAdviseSetReadMostly, 0));
    OK(hipMemPrefetchAsync(managed, 1000, 0, NULL));
    int value = 9;
    OK(hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributeReadMostly, managed, 1000));
    CHECK_EQ(value, 1);
    OK(hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributeLastPrefetchLocation, managed,
                               1000));
    CHECK_EQ(value, 0);
    CHECK_HIP(hipMemAdvise(device, 1000, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
    /* Of whole pages. */
    OK(hipMemAdvise(managed + 10, 4086, hipMemAdviseUnsetReadMostly, 0));
    OK(hipMemPrefetchAsync(managed + 999, 4096 - 999, 0, NULL));
    CHECK_HIP(hipMemAdvise(managed, 4097, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemAdvise(managed + 10, SIZE_MAX, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemAdvise(managed + 1000, 1, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
    OK(hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributeReadMostly, managed, 4096));
    CHECK_EQ(value, 0);

    /* Just past an allocation, in the same page, is nobody's; so is what HIP does not know. */
    OK(hipPointerGetAttributes(&attributes, host + 1000));
    CHECK_EQ(attributes.type, hipMemoryTypeUnregistered);
    CHECK_HIP(hipMemGetAddressRange(&base, &size, managed + 1000), hipErrorNotFound);
    CHECK_HIP(hipMemGetAddressRange(&base, &size, &flags), hipErrorNotFound);
    OK(hipMemGetAddressRange(&base, &size, host + 500));
    CHECK(base == host && size == 1000);
    CHECK_HIP(hipMemcpy(device, host, 1001, hipMemcpyDefault), hipErrorInvalidValue);

    OK(hipFree(device));
    OK(hipHostFree(host));
    OK(hipFree(managed));
}

static void linear(void)
{
    unsigned char host[4096], back[4096];
    unsigned char *a, *b;

    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)(i * 7 + 1);
    OK(hipMalloc((void **)&a, sizeof host));
    OK(hipMalloc((void **)&b, sizeof host));
    OK(hipMemcpy(a, host, sizeof host, hipMemcpyHostToDevice));
    OK(hipMemcpy(b, a, sizeof host, hipMemcpyDeviceToDevice));
    OK(hipMemcpy(back, b, sizeof host, hipMemcpyDeviceToHost));
    CHECK(!memcmp(host, back, sizeof host));
    memset(back, 0, sizeof back);
    OK(hipMemcpy(back, b, sizeof host, hipMemcpyDefault));
    CHECK(!memcmp(host, back, sizeof host));
    OK(hipMemcpy(a + 8, a, 1000, hipMemcpyDeviceToDevice)); /* overlapping */
    OK(hipMemcpyDtoH(back, a, sizeof back));
    CHECK(!memcmp(host, back + 8, 1000));

    CHECK_HIP(hipMemcpy(a, host, sizeof host + 1, hipMemcpyHostToDevice), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy(NULL, host, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy(a, NULL, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy(a, host, 4, (hipMemcpyKind)77), hipErrorInvalidMemcpyDirection);
    CHECK_HIP(hipMemcpy(back, host, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    OK(hipMemcpy(back, host, 4, hipMemcpyHostToHost));
    OK(hipMemcpy(NULL, NULL, 0, hipMemcpyHostToDevice));

    OK(hipMemset(a, 0x5a, 100));
    OK(hipMemsetD16(a + 100, 0x1234, 50));
    OK(hipMemsetD32(a + 200, 0x01020304, 25));
    OK(hipMemcpy(back, a, 300, hipMemcpyDeviceToHost));
    CHECK_EQ(back[99], 0x5a);
    CHECK_EQ(back[100] | back[101] << 8, 0x1234);
    CHECK_EQ(back[299], 1);
    CHECK_HIP(hipMemset(NULL, 0, 4), hipErrorInvalidValue);
    CHECK_HIP(hipMemset(a, 0, sizeof host + 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemset(host, 0, 4), hipErrorInvalidValue);
    OK(hipFree(a));
    OK(hipFree(b));
}

static void boxes(void)
{
    unsigned char host[16 * 10], back[16 * 10], *device;
    size_t pitch;

    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)i;
    OK(hipMallocPitch((void **)&device, &pitch, 16, 10));
    CHECK(pitch >= 16 && pitch % 256 == 0);
    OK(hipMemcpy2D(device, pitch, host, 16, 16, 10, hipMemcpyHostToDevice));
    CHECK_EQ(device[pitch * 9 + 15], 159);
    memset(back, 0, sizeof back);
    OK(hipMemcpy2D(back + 16 * 2 + 3, 16, device + pitch * 2 + 3, pitch, 5, 4, hipMemcpyDeviceToHost));
    for (size_t y = 0; y < 10; y++)
        for (size_t x = 0; x < 16; x++)
            CHECK_EQ(back[y * 16 + x], y >= 2 && y < 6 && x >= 3 && x < 8 ? y * 16 + x : 0);
    CHECK_HIP(hipMemcpy2D(device, 8, host, 16, 16, 10, hipMemcpyHostToDevice), hipErrorInvalidPitchValue);
    CHECK_HIP(hipMemcpy2D(device, pitch, host, 16, 16, 1000, hipMemcpyHostToDevice), hipErrorInvalidValue);
    OK(hipMemset2D(device, pitch, 9, 4, 3));
    CHECK_EQ(device[pitch * 2 + 3], 9);
    CHECK_EQ(device[pitch * 2 + 4], 2 * 16 + 4);
    OK(hipFree(device));

    /* 4 x 3 x 2 bytes out of a 16 x 5 x 2 box, and back into another place */
    hipPitchedPtr box;
    OK(hipMalloc3D(&box, (hipExtent){16, 5, 2}));
    hipMemcpy3DParms p = {.srcPtr = {host, 16, 16, 5},
                          .srcPos = {2, 1, 0},
                          .dstPtr = box,
                          .dstPos = {0, 0, 0},
                          .extent = {4, 3, 2},
                          .kind = hipMemcpyHostToDevice};
    OK(hipMemcpy3D(&p));
    unsigned char *data = box.ptr;
    for (size_t z = 0; z < 2; z++)
        for (size_t y = 0; y < 3; y++)
            for (size_t x = 0; x < 4; x++)
                CHECK_EQ(data[z * box.pitch * 5 + y * box.pitch + x], z * 80 + (y + 1) * 16 + x + 2);
    OK(hipMemset3D(box, 3, (hipExtent){16, 5, 2}));
    OK(hipStreamSynchronize(NULL));
    CHECK_EQ(data[box.pitch * 9 + 15], 3);
    OK(hipFree(box.ptr));
}

static void arrays(void)
{
    const hipChannelFormatDesc desc = {32, 0, 0, 0, hipChannelFormatKindFloat};
    float host[6 * 4], back[6 * 4];
    hipChannelFormatDesc got;
    hipExtent extent;
    hipArray_t array;
    unsigned flags;

    for (int i = 0; i < 24; i++)
        host[i] = (float)i;
    OK(hipMallocArray(&array, &desc, 6, 4, hipArrayDefault));
    OK(hipMemcpy2DToArray(array, 0, 0, host, 24, 24, 4, hipMemcpyHostToDevice));
    memset(back, 0, sizeof back);
    OK(hipMemcpy2DFromArray(back, 24, array, 4, 1, 8, 2, hipMemcpyDeviceToHost));
    CHECK(back[0] == 7 && back[1] == 8 && back[6] == 13 && back[7] == 14);
    OK(hipMemcpyFromArray(back, array, 0, 0, sizeof back, hipMemcpyDeviceToHost));
    CHECK(!memcmp(host, back, sizeof host));
    OK(hipArrayGetInfo(&got, &extent, &flags, array));
    CHECK_EQ(got.x, 32);
    CHECK_EQ(extent.width, 6);
    CHECK_EQ(extent.height, 4);
    CHECK_HIP(hipMemcpy2DToArray(array, 0, 0, host, 24, 28, 4, hipMemcpyHostToDevice),
              hipErrorInvalidPitchValue);
    CHECK_HIP(hipMemcpy2DToArray(array, 4, 0, host, 24, 24, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
    OK(hipFreeArray(array));
    CHECK_HIP(hipFreeArray(NULL), hipErrorInvalidValue);
    const hipChannelFormatDesc odd = {32, 16, 0, 0, hipChannelFormatKindFloat};
    CHECK_HIP(hipMallocArray(&array, &odd, 6, 4, hipArrayDefault), hipErrorInvalidValue);
    CHECK_HIP(hipMallocArray(&array, &desc, 0, 4, hipArrayDefault), hipErrorInvalidValue);
    CHECK_HIP(hipMallocArray(&array, &desc, 6, 4, 0x100), hipErrorInvalidValue);
    CHECK_HIP(hipMallocArray(&array, NULL, 6, 4, hipArrayDefault), hipErrorInvalidValue);
    CHECK_HIP(hipMallocArray(NULL, &desc, 6, 4, hipArrayDefault), hipErrorInvalidValue);
    CHECK_HIP(hipMallocArray(&array, &desc, SIZE_MAX, SIZE_MAX, hipArrayDefault), hipErrorOutOfMemory);
    for (int i = 0; i < 6; i++) {
        HIP_ARRAY_DESCRIPTOR d = {6, 4, HIP_AD_FORMAT_FLOAT, 2};
        if (i == 0)
            d.Width = 0;
        if (i == 1)
            d.Format = (hipArray_Format)99;
        if (i >= 2)
            d.NumChannels = i == 2 ? 0 : i == 3 ? 3 : i == 4 ? 5 : UINT32_MAX;
        CHECK_HIP(hipArrayCreate(&array, &d), hipErrorInvalidValue);
        HIP_ARRAY3D_DESCRIPTOR d3 = {d.Width, d.Height, 2, d.Format, d.NumChannels, 0};
        CHECK_HIP(hipArray3DCreate(&array, &d3), hipErrorInvalidValue);
    }
    CHECK_HIP(hipArrayCreate(&array, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipArrayCreate(NULL, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipArrayGetInfo(&got, &extent, &flags, NULL), hipErrorInvalidHandle);
}

/* Copies between arrays and memory in a stream; sizes that are nothing, or more than there is. */
static void array_streams(void)
{
    const hipChannelFormatDesc desc = {16, 16, 0, 0, hipChannelFormatKindUnsigned};
    unsigned char *host, *device;
    hipStream_t stream;
    hipArray_t array;

    OK(hipStreamCreate(&stream));
    OK(hipHostMalloc((void **)&host, 8 * 32, 0));
    OK(hipMalloc((void **)&device, 8 * 32));
    for (int i = 0; i < 8 * 32; i++)
        host[i] = (unsigned char)i;
    OK(hipMallocArray(&array, &desc, 8, 8, hipArrayDefault));
    OK(hipMemcpy2DToArrayAsync(array, 0, 0, host, 32, 32, 8, hipMemcpyHostToDevice, stream));
    OK(hipMemcpy2DFromArrayAsync(device, 32, array, 4, 1, 8, 3, hipMemcpyDeviceToDevice, stream));
    OK(hipMemcpyAtoHAsync(host, array, 32 * 7, 32, stream));
    OK(hipStreamSynchronize(stream));
    CHECK(device[0] == 36 && device[32] == 68 && device[71] == 107 && host[0] == 224 && host[31] == 255);
    OK(hipMemcpyHtoAAsync(array, 4, host, 4, stream));
    const hip_Memcpy2D part = {.srcMemoryType = hipMemoryTypeArray,
                               .srcArray = array,
                               .dstMemoryType = hipMemoryTypeDevice,
                               .dstDevice = device,
                               .dstPitch = 16,
                               .WidthInBytes = 16,
                               .Height = 2};
    OK(hipMemcpyParam2DAsync(&part, stream));
    OK(hipStreamSynchronize(stream));
    CHECK(device[3] == 3 && device[4] == 224 && device[8] == 8 && device[16] == 32);
    const HIP_MEMCPY3D box = {.srcMemoryType = hipMemoryTypeDevice,
                              .srcDevice = device,
                              .srcPitch = 16,
                              .dstMemoryType = hipMemoryTypeArray,
                              .dstArray = array,
                              .dstY = 6,
                              .WidthInBytes = 16,
                              .Height = 2,
                              .Depth = 1};
    OK(hipDrvMemcpy3DAsync(&box, stream));
    OK(hipMemcpyAtoD(device + 100, array, 32 * 6, 8));
    OK(hipStreamSynchronize(NULL));
    CHECK(device[103] == 3 && device[104] == 224);
    HIP_MEMCPY3D wrong = box;
    wrong.WidthInBytes = SIZE_MAX;
    CHECK_HIP(hipDrvMemcpy3DAsync(&wrong, stream), hipErrorInvalidPitchValue);
    wrong = box;
    wrong.Depth = 2;
    CHECK_HIP(hipDrvMemcpy3DAsync(&wrong, stream), hipErrorInvalidValue);
    wrong = box;
    wrong.dstArray = NULL;
    CHECK_HIP(hipDrvMemcpy3DAsync(&wrong, stream), hipErrorInvalidValue);
    CHECK_HIP(hipDrvMemcpy3DAsync(NULL, stream), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpyParam2DAsync(NULL, stream), hipErrorInvalidValue);
    OK(hipMemcpy2DToArrayAsync(array, 0, 0, host, 32, 0, 8, hipMemcpyHostToDevice, stream));
    OK(hipMemcpy2DToArrayAsync(array, 0, 0, host, 32, 8, 0, hipMemcpyHostToDevice, stream));
    CHECK_HIP(
        hipMemcpy2DToArrayAsync(array, 0, 0, host, SIZE_MAX, SIZE_MAX, 8, hipMemcpyHostToDevice, stream),
        hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2DToArrayAsync(array, 0, 0, host, 32, 8, SIZE_MAX, hipMemcpyHostToDevice, stream),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2DToArrayAsync(array, 0, SIZE_MAX, host, 32, 8, 1, hipMemcpyHostToDevice, stream),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2DFromArrayAsync(device, 32, array, SIZE_MAX, 0, 8, 1, hipMemcpyDeviceToHost, stream),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2DFromArrayAsync(NULL, 32, array, 0, 0, 8, 1, hipMemcpyDeviceToHost, stream),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2DFromArrayAsync(device, 4, array, 0, 0, 8, 1, hipMemcpyDeviceToHost, stream),
              hipErrorInvalidPitchValue);
    CHECK_HIP(hipMemcpyAtoHAsync(host, array, SIZE_MAX, 32, stream), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpyHtoAAsync(array, 0, host, SIZE_MAX, stream), hipErrorInvalidValue);
    OK(hipFreeArray(array));
    CHECK_HIP(hipFreeArray(array), hipErrorContextIsDestroyed);
    CHECK_HIP(hipMemcpyHtoAAsync(array, 0, host, 4, stream), hipErrorInvalidValue);
    OK(hipStreamDestroy(stream));
    OK(hipFree(device));
    OK(hipHostFree(host));
}

/* A reset takes the memory of arrays away: they are handles of nothing then. */
static void array_reset(void)
{
    const hipChannelFormatDesc desc = {32, 0, 0, 0, hipChannelFormatKindFloat};
    hipMipmappedArray_t mipmap;
    hipArray_t array, other;
    hipExtent extent;
    char bytes[256];

    OK(hipMallocArray(&array, &desc, 8, 8, 0));
    OK(hipMallocMipmappedArray(&mipmap, &desc, (hipExtent){8, 8, 0}, 2, 0));
    void *registered = aligned_alloc(4096, 4096);
    OK(hipHostRegister(registered, 4096, 0));
    OK(hipDeviceReset());
    CHECK_HIP(hipHostUnregister(registered), hipErrorHostMemoryNotRegistered);
    CHECK_HIP(hipHostGetFlags(&(unsigned){0}, registered), hipErrorInvalidValue);
    OK(hipHostRegister(registered, 4096, 0));
    OK(hipHostUnregister(registered));
    free(registered);
    OK(hipMallocArray(&other, &desc, 8, 8, 0));
    CHECK_HIP(hipMemcpy2DFromArray(bytes, 32, array, 0, 0, 32, 8, hipMemcpyDeviceToHost),
              hipErrorInvalidValue);
    const hipMemcpy3DParms p = {
        .srcArray = array, .dstPtr = {bytes, 32, 8, 8}, .extent = {8, 8, 1}, .kind = hipMemcpyDeviceToHost};
    CHECK_HIP(hipMemcpy3D(&p), hipErrorInvalidValue);
    CHECK_HIP(hipArrayGetInfo(NULL, &extent, NULL, array), hipErrorInvalidHandle);
    CHECK_HIP(hipFreeArray(array), hipErrorContextIsDestroyed);
    OK(hipFreeMipmappedArray(mipmap));
    OK(hipMemcpy2DFromArray(bytes, 32, other, 0, 0, 32, 8, hipMemcpyDeviceToHost));
    OK(hipFreeArray(other));
}

static void mipmaps(void)
{
    const hipChannelFormatDesc desc = {8, 0, 0, 0, hipChannelFormatKindUnsigned};
    HIP_ARRAY3D_DESCRIPTOR d = {16, 4, 0, HIP_AD_FORMAT_UNSIGNED_INT8, 1, 0};
    unsigned char bytes[16 * 4], back[16 * 4];
    hipMipmappedArray_t mipmap;
    hipExtent extent;
    hipArray_t level;
    const size_t sizes[5][2] = {{16, 4}, {8, 2}, {4, 1}, {2, 1}, {1, 1}};

    OK(hipMallocMipmappedArray(&mipmap, &desc, (hipExtent){16, 4, 0}, 5, 0));
    for (unsigned i = 0; i < 5; i++) {
        OK(hipGetMipmappedArrayLevel(&level, mipmap, i));
        OK(hipArrayGetInfo(NULL, &extent, NULL, level));
        CHECK(extent.width == sizes[i][0] && extent.height == sizes[i][1] && extent.depth == 0);
        memset(bytes, (int)i + 1, sizeof bytes);
        OK(hipMemcpy2DToArray(level, 0, 0, bytes, 16, extent.width, extent.height, hipMemcpyHostToDevice));
    }
    for (unsigned i = 0; i < 5; i++) {
        OK(hipMipmappedArrayGetLevel(&level, mipmap, i));
        OK(hipMemcpyFromArray(back, level, 0, 0, sizes[i][0] * sizes[i][1], hipMemcpyDeviceToHost));
        CHECK(back[0] == i + 1 && back[sizes[i][0] * sizes[i][1] - 1] == i + 1);
    }
    CHECK_HIP(hipFreeArray(level), hipErrorContextIsDestroyed); /* it belongs to the mipmap */
    CHECK_HIP(hipGetMipmappedArrayLevel(&level, mipmap, 5), hipErrorInvalidValue);
    CHECK_HIP(hipGetMipmappedArrayLevel(NULL, mipmap, 0), hipErrorInvalidValue);
    CHECK_HIP(hipGetMipmappedArrayLevel(&level, NULL, 0), hipErrorInvalidValue);
    OK(hipFreeMipmappedArray(mipmap));
    CHECK_HIP(hipFreeMipmappedArray(mipmap), hipErrorContextIsDestroyed);
    CHECK_HIP(hipFreeMipmappedArray(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipGetMipmappedArrayLevel(&level, mipmap, 0), hipErrorInvalidHandle);
    CHECK_HIP(hipMallocMipmappedArray(NULL, &desc, (hipExtent){16, 4, 0}, 5, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMallocMipmappedArray(&mipmap, NULL, (hipExtent){16, 4, 0}, 5, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMallocMipmappedArray(&mipmap, &desc, (hipExtent){0, 4, 0}, 1, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMallocMipmappedArray(&mipmap, &desc, (hipExtent){16, 4, 0}, 6, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMallocMipmappedArray(&mipmap, &desc, (hipExtent){16, 4, 0}, 0, 0), hipErrorInvalidValue);
    OK(hipMipmappedArrayCreate(&mipmap, &d, 2));
    OK(hipMipmappedArrayDestroy(mipmap));
    CHECK_HIP(hipMipmappedArrayDestroy(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipMipmappedArrayCreate(&mipmap, NULL, 2), hipErrorInvalidValue);
    CHECK_HIP(hipMipmappedArrayCreate(NULL, &d, 2), hipErrorInvalidValue);
}

int main(void)
{
    allocation();
    many();
    pointers();
    linear();
    boxes();
    arrays();
    array_streams();
    mipmaps();
    attributes();
    array_reset();
    return check_status();
}
