// SPDX-License-Identifier: MIT
// `ehp cc --time-host`: each source is compiled by itself, with ourselves in the assembler's place
// (time_host.c). clang takes no options for the host's half of a HIP source alone, so its device code comes
// first, into a file that the host's half then includes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cc.h"
#include "tool.h"

struct job {
    const char *clang;
    const struct cc_args *front, *args;
    char *as, *dir; // where our assembler is, and what is removed in the end
    bool verbose;
    struct cc_args objects;
};

// A word of the command and its value, if it has one; -x stays in `language`.
struct walk {
    const struct cc_args *args;
    size_t i, n; // the words that follow, and how many were the last
    const char *language;
};

static const char *next_word(struct walk *w, bool *input)
{
    while (w->i < w->args->n) {
        const char *arg = w->args->v[w->i];
        *input = arg[0] != '-' || !arg[1];
        w->n = (!*input && cc_takes_value(arg)) || strcmp(arg, "-x") == 0 ? 2 : 1;
        w->i += w->n;
        if (strcmp(arg, "-x") != 0 || w->i > w->args->n)
            return arg;
        w->language = w->args->v[w->i - 1];
    }
    return NULL;
}

static bool is_source(const struct walk *w)
{
    return w->language && (strcmp(w->language, "hip") == 0 || strcmp(w->language, "c") == 0 ||
                           strcmp(w->language, "c++") == 0);
}

// The options alone: what names an output, or says how far to go, is said anew.
static void push_options(struct cc_args *out, const struct cc_args *args)
{
    struct walk w = {.args = args};
    bool input;
    for (const char *arg; (arg = next_word(&w, &input));)
        if (!input && strcmp(arg, "-o") != 0 && strcmp(arg, "-c") != 0)
            for (size_t i = w.i - w.n; i < w.i; i++)
                cc_args_push(out, args->v[i]);
}

// With an architecture to offload to, -fopenmp would mean that.
static void push_front(struct cc_args *out, const struct cc_args *front, bool hip)
{
    for (size_t i = 0; i < front->n; i++)
        if (hip || strncmp(front->v[i], "--offload-arch=", 15) != 0)
            cc_args_push(out, front->v[i]);
}

static int compile(struct job *job, const char *source, const char *language, const char *object)
{
    struct cc_args words = {0};
    int status = 0;
    char *device = cc_format("%s/%zu.hipfb", job->dir, job->objects.n);
    bool hip = strcmp(language, "hip") == 0;
    for (int host = !hip; host < 2 && !status; host++) {
        push_front(&words, job->front, hip);
        cc_args_push(&words, "--start-no-unused-arguments");
        push_options(&words, job->args);
        cc_args_push(&words, "--end-no-unused-arguments");
        if (host) {
            cc_args_push(&words, "-fno-integrated-as");
            cc_args_push(&words, "-Xclang=-emit-llvm");
            cc_args_pushf(&words, "-B%s", job->as);
        }
        if (hip)
            cc_args_push(&words, host ? "--offload-host-only" : "--offload-device-only");
        if (hip && host) {
            cc_args_push(&words, "-Xclang=-fcuda-include-gpubinary");
            cc_args_pushf(&words, "-Xclang=%s", device);
        }
        cc_args_push(&words, "-c");
        cc_args_push(&words, "-o");
        cc_args_push(&words, host ? object : device);
        cc_args_push(&words, "-x");
        cc_args_push(&words, language);
        cc_args_push(&words, source);
        status = cc_run(job->clang, &words, job->verbose);
        cc_args_free(&words);
    }
    free(device);
    return status;
}

static const char *output_of(const struct cc_args *args)
{
    struct walk w = {.args = args};
    bool input;
    const char *out = NULL;
    for (const char *arg; (arg = next_word(&w, &input));)
        if (strcmp(arg, "-o") == 0)
            out = args->v[w.i - 1];
    return out;
}

// As clang names what -c makes.
static char *default_object(const char *source)
{
    const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source, *dot = strrchr(name, '.');
    return cc_format("%.*s.o", (int)(dot && dot != name ? (size_t)(dot - name) : strlen(name)), name);
}

static int compile_all(struct job *job, bool link)
{
    struct walk w = {.args = job->args};
    const char *output = link ? NULL : output_of(job->args);
    bool input;
    for (const char *arg; (arg = next_word(&w, &input));) {
        if (!input || !is_source(&w))
            continue;
        char *object = link     ? cc_format("%s/%zu.o", job->dir, job->objects.n)
                       : output ? cc_copy(output)
                                : default_object(arg);
        int status = compile(job, arg, w.language, object);
        cc_args_push(&job->objects, object);
        free(object);
        if (status)
            return status;
    }
    return 0;
}

static int link_all(const struct job *job, const struct cc_args *link, const struct cc_args *back)
{
    struct cc_args words = {0};
    struct walk w = {.args = job->args};
    size_t object = 0;
    bool input;
    cc_args_append(&words, job->front);
    cc_args_append(&words, link);
    for (const char *arg; (arg = next_word(&w, &input));) {
        if (input && is_source(&w))
            cc_args_push(&words, job->objects.v[object++]);
        else
            for (size_t i = w.i - w.n; i < w.i; i++)
                cc_args_push(&words, job->args->v[i]);
    }
    cc_args_append(&words, back);
    int status = cc_run(job->clang, &words, job->verbose);
    cc_args_free(&words);
    return status;
}

bool cc_makes_objects(const struct cc_args *args)
{
    struct walk w = {.args = args};
    bool input, objects = false;
    for (const char *arg; (arg = next_word(&w, &input));)
        objects |= strcmp(arg, "-c") == 0;
    return objects;
}

int cc_time_run(const struct cc_places *places, const struct cc_args *compile, const struct cc_args *link,
                const struct cc_args *args, const struct cc_args *back, bool verbose)
{
    struct job job = {.clang = places->clang, .front = compile, .args = args, .verbose = verbose};
    job.as = cc_format("%s/llvm/time-host/", places->tree);
    job.dir = cc_scratch();
    if (!job.dir)
        return 1;
    int status = compile_all(&job, link != NULL);
    if (!status && link)
        status = link_all(&job, link, back);
    cc_remove_scratch(job.dir);
    cc_args_free(&job.objects);
    free(job.as);
    free(job.dir);
    return status;
}
