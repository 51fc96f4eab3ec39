/* SPDX-License-Identifier: MIT */
/* hipRTC where something is wrong: handles, TMPDIR, no compiler, the end of the process. No compiler is run.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hip/hiprtc.h>

#include "check.h"

#define CHECK_RTC(call, result) CHECK_EQ(call, result)

static char home[] = "/tmp/ehp-hiprtc-XXXXXX";

static hiprtcProgram program(void)
{
    hiprtcProgram made = NULL;
    CHECK_RTC(hiprtcCreateProgram(&made, "__global__ void k() {}", "k.hip", 0, NULL, NULL), HIPRTC_SUCCESS);
    return made;
}

static void handles(void)
{
    hiprtcProgram good = program(), destroyed = good;
    CHECK_RTC(hiprtcDestroyProgram(&good), HIPRTC_SUCCESS);
    char text[8], *words = calloc(1, 4096);
    const char *name;
    size_t size;
    hiprtcProgram bad[] = {NULL, destroyed, (hiprtcProgram)16, (hiprtcProgram)(void *)words,
                           (hiprtcProgram)(void *)&size};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        hiprtcProgram p = bad[i];
        CHECK_RTC(hiprtcDestroyProgram(&p), HIPRTC_ERROR_INVALID_PROGRAM);
        CHECK_RTC(hiprtcAddNameExpression(bad[i], "k"), HIPRTC_ERROR_INVALID_PROGRAM);
        CHECK_RTC(hiprtcCompileProgram(bad[i], 0, NULL), HIPRTC_ERROR_INVALID_PROGRAM);
        CHECK_RTC(hiprtcGetLoweredName(bad[i], "k", &name), HIPRTC_ERROR_INVALID_PROGRAM);
        CHECK_RTC(hiprtcGetProgramLogSize(bad[i], &size), HIPRTC_ERROR_INVALID_PROGRAM);
        CHECK_RTC(hiprtcGetProgramLog(bad[i], text), HIPRTC_ERROR_INVALID_PROGRAM);
        CHECK_RTC(hiprtcGetCodeSize(bad[i], &size), HIPRTC_ERROR_INVALID_PROGRAM);
        CHECK_RTC(hiprtcGetCode(bad[i], text), HIPRTC_ERROR_INVALID_PROGRAM);
        CHECK_RTC(hiprtcGetBitcodeSize(bad[i], &size), HIPRTC_ERROR_INVALID_PROGRAM);
        CHECK_RTC(hiprtcGetBitcode(bad[i], text), HIPRTC_ERROR_INVALID_PROGRAM);
    }
    hiprtcLinkState state = NULL;
    CHECK_RTC(hiprtcLinkCreate(0, NULL, NULL, &state), HIPRTC_SUCCESS);
    CHECK_RTC(hiprtcLinkDestroy(state), HIPRTC_SUCCESS);
    const hiprtcLinkState links[] = {NULL, state, (hiprtcLinkState)16, (hiprtcLinkState)(void *)words};
    for (unsigned i = 0; i < sizeof links / sizeof links[0]; i++) {
        void *code;
        CHECK_RTC(hiprtcLinkAddData(links[i], HIPRTC_JIT_INPUT_LLVM_BITCODE, text, 4, "x", 0, NULL, NULL),
                  HIPRTC_ERROR_INVALID_INPUT);
        CHECK_RTC(hiprtcLinkAddFile(links[i], HIPRTC_JIT_INPUT_LLVM_BITCODE, "/dev/null", 0, NULL, NULL),
                  HIPRTC_ERROR_INVALID_INPUT);
        CHECK_RTC(hiprtcLinkComplete(links[i], &code, &size), HIPRTC_ERROR_INVALID_INPUT);
        CHECK_RTC(hiprtcLinkDestroy(links[i]), HIPRTC_ERROR_INVALID_INPUT);
    }
    free(words);
}

/* Compiling fails, and its log has these words. */
static void fails(hiprtcResult result, const char *words)
{
    hiprtcProgram p = program();
    char log[8192] = "";
    size_t size = 0;
    CHECK_RTC(hiprtcCompileProgram(p, 0, NULL), result);
    CHECK_RTC(hiprtcGetProgramLogSize(p, &size), HIPRTC_SUCCESS);
    if (CHECK(size > 1 && size <= sizeof log))
        CHECK_RTC(hiprtcGetProgramLog(p, log), HIPRTC_SUCCESS);
    if (!CHECK(strstr(log, words)))
        fprintf(stderr, "%s", log);
    CHECK_RTC(hiprtcDestroyProgram(&p), HIPRTC_SUCCESS);
}

