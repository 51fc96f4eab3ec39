// SPDX-License-Identifier: MIT
// Packages of a node as NUMA nodes: what the system's calls say of them, where they put pages, and that a
// page is there. "inherited": what numactl leaves to the program that it becomes.
#include "check_hip.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64, NODES = 4, CPUS = 24 };

static bool timing, xnack;

static long bind(void *at, size_t bytes, int mode, unsigned long nodes, unsigned flags)
{
    return syscall(SYS_mbind, at, bytes, mode, &nodes, sizeof nodes * 8, flags);
}

static long prefer(int mode, unsigned long nodes)
{
    return syscall(SYS_set_mempolicy, mode, &nodes, sizeof nodes * 8);
}

// The node that the kernel says a page is on.
static int node_of(const void *at)
{
    int node = -1;
    const long status = syscall(SYS_get_mempolicy, &node, nullptr, 0, reinterpret_cast<unsigned long>(at),
                                MPOL_F_NODE | MPOL_F_ADDR);
    return status == 0 ? node : -errno;
}

static char *map(size_t pages = PAGES)
{
    void *at = mmap(nullptr, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED, "mmap: %d", errno);
    return static_cast<char *>(at);
}

static void touch(char *at, size_t pages = PAGES)
{
    for (size_t i = 0; i < pages; i++)
        at[i * PAGE] = 1;
}

static void nodes_that_there_are()
{
    unsigned long mask = 0;
    CHECK(syscall(SYS_get_mempolicy, nullptr, &mask, sizeof mask * 8, nullptr, MPOL_F_MEMS_ALLOWED) == 0,
          "%d", errno);
    CHECK(mask == (1UL << NODES) - 1, "%lx", mask);
    int mode = -1;
    CHECK(syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0) == 0 && mode == MPOL_DEFAULT, "mode %d",
          mode);
    char text[64] = "";
    FILE *file = fopen("/sys/devices/system/node/node2/cpulist", "r");
    CHECK(file && fgets(text, sizeof text, file) && !strcmp(text, "48-71\n"), "%s", text);
    fclose(file);
}

