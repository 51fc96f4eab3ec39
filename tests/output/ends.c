/* SPDX-License-Identifier: MIT */
/* ends HSACO HOW: launches a kernel three times, waits for it, copies what it wrote, and ends in one of many
 * ways.  "busy" and "idle" wait to be ended, and say so. */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hip_api/hip_check.h"
#include "own_death.h"

static hipModule_t module;
static hipFunction_t store;
static int *out;

static void run(int times)
{
    int value = 1;

    for (int i = 0; i < times; i++)
        OK(hipModuleLaunchKernel(store, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&out, &value}, NULL));
    OK(hipDeviceSynchronize());
}

static void say(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        exit(3);
}

static void end(const char *how, char **self)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"term", SIGTERM}, {"int", SIGINT}, {"kill", SIGKILL}, {"hup", SIGHUP}, {"stop", SIGSTOP}};

    if (!strcmp(how, "hot")) { /* its function is being compiled then, by what has just been loaded */
        run(300);
        dlopen("libm.so.6", RTLD_NOW);
    }
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "_exit"))
        _exit(7);
    if (!strcmp(how, "quick_exit"))
        quick_exit(7);
    if (!strcmp(how, "exec"))
        execl(self[0], self[0], "again", (char *)NULL);
    if (!strcmp(how, "crash"))
        raise(SIGSEGV); /* nobody's handler is in the way of a signal that is sent */
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!strcmp(how, signals[i].name))
            raise(signals[i].number);
    if (!strcmp(how, "fork") && fork() == 0)
        exit(0); /* a child of which there is nothing to say */
    if (!strcmp(how, "busy"))
        for (say("ready\n");;)
            run(1);
    if (!strcmp(how, "idle"))
        for (say("ready\n");;)
            pause();
    exit(7);
}

/* As C++ programs with kernels do at their end. */
static void unload(void)
{
    OK(hipModuleUnload(module));
}

int main(int argc, char **argv)
{
    int host[64];

    if (argc == 2)
        return 7; /* after "exec" */
    if (!strcmp(argv[2], "hot"))
        atexit(unload);
    OK(hipModuleLoad(&module, argv[1]));
    OK(hipModuleGetFunction(&store, module, "store"));
    OK(hipMalloc((void **)&out, 64 * sizeof *out));
    run(1);
    run(2);
    OK(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
    OK(hipDeviceSynchronize());
    end(argv[2], argv);
}
