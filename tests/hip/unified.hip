// SPDX-License-Identifier: MIT
// Table I: which memory the GPU and the CPU may access, when its pages are taken, and what is said when the
// GPU touches what it may not. HSA_XNACK decides, so the program is run with both.
#include "check_hip.h"

#include <hip/ehp_host.h>
#include <sys/mman.h>
#include <unistd.h>

static bool xnack;
static int in_bss[1024];
static int in_data[1024] = {1};
__managed__ int managed_static[1024];

__global__ void increment(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i]++;
}

__global__ void scatter(int *p, int n)
{
    int i = threadIdx.x;
    p[(i * 37) % n] += 1;
    if (i == 0)
        atomicAdd(p + n - 1, 5);
}

// What the runtime says on stderr goes to a file meanwhile.
class said
{
    int saved_;
    FILE *file_;

  public:
    said() : saved_(dup(2)), file_(tmpfile())
    {
        fflush(stderr);
        dup2(fileno(file_), 2);
    }
    std::vector<char> end()
    {
        fflush(stderr);
        dup2(saved_, 2);
        close(saved_);
        std::vector<char> text(1 << 16);
        rewind(file_);
        text.resize(fread(text.data(), 1, text.size() - 1, file_) + 1);
        text.back() = '\0';
        fclose(file_);
        return text;
    }
};

static bool has(const std::vector<char> &text, const char *part)
{
    return std::strstr(text.data(), part) != nullptr;
}

// The CPU writes, the GPU counts up, densely and not, the CPU reads.
static void both(const char *what, int *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = i;
    increment<<<(n + 255) / 256, 256>>>(p, n);
    HIP_OK(hipDeviceSynchronize());
    scatter<<<1, 64>>>(p, n);
    HIP_OK(hipDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        int times = 0;
        for (int t = 0; t < 64; t++)
            times += t * 37 % n == i;
        wrong += p[i] != i + 1 + times + (i == n - 1 ? 5 : 0);
    }
    CHECK(wrong == 0, "%s: %d wrong", what, wrong);
}

// The GPU may not: a memory access fault, which names the cause and what to do, and the error stays.
static void forbidden(const char *what, int *p, int n)
{
    p[0] = 42;
    said report;
    increment<<<1, 64>>>(p, n);
    hipError_t error = hipDeviceSynchronize();
    std::vector<char> text = report.end();
    CHECK(error == hipErrorIllegalAddress, "%s: %s", what, hipGetErrorName(error));
    CHECK(has(text, "memory access fault"), "%s: %s", what, text.data());
    CHECK(has(text, "HSA_XNACK=1") && has(text, "hipHostRegister"), "%s: %s", what, text.data());
    CHECK(has(text, "unified.hip:"), "%s: the source line is missing: %s", what, text.data());
    CHECK(p[0] == 42, "%s: the store happened", what);
    HIP_OK(hipDeviceReset());
}

static void host_memory(const char *what, int *p, int n)
{
    if (xnack)
        both(what, p, n);
    else
        forbidden(what, p, n);
}

// The same instructions go to one place after another: `steps` pointers, the same for all lanes or each its
// own.
__global__ void follow(int *const *where, int steps)
{
    for (int i = 0; i < steps; i++)
        where[i][threadIdx.x] += 1;
}

__global__ void follow_each(int *const *where, int steps)
{
    for (int i = 0; i < steps; i++)
        *where[i * 64 + threadIdx.x] += 1;
}

