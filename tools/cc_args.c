// SPDX-License-Identifier: MIT
// Argument lists of the compiler driver.
#include "cc.h"
#include "tool.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *check_memory(void *p)
{
    if (!p) {
        fputs("ehp cc: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

char *cc_copy(const char *s)
{
    return check_memory(strdup(s));
}

static char *format_list(const char *format, va_list list)
{
    char *text = NULL;
    if (vasprintf(&text, format, list) < 0)
        text = NULL;
    return check_memory(text);
}

char *cc_format(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = format_list(format, list);
    va_end(list);
    return text;
}

static void push_owned(struct cc_args *a, char *s)
{
    if (a->n + 2 > a->cap) {
        a->cap = a->cap ? a->cap * 2 : 32;
        a->v = check_memory(realloc(a->v, a->cap * sizeof *a->v));
    }
    a->v[a->n++] = s;
    a->v[a->n] = NULL;
}

void cc_args_push(struct cc_args *a, const char *s)
{
    push_owned(a, cc_copy(s));
}

void cc_args_pushf(struct cc_args *a, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    push_owned(a, format_list(format, list));
    va_end(list);
}

void cc_args_append(struct cc_args *a, const struct cc_args *b)
{
    for (size_t i = 0; i < b->n; i++)
        cc_args_push(a, b->v[i]);
}

void cc_args_free(struct cc_args *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->v[i]);
    free(a->v);
    *a = (struct cc_args){0};
}

char *cc_args_join(const struct cc_args *a, const char *between)
{
    char *text = cc_copy("");
    for (size_t i = 0; i < a->n; i++) {
        char *longer = cc_format("%s%s%s", text, i ? between : "", a->v[i]);
        free(text);
        text = longer;
    }
    return text;
}

void cc_args_split(struct cc_args *a, const char *text)
{
    char *word = check_memory(malloc(strlen(text) + 1));
    for (const char *s = text; *s;) {
        while (isspace((unsigned char)*s))
            s++;
        if (!*s)
            break;
        size_t n = 0;
        char quote = 0;
        for (; *s && (quote || !isspace((unsigned char)*s)); s++) {
            if (*s == '\\' && s[1] && quote != '\'')
                word[n++] = *++s;
            else if (quote && *s == quote)
                quote = 0;
            else if (!quote && (*s == '"' || *s == '\''))
                quote = *s;
            else
                word[n++] = *s;
        }
        word[n] = 0;
        cc_args_push(a, word);
    }
    free(word);
}

static char *read_whole(const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return NULL;
    size_t n = 0, cap = 4096;
    char *text = check_memory(malloc(cap));
    for (size_t got; (got = fread(text + n, 1, cap - 1 - n, f)) > 0;) {
        n += got;
        if (n + 1 == cap)
            text = check_memory(realloc(text, cap *= 2));
    }
    text[n] = 0;
    fclose(f);
    return text;
}

static int expand_one(struct cc_args *a, const char *arg, int depth)
{
    char *text = arg[0] == '@' ? read_whole(arg + 1) : NULL;
    if (!text) { // like GCC and clang: an @name that cannot be read is an ordinary argument
        cc_args_push(a, arg);
        return 0;
    }
    if (depth > 16) {
        tool_say("ehp cc: response files nested too deeply: %s", arg);
        free(text);
        return -1;
    }
    struct cc_args words = {0};
    cc_args_split(&words, text);
    free(text);
    int status = 0;
    for (size_t i = 0; i < words.n && status == 0; i++)
        status = expand_one(a, words.v[i], depth + 1);
    cc_args_free(&words);
    return status;
}

int cc_args_expand(struct cc_args *a, int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (expand_one(a, argv[i], 0))
            return -1;
    return 0;
}
