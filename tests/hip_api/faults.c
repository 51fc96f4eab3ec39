/* SPDX-License-Identifier: MIT */
/*
 * A device fault is an error, not the end of the program: the next calls return
 * it, one message says what happened, and hipDeviceReset() starts anew.
 */
#include <stdlib.h>
#include <unistd.h>

#include "hip_check.h"

static hipError_t run(const char *path, const char *name, void **args, char *message, size_t bytes)
{
    char file[] = "/tmp/ehp-fault-XXXXXX";
    int fd = mkstemp(file), saved = dup(2);
    hipModule_t module;
    hipFunction_t function;

    OK(hipModuleLoad(&module, path));
    OK(hipModuleGetFunction(&function, module, name));
    dup2(fd, 2);
    hipError_t error = hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL);
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

int main(int argc, char **argv)
{
    const struct {
        const char *kernel;
        hipError_t error;
        const char *says;
    } cases[] = {
        {"wild", hipErrorIllegalAddress, "memory access fault"},
        {"trap", hipErrorLaunchFailure, "trap"},
        {"refuse", hipErrorAssert, "value == 3"},
        {"forever", hipErrorLaunchTimeOut, "time"},
    };
    char message[4096];

    if (argc < 2)
        return 2;
    setenv("EHP_TIMEOUT", "0.5", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int *flag, value = 4;
        void *memory, *null = NULL;
        OK(hipHostMalloc((void **)&flag, 64, 0));
        *flag = 0;
        void *args[] = {!strcmp(cases[i].kernel, "forever") ? (void *)&flag
                        : !strcmp(cases[i].kernel, "wild")  ? (void *)&null
                                                            : (void *)&value};
        CHECK_HIP(run(argv[1], cases[i].kernel, args, message, sizeof message), cases[i].error);
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
