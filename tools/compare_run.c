/* SPDX-License-Identifier: MIT */
/* Running programs for `ehp compare`, and reading what `ehp run` measured. */
#include "compare.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool.h"

static char scratch[PATH_MAX];

static const char *in_scratch(const char *name, char path[PATH_MAX])
{
    if ((size_t)snprintf(path, PATH_MAX, "%s/%s", scratch, name) >= PATH_MAX)
        abort(); /* it was made with room for our short names */
    return path;
}

/* Its output goes to a file; what it says is shown if it fails. */
static bool execute(char *const *words, const char *what, bool xnack)
{
    char out[PATH_MAX], line[512];
    in_scratch("output", out);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
            _exit(127);
        if (xnack)
            setenv("HSA_XNACK", "1", 1);
        execv("/proc/self/exe", words);
        _exit(127);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        tool_say("ehp compare: %s failed:", what);
        FILE *file = fopen(out, "re");
        while (file && fgets(line, sizeof(line), file)) {
            line[strcspn(line, "\n")] = '\0';
            tool_say("  %s", line);
        }
        if (file)
            fclose(file);
        return false;
    }
    return true;
}

bool compare_compile(const struct program *p)
{
    char directory[PATH_MAX], source[PATH_MAX + 32], program[PATH_MAX];
    if (!tool_find_data(p->application ? "apps" : "compare", directory, sizeof(directory))) {
        tool_say("ehp compare: its programs are not where the command expects them; install EHP as a whole");
        return false;
    }
    if (access(in_scratch(p->source, program), X_OK) == 0)
        return true;
    snprintf(source, sizeof(source), "%s/%s.hip", directory, p->source);
    char *words[] = {"ehp", "cc", "-O2", "-std=c++17", "-munsafe-fp-atomics", source, "-o", program, NULL};
    return execute(words, source, false);
}

static void read_value(struct result *r)
{
    char path[PATH_MAX], line[512];
    FILE *file = fopen(in_scratch("output", path), "re");
    while (file && fgets(line, sizeof(line), file) && !*r->unit)
        if (sscanf(line, "%lf %15s", &r->value, r->unit) != 2)
            *r->unit = '\0';
    if (file)
        fclose(file);
}

static bool read_parts(struct result *r)
{
    char path[PATH_MAX], line[512];
    FILE *file = fopen(in_scratch("fabric.csv", path), "re");
    while (file && fgets(line, sizeof(line), file) && r->parts < COMPARE_PARTS) {
        struct part *p = &r->part[r->parts];
        if (sscanf(line, "%15[^,],%u,%u,%u,%u,%u,%lf,%lf,%lf,%lf,%lf,%lf,%lf", p->kind, &p->package, &p->iod,
                   &p->to, &p->index, &p->units, &p->busy_ns, &p->waited_ns, &p->bytes, &p->lines,
                   &p->trip_ns, &p->links_ns, &p->home_ns) != 13)
            continue; /* the heading */
        if (!strcmp(p->kind, "time"))
            r->ns = p->busy_ns;
        else
            r->parts++;
    }
    if (file)
        fclose(file);
    return r->ns > 0;
}

/* Takes the next field of a CSV line, without its quotes. */
static char *next_field(char **line)
{
    char *from = *line, *to = from, *field = from;
    bool quoted = false;
    for (; *from && (quoted || (*from != ',' && *from != '\n')); from++) {
        if (*from == '"')
            quoted = !quoted;
        else
            *to++ = *from;
    }
    *line = *from ? from + 1 : from;
    *to = '\0';
    return field;
}

