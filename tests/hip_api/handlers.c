/* SPDX-License-Identifier: MIT */
/*
 * Programs with signal handlers of their own: each gets the faults that are its own, whenever it put its
 * handler there, and the device's are reported.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "../own_death.h"
#include "apart.h"

static const char *kernels;
static sigjmp_buf again;
static volatile sig_atomic_t calls;
static void *volatile fault_address;
static struct sigaction found;

static void jump(int signo, siginfo_t *info, void *context)
{
    (void)context;
    calls++;
    fault_address = info->si_addr;
    if (signo == SIGSEGV && info->si_code > 0)
        siglongjmp(again, 1);
}

static void install(int signo, void (*fn)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = fn, .sa_flags = SA_SIGINFO | flags};
    sigemptyset(&action.sa_mask);
    CHECK(sigaction(signo, &action, &found) == 0);
}

static void use_device(void)
{
    void *memory;
    OK(hipMalloc(&memory, 4096));
    OK(hipMemsetAsync(memory, 1, 4096, NULL));
    OK(hipDeviceSynchronize());
    OK(hipFree(memory));
}

static void expect_device_fault(void)
{
    hipModule_t module;
    hipFunction_t function;
    void *freed, *args[] = {&freed}; /* an address that is only known to be wrong by the host's fault */
    OK(hipMalloc(&freed, 1 << 20));
    OK(hipFree(freed));
    OK(hipModuleLoad(&module, kernels));
    OK(hipModuleGetFunction(&function, module, "wild"));
    OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
    CHECK_HIP(hipDeviceSynchronize(), hipErrorIllegalAddress);
    OK(hipDeviceReset());
}

static void expect_own_fault(volatile int *where)
{
    int before = calls;
    if (sigsetjmp(again, 1) == 0)
        *where = 1;
    CHECK_EQ(calls, before + 1);
    CHECK(fault_address == (void *)(uintptr_t)where);
}

static int *no_page(void)
{
    return mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* A handler with these flags, before or after the first call. */
struct order {
    bool first;
    int flags;
};

static int own_handler(void *argument)
{
    const struct order *order = argument;
    int *page = no_page();
    if (order->first)
        install(SIGSEGV, jump, order->flags);
    use_device();
    if (!order->first)
        install(SIGSEGV, jump, order->flags);
    expect_own_fault(page);
    for (int i = 0; i < 2; i++) {
        expect_device_fault();
        CHECK_EQ(calls, i + 1);
        expect_own_fault(page);
    }
    return check_failures != 0;
}

/* Nor does it get what a call of ours touches for the program. */
static int is_not_asked(void *argument)
{
    (void)argument;
    void *memory;
    int *page = no_page();
    OK(hipMalloc(&memory, 64));
    OK(hipMemset(memory, 0, 64));
    OK(hipHostRegister(memory = aligned_alloc(4096, 4096), 4096, 0));
    install(SIGSEGV, jump, 0);
    if (sigsetjmp(again, 1) == 0)
        CHECK_HIP(hipMemcpy(memory, page, 64, hipMemcpyHostToHost), hipErrorIllegalAddress);
    CHECK_EQ(calls, 0);
    return check_failures != 0;
}

/* Python's faulthandler: puts back what it found, and lets the access happen again. */
static void once(int signo, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    calls++;
    sigaction(signo, &found, NULL);
    if (calls == 1 && write(2, "dumped\n", 7) < 0)
        _exit(9);
    if (calls > 3)
        _exit(8);
}

static int puts_back(void *argument)
{
    (void)argument;
    use_device();
    install(SIGSEGV, once, SA_ONSTACK | SA_NODEFER);
    use_device();
    expect_device_fault();
    *(volatile int *)no_page() = 1;
    return 7;
}

/* Java's: what is not its own goes to whom it found. */
static void pass_on(int signo, siginfo_t *info, void *context)
{
    if (++calls > 3)
        _exit(8);
    if (found.sa_flags & SA_SIGINFO)
        found.sa_sigaction(signo, info, context);
    else
        _exit(9);
}

static int passes_on(void *argument)
{
    (void)argument;
    use_device();
    install(SIGSEGV, pass_on, SA_RESTART);
    use_device();
    use_device();
    expect_device_fault();
    CHECK_EQ(calls, 0);
    if (check_failures)
        return 1;
    *(volatile int *)no_page() = 1;
    return 7;
}

static void count(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)info;
    (void)context;
    calls++;
}