static void ranges()
{
    char *at = map();
    CHECK(bind(at, PAGES * PAGE, MPOL_BIND, 1 << 2, 0) == 0, "%d", errno);
    touch(at);
    for (int i = 0; i < PAGES; i++)
        CHECK(node_of(at + i * PAGE) == 2, "page %d: %d", i, node_of(at + i * PAGE));
    int mode = 0;
    unsigned long mask = 0;
    CHECK(syscall(SYS_get_mempolicy, &mode, &mask, sizeof mask * 8, at, MPOL_F_ADDR) == 0 &&
              mode == MPOL_BIND && mask == 4,
          "mode %d, nodes %lx", mode, mask);
    munmap(at, PAGES * PAGE);

    at = map();
    CHECK(bind(at, PAGES * PAGE, MPOL_INTERLEAVE, 1 << 1 | 1 << 3, 0) == 0, "%d", errno);
    CHECK(bind(at + 8 * PAGE, 2 * PAGE, MPOL_PREFERRED, 1 << 2, 0) == 0, "%d", errno);
    touch(at);
    for (int i = 0; i < PAGES; i++) {
        const int expected = i == 8 || i == 9 ? 2 : i % 2 ? 3 : 1;
        CHECK(node_of(at + i * PAGE) == expected, "page %d: %d, not %d", i, node_of(at + i * PAGE), expected);
    }
    munmap(at, PAGES * PAGE);

    // What is mapped there next knows nothing of it.
    char *again = static_cast<char *>(
        mmap(at, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
    touch(again);
    CHECK(node_of(again + PAGE) == 0, "%d", node_of(again + PAGE));
    munmap(again, PAGES * PAGE);
}

static void mistakes()
{
    char *at = map(3);
    CHECK(bind(at, PAGE, MPOL_BIND, 1 << 7, 0) == -1 && errno == EINVAL, "a node that is not there: %d",
          errno);
    CHECK(bind(at, PAGE, MPOL_BIND, 1 << 1 | 1 << 7, 0) == 0, "one of two is there: %d", errno);
    CHECK(bind(at, PAGE, MPOL_BIND, 0, 0) == -1 && errno == EINVAL, "no node: %d", errno);
    CHECK(bind(at, PAGE, MPOL_DEFAULT, 1, 0) == -1 && errno == EINVAL, "DEFAULT of a node: %d", errno);
    CHECK(bind(at, PAGE, 77, 1, 0) == -1 && errno == EINVAL, "mode: %d", errno);
    CHECK(bind(at, PAGE, MPOL_BIND, 1, 1 << 9) == -1 && errno == EINVAL, "flags: %d", errno);
    CHECK(bind(at + 1, PAGE, MPOL_BIND, 1, 0) == -1 && errno == EINVAL, "alignment: %d", errno);
    CHECK(prefer(MPOL_PREFERRED, 1 << 4) == -1 && errno == EINVAL, "a node that is not there: %d", errno);
    CHECK(node_of(nullptr) == -EFAULT, "%d", node_of(nullptr));
    munmap(at + PAGE, PAGE);
    CHECK(bind(at, 3 * PAGE, MPOL_BIND, 1, 0) == -1 && errno == EFAULT, "a hole: %d", errno);
    unsigned long mask;
    CHECK(syscall(SYS_get_mempolicy, nullptr, &mask, 2, nullptr, 0) == -1 && errno == EINVAL,
          "short mask: %d", errno);
    munmap(at, PAGE);
    munmap(at + 2 * PAGE, PAGE);
}

static void threads_policy()
{
    char *at = map();
    CHECK(prefer(MPOL_PREFERRED, 1 << 3) == 0, "%d", errno);
    touch(at, 1);
    CHECK(node_of(at) == 3, "%d", node_of(at));
    CHECK(prefer(MPOL_INTERLEAVE, (1 << NODES) - 1) == 0, "%d", errno);
    int count[NODES] = {}, node;
    for (int i = 1; i < 41; i++) {
        touch(at + i * PAGE, 1);
        node = node_of(at + i * PAGE);
        CHECK(node >= 0 && node < NODES, "%d", node);
        count[node]++;
    }
    for (int i = 0; i < NODES; i++)
        CHECK(count[i] == 10, "%d pages on node %d", count[i], i);
    std::thread([] { // its creator's
        int mode = -1;
        syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0);
        CHECK(mode == MPOL_INTERLEAVE, "%d", mode);
    })
        .join();
    CHECK(prefer(MPOL_DEFAULT, 0) == 0, "%d", errno);
    touch(at + 41 * PAGE, 1);
    CHECK(node_of(at + 41 * PAGE) == 0, "%d", node_of(at + 41 * PAGE));
    munmap(at, PAGES * PAGE);
}

static long move_pages(unsigned long count, void **at, const int *to, int *status)
{
    return syscall(SYS_move_pages, 0, count, at, to, status, MPOL_MF_MOVE);
}

static void moves()
{
    char *at = map(4);
    void *page[4] = {at, at + PAGE, at + 2 * PAGE, nullptr};
    int status[4], to[4] = {3, 1, 2, 0};
    touch(at, 2);
    strcpy(at, "moved");
    CHECK(move_pages(4, page, nullptr, status) == 0, "%d", errno);
    CHECK(status[0] == 0 && status[1] == 0 && status[2] == -ENOENT && status[3] == -EFAULT, "%d %d %d %d",
          status[0], status[1], status[2], status[3]);
    CHECK(move_pages(2, page, to, status) == 0 && status[0] == 3 && status[1] == 1, "%d %d", status[0],
          status[1]);
    CHECK(node_of(at) == 3 && node_of(at + PAGE) == 1 && !strcmp(at, "moved"), "%d %d", node_of(at),
          node_of(at + PAGE));
    to[0] = NODES;
    CHECK(move_pages(1, page, to, status) == -1 && errno == ENODEV, "%d", errno);
    CHECK(bind(at, 2 * PAGE, MPOL_BIND, 1 << 1, MPOL_MF_STRICT) == -1 && errno == EIO,
          "page 0 is elsewhere: %d", errno);
    CHECK(bind(at, 2 * PAGE, MPOL_BIND, 1 << 1, MPOL_MF_STRICT | MPOL_MF_MOVE) == 0, "%d", errno);
    CHECK(node_of(at) == 1 && node_of(at + PAGE) == 1, "%d %d", node_of(at), node_of(at + PAGE));

    HIP_OK(hipHostRegister(at, 2 * PAGE, 0));
    to[0] = 2;
    CHECK(move_pages(1, page, to, status) == 0 && status[0] == -EBUSY, "pinned: %d", status[0]);
    HIP_OK(hipHostUnregister(at));
    CHECK(move_pages(1, page, to, status) == 0 && status[0] == 2, "%d", status[0]);
    munmap(at, 4 * PAGE);
}

static size_t free_kib(int node)
{
    char path[80], line[128];
    size_t kib = 0;
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/meminfo", node);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Node %*d MemFree: %zu", &kib);
    fclose(file);
    return kib;
}

