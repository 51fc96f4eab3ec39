/* SPDX-License-Identifier: MIT */
/* Reports about a run, written while it runs; see report.h. */
#include "hip/core/state.h"
#include "hip/observe/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "hip/core/runtime.h"
#include "hip/stream/stream.h"

#define REPORT_STEP_NS UINT64_C(100000000) /* between looks at what no wait has shown */
#define REPORT_FREE_NS UINT64_C(250000000)
#define REPORT_PAGE    4096 /* what write() writes as a whole, whenever the process is killed */

struct report {
    struct report *next;
    const char *variable, *path; /* path: `given`, NULL: a table */
    hip_report_fn *print;
    FILE *file; /* prints into fd; there all the time, so that nothing is allocated */
    int fd;     /* -1: what is printed decides where */
    bool last, lost;
    size_t size; /* of what is in `live` */
    mode_t mode;
    /* Whatever they are, as long: addresses of the program's memory must not follow how its files are called,
     * which simulated time can follow. */
    char given[PATH_MAX], live[PATH_MAX], part[PATH_MAX + 32]; /* live is empty: written at the end only */
    char buffer[1 << 16];
};

struct hip_reports {
    pthread_mutex_t lock;
    uint64_t start, spent;
    bool ended;
    struct report *first;
};

static uint64_t report_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- what does not arrive ------------------------------------------------------------------------------ */

/* After the other handlers at exit: to them it is the status that the program gave. */
static void report_exit(int status, void *unused)
{
    (void)unused;
    if (status == 0)
        exit(EXIT_FAILURE); /* glibc goes on with the handlers that are left */
}

static void report_lost(void)
{
    if (!atomic_exchange(&hip_state()->output_lost, true))
        on_exit(report_exit, NULL);
}

static void report_say_lost(const char *variable, const char *path)
{
    hip_say("%s=%s: cannot write there%s%s", variable, path, errno ? ": " : "", errno ? strerror(errno) : "");
    report_lost();
}

void report_close(FILE *file, const char *variable, const char *path)
{
    bool failed = !file || ferror(file);

    if (file && fclose(file) != 0)
        failed = true;
    if (failed)
        report_say_lost(variable, path);
}

void report_printed(void)
{
    if (ferror(stderr))
        report_lost();
}

/* ---- one report ---------------------------------------------------------------------------------------- */

static void report_write(struct report *r, const char *text, size_t bytes)
{
    while (bytes && !r->lost) {
        ssize_t n = write(r->fd, text, bytes);
        if (n < 0) {
            r->lost = errno != EINTR;
        } else {
            text += n;
            bytes -= (size_t)n;
        }
    }
}

/* A short text over the last one, with line ends over what is left of that.  A rename that replaces a file
 * makes some file systems wait for their disk. */
static bool report_overwrite(struct report *r, const char *text, size_t bytes)
{
    char page[REPORT_PAGE];
    size_t all = r->size > bytes ? r->size : bytes;

    if (all > sizeof page)
        return false;
    int fd = open(r->live, O_WRONLY | O_CREAT | O_CLOEXEC, r->mode);
    if (fd < 0)
        return false;
    memcpy(page, text, bytes);
    memset(page + bytes, '\n', all - bytes);
    bool written = pwrite(fd, page, all, 0) == (ssize_t)all && ftruncate(fd, (off_t)bytes) == 0;
    r->size = bytes;
    return close(fd) == 0 && written;
}

/* Errors are kept: stdio goes on after them. */
static ssize_t report_put(void *cookie, const char *text, size_t bytes)
{
    struct report *r = cookie;

    if (r->fd < 0 && !r->lost && (!r->last || !report_overwrite(r, text, bytes))) {
        r->fd = open(r->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, r->mode);
        r->lost = r->fd < 0;
    }
    if (r->fd >= 0)
        report_write(r, text, bytes);
    return (ssize_t)bytes;
}

/* Into an open file, which is closed, or -1; false: errno says why not. */
static bool report_into(struct report *r, int fd)
{
    r->fd = fd;
    r->last = r->lost = false;
    r->print(r->file);
    r->last = true; /* that is all of it */
    fflush(r->file);
    int error = errno;
    if (r->fd >= 0 && close(r->fd) != 0 && !r->lost) {
        error = errno;
        r->lost = true;
    }
    errno = error;
    return !r->lost;
}

/* As of now.  Of a long one another file takes the last one's place, which nothing can split. */
static bool report_replace(struct report *r)
{
    bool arrived = report_into(r, -1);

    if (r->fd < 0)
        return arrived;
    if (arrived && rename(r->part, r->live) == 0) {
        r->size = SIZE_MAX; /* too long to be written over */
        return true;
    }
    int error = errno;
    unlink(r->part);
    errno = error;
    return false;
}

/* The file's name for as long as the process lives, wherever it goes; not of a device, or of what is not
 * ours. */
