/* SPDX-License-Identifier: MIT */
/* See tables.h.  The runtime keeps each table in a file of the directory EHP_TABLES until it prints it
 * itself. */
#include "tables.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

bool tables_wanted(void)
{
    const char *stats = secure_getenv("EHP_STATS"), *memory = secure_getenv("EHP_MEMORY");
    const char *advise = secure_getenv("EHP_ADVISE"), *fabric = secure_getenv("EHP_FABRIC");

    return (stats && !strcmp(stats, "-")) || (memory && *memory) || (advise && *advise) ||
           (fabric && !strcmp(fabric, "-"));
}

static int is_table(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* In the order in which processes began them; half a file ends with a tilde and is none. */
static void print_tables(const char *directory)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, is_table, alphasort);

    for (int i = 0; i < count; i++) {
        char path[PATH_MAX + NAME_MAX], text[4096];
        snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
        FILE *file = path[strlen(path) - 1] == '~' ? NULL : fopen(path, "re");
        for (size_t n; file && (n = fread(text, 1, sizeof text, file)) > 0;)
            fwrite(text, 1, n, stderr);
        if (file)
            fclose(file);
        unlink(path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    rmdir(directory);
}

/* A child that gets the signal when its parent dies, in whatever way. */
static pid_t fork_bound(int signal)
{
    const pid_t parent = getpid();
    const pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, signal);
        if (getppid() != parent)
            raise(signal);
    }
    return child;
}

/* A process that does what is left to do here should this one be killed.  It is not in reach of what a
 * terminal, or who ends the whole group, sends. */
static pid_t start_heir(const char *directory)
{
    const pid_t heir = fork_bound(SIGUSR1); /* blocked, as all are */
    if (heir != 0)
        return heir;
    setsid();
    sigset_t parent_died;
    sigemptyset(&parent_died);
    sigaddset(&parent_died, SIGUSR1);
    while (sigwaitinfo(&parent_died, NULL) != SIGUSR1)
        ;
    print_tables(directory);
    _exit(0);
}

/* Until the child has ended: waitpid()'s status. */
static int wait_for(pid_t child, const sigset_t *all)
{
    int status = 0;

    for (;;) {
        siginfo_t info;
        const int signal = sigwaitinfo(all, &info);
        if (signal > 0 && signal != SIGCHLD) {
            /* What the terminal sends, the program has from there. */
            if (info.si_code <= 0 || signal == SIGCONT)
                kill(child, signal);
            continue;
        }
        while (waitpid(child, &status, WNOHANG | WUNTRACED) == child) {
            if (!WIFSTOPPED(status))
                return status;
            raise(SIGSTOP);
        }
    }
}

/* Ends as the child did. */
static int end_as(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    const int signal = WTERMSIG(status);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0}); /* the program's is the one to look at */
    fflush(NULL);
    sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    return 128 + signal;
}

int tables_run(int (*start)(void *argument), void *argument)
{
    const char *temporary = secure_getenv("TMPDIR");
    char directory[PATH_MAX];
    sigset_t all, before;
    struct sigaction child_before;

    snprintf(directory, sizeof directory, "%s/ehp-tables-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(directory))
        return -1;
    setenv("EHP_TABLES", directory, 1);
    fflush(NULL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &child_before);
    const pid_t heir = start_heir(directory);
    const pid_t child = fork_bound(SIGKILL);
    if (child == 0) {
        sigaction(SIGCHLD, &child_before, NULL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        _exit(start(argument));
    }
    int status = -1;
    if (child > 0) {
        status = wait_for(child, &all);
        print_tables(directory);
    }
    if (heir > 0) {
        kill(heir, SIGKILL);
        waitpid(heir, NULL, 0);
    }
    if (child > 0)
        return end_as(status);
    rmdir(directory);
    unsetenv("EHP_TABLES");
    sigaction(SIGCHLD, &child_before, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return -1;
}
