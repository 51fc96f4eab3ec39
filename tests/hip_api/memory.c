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
}

int main(void)
{
    allocation();
    many();
    pointers();
    linear();
    boxes();
    arrays();
    return check_status();
}