// What an instruction has been allowed says nothing of where it goes next: memory of the GPU's at first, also
// memory of its far away, and then host memory, of all lanes or of one.
static void from_the_gpus_to_others()
{
    const int steps = 4, lanes = 64;
    int *device, *far, **where, *host = static_cast<int *>(std::calloc(lanes, sizeof(int)));
    char *between; // addresses of 4 GiB
    for (int each = 0; each < 2; each++) {
        HIP_OK(hipMalloc(&where, steps * lanes * sizeof(int *)));
        HIP_OK(hipMalloc(&device, lanes * sizeof(int)));
        HIP_OK(hipMalloc(&between, size_t(4) << 30));
        HIP_OK(hipMalloc(&far, lanes * sizeof(int)));
        int *const places[steps] = {device, far, device, host};
        for (int i = 0; i < steps; i++)
            for (int lane = 0; lane < lanes; lane++)
                where[each ? i * lanes + lane : i] =
                    each ? (i < 3 || lane == 17 ? places[i] : far) + lane : places[i];
        for (int lane = 0; lane < lanes; lane++)
            device[lane] = far[lane] = host[lane] = 0;
        said report;
        each ? follow_each<<<1, lanes>>>(where, steps) : follow<<<1, lanes>>>(where, steps);
        hipError_t error = hipDeviceSynchronize();
        std::vector<char> text = report.end();
        CHECK(error == (xnack ? hipSuccess : hipErrorIllegalAddress), "%d: %s", each, hipGetErrorName(error));
        CHECK(xnack || has(text, each ? "lane 17 " : "lane 0 "), "%d: %s", each, text.data());
        CHECK(xnack || has(text, "XNACK is off"), "%d: %s", each, text.data());
        for (int lane = 0; lane < lanes; lane++) {
            const bool to_host = xnack && (!each || lane == 17);
            CHECK(device[lane] == 2 && host[lane] == to_host, "%d: lane %d: %d, %d", each, lane, device[lane],
                  host[lane]);
            CHECK(xnack ? far[lane] == 2 - to_host : far[lane] == 1, "%d: lane %d: %d", each, lane,
                  far[lane]);
        }
        if (xnack)
            HIP_OK(hipFree(between));
        else
            HIP_OK(hipDeviceReset());
    }
    std::free(host);
}

