/* SPDX-License-Identifier: MIT */
/*
 * A device fault is an error, not the end of the program: the next calls return
 * it, one message says what happened, and hipDeviceReset() starts anew.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "apart.h"

struct fault {
    const char *kernel;
    hipError_t error;
    const char *says;
    unsigned grid, block;
};

static hipError_t run(const char *path, const struct fault *fault, void **args, char *message, size_t bytes)
{
    char file[] = "/tmp/ehp-fault-XXXXXX";
    int fd = mkstemp(file), saved = dup(2);
    hipModule_t module;
    hipFunction_t function;

    OK(hipModuleLoad(&module, path));
    OK(hipModuleGetFunction(&function, module, fault->kernel));
    dup2(fd, 2);
    hipError_t error =
        hipModuleLaunchKernel(function, fault->grid, 1, 1, fault->block, 1, 1, 0, NULL, args, NULL);
    if (error == hipSuccess)
        error = hipDeviceSynchronize();
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    memset(message, 0, bytes);
    if (pread(fd, message, bytes - 1, 0) < 0)
        message[0] = 0;
    close(fd);
    unlink(file);
    return error;
}

/* Workgroups that come to barriers while they wait leave the host's only thread to those that they wait for.
 */
static void handshake(const char *path)
{
    const struct fault none = {"handshake", hipSuccess, "", 8, 256};
    char message[4096];
    int *flag;

    OK(hipHostMalloc((void **)&flag, 64, 0));
    *flag = 0;
    OK(run(path, &none, (void *[]){&flag}, message, sizeof message));
    CHECK_EQ(*flag, 1);
    OK(hipHostFree(flag));
}

static void wait_at_exit(void)
{
    OK(hipDeviceSynchronize());
}

/* A process with a kernel without an end says so when it exits, and does. */
static void endless(const char *path)
{
    int said[2], status;
    char text[1024] = "";
    size_t have = 0;
    ssize_t some;

    CHECK_EQ(pipe(said), 0);
    pid_t child = fork();
    if (child == 0) {
        hipModule_t module;
        hipFunction_t function;
        int *flag;

        dup2(said[1], 2);
        atexit(wait_at_exit);
        OK(hipModuleLoad(&module, path));
        OK(hipModuleGetFunction(&function, module, "forever"));
        OK(hipHostMalloc((void **)&flag, 64, 0));
        *flag = 0;
        OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&flag}, NULL));
        exit(3);
    }
    close(said[1]);
    while (have + 1 < sizeof text && (some = read(said[0], text + have, sizeof text - 1 - have)) > 0)
        have += (size_t)some;
    close(said[0]);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    if (!CHECK(strstr(text, "the program has ended") && strstr(text, "left without waiting") &&
               strstr(text, "forever")))
        fprintf(stderr, "it says: %s\n", text);
}

static void *open_later(void *flag)
{
    struct timespec pause = {1, 500000000};
    nanosleep(&pause, NULL);
    *(volatile int *)flag = 1;
    return NULL;
}

/* A library goes (dlclose) while its kernel runs: that is waited for. */
static int unloads(void *path)
{
    void **__hipRegisterFatBinary(const void *data);
    void __hipUnregisterFatBinary(void **modules);
    void __hipRegisterFunction(void **, const void *, char *, const char *, unsigned, void *, void *, dim3 *,
                               dim3 *, int *);
    static char image[1 << 20];
    static int stub;
    const struct {
        uint32_t magic, version;
        const void *binary;
        void *unused;
    } wrapper = {0x48495046, 1, image, NULL};
    const dim3 one = {1, 1, 1};
    pthread_t thread;
    int *flag;
    FILE *file = fopen(path, "rb");
    CHECK(file && fread(image, 1, sizeof image, file) > 0);
    fclose(file);
    void **library = __hipRegisterFatBinary(&wrapper);
    __hipRegisterFunction(library, &stub, "forever", "forever", 0, NULL, NULL, NULL, NULL, NULL);
    OK(hipHostMalloc((void **)&flag, 64, 0));
    *flag = 0;
    OK(hipLaunchKernel(&stub, one, one, (void *[]){&flag}, 0, NULL));
    CHECK_EQ(pthread_create(&thread, NULL, open_later, flag), 0);
    __hipUnregisterFatBinary(library);
    CHECK_EQ(*(volatile int *)flag, 1);
    OK(hipDeviceSynchronize());
    CHECK_HIP(hipLaunchKernel(&stub, one, one, (void *[]){&flag}, 0, NULL), hipErrorInvalidDeviceFunction);
    pthread_join(thread, NULL);
    return check_failures != 0;
}

/* Streams that share a hardware queue, or have one each, and a grid that has to be there as a whole. */
struct sharing {
    const char *path, *queues;
    enum { BEHIND_VALUE, BEHIND_KERNEL, BESIDE_KERNEL, TIMES_OUT } what;
};

