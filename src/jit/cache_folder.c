/* SPDX-License-Identifier: MIT */
/* See cache_folder.h. */
#include "jit/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/must.h"

enum { DIGITS = 32, LIMIT_MIB = 256, LIMIT_MIB_MOST = 1 << 20, FILE_MOST = 1 << 30, STALE_SECONDS = 600 };

static const char ending[] = ".code";

/* ---- names --------------------------------------------------------------------------------------------- */

void cache_folder_name(char name[CACHE_NAME], struct hash key)
{
    snprintf(name, CACHE_NAME, "%016" PRIx64 "%016" PRIx64 "%s", key.word[0], key.word[1], ending);
}

/* What is behind an entry's name: "", or the mark of a file that is being written; NULL: no name of ours. */
static const char *name_rest(const char *name)
{
    if (strspn(name, "0123456789abcdef") != DIGITS || strncmp(name + DIGITS, ending, sizeof(ending) - 1) != 0)
        return NULL;
    const char *rest = name + DIGITS + sizeof(ending) - 1;
    return !*rest || (*rest == '.' && strspn(rest + 1, "0123456789abcdef") == strlen(rest + 1)) ? rest : NULL;
}

/* ---- place --------------------------------------------------------------------------------------------- */

static bool find_limit(struct jit_cache_usage *u)
{
    const char *text = secure_getenv("EHP_CACHE_SIZE");
    unsigned long mib = LIMIT_MIB;
    if (text && *text) {
        char *end;
        errno = 0;
        mib = strtoul(text, &end, 10);
        if (strspn(text, "0123456789") != strlen(text) || *end || errno || mib > LIMIT_MIB_MOST) {
            snprintf(u->off, sizeof(u->off), "EHP_CACHE_SIZE=%.100s: expected MiB, from 0 to %d", text,
                     LIMIT_MIB_MOST);
            return false;
        }
    }
    u->limit = (uint64_t)mib << 20;
    if (!mib)
        snprintf(u->off, sizeof(u->off), "EHP_CACHE_SIZE is 0");
    return mib != 0;
}

static bool make_own(const char *path, struct jit_cache_usage *u)
{
    char why[200];
    if (folder_make_own(path, why, sizeof(why)))
        return true;
    snprintf(u->off, sizeof(u->off), "%.4000s %s", path, why);
    return false;
}

/* The folders above the last one, which may be anybody's. */
static bool make_above(const char *path, struct jit_cache_usage *u)
{
    char above[PATH_MAX];
    const char *last = strrchr(path, '/');
    if (!last || last == path)
        return true;
    snprintf(above, sizeof(above), "%.*s", (int)(last - path), path);
    if (folder_make_all(above) == 0)
        return true;
    snprintf(u->off, sizeof(u->off), "%.4000s cannot be made: %s", above, strerror(errno));
    return false;
}

static void make_folder(struct jit_cache_usage *u, const char *root)
{
    char whole[PATH_MAX];
    if (root[0] && (!make_above(root, u) || !make_own(root, u)))
        return;
    if (!make_above(u->folder, u) || !make_own(u->folder, u))
        return;
    /* The program may go elsewhere. */
    if (realpath(u->folder, whole) && strlen(whole) < sizeof(u->folder))
        snprintf(u->folder, sizeof(u->folder), "%s", whole);
    else
        snprintf(u->off, sizeof(u->off), "%.4000s: %s", u->folder, strerror(errno));
}

void cache_folder_find(const char *folder, bool make, struct jit_cache_usage *u)
{
    const char *chosen = folder ? folder : secure_getenv("EHP_CACHE_DIR");
    char root[PATH_MAX - 16] = "";
    *u = (struct jit_cache_usage){0};
    if (chosen) {
        if (snprintf(u->folder, sizeof(u->folder), "%s", chosen) >= (int)sizeof(u->folder))
            snprintf(u->off, sizeof(u->off), "the folder's name is too long");
        for (size_t n = strlen(u->folder); n > 1 && u->folder[n - 1] == '/'; n--)
            u->folder[n - 1] = 0;
        if (!*chosen)
            snprintf(u->off, sizeof(u->off), "EHP_CACHE_DIR is empty");
    } else {
        folder_of_cache(root, sizeof(root));
        snprintf(u->folder, sizeof(u->folder), "%s/compiled", root);
    }
    if (!u->off[0] && find_limit(u) && make)
        make_folder(u, root);
}

