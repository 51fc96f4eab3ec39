/* SPDX-License-Identifier: MIT */
/*
 * What the host program's threads do while simulated time stands still: how much time they have had, and
 * whether they all wait for one another.
 *
 * Source: Linux, Documentation/filesystems/proc.rst; proc_pid_syscall(5), futex(2).
 */
#include <dirent.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "engine/timed/timed.h"

/* As much counts of what passes between two looks, on a machine that stalls. */
#define LOOKS_NS UINT64_C(10000000)

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Of a thread of this process: as pthread_getcpuclockid() makes it. */
static uint64_t thread_ns(pid_t tid)
{
    return clock_ns((clockid_t)(~(unsigned)tid << 3 | 6));
}

/* The host program's, without what the looks themselves take. */
static uint64_t cpu_ns(void)
{
    uint64_t own = clock_ns(CLOCK_THREAD_CPUTIME_ID), all = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    return all > own ? all - own : 0;
}

/* Of a file of /proc/self/task/TID; as text. */
static bool read_of(const char *tid, const char *name, char *text, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%.16s/%s", tid, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t got = fread(text, 1, bytes - 1, file);
    fclose(file);
    text[got] = '\0';
    return got != 0;
}

/* The letter of /proc/self/task/TID/stat behind the name. */
static char state_of(const char *tid)
{
    char line[512];
    const char *end = read_of(tid, "stat", line, sizeof(line)) ? strrchr(line, ')') : NULL;
    return end && end[1] ? end[2] : 0;
}

/* The next thread other than this one. */
static const char *next_thread(DIR *tasks)
{
    for (const struct dirent *e; tasks && (e = readdir(tasks));)
        if (e->d_name[0] != '.' && strtol(e->d_name, NULL, 10) != gettid())
            return e->d_name;
    return NULL;
}

/* Whether a thread other than this one runs, or would if the machine let it. */
static bool somebody_runs(void)
{
    DIR *tasks = opendir("/proc/self/task");
    bool any = false;
    for (const char *tid; !any && (tid = next_thread(tasks));) {
        char state = state_of(tid);
        any = state == 'R' || state == 'D';
    }
    if (tasks)
        closedir(tasks);
    return any;
}

uint64_t timed_use_up(struct timed_lived *l)
{
    struct timed_lived last = *l;
    l->now_ns = clock_now_ns();
    l->cpu_ns = cpu_ns();
    if (!last.now_ns)
        return 0;
    uint64_t passed = l->now_ns - last.now_ns, used = l->cpu_ns > last.cpu_ns ? l->cpu_ns - last.cpu_ns : 0;
    uint64_t slept = somebody_runs() ? 0 : passed < LOOKS_NS ? passed : LOOKS_NS;
    l->asleep_ns += used < slept / 10 ? slept : 0;
    l->ns += used > slept ? used : slept;
    return l->ns;
}

/* ---- whether they all wait for one another ---- */

/* Whether no other process has this memory, and could wake who waits there. */
static bool is_private(unsigned long long address)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], rights[5];
    unsigned long long start, end;
    bool found = false;
    while (maps && !found && fgets(line, sizeof(line), maps))
        found = sscanf(line, "%llx-%llx %4s", &start, &end, rights) == 3 && address >= start && address < end;
    if (maps)
        fclose(maps);
    return found && rights[3] == 'p';
}

/* One of ours, which sleeps: it wakes nobody of the program's. */
static bool is_ours(const char *tid)
{
    char name[32];
    return read_of(tid, "comm", name, sizeof(name)) && strcmp(name, THREAD_NAME "\n") == 0 &&
           state_of(tid) == 'S';
}

/* In a futex of this process, for as long as nobody wakes it. */
static bool waits_for_thread(const char *tid)
{
    char line[256];
    long number;
    unsigned long long address, operation, value, timeout;
    if (!read_of(tid, "syscall", line, sizeof(line)) ||
        sscanf(line, "%ld %llx %llx %llx %llx", &number, &address, &operation, &value, &timeout) != 5 ||
        number != SYS_futex || timeout)
        return false;
    int command = (int)operation & FUTEX_CMD_MASK;
    return (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
           ((operation & FUTEX_PRIVATE_FLAG) || is_private(address));
}

/*
 * Each thread is looked at by itself, so one look may see two that wait in turns.  But a thread that two
 * looks have seen waiting, and that has not run in between, has waited all the time between them.
 */
bool timed_is_stuck(struct timed_stuck *s)
{
    struct timed_stuck seen = {0};
    DIR *tasks = opendir("/proc/self/task");
    bool all = tasks != NULL;
    for (const char *tid; all && (tid = next_thread(tasks));) {
        if (is_ours(tid))
            continue;
        long number = strtol(tid, NULL, 10);
        seen.threads++;
        seen.ran = seen.ran * 31 + (uint64_t)number * 1000003 + thread_ns((pid_t)number);
        all = waits_for_thread(tid);
    }
    if (tasks)
        closedir(tasks);
    if (!all)
        seen.threads = 0;
    bool stuck = seen.threads && seen.threads == s->threads && seen.ran == s->ran;
    *s = seen;
    return stuck;
}