static void report_locate(struct report *r, const char *path)
{
    struct stat found;
    char room[PATH_MAX], directory[PATH_MAX]; /* realpath() wants as much */
    bool exists = stat(path, &found) == 0;

    if (exists && !(S_ISREG(found.st_mode) && found.st_nlink == 1 && found.st_uid == geteuid() &&
                    access(path, W_OK) == 0 && realpath(path, r->live)))
        return;
    if (!exists) {
        const char *name = strrchr(path, '/');
        name = name ? name + 1 : path;
        snprintf(room, sizeof room, "%.*s.", (int)(name - path), path);
        if (!*name || !realpath(room, directory) ||
            (size_t)snprintf(r->live, sizeof r->live, "%s/%s", directory, name) >= sizeof r->live) {
            r->live[0] = '\0';
            return;
        }
    }
    if (exists) {
        r->mode = found.st_mode & 0777;
        r->size = (size_t)found.st_size;
    }
    snprintf(r->part, sizeof r->part, "%s.%ld~", r->live, (long)getpid());
    if (!report_replace(r))
        r->live[0] = '\0';
}

/* A table's file: its name is nobody else's, also after exec(), and those that came later come later. */
static void report_locate_table(struct report *r)
{
    const char *tables = secure_getenv("EHP_TABLES");
    char path[PATH_MAX];

    if (!tables || !*tables)
        return;
    int n = snprintf(path, sizeof path, "%s/%020llu.%ld", tables, (unsigned long long)report_clock(),
                     (long)getpid());
    if (n > 0 && (size_t)n < sizeof path)
        report_locate(r, path);
}

static void report_end(struct report *r)
{
    if (!r->path) {
        r->print(stderr);
        report_printed();
        if (r->live[0])
            unlink(r->live);
        return;
    }
    if (r->live[0] && report_replace(r))
        return;
    errno = 0;
    int fd = open(r->live[0] ? r->live : r->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, r->mode);
    if (fd < 0 || !report_into(r, fd))
        report_say_lost(r->variable, r->path);
}

/* ---- all of them --------------------------------------------------------------------------------------- */

void hip_report_update(void)
{
    struct hip_reports *reports = hip_runtime()->reports;

    if (!reports || hip_forked())
        return;
    pthread_mutex_lock(&reports->lock);
    uint64_t now = report_clock();
    if (!reports->ended && reports->spent <= REPORT_FREE_NS + (now - reports->start) / 20) {
        for (struct report *r = reports->first; r; r = r->next)
            if (r->live[0])
                (void)report_replace(r);
        reports->spent += report_clock() - now;
    }
    pthread_mutex_unlock(&reports->lock);
}

static void *report_main(void *argument)
{
    struct hip_reports *reports = argument;

    for (bool ended = false; !ended;) {
        nanosleep(&(struct timespec){.tv_nsec = REPORT_STEP_NS}, NULL);
        hip_report_update();
        pthread_mutex_lock(&reports->lock);
        ended = reports->ended;
        pthread_mutex_unlock(&reports->lock);
    }
    return NULL;
}

static void report_at_exit(void)
{
    struct hip_reports *reports = hip_runtime()->reports;

    if (hip_forked())
        return;
    hip_wait_last();
    fflush(stdout);
    pthread_mutex_lock(&reports->lock);
    reports->ended = true;
    for (struct report *r = reports->first; r; r = r->next)
        report_end(r);
    pthread_mutex_unlock(&reports->lock);
}

static struct hip_reports *report_begin(void)
{
    struct hip_reports *reports = calloc(1, sizeof *reports);
    pthread_t thread;

    if (!reports)
        return NULL;
    pthread_mutex_init(&reports->lock, NULL);
    reports->start = report_clock();
    hip_runtime()->reports = reports;
    if (thread_start(&thread, report_main, reports) != 0) {
        hip_runtime()->reports = NULL;
        free(reports);
        return NULL;
    }
    pthread_detach(thread); /* it ends with the process, whose exit does not wait for its step */
    atexit(report_at_exit);
    at_quick_exit(report_at_exit);
    return reports;
}

bool hip_report_add(const char *variable, const char *path, hip_report_fn *print)
{
    struct hip_reports *reports = hip_runtime()->reports ? hip_runtime()->reports : report_begin();
    struct report *r = reports ? calloc(1, sizeof *r) : NULL;

    if (r)
        r->file = fopencookie(r, "w", (cookie_io_functions_t){.write = report_put});
    if (!r || !r->file) {
        free(r);
        return false;
    }
    setvbuf(r->file, r->buffer, _IOFBF, sizeof r->buffer);
    r->variable = variable;
    if (path) { /* one that is longer cannot be opened */
        snprintf(r->given, sizeof r->given, "%s", path);
        r->path = r->given;
    }
    r->print = print;
    r->mode = 0666;
    pthread_mutex_lock(&reports->lock);
    if (path)
        report_locate(r, path);
    else
        report_locate_table(r);
    struct report **last = &reports->first;
    while (*last)
        last = &(*last)->next;
    *last = r;
    pthread_mutex_unlock(&reports->lock);
    return true;
}