int cache_folder_open(const char *folder, const char **wrong)
{
    struct stat st;
    const int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *wrong = NULL;
    if (dir < 0)
        return -1;
    if (fstat(dir, &st) == 0 && !(*wrong = folder_check_own(&st)))
        return dir;
    close(dir);
    errno = EPERM;
    return -1;
}

/* ---- bounds -------------------------------------------------------------------------------------------- */

struct entry {
    char name[CACHE_NAME];
    uint64_t bytes;
    struct timespec used;
};

struct list {
    struct entry *entries;
    size_t count, room;
    uint64_t bytes;
};

static void add(struct list *l, const char *name, const struct stat *st)
{
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->entries = must(realloc(l->entries, l->room * sizeof(*l->entries)));
    }
    struct entry *e = &l->entries[l->count++];
    snprintf(e->name, sizeof(e->name), "%.*s", CACHE_NAME - 1, name);
    e->bytes = (uint64_t)st->st_size;
    e->used = st->st_mtim;
    l->bytes += e->bytes;
}

static void read_list(int dir, struct list *l)
{
    struct timespec now;
    struct stat st;
    const int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* with a position of its own */
    DIR *d = own >= 0 ? fdopendir(own) : NULL;
    if (!d) {
        if (own >= 0)
            close(own);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    for (struct dirent *e; (e = readdir(d));) {
        const char *rest = name_rest(e->d_name);
        if (!rest || fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        if (!*rest)
            add(l, e->d_name, &st);
        else if (now.tv_sec - st.st_mtim.tv_sec > STALE_SECONDS)
            unlinkat(dir, e->d_name, 0);
    }
    closedir(d);
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct entry *)a)->used, *y = &((const struct entry *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

uint64_t cache_folder_trim(int dir, uint64_t most, uint64_t *entries)
{
    struct list l = {0};
    read_list(dir, &l);
    *entries = l.count;
    if (l.bytes > most)
        qsort(l.entries, l.count, sizeof(*l.entries), by_use);
    for (size_t i = 0; i < l.count && l.bytes > most; i++) {
        /* ENOENT: another process is at the same. */
        if (unlinkat(dir, l.entries[i].name, 0) != 0 && errno != ENOENT)
            continue;
        l.bytes -= l.entries[i].bytes;
        --*entries;
    }
    free(l.entries);
    return l.bytes;
}

/* ---- files --------------------------------------------------------------------------------------------- */

static bool write_all(int fd, const uint8_t *bytes, size_t size)
{
    while (size) {
        const ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

int cache_folder_write(int dir, const char *name, const void *bytes, size_t size)
{
    static const mode_t own = S_IRUSR | S_IWUSR;
    char made[CACHE_NAME + 64];
    struct timespec now;
    struct rlimit most;
    int error = 0;
    /* Beyond this the kernel would send the program a signal. */
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < size)
        return EFBIG;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(made, sizeof(made), "%s.%x%lx%lx", name, (unsigned)gettid(), (long)now.tv_sec, now.tv_nsec);
    const int fd = openat(dir, made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, own);
    if (fd < 0)
        return errno;
    if (!write_all(fd, bytes, size))
        error = errno ? errno : EIO;
    if (close(fd) != 0 && !error)
        error = errno;
    if (!error && renameat(dir, made, dir, name) != 0)
        error = errno;
    if (error)
        unlinkat(dir, made, 0);
    return error;
}

static bool read_all(int fd, uint8_t *bytes, size_t size)
{
    while (size) {
        const ssize_t n = read(fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

uint8_t *cache_folder_read(int dir, const char *name, size_t *size)
{
    static const struct timespec now[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
    struct stat st;
    uint8_t *bytes = NULL;
    const int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); /* no pipe stops it */
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        !(st.st_mode & (S_IWGRP | S_IWOTH)) && st.st_size > 0 && st.st_size <= FILE_MOST)
        bytes = malloc((size_t)st.st_size);
    if (bytes && read_all(fd, bytes, (size_t)st.st_size)) {
        *size = (size_t)st.st_size;
        (void)futimens(fd, now); /* a file system may be read-only */
    } else {
        free(bytes);
        bytes = NULL;
    }
    close(fd);
    return bytes;
}
