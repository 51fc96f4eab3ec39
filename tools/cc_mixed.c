// SPDX-License-Identifier: MIT
// C among C++ and HIP in one command. clang takes one -std= for all of a command's sources and refuses
// -std=c++17 for C; GCC leaves it out for C. So does this: the C sources get a compiler of their own.
#include "cc.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum part { PART_C, PART_OTHERS };

static bool is_c(const char *language)
{
    return language && strcmp(language, "c") == 0;
}

// -std= of the other language: true for c++17 and gnu++17 when cxx, for c11 and gnu11 when not.
static bool sets_standard(const char *arg, bool cxx)
{
    const char *value = strncmp(arg, "-std=", 5) == 0    ? arg + 5
                        : strncmp(arg, "--std=", 6) == 0 ? arg + 6
                                                         : NULL;
    return value && (strstr(value, "++") != NULL) == cxx;
}

// Walks the words; language is what the last -x said.
struct walk {
    const struct cc_args *args;
    size_t i;
    const char *language;
};

// The next word or option with its value: their number in *n, and whether it is an input.
static const char *next_word(struct walk *w, size_t *n, bool *input)
{
    if (w->i >= w->args->n)
        return NULL;
    const char *arg = w->args->v[w->i];
    *input = arg[0] != '-' || !arg[1];
    *n = !*input && cc_takes_value(arg) && w->i + 1 < w->args->n ? 2 : 1;
    if (strcmp(arg, "-x") == 0 && w->i + 1 < w->args->n) {
        *n = 2;
        w->language = w->args->v[w->i + 1];
    }
    w->i += *n;
    return arg;
}

bool cc_mixed_needed(const struct cc_args *args)
{
    struct walk walk = {.args = args};
    bool c = false, others = false, cxx_standard = false, c_standard = false, input;
    size_t n;
    for (const char *arg; (arg = next_word(&walk, &n, &input));) {
        c |= input && is_c(walk.language);
        others |= input && walk.language && !is_c(walk.language) && strcmp(walk.language, "none") != 0;
        cxx_standard |= sets_standard(arg, true);
        c_standard |= sets_standard(arg, false);
    }
    return c && (cxx_standard || (c_standard && others));
}

// The words for one part. PART_C has no -o: clang names each object after its source. PART_OTHERS gets the
// names of `objects` where C sources were.
static void select_part(struct cc_args *out, const struct cc_args *args, enum part part, bool keep_output,
                        const struct cc_args *objects)
{
    struct walk walk = {.args = args};
    const char *current = NULL; // clang warns of an -x that no input follows
    bool input;
    size_t n, object = 0;
    for (const char *arg; (arg = next_word(&walk, &n, &input));) {
        const char *language = walk.language;
        if (input && is_c(language) != (part == PART_C)) {
            if (!objects || object == objects->n)
                continue;
            arg = objects->v[object++];
            language = "none";
        }
        if (input) {
            if (language && (!current || strcmp(current, language) != 0)) {
                cc_args_push(out, "-x");
                cc_args_push(out, language);
                current = language;
            }
            cc_args_push(out, arg);
            continue;
        }
        if (strcmp(arg, "-x") == 0 || sets_standard(arg, part == PART_C) ||
            (strcmp(arg, "-o") == 0 && !keep_output))
            continue;
        for (size_t i = walk.i - n; i < walk.i; i++)
            cc_args_push(out, args->v[i]);
    }
}

char *cc_scratch(void)
{
    char *dir = cc_format("%s/ehp-cc-XXXXXX", secure_getenv("TMPDIR") ? secure_getenv("TMPDIR") : "/tmp");
    if (mkdtemp(dir))
        return dir;
    perror("ehp cc: cannot make a temporary directory");
    free(dir);
    return NULL;
}

void cc_remove_scratch(const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    rmdir(dir);
}

static int compile_c(const char *clang, const struct cc_args *front, const struct cc_args *args,
                     bool keep_output, bool verbose)
{
    struct cc_args words = {0};
    cc_args_append(&words, front);
    select_part(&words, args, PART_C, keep_output, NULL);
    int status = cc_run(clang, &words, verbose);
    cc_args_free(&words);
    return status;
}

// Without linking: the two parts side by side, as clang names what it writes.
static int compile_parts(const char *clang, const struct cc_args *front, const struct cc_args *args,
                         bool others, bool verbose)
{
    int status = compile_c(clang, front, args, !others, verbose);
    if (status || !others)
        return status;
    struct cc_args words = {0};
    cc_args_append(&words, front);
    select_part(&words, args, PART_OTHERS, true, NULL);
    status = cc_run(clang, &words, verbose);
    cc_args_free(&words);
    return status;
}

// Compiles each C source of args to an object in dir, and names them in objects.
static int make_objects(const char *clang, const struct cc_args *front, const struct cc_args *args,
                        const char *dir, struct cc_args *objects, bool verbose)
{
    struct walk walk = {.args = args};
    bool input;
    size_t n;
    for (const char *arg; (arg = next_word(&walk, &n, &input));) {
        if (!input || !is_c(walk.language))
            continue;
        // All options, but of the inputs only this one.
        struct cc_args words = {0}, one = {0};
        struct walk all = {.args = args};
        for (const char *word; (word = next_word(&all, &n, &input));)
            for (size_t i = all.i - n; i < all.i; i++)
                if (!input || all.i == walk.i)
                    cc_args_push(&one, args->v[i]);
        cc_args_append(&words, front);
        cc_args_push(&words, "--start-no-unused-arguments"); // the linker's
        select_part(&words, &one, PART_C, false, NULL);
        cc_args_pushf(objects, "%s/%zu.o", dir, objects->n);
        cc_args_push(&words, "-c");
        cc_args_push(&words, "-o");
        cc_args_push(&words, objects->v[objects->n - 1]);
        int status = cc_run(clang, &words, verbose);
        cc_args_free(&words);
        cc_args_free(&one);
        if (status)
            return status;
    }
    return 0;
}

int cc_mixed_run(const char *clang, const struct cc_args *compile, const struct cc_args *link,
                 const struct cc_args *args, const struct cc_args *back, bool verbose)
{
    if (!link) {
        struct walk walk = {.args = args};
        bool input, others = false;
        size_t n;
        while (next_word(&walk, &n, &input))
            others |= input && !is_c(walk.language);
        return compile_parts(clang, compile, args, others, verbose);
    }
    char *dir = cc_scratch();
    if (!dir)
        return 1;
    struct cc_args objects = {0}, words = {0};
    int status = make_objects(clang, compile, args, dir, &objects, verbose);
    if (status == 0) {
        cc_args_append(&words, compile);
        cc_args_append(&words, link);
        select_part(&words, args, PART_OTHERS, true, &objects);
        cc_args_append(&words, back);
        status = cc_run(clang, &words, verbose);
    }
    cc_remove_scratch(dir);
    free(dir);
    cc_args_free(&objects);
    cc_args_free(&words);
    return status;
}
