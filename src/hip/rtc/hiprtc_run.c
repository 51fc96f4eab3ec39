/* SPDX-License-Identifier: MIT */
/* Running the compiler for hipRTC: a temporary directory, a child process, its output. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hip/rtc/hiprtc.h"

extern char **environ;

bool rtc_words_add(struct rtc_words *words, const char *text)
{
    char **more = realloc((void *)words->word, (words->count + 2) * sizeof *more);

    if (!more)
        return false;
    words->word = more;
    words->word[words->count] = strdup(text);
    if (!words->word[words->count])
        return false;
    words->word[++words->count] = NULL;
    return true;
}

bool rtc_words_add_in(struct rtc_words *words, const char *prefix, const struct rtc_place *place,
                      const char *name)
{
    char text[PATH_MAX];

    return snprintf(text, sizeof text, "%s%s/%s", prefix, place->dir, name) < (int)sizeof text &&
           rtc_words_add(words, text);
}

void rtc_words_free(struct rtc_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->word[i]);
    free((void *)words->word);
    *words = (struct rtc_words){0};
}

/* ---- the directory ------------------------------------------------------------------------------------- */

/*
 * A signal may end this process while the compiler runs, and is not for a library to catch: a process in a
 * group of its own waits for the end of this one, and removes what is left.
 */
static void place_keep(struct rtc_place *place)
{
    static char shell[] = "/bin/sh", option[] = "-c", script[] = "read -r line; rm -rf -- \"$0\"";
    char *argv[] = {shell, option, script, place->dir, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int ends[2];

    place->keeper = place->leash = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    if (posix_spawn(&place->keeper, shell, &actions, &attributes, argv, environ) == 0)
        place->leash = ends[1];
    else
        close(ends[1]);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
}

/* The exit code; -1 when a signal ended it; RUN_UNKNOWN where the program waits for all children, or ignores
 * SIGCHLD. */
enum { RUN_UNKNOWN = -2 };

static int run_wait(pid_t child)
{
    int status = -1;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return errno == ECHILD ? RUN_UNKNOWN : -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool rtc_place_make(struct rtc_place *place, char **why)
{
    const char *base = secure_getenv("TMPDIR");

    *why = NULL;
    if (!base || !*base)
        base = "/tmp";
    int length = snprintf(place->dir, sizeof place->dir, "%s/ehp-rtc-XXXXXX", base);
    if (length >= (int)sizeof place->dir)
        errno = ENAMETOOLONG;
    else if (mkdtemp(place->dir)) {
        place_keep(place);
        return true;
    }
    if (asprintf(
            why,
            "hiprtc: no directory for the compiler's files can be made in %s: %s; set TMPDIR to one that "
            "can be written\n",
            base, strerror(errno)) < 0)
        *why = NULL;
    return false;
}

static int place_remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

void rtc_place_remove(struct rtc_place *place)
{
    nftw(place->dir, place_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (place->leash >= 0) {
        close(place->leash);
        run_wait(place->keeper);
    }
}

static bool place_path(const struct rtc_place *place, const char *name, char path[PATH_MAX])
{
    /* A header's name may have directories, but must not lead out of the place. */
    if (name[0] == '/' || strstr(name, ".."))
        return false;
    return snprintf(path, PATH_MAX, "%s/%s", place->dir, name) < PATH_MAX;
}

bool rtc_place_write(const struct rtc_place *place, const char *name, const void *bytes, size_t count)
{
    char path[PATH_MAX];

    if (!place_path(place, name, path))
        return false;
    for (char *slash = path + strlen(place->dir) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool right = fwrite(bytes, 1, count, file) == count;
    return fclose(file) == 0 && right;
}

bool rtc_place_read(const struct rtc_place *place, const char *name, char **bytes, size_t *count)
{
    char path[PATH_MAX];
    FILE *file = place_path(place, name, path) ? fopen(path, "rb") : NULL;

    *bytes = NULL;
    *count = 0;
    if (!file)
        return false;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0 && (*bytes = malloc((size_t)size + 1))) {
        *count = fread(*bytes, 1, (size_t)size, file);
        (*bytes)[*count] = 0;
    }
    fclose(file);
    return *bytes != NULL;
}

/* ---- the compiler -------------------------------------------------------------------------------------- */

static bool run_can(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/*
 * The ROCm-shaped tree beside this library: PREFIX/lib/ehp/rocm when installed,
 * BUILD/rocm for BUILD/src/hip/libamdhip64.so.  EHP_ROCM names another.
 */
static bool run_find(bool clang, char path[PATH_MAX])
{
    static const char *const below[] = {"ehp/rocm", "../ehp/rocm", "../../rocm", "../rocm", ".."};
    const char *program = clang ? "llvm/bin/clang" : "bin/hipcc";
    const char *tree = secure_getenv("EHP_ROCM");
    char self[PATH_MAX];
    Dl_info info;

    if (tree && *tree)
        return snprintf(path, PATH_MAX, "%s/%s", tree, program) < PATH_MAX && run_can(path);
    if (!dladdr((const void *)rtc_run, &info) || !realpath(info.dli_fname, self))
        return false;
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        if (snprintf(path, PATH_MAX, "%s/%s/%s", self, below[i], program) < PATH_MAX && run_can(path))
            return true;
    return false;
}

int rtc_run(const struct rtc_place *place, bool clang, const struct rtc_words *arguments)
{
    char program[PATH_MAX], log[PATH_MAX], text[PATH_MAX + 64];
    posix_spawn_file_actions_t actions;
    pid_t child;

    char **argv = calloc(arguments->count + 2, sizeof *argv);
    if (!argv || !place_path(place, "log", log) || !run_find(clang, program)) {
        const char *missing =
            "hiprtc: no compiler beside this library; set EHP_ROCM to the tree that has bin/hipcc\n";
        rtc_place_write(place, "log", missing, strlen(missing));
        free((void *)argv);
        return -1;
    }
    argv[0] = program;
    for (size_t i = 0; i < arguments->count; i++)
        argv[i + 1] = arguments->word[i];
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    int error = posix_spawn(&child, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    free((void *)argv);
    if (error) {
        snprintf(text, sizeof text, "hiprtc: %s cannot be run: %s\n", program, strerror(error));
        rtc_place_write(place, "log", text, strlen(text));
        return -1;
    }
    int code = run_wait(child);
    if (code == RUN_UNKNOWN) /* the compiler leaves code behind only if it is whole */
        code = place_path(place, "code", log) && access(log, R_OK) == 0 ? 0 : -1;
    return code;
}