static void of_the_runtime()
{
    enum { MIB = 1 << 20 };
    void *memory;
    HIP_OK(hipSetDevice(2));
    size_t before = free_kib(2), other = free_kib(1);
    HIP_OK(hipMalloc(&memory, 64 * MIB));
    CHECK(before - free_kib(2) == 64 * 1024 && free_kib(1) == other, "%zu KiB", before - free_kib(2));
    CHECK(node_of(memory) == 2, "%d", node_of(memory));
    HIP_OK(hipFree(memory));
    HIP_OK(hipSetDevice(0));

    CHECK(prefer(MPOL_BIND, 1 << 1 | 1 << 2) == 0, "%d", errno);
    HIP_OK(hipHostMalloc(&memory, MIB, hipHostMallocNumaUser));
    CHECK(node_of(memory) == 1, "%d", node_of(memory));
    HIP_OK(hipHostFree(memory));
    HIP_OK(hipHostMalloc(&memory, MIB, 0));
    CHECK(node_of(memory) == 0, "the device's: %d", node_of(memory));
    HIP_OK(hipHostFree(memory));
    CHECK(prefer(MPOL_DEFAULT, 0) == 0, "%d", errno);

    // Registered memory counts where it is.
    char *at = map(1024);
    CHECK(bind(at, 1024 * PAGE, MPOL_INTERLEAVE, 1 << 1 | 1 << 3, 0) == 0, "%d", errno);
    const size_t one = free_kib(1), three = free_kib(3);
    HIP_OK(hipHostRegister(at, 1024 * PAGE, 0));
    CHECK(one - free_kib(1) == 512 * 4 && three - free_kib(3) == 512 * 4, "%zu, %zu KiB", one - free_kib(1),
          three - free_kib(3));
    HIP_OK(hipHostUnregister(at));
    CHECK(one == free_kib(1) && three == free_kib(3), "%zu, %zu KiB", free_kib(1), free_kib(3));
    munmap(at, 1024 * PAGE);
}

__global__ void chase(const size_t *from, size_t *ticks, int steps)
{
    const size_t begin = wall_clock64();
    for (int i = 0; i < steps; i++)
        from = reinterpret_cast<const size_t *>(*from);
    ticks[0] = wall_clock64() - begin;
    ticks[1] = reinterpret_cast<size_t>(from);
}

// How long a load of device 0's takes, in ns, of memory that is bound to a node: each in a page of its own.
static double latency(int node, size_t *ticks)
{
    char *at = map();
    CHECK(bind(at, PAGES * PAGE, MPOL_BIND, 1UL << node, 0) == 0, "%d", errno);
    for (int i = 0; i < PAGES; i++) // a line of another set for each
        *reinterpret_cast<char **>(at + i * PAGE + i % 32 * 128) =
            at + (i + 1) % PAGES * PAGE + (i + 1) % 32 * 128;
    HIP_OK(hipHostRegister(at, PAGES * PAGE, 0));
    CHECK(node_of(at) == node, "%d", node_of(at));
    chase<<<1, 1>>>(reinterpret_cast<size_t *>(at), ticks, PAGES);
    HIP_OK(hipDeviceSynchronize());
    CHECK(ticks[1] == reinterpret_cast<size_t>(at), "ends where it began");
    HIP_OK(hipHostUnregister(at));
    munmap(at, PAGES * PAGE);
    return ticks[0] * 10.0 / PAGES;
}

static void latencies()
{
    size_t *ticks;
    HIP_OK(hipHostMalloc(&ticks, 2 * sizeof *ticks));
    latency(0, ticks); // translations of the code
    const double near = latency(0, ticks), far = latency(2, ticks);
    if (timing)
        CHECK(far > near + 150 && far < near + 400, "two ways over a link are 88 ns each, %.0f and %.0f",
              near, far);
    HIP_OK(hipHostFree(ticks));
}

__global__ void fill(char *at, int pages)
{
    for (int i = threadIdx.x; i < pages; i += blockDim.x)
        at[i * PAGE] = 2;
}