static void malloc_rows()
{
    const int n = 5000;
    int *heap = static_cast<int *>(std::malloc(n * sizeof(int)));
    host_memory("malloc", heap, n);
    std::free(heap);
    int *on_new = new int[n];
    host_memory("new", on_new, n);
    delete[] on_new;
    int *mapped = static_cast<int *>(
        mmap(nullptr, n * sizeof(int), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    host_memory("mmap", mapped, n);
    munmap(mapped, n * sizeof(int));
    int stack[n];
    host_memory("stack", stack, n);
    host_memory("static, bss", in_bss, 1024);
    host_memory("static, data", in_data, 1024);
    FILE *file = tmpfile();
    CHECK(ftruncate(fileno(file), n * sizeof(int)) == 0, "no file");
    int *in_file = static_cast<int *>(
        mmap(nullptr, n * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0));
    host_memory("file", in_file, n);
    munmap(in_file, n * sizeof(int));
    fclose(file);
}

static void register_row()
{
    const int n = 5000;
    int *p = static_cast<int *>(std::malloc(n * sizeof(int)));
    HIP_OK(hipHostRegister(p, n * sizeof(int), hipHostRegisterDefault));
    both("malloc + hipHostRegister", p, n);
    HIP_OK(hipHostUnregister(p));
    host_memory("after hipHostUnregister", p, n);
    std::free(p);
}

// Fills, copies and values of streams take what the GPU may access. Of memory that is freed they say so.
static void fills_and_copies()
{
    const size_t n = 1 << 16;
    const hipError_t right = xnack ? hipSuccess : hipErrorInvalidValue;
    std::vector<char> a(n, 1), b(n, 2);
    const hipExtent all = {256, 16, 16};
    CHECK(hipMemset(a.data(), 7, n) == right && a[0] == (xnack ? 7 : 1) && a[n - 1] == a[0], "hipMemset: %d",
          a[0]);
    CHECK(hipMemsetAsync(a.data(), 8, n, nullptr) == right, "hipMemsetAsync");
    HIP_OK(hipDeviceSynchronize());
    CHECK(a[0] == (xnack ? 8 : 1) && a[n - 1] == a[0], "hipMemsetAsync: %d", a[0]);
    CHECK(hipMemsetD32(a.data(), 0x01020304, n / 4) == right && a[1] == (xnack ? 3 : 1), "hipMemsetD32: %d",
          a[1]);
    CHECK(hipMemset2D(a.data(), 256, 9, 16, 16) == right && a[256] == (xnack ? 9 : 1), "hipMemset2D: %d",
          a[256]);
    CHECK(hipMemset3D({a.data(), 256, 256, 16}, 5, all) == right && a[n - 1] == (xnack ? 5 : 1),
          "hipMemset3D: %d", a[n - 1]);
    const hipMemcpyKind kinds[] = {hipMemcpyHostToHost, hipMemcpyDefault, hipMemcpyHostToDevice,
                                   hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice};
    for (hipMemcpyKind kind : kinds) {
        const hipError_t copied =
            kind == hipMemcpyHostToHost || kind == hipMemcpyDefault ? hipSuccess : right;
        const char was = b[n - 1], now = copied == hipSuccess ? char(20 + kind) : was;
        std::memset(a.data(), 20 + kind, n);
        CHECK(hipMemcpy(b.data(), a.data(), n, kind) == copied && b[n - 1] == now, "kind %d: %d", kind,
              b[n - 1]);
        b[n - 1] = was;
        CHECK(hipMemcpyAsync(b.data(), a.data(), n, kind, nullptr) == copied, "kind %d", kind);
        HIP_OK(hipDeviceSynchronize());
        CHECK(b[n - 1] == now, "kind %d: %d", kind, b[n - 1]);
        b[n - 1] = was;
        CHECK(hipMemcpy2D(b.data(), 256, a.data(), 256, 256, 256, kind) == copied && b[n - 1] == now,
              "kind %d: %d", kind, b[n - 1]);
    }
    unsigned word = 3;
    CHECK(hipStreamWriteValue32(nullptr, &word, 4, 0) == right, "hipStreamWriteValue32");
    CHECK(hipStreamWaitValue32(nullptr, &word, 4, hipStreamWaitValueEq, ~0u) == right,
          "hipStreamWaitValue32");
    HIP_OK(hipDeviceSynchronize());
    CHECK(word == (xnack ? 4 : 3), "%u", word);
    char *freed;
    HIP_OK(hipMalloc(&freed, n));
    HIP_OK(hipFree(freed));
    CHECK(hipMemset(freed, 0, n) == hipErrorInvalidValue, "hipMemset of freed memory");
    (void)hipGetLastError();
}

static void allocator_rows()
{
    const int n = 5000;
    int *p;
    HIP_OK(hipMalloc(&p, n * sizeof(int)));
    both("hipMalloc", p, n);
    HIP_OK(hipFree(p));
    const unsigned flags[] = {hipHostMallocDefault,       hipHostMallocPortable, hipHostMallocMapped,
                              hipHostMallocWriteCombined, hipHostMallocCoherent, hipHostMallocNonCoherent};
    for (unsigned flag : flags) {
        HIP_OK(hipHostMalloc(reinterpret_cast<void **>(&p), n * sizeof(int), flag));
        both("hipHostMalloc", p, n);
        HIP_OK(hipHostFree(p));
    }
    HIP_OK(hipMallocManaged(&p, n * sizeof(int)));
    both("hipMallocManaged", p, n);
    HIP_OK(hipFree(p));
    both("__managed__", managed_static, 1024);
}

// Up front or on demand: more than there is can only be had on demand. hipMemGetInfo knows of hipMalloc
// alone.
static void pages_rows()
{
    size_t before, after, total;
    void *p;
    HIP_OK(hipMemGetInfo(&before, &total));
    HIP_OK(hipMalloc(&p, 64 << 20));
    HIP_OK(hipMemGetInfo(&after, &total));
    CHECK(before - after == 64 << 20, "hipMemGetInfo: %zu", before - after);
    HIP_OK(hipFree(p));
    HIP_OK(hipHostMalloc(&p, 64 << 20, 0));
    HIP_OK(hipMemGetInfo(&after, &total));
    CHECK(before == after, "hipMemGetInfo sees pinned host memory: %zu", before - after);
    HIP_OK(hipHostFree(p));
    said report;
    hipError_t device = hipMalloc(&p, total + (1 << 20));
    hipError_t host = hipHostMalloc(&p, total + (1 << 20), 0);
    hipError_t managed = hipMallocManaged(&p, total + (1 << 20));
    std::vector<char> text = report.end();
    CHECK(device == hipErrorOutOfMemory && host == hipErrorOutOfMemory, "%d %d", device, host);
    CHECK(managed == (xnack ? hipSuccess : hipErrorOutOfMemory), "hipMallocManaged: %s",
          hipGetErrorName(managed));
    CHECK(has(text, "do not fit"), "%s", text.data());
    if (managed == hipSuccess)
        HIP_OK(hipFree(p));
    (void)hipGetLastError();
}

static struct ehp_mem_use in_use()
{
    struct ehp_mem_use use = {};
    use.size = sizeof use;
    CHECK(ehp_host_memory(&use) == EHP_OK, "ehp_host_memory");
    return use;
}

// What really is in use: up front by allocator, and on demand as far as it is touched.
static void use_rows()
{
    const size_t size = 48 << 20;
    struct ehp_mem_use before = in_use();
    void *device, *host, *managed;
    HIP_OK(hipMalloc(&device, size));
    HIP_OK(hipHostMalloc(&host, size, 0));
    HIP_OK(hipMallocManaged(&managed, size));
    char *own =
        static_cast<char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    struct ehp_mem_use taken = in_use();
    std::memset(own, 1, size / 2);
    std::memset(managed, 1, size / 4);
    struct ehp_mem_use touched = in_use();
    CHECK(taken.upfront[EHP_MEM_DEVICE] - before.upfront[EHP_MEM_DEVICE] == size, "device memory");
    CHECK(taken.upfront[EHP_MEM_HOST] - before.upfront[EHP_MEM_HOST] == size, "host memory");
    CHECK(taken.upfront[EHP_MEM_MANAGED] - before.upfront[EHP_MEM_MANAGED] == (xnack ? 0 : size),
          "managed memory");
    CHECK(touched.managed - taken.managed == (xnack ? size / 4 : 0), "%zu touched",
          size_t(touched.managed - taken.managed));
    double own_part = double(touched.process) - double(taken.process);
    CHECK(own_part > 0.9 * double(size / 2) && own_part < 1.5 * double(size / 2), "%.0f bytes of the process",
          own_part);
    munmap(own, size);
    HIP_OK(hipFree(managed));
    HIP_OK(hipHostFree(host));
    HIP_OK(hipFree(device));
    struct ehp_mem_use after = in_use();
    CHECK(after.upfront[EHP_MEM_DEVICE] == before.upfront[EHP_MEM_DEVICE] && after.managed == before.managed,
          "freed");
}

static int *make(size_t bytes)
{
    int *p;
    HIP_OK(hipMalloc(&p, bytes));
    return p;
}

// Wrong calls get the real error, and the allocation's history is told.
static void mistakes()
{
    int *p = make(8192);
    {
        said report;
        CHECK(hipHostFree(p) == hipErrorInvalidValue, "hipHostFree of device memory");
        std::vector<char> text = report.end();
        CHECK(has(text, "8192 bytes of device memory") && has(text, "allocated at unified.hip:"), "%s",
              text.data());
    }
    HIP_OK(hipFree(p));
    {
        said report;
        CHECK(hipFree(p) == hipErrorInvalidValue, "double free");
        std::vector<char> text = report.end();
        CHECK(has(text, "allocated at unified.hip:") && has(text, "freed at unified.hip:"), "%s",
              text.data());
    }
    said report;
    increment<<<1, 64>>>(p, 64);
    CHECK(hipDeviceSynchronize() == hipErrorIllegalAddress, "use after free");
    std::vector<char> text = report.end();
    CHECK(has(text, "memory access fault") && has(text, "freed at unified.hip:"), "%s", text.data());
    HIP_OK(hipDeviceReset());
}

int main()
{
    const char *text = std::getenv("HSA_XNACK");
    xnack = text && *text == '1';
    hipDeviceProp_t props;
    HIP_OK(hipGetDeviceProperties(&props, 0));
    CHECK((std::strstr(props.gcnArchName, ":xnack+") != nullptr) == xnack, "%s", props.gcnArchName);
    CHECK(props.pageableMemoryAccess == xnack, "pageableMemoryAccess");
    CHECK(props.managedMemory && props.concurrentManagedAccess, "managed memory");
    allocator_rows();
    malloc_rows();
    fills_and_copies();
    from_the_gpus_to_others();
    register_row();
    pages_rows();
    use_rows();
    mistakes();
    return check_done();
}