static unsigned entries(const char *path)
{
    unsigned count = 0;
    DIR *directory = opendir(path);
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

/* A compiler that is a script. */
static void set_compiler(const char *script)
{
    char path[256];
    snprintf(path, sizeof path, "%s/tree/bin/hipcc", home);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);
    CHECK(file >= 0 && write(file, script, strlen(script)) == (ssize_t)strlen(script));
    close(file);
}

/* The process ends while the compiler runs, and leaves nothing behind. */
static void ended(int number, const char *temporary)
{
    char started[256];
    snprintf(started, sizeof started, "%s/started", home);
    unlink(started);
    pid_t child = fork();
    if (child == 0) {
        hiprtcProgram p = program();
        hiprtcCompileProgram(p, 0, NULL);
        _exit(0);
    }
    for (int i = 0; i < 1000 && access(started, F_OK) != 0; i++)
        usleep(10000);
    CHECK(entries(temporary) > 2);
    kill(child, number);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == number);
    for (int i = 0; i < 1000 && entries(temporary) > 2; i++)
        usleep(10000);
    CHECK_EQ(entries(temporary), 2);
}

int main(void)
{
    char path[256], temporary[256], script[512], deep[5000];
    if (!mkdtemp(home))
        return 2;
    snprintf(temporary, sizeof temporary, "%s/tmp", home);
    mkdir(temporary, 0700);
    for (const char *const *name = (const char *const[]){"tree", "tree/bin", NULL}; *name; name++) {
        snprintf(path, sizeof path, "%s/%s", home, *name);
        mkdir(path, 0700);
    }
    snprintf(path, sizeof path, "%s/tree", home);
    setenv("EHP_ROCM", path, 1);
    setenv("TMPDIR", temporary, 1);

    handles();
    fails(HIPRTC_ERROR_COMPILATION, "no compiler");
    set_compiler("#!/nonexistent/interpreter\n");
    fails(HIPRTC_ERROR_COMPILATION, "cannot be run");
    set_compiler("#!/bin/sh\nkill -9 $$\n");
    fails(HIPRTC_ERROR_COMPILATION, "ended by a signal");
    set_compiler("#!/bin/sh\necho this is wrong\nexit 1\n");
    fails(HIPRTC_ERROR_COMPILATION, "this is wrong");
    /* A program that waits for nobody. */
    signal(SIGCHLD, SIG_IGN);
    fails(HIPRTC_ERROR_COMPILATION, "this is wrong");
    set_compiler("#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && echo code >\"$2\"; shift; done\n");
    hiprtcProgram p = program();
    CHECK_RTC(hiprtcCompileProgram(p, 0, NULL), HIPRTC_SUCCESS);
    CHECK_RTC(hiprtcDestroyProgram(&p), HIPRTC_SUCCESS);
    signal(SIGCHLD, SIG_DFL);
    CHECK_EQ(entries(temporary), 2);
    setenv("TMPDIR", "/nonexistent/directory", 1);
    fails(HIPRTC_ERROR_INTERNAL_ERROR, "/nonexistent/directory: No such file or directory; set TMPDIR");
    hiprtcLinkState state;
    CHECK_RTC(hiprtcLinkCreate(0, NULL, NULL, &state), HIPRTC_ERROR_INTERNAL_ERROR);
    memset(deep, 'a', sizeof deep);
    deep[sizeof deep - 1] = 0;
    setenv("TMPDIR", deep, 1);
    fails(HIPRTC_ERROR_INTERNAL_ERROR, "File name too long");
    setenv("TMPDIR", temporary, 1);
    snprintf(script, sizeof script, "#!/bin/sh\n: >%s/started\nexec sleep 2\n", home);
    set_compiler(script);
    ended(SIGTERM, temporary);
    ended(SIGINT, temporary);
    ended(SIGKILL, temporary);

    static const char *const made[] = {"/started", "/tmp", "/tree/bin/hipcc", "/tree/bin", "/tree", ""};
    for (unsigned i = 0; i < sizeof made / sizeof made[0]; i++) {
        snprintf(path, sizeof path, "%s%s", home, made[i]);
        CHECK_EQ(remove(path), 0);
    }
    return check_status();
}