// Memory on demand lies where it is touched first, or is preferred to be.
static void on_demand()
{
    char *at;
    int value;
    HIP_OK(hipSetDevice(1));
    HIP_OK(hipMallocManaged(&at, PAGES * PAGE));
    HIP_OK(hipMemAdvise(at, PAGES / 2 * PAGE, hipMemAdviseSetPreferredLocation, 3));
    HIP_OK(hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributePreferredLocation, at, PAGE));
    CHECK(value == 3, "%d", value);
    fill<<<1, 64>>>(at, PAGES);
    HIP_OK(hipDeviceSynchronize());
    CHECK(node_of(at) == 3 && node_of(at + (PAGES / 2 - 1) * PAGE) == 3, "%d", node_of(at));
    if (timing)
        CHECK(node_of(at + PAGES / 2 * PAGE) == 1, "the device's that touched it: %d",
              node_of(at + PAGES / 2 * PAGE));
    HIP_OK(hipFree(at));
    HIP_OK(hipMallocManaged(&at, PAGES * PAGE));
    const auto prefer_node = [&](int node) {
        return hipMemAdvise_v2(at, PAGES / 2 * PAGE, hipMemAdviseSetPreferredLocation,
                               {hipMemLocationTypeHostNuma, node});
    };
    HIP_OK(prefer_node(2));
    const hipError_t none = prefer_node(NODES);
    CHECK(none == hipErrorInvalidDevice, "%d", none);
    HIP_OK(hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributePreferredLocation, at, PAGE));
    CHECK(value == hipCpuDeviceId, "%d", value);
    fill<<<1, 64>>>(at, PAGES);
    HIP_OK(hipDeviceSynchronize());
    CHECK(node_of(at) == 2 && node_of(at + (PAGES / 2 - 1) * PAGE) == 2, "%d", node_of(at));
    HIP_OK(hipFree(at));
    HIP_OK(hipMallocManaged(&at, PAGES * PAGE));
    HIP_OK(hipMemPrefetchAsync(at, PAGES * PAGE, 2, nullptr));
    HIP_OK(hipDeviceSynchronize());
    HIP_OK(hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributeLastPrefetchLocation, at, PAGE));
    CHECK(value == 2, "%d", value);
    if (timing)
        CHECK(node_of(at) == 2, "%d", node_of(at));
    HIP_OK(hipFree(at));
    HIP_OK(hipSetDevice(0));
    if (!timing)
        return;
    // A page that a GPU has in its table moves with its bytes.
    char *own = map();
    fill<<<1, 64>>>(own, PAGES);
    HIP_OK(hipDeviceSynchronize());
    CHECK(node_of(own) == 0, "%d", node_of(own));
    void *page = own;
    int to = 2, status;
    CHECK(move_pages(1, &page, &to, &status) == 0 && status == 2, "%d", status);
    CHECK(own[0] == 2, "%d", own[0]);
    fill<<<1, 64>>>(own, PAGES);
    HIP_OK(hipDeviceSynchronize());
    CHECK(node_of(own) == 2 && node_of(own + PAGE) == 0, "%d %d", node_of(own), node_of(own + PAGE));
    munmap(own, PAGES * PAGE);
}

static void cpus()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu = 2 * CPUS; cpu < 3 * CPUS; cpu++)
        CPU_SET(cpu, &set);
    CHECK(syscall(SYS_sched_setaffinity, 0, sizeof set, &set) == 0, "%d", errno);
    unsigned cpu = 0, node = 0;
    CHECK(syscall(SYS_getcpu, &cpu, &node, nullptr) == 0 && node == 2 && cpu / CPUS == 2, "CPU %u, node %u",
          cpu, node);
    cpu = node = 0;
    CHECK(getcpu(&cpu, &node) == 0 && node == 2 && cpu / CPUS == 2, "CPU %u, node %u", cpu, node);
    char *at = map();
    touch(at);
    CHECK(node_of(at) == 2, "near the thread: %d", node_of(at));
    munmap(at, PAGES * PAGE);
    cpu_set_t now;
    CPU_ZERO(&now);
    CHECK(syscall(SYS_sched_getaffinity, 0, sizeof now, &now) > 0 && CPU_EQUAL(&now, &set), "%d CPUs",
          CPU_COUNT(&now));
    for (int i = 0; i < NODES * CPUS; i++)
        CPU_SET(i, &set);
    CHECK(sched_setaffinity(0, sizeof set, &set) == 0, "%d", errno);
}

