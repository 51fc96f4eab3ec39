/* SPDX-License-Identifier: MIT */
/*
 * What libnuma and numactl read of the system: /sys/devices/system/node, and which CPUs and nodes are allowed
 * in /proc/self/status; see numa.h.  A file is one in memory, made when it is opened; of the directory alone
 * the names are told.
 *
 * Sources: Linux, Documentation/ABI/stable/sysfs-devices-node; proc(5).
 */
#undef _FILE_OFFSET_BITS /* both forms of a function are here, under their own names */

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hip/host/numa.h"
#include "hip/host/time_host.h"

static const char nodes_folder[] = "/sys/devices/system/node";
static const char status_file[] = "/proc/self/status";

struct text {
    char at[1 << 14];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(t->at + t->used, sizeof(t->at) - t->used, format, arguments);
    va_end(arguments);
    t->used += n > 0 && (size_t)n < sizeof(t->at) - t->used ? (size_t)n : 0;
}

/* As "ff,00000000", in words of 32 bits. */
static void add_mask(struct text *t, const uint64_t *word, unsigned bits)
{
    for (unsigned w = (bits + 31) / 32; w-- > 0;)
        add(t, "%08x%s", (unsigned)(word[w / 2] >> w % 2 * 32 & UINT32_MAX), w ? "," : "\n");
}

/* As "0-3,8". */
static void add_list(struct text *t, const uint64_t *word, unsigned bits)
{
    const char *comma = "";
    for (unsigned i = 0, end; i < bits; i = end + 1) {
        for (end = i; end < bits && word[end / 64] >> end % 64 & 1; end++)
            ;
        if (end == i)
            continue;
        add(t, end - i > 1 ? "%s%u-%u" : "%s%u", comma, i, end - 1);
        comma = ",";
    }
    add(t, "\n");
}

static struct ehp_cpu_set cpus_of(unsigned which)
{
    const unsigned each = numa_nodes()->cpus;
    struct ehp_cpu_set set = {{0}};
    for (unsigned cpu = which * each; cpu < (which + 1) * each; cpu++)
        set.word[cpu / 64] |= UINT64_C(1) << cpu % 64;
    return set;
}

/* False: no such file of a node's. */
static bool node_file(struct text *t, unsigned which, const char *name)
{
    const struct numa_nodes *n = numa_nodes();
    const struct ehp_cpu_set cpus = cpus_of(which);
    if (strcmp(name, "cpumap") == 0) {
        add_mask(t, cpus.word, n->nodes * n->cpus);
    } else if (strcmp(name, "cpulist") == 0) {
        add_list(t, cpus.word, n->nodes * n->cpus);
    } else if (strcmp(name, "distance") == 0) {
        for (unsigned i = 0; i < n->nodes; i++)
            add(t, "%u%s", n->distance[which][i], i + 1 < n->nodes ? " " : "\n");
    } else if (strcmp(name, "meminfo") == 0) {
        const uint64_t left = numa_free_kib(which);
        add(t, "Node %u MemTotal: %14lu kB\nNode %u MemFree: %15lu kB\nNode %u MemUsed: %15lu kB\n", which,
            n->kib, which, left, which, n->kib - left);
    } else {
        return false;
    }
    return true;
}

/* The kernel's own, but for the lines that are about CPUs and nodes. */
static void status_text(struct text *t)
{
    const struct numa_nodes *n = numa_nodes();
    const struct ehp_cpu_set cpus = numa_own_cpus();
    const uint64_t nodes = numa_all_nodes();
    const unsigned bits = n->nodes * n->cpus;
    char line[512];
    FILE *file = REAL(fopen)(status_file, "re");
    while (file && fgets(line, sizeof(line), file)) {
        const size_t name = strcspn(line, "\t");
        if (strncmp(line, "Cpus_allowed", strlen("Cpus_allowed")) != 0 &&
            strncmp(line, "Mems_allowed", strlen("Mems_allowed")) != 0) {
            add(t, "%s", line);
            continue;
        }
        add(t, "%.*s\t", (int)name, line);
        const bool list = strncmp(line + strlen("Cpus_allowed"), "_list", 5) == 0;
        (list ? add_list : add_mask)(t, *line == 'C' ? cpus.word : &nodes, *line == 'C' ? bits : n->nodes);
    }
    if (file)
        fclose(file);
}