static void read_kernels(struct result *r)
{
    static const char *const names[] = {"kernel",     "seconds",           "VALUBusy",        "MfmaUtil",
                                        "EHP_CYCLES", "EHP_CYCLES_MEMORY", "EHP_CYCLES_FENCE"};
    enum { KERNEL, SECONDS, VECTOR, MATRIX, CYCLES, MEMORY, FENCE, NAMES };
    char path[PATH_MAX], *line = NULL;
    size_t room = 0;
    int column[NAMES] = {-1, -1, -1, -1, -1, -1, -1};
    double longest = 0;
    FILE *file = fopen(in_scratch("stats.csv", path), "re");
    for (unsigned number = 0; file && getline(&line, &room, file) > 0; number++) {
        const char *found[NAMES] = {"", "0", "0", "0", "0", "0", "0"};
        char *at = line;
        for (int i = 0; *at; i++) {
            const char *field = next_field(&at);
            for (int k = 0; k < NAMES; k++)
                if (number == 0 && !strcmp(field, names[k]))
                    column[k] = i;
                else if (number && i == column[k])
                    found[k] = field;
        }
        if (number == 0)
            continue;
        const double seconds = atof(found[SECONDS]), cycles = atof(found[CYCLES]);
        r->kernels_ns += seconds * 1e9;
        if (seconds <= longest || cycles <= 0)
            continue;
        longest = seconds;
        snprintf(r->kernel, sizeof(r->kernel), "%s", found[KERNEL]);
        r->vector = atof(found[VECTOR]);
        r->matrix = atof(found[MATRIX]);
        r->memory = 100 * atof(found[MEMORY]) / cycles;
        r->fence = 100 * atof(found[FENCE]) / cycles;
    }
    free(line);
    if (file)
        fclose(file);
}

bool compare_measure(const struct program *p, char *const *own, const char *threads, const struct design *d,
                     struct result *r)
{
    char fabric[PATH_MAX + 16], stats[PATH_MAX + 16], path[PATH_MAX], program[PATH_MAX], numbers[2][16],
        nps[16], what[256];
    unsigned count = 0, given = 0;
    while (own && own[given])
        given++;
    char **words = calloc(given + 32, sizeof(*words));
    if (!words)
        abort();
#define WORD(text) (words[count++] = (char *)(uintptr_t)(text))
    WORD("ehp"), WORD("run"), WORD("--mode"), WORD("timing"), WORD("--no-progress"), WORD("--chip"),
        WORD(d->chip);
    if (threads)
        WORD("--threads"), WORD(threads);
    if (p && p->place == NEAR) {
        snprintf(nps, sizeof(nps), "%u", d->memory_iods);
        WORD("--partition"), WORD(d->partition), WORD("--nps"), WORD(nps);
    }
    snprintf(fabric, sizeof(fabric), "--fabric=%s", in_scratch("fabric.csv", path));
    unlink(path);
    WORD(fabric);
    snprintf(stats, sizeof(stats), "--stats=%s", in_scratch("stats.csv", path));
    unlink(path);
    WORD(stats);
    if (p) {
        snprintf(numbers[0], sizeof(numbers[0]), "%u", d->xcds);
        snprintf(numbers[1], sizeof(numbers[1]), "%u", d->cores);
        WORD(in_scratch(p->source, program));
        for (unsigned i = 0; i < 6 && p->arguments[i]; i++)
            WORD(!strcmp(p->arguments[i], "%x")   ? numbers[0]
                 : !strcmp(p->arguments[i], "%c") ? numbers[1]
                                                  : p->arguments[i]);
    }
    for (unsigned i = 0; !p && i < given; i++)
        WORD(own[i]);
#undef WORD
    snprintf(what, sizeof(what), "%s on %s", p ? p->name : own[0], d->chip);
    r->ran = execute(words, what, p && p->xnack);
    free(words);
    if (!r->ran)
        return false;
    r->ran = read_parts(r);
    if (!r->ran) {
        tool_say("ehp compare: %s made no HIP call, so that nothing was simulated", what);
        return false;
    }
    if (p && !p->application)
        read_value(r);
    if (!*r->unit) {
        r->value = r->ns / 1e6;
        snprintf(r->unit, sizeof(r->unit), "ms");
    }
    read_kernels(r);
    return true;
}

bool compare_make_scratch(void)
{
    const char *tmp = secure_getenv("TMPDIR"), *directory = tmp && *tmp ? tmp : "/tmp";
    const int n = snprintf(scratch, sizeof(scratch) - 64, "%s/ehp-compare-XXXXXX", directory);
    if (n > 0 && (size_t)n < sizeof(scratch) - 64 && mkdtemp(scratch))
        return true;
    tool_say("ehp compare: cannot make a directory in %s (TMPDIR): %s", directory, strerror(errno));
    return false;
}

void compare_remove_scratch(void)
{
    struct dirent *entry;
    char path[PATH_MAX];
    DIR *directory = opendir(scratch);
    while (directory && (entry = readdir(directory)))
        if (*entry->d_name != '.')
            unlink(in_scratch(entry->d_name, path));
    if (directory)
        closedir(directory);
    rmdir(scratch);
}