// libnuma's own idea of it, where it is installed.
static void libnuma()
{
    void *library = dlopen("libnuma.so.1", RTLD_NOW);
    if (!library) {
        printf("no libnuma here\n");
        return;
    }
#define NUMA(type, name) auto name = reinterpret_cast<type>(dlsym(library, #name))
    NUMA(int (*)(), numa_available);
    NUMA(int (*)(), numa_num_configured_nodes);
    NUMA(int (*)(), numa_num_configured_cpus);
    NUMA(int (*)(int), numa_node_of_cpu);
    NUMA(int (*)(int, int), numa_distance);
    NUMA(long long (*)(int, long long *), numa_node_size64);
    NUMA(void *(*)(size_t, int), numa_alloc_onnode);
    NUMA(void *(*)(size_t), numa_alloc_interleaved);
    NUMA(void (*)(void *, size_t), numa_free);
    CHECK(numa_available() == 0, "not available");
    CHECK(numa_num_configured_nodes() == NODES && numa_num_configured_cpus() == NODES * CPUS,
          "%d nodes, %d CPUs", numa_num_configured_nodes(), numa_num_configured_cpus());
    CHECK(numa_node_of_cpu(0) == 0 && numa_node_of_cpu(CPUS) == 1 && numa_node_of_cpu(4 * CPUS - 1) == 3,
          "%d", numa_node_of_cpu(CPUS));
    CHECK(numa_distance(0, 0) == 10 && numa_distance(0, 3) == 32, "%d", numa_distance(0, 3));
    long long left;
    CHECK(numa_node_size64(1, &left) == 128LL << 30 && left > 0 && left <= 128LL << 30, "%lld", left);
    char *at = static_cast<char *>(numa_alloc_onnode(PAGES * PAGE, 3));
    touch(at);
    CHECK(node_of(at) == 3 && node_of(at + (PAGES - 1) * PAGE) == 3, "%d", node_of(at));
    numa_free(at, PAGES * PAGE);
    at = static_cast<char *>(numa_alloc_interleaved(PAGES * PAGE));
    touch(at);
    for (int i = 0; i < PAGES; i++)
        CHECK(node_of(at + i * PAGE) == i % NODES, "page %d: %d", i, node_of(at + i * PAGE));
    numa_free(at, PAGES * PAGE);
}

// As `numactl --membind=2 --cpunodebind=1` begins a program: it sets both, and becomes it.
static void inherited()
{
    int mode = -1;
    unsigned long mask = 0;
    CHECK(syscall(SYS_get_mempolicy, &mode, &mask, sizeof mask * 8, nullptr, 0) == 0 && mode == MPOL_BIND &&
              mask == 4,
          "mode %d, nodes %lx", mode, mask);
    CHECK(sched_getcpu() / CPUS == 1, "%d", sched_getcpu());
    char *at = map();
    touch(at);
    CHECK(node_of(at) == 2, "%d", node_of(at));
    CHECK(prefer(MPOL_DEFAULT, 0) == 0, "%d", errno);
    touch(at + PAGES / 2 * PAGE, 1);
    munmap(at, PAGES * PAGE);
    at = map();
    touch(at);
    CHECK(node_of(at) == 1, "near its CPUs: %d", node_of(at));
}

static void becomes(const char *program)
{
    const pid_t child = fork();
    if (child == 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        for (int cpu = CPUS; cpu < 2 * CPUS; cpu++)
            CPU_SET(cpu, &set);
        if (prefer(MPOL_BIND, 1 << 2) == 0 && syscall(SYS_sched_setaffinity, 0, sizeof set, &set) == 0)
            execl(program, program, "inherited", nullptr);
        _exit(2);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "status %x", status);
}

int main(int argc, char **argv)
{
    const char *mode = getenv("EHP_MODE"), *faults = getenv("HSA_XNACK");
    timing = mode && !strcmp(mode, "timing");
    xnack = faults && *faults == '1';
    if (argc > 1) {
        HIP_OK(hipInit(0));
        inherited();
        return check_done();
    }
    becomes(argv[0]);
    nodes_that_there_are();
    HIP_OK(hipInit(0));
    ranges();
    mistakes();
    threads_policy();
    moves();
    of_the_runtime();
    latencies();
    if (xnack)
        on_demand();
    cpus();
    libnuma();
    return check_done();
}