/* Called once, and then the process dies of the same access. */
static int resets(void *argument)
{
    (void)argument;
    use_device();
    install(SIGSEGV, count, (int)SA_RESETHAND);
    use_device();
    expect_device_fault();
    if (calls)
        return 1;
    *(volatile int *)no_page() = 1;
    return 7;
}

static int to_default(void *argument)
{
    use_device();
    signal(SIGSEGV, argument ? SIG_IGN : SIG_DFL);
    use_device();
    expect_device_fault();
    *(volatile int *)no_page() = 1;
    return 7;
}

static int file_shrinks(void *argument)
{
    (void)argument;
    char name[] = "/tmp/ehp-shrink-XXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    CHECK(ftruncate(fd, 4096) == 0);
    volatile int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(ftruncate(fd, 0) == 0);
    use_device();
    install(SIGBUS, once, 0);
    use_device();
    *page = 1;
    return 7;
}

/* A signal that somebody sends is the program's, also while kernels run; and no thread of ours handles it. */
static pthread_t main_thread;
static volatile sig_atomic_t elsewhere;
static void sent(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)info;
    (void)context;
    calls++;
    if (!pthread_equal(pthread_self(), main_thread))
        elsewhere++;
}

static int is_sent(void *argument)
{
    (void)argument;
    main_thread = pthread_self();
    use_device();
    install(SIGSEGV, sent, 0);
    install(SIGUSR1, sent, 0);
    use_device();
    raise(SIGSEGV);
    CHECK_EQ(calls, 1);
    /* The thread blocks it for a while: it must wait for it. */
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    use_device();
    usleep(20000);
    CHECK_EQ(calls, 1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    CHECK_EQ(calls, 2);
    CHECK_EQ(elsewhere, 0);
    return check_failures != 0;
}

/* The access directly after the call: no thread of the machine may have run yet. */
static int use_after_free(void *handler)
{
    int *memory;
    OK(hipMalloc((void **)&memory, 1 << 20));
    OK(hipFree(memory));
    if (handler) {
        use_device();
        install(SIGSEGV, once, SA_NODEFER);
        use_device();
    }
    *(volatile int *)memory = 1;
    return 7;
}

/* With a stack for signals as small as languages' runtimes make it, and nothing below it. */
static int use_after_free_on_small_stack(void *argument)
{
    const size_t bytes = ((size_t)sysconf(_SC_SIGSTKSZ) + 4095) & ~(size_t)4095;
    char *below = mmap(NULL, 4096 + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const stack_t stack = {.ss_sp = below + 4096, .ss_size = bytes};
    CHECK(below != MAP_FAILED && mprotect(below, 4096, PROT_NONE) == 0 && sigaltstack(&stack, NULL) == 0);
    return use_after_free(argument);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    kernels = argv[1];
    static const int flags[] = {0, SA_ONSTACK, SA_NODEFER, SA_ONSTACK | SA_NODEFER};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct order order = {i & 1, flags[i]};
        CHECK_APART(own_handler, &order, 0, "memory access fault");
    }
    CHECK_APART(is_not_asked, NULL, 0, NULL);
    CHECK_APART(puts_back, NULL, SIGSEGV, "dumped");
    CHECK_APART(passes_on, NULL, SIGSEGV, "memory access fault");
    CHECK_APART(resets, NULL, SIGSEGV, "memory access fault");
    CHECK_APART(to_default, NULL, SIGSEGV, "memory access fault");
    CHECK_APART(to_default, argv, SIGSEGV, "memory access fault");
    CHECK_APART(file_shrinks, NULL, SIGBUS, "dumped");
    CHECK_APART(is_sent, NULL, 0, NULL);
    for (int i = 0; i < 3; i++)
        CHECK_APART(use_after_free, NULL, SIGSEGV, "freed memory");
    CHECK_APART(use_after_free, argv, SIGSEGV, "freed memory");
    CHECK_APART(use_after_free_on_small_stack, NULL, SIGSEGV, "freed memory");
    CHECK_APART(use_after_free_on_small_stack, argv, SIGSEGV, "freed memory");
    return check_status();
}