/* False: it is not of these. */
static bool text_of(const char *path, struct text *t)
{
    const size_t folder = strlen(nodes_folder);
    const uint64_t nodes = numa_all_nodes();
    t->used = 0;
    if (strcmp(path, status_file) == 0) {
        status_text(t);
        return true;
    }
    if (strncmp(path, nodes_folder, folder) != 0 || path[folder] != '/')
        return false;
    const char *name = path + folder + 1;
    static const char *const lists[] = {"possible", "online", "has_cpu", "has_memory", "has_normal_memory"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (strcmp(name, lists[i]) == 0) {
            add_list(t, &nodes, numa_nodes()->nodes);
            return true;
        }
    unsigned which;
    int used = 0;
    return sscanf(name, "node%u/%n", &which, &used) == 1 && used && which < numa_nodes()->nodes &&
           node_file(t, which, name + used);
}

static bool is_ours(const char *path, const void *caller)
{
    return path &&
           (strncmp(path, nodes_folder, strlen(nodes_folder)) == 0 || strcmp(path, status_file) == 0) &&
           numa_answers(caller);
}

/* A file in memory with the text, at its beginning; -1: it is not of these. */
static int open_text(const char *path)
{
    struct text *t = malloc(sizeof(*t));
    int fd = t && text_of(path, t) ? memfd_create("ehp-numa", MFD_CLOEXEC) : -1;
    if (fd >= 0 && (write(fd, t->at, t->used) != (ssize_t)t->used || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        fd = -1;
    }
    free(t);
    return fd;
}

static FILE *open_stream(const char *path)
{
    const int fd = open_text(path);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

ENTRY FILE *fopen(const char *path, const char *mode)
{
    FILE *file = is_ours(path, __builtin_return_address(0)) ? open_stream(path) : NULL;
    return file ? file : REAL(fopen)(path, mode);
}

ENTRY FILE *fopen64(const char *path, const char *mode)
{
    FILE *file = is_ours(path, __builtin_return_address(0)) ? open_stream(path) : NULL;
    return file ? file : REAL(fopen64)(path, mode);
}

/* The mode of a call that may create a file. */
#define MODE_OF(flags)                                                                                       \
    ({                                                                                                       \
        unsigned mode_ = 0;                                                                                  \
        if ((flags) & (O_CREAT | O_TMPFILE)) {                                                               \
            va_list list_;                                                                                   \
            va_start(list_, flags);                                                                          \
            mode_ = va_arg(list_, unsigned);                                                                 \
            va_end(list_);                                                                                   \
        }                                                                                                    \
        mode_;                                                                                               \
    })

ENTRY int open(const char *path, int flags, ...)
{
    const unsigned mode = MODE_OF(flags);
    const int fd = is_ours(path, __builtin_return_address(0)) ? open_text(path) : -1;
    return fd >= 0 ? fd : REAL(open)(path, flags, mode);
}

ENTRY int open64(const char *path, int flags, ...)
{
    const unsigned mode = MODE_OF(flags);
    const int fd = is_ours(path, __builtin_return_address(0)) ? open_text(path) : -1;
    return fd >= 0 ? fd : REAL(open64)(path, flags, mode);
}

/* ---- the directory ---- */

enum { FOLDERS = 8 };
static struct folder {
    _Atomic bool busy;
    unsigned next;
    struct dirent entry;
} folders[FOLDERS];
static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "one for both");

static struct folder *folder_of(DIR *dir)
{
    const uintptr_t offset = (uintptr_t)dir - (uintptr_t)folders;
    return offset < sizeof(folders) ? (struct folder *)dir : NULL;
}

ENTRY DIR *opendir(const char *path)
{
    const size_t length = strlen(nodes_folder);
    if (is_ours(path, __builtin_return_address(0)) && strncmp(path, nodes_folder, length) == 0 &&
        strspn(path + length, "/") == strlen(path + length))
        for (unsigned i = 0; i < FOLDERS; i++)
            if (!atomic_exchange(&folders[i].busy, true)) {
                folders[i].next = 0;
                return (DIR *)&folders[i];
            }
    return REAL(opendir)(path);
}

static struct dirent *next_node(struct folder *f)
{
    if (f->next == numa_nodes()->nodes)
        return NULL;
    f->entry = (struct dirent){.d_type = DT_DIR, .d_ino = f->next + 1, .d_reclen = sizeof(f->entry)};
    snprintf(f->entry.d_name, sizeof(f->entry.d_name), "node%u", f->next++);
    return &f->entry;
}

ENTRY struct dirent *readdir(DIR *dir)
{
    struct folder *f = folder_of(dir);
    return f ? next_node(f) : REAL(readdir)(dir);
}

ENTRY struct dirent64 *readdir64(DIR *dir)
{
    struct folder *f = folder_of(dir);
    return f ? (struct dirent64 *)next_node(f) : REAL(readdir64)(dir);
}

ENTRY int closedir(DIR *dir)
{
    struct folder *f = folder_of(dir);
    if (!f)
        return REAL(closedir)(dir);
    atomic_store(&f->busy, false);
    return 0;
}