static int shares(void *argument)
{
    const struct sharing *s = argument;
    hipModule_t module;
    hipFunction_t grid, forever;
    hipStream_t one, other;
    pthread_t thread;
    int *words, *grid_flag, *flag;

    setenv("GPU_MAX_HW_QUEUES", s->queues, 1);
    setenv("EHP_TIMEOUT", s->what == BEHIND_VALUE || s->what == TIMES_OUT ? "1" : "30", 1);
    OK(hipModuleLoad(&module, s->path));
    OK(hipModuleGetFunction(&grid, module, "handshake"));
    OK(hipModuleGetFunction(&forever, module, "forever"));
    OK(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
    OK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    OK(hipHostMalloc((void **)&words, 4096, 0));
    memset(words, 0, 4096);
    grid_flag = words;
    flag = words + 64;
    if (s->what == BEHIND_VALUE) /* for longer than a kernel may run */
        OK(hipStreamWaitValue32(one, flag, 1, hipStreamWaitValueEq, UINT32_MAX));
    else
        OK(hipModuleLaunchKernel(forever, 1, 1, 1, 64, 1, 1, 0, one, (void *[]){&flag}, NULL));
    OK(hipModuleLaunchCooperativeKernel(grid, 8, 1, 1, 256, 1, 1, 0, other, (void *[]){&grid_flag}));
    if (s->what == TIMES_OUT) {
        CHECK_HIP(hipStreamSynchronize(other), hipErrorLaunchTimeOut);
        OK(hipDeviceReset());
        return check_failures != 0;
    }
    if (s->what == BESIDE_KERNEL) {
        OK(hipStreamSynchronize(other));
        CHECK_HIP(hipStreamQuery(one), hipErrorNotReady);
    } else {
        CHECK_HIP(hipStreamQuery(other), hipErrorNotReady);
    }
    CHECK_EQ(pthread_create(&thread, NULL, open_later, flag), 0);
    OK(hipStreamSynchronize(other));
    OK(hipStreamSynchronize(one));
    CHECK_EQ(*(volatile int *)grid_flag, 1);
    pthread_join(thread, NULL);
    return check_failures != 0;
}

static void sharing(const char *path)
{
    struct sharing behind_value = {path, "1", BEHIND_VALUE}, behind_kernel = {path, "1", BEHIND_KERNEL},
                   beside = {path, "2", BESIDE_KERNEL}, times_out = {path, "1", TIMES_OUT};
    char said[8192];

    CHECK_APART(shares, &behind_value, 0, NULL);
    CHECK_APART(shares, &behind_kernel, 0, NULL);
    CHECK_APART(shares, &beside, 0, NULL);
    int status = run_apart(shares, &times_out, said, sizeof said);
    check_apart(status, 0, said, "forever", __FILE__, __LINE__);
    CHECK(!strstr(said, "handshake"));
}

int main(int argc, char **argv)
{
    const struct fault cases[] = {
        {"wild", hipErrorIllegalAddress, "memory access fault", 1, 64},
        {"trap", hipErrorLaunchFailure, "trap", 1, 64},
        {"refuse", hipErrorAssert, "value == 3", 1, 64},
        {"forever", hipErrorLaunchTimeOut, "time", 1, 64},
        {"compute", hipErrorLaunchTimeOut, "time", 3000, 64},
        {"nap", hipErrorLaunchTimeOut, "time", 1, 64},
        {"meet", hipErrorLaunchTimeOut, "time", 2, 256},
        {"nothing", hipErrorLaunchTimeOut, "time", INT32_MAX, 1},
    };
    char message[4096];

    if (argc < 2)
        return 2;
    if (argc > 2 && !strcmp(argv[2], "endless")) {
        endless(argv[1]);
        return check_status();
    }
    CHECK_APART(unloads, argv[1], 0,
                "a library with kernels is being unloaded; waiting for its work on the GPU: ");
    sharing(argv[1]);
    setenv("EHP_TIMEOUT", "1.5", 1); /* long enough for a handshake in simulated time on a busy machine */
    setenv("EHP_THREADS", "1", 1);
    handshake(argv[1]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int *flag, value = 4;
        void *memory, *null = NULL;
        OK(hipHostMalloc((void **)&flag, 64, 0));
        *flag = 0;
        void *args[] = {!strcmp(cases[i].kernel, "forever") ? (void *)&flag
                        : !strcmp(cases[i].kernel, "wild")  ? (void *)&null
                                                            : (void *)&value};
        CHECK_HIP(run(argv[1], &cases[i], args, message, sizeof message), cases[i].error);
        if (!CHECK(strstr(message, cases[i].says) != NULL))
            fprintf(stderr, "%s says: %s\n", cases[i].kernel, message);
        CHECK(strstr(message, cases[i].kernel) != NULL);
        /* The error stays. */
        CHECK_HIP(hipDeviceSynchronize(), cases[i].error);
        CHECK_HIP(hipMalloc(&memory, 4), cases[i].error);
        CHECK_HIP(hipStreamSynchronize(NULL), cases[i].error);
        OK(hipDeviceReset());
        OK(hipMalloc(&memory, 4));
        OK(hipMemset(memory, 0, 4));
        OK(hipDeviceSynchronize());
        OK(hipFree(memory));
        OK(hipHostFree(flag));
    }
    return check_status();
}
