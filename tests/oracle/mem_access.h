/* SPDX-License-Identifier: MIT */
/*
 * What a memory instruction does, read from its mnemonic: the reference's only
 * source beside the pseudocode of AMD's instruction tables.
 */
#ifndef EHP_TESTS_ORACLE_MEM_ACCESS_H
#define EHP_TESTS_ORACLE_MEM_ACCESS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum access_kind {
    ACCESS_UNKNOWN,
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC,
    ACCESS_FORMAT_LOAD,
    ACCESS_FORMAT_STORE,
    ACCESS_PAIR_LOAD, /* DS with two addresses */
    ACCESS_PAIR_STORE,
    ACCESS_PAIR_SWAP,
    ACCESS_TID_LOAD, /* DS with M0 and the lane's number */
    ACCESS_TID_STORE,
    ACCESS_APPEND,
    ACCESS_CONSUME,
    ACCESS_SWIZZLE,
    ACCESS_PERMUTE,
    ACCESS_BPERMUTE,
    ACCESS_NOTHING,
    ACCESS_CLOCK,
};

struct access {
    enum access_kind kind;
    unsigned bytes; /* of one element */
    bool is_signed;
    char half;           /* 'l' or 'h': of a register, with the other half left alone */
    bool to_lds;         /* the mnemonic says so; MUBUF has a bit for it as well */
    bool d16;            /* formats: 16-bit components */
    unsigned components; /* formats */
    unsigned scale;      /* of an offset of the two-address forms */
    char op[12], type;   /* atomics: "add", and u, i, b, f, or p for packed */
    bool brain;          /* packed bf16 */
};

static inline bool access_strip(const char **name, const char *prefix)
{
    const size_t n = strlen(prefix);
    if (strncmp(*name, prefix, n) != 0)
        return false;
    *name += n;
    return true;
}

/* "dwordx3", "ubyte_d16_hi", "i8", "b96", ... */
static inline bool access_type(const char *s, struct access *a)
{
    static const struct {
        const char *name;
        unsigned bytes;
        bool is_signed;
    } types[] = {
        {"ubyte", 1, false},    {"sbyte", 1, true},     {"byte", 1, false},      {"ushort", 2, false},
        {"sshort", 2, true},    {"short", 2, false},    {"dwordx2", 8, false},   {"dwordx3", 12, false},
        {"dwordx4", 16, false}, {"dwordx8", 32, false}, {"dwordx16", 64, false}, {"dword", 4, false},
        {"u8", 1, false},       {"i8", 1, true},        {"b8", 1, false},        {"u16", 2, false},
        {"i16", 2, true},       {"b16", 2, false},      {"b32", 4, false},       {"b64", 8, false},
        {"b96", 12, false},     {"b128", 16, false}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const size_t n = strlen(types[i].name);
        if (strncmp(s, types[i].name, n) != 0 || (s[n] && s[n] != '_'))
            continue;
        a->bytes = types[i].bytes;
        a->is_signed = types[i].is_signed;
        a->half = !strcmp(s + n, "_d16") ? 'l' : !strcmp(s + n, "_d16_hi") ? 'h' : 0;
        return a->half || !s[n];
    }
    return false;
}

/* "add_rtn_u32", "pk_add_f16", "smax_x2", "add_f64", ... */
static inline bool access_atomic(const char *s, bool ds, struct access *a)
{
    char text[40], *rtn, *last;
    snprintf(text, sizeof text, "%s", s);
    a->kind = ACCESS_ATOMIC;
    a->bytes = 4;
    a->type = 'u';
    if ((rtn = strstr(text, "_rtn")) != NULL)
        memmove(rtn, rtn + 4, strlen(rtn + 4) + 1);
    if ((last = strstr(text, "_x2")) != NULL) {
        *last = 0;
        a->bytes = 8;
    }
    if (!strncmp(text, "pk_add_", 7)) {
        a->type = 'p';
        a->brain = !strcmp(text + 7, "bf16");
        strcpy(a->op, "add");
        return a->brain || !strcmp(text + 7, "f16");
    }
    last = strrchr(text, '_');
    if (last && strchr("uibf", last[1]) && strchr("36", last[2])) {
        a->type = last[1];
        a->bytes = (unsigned)atoi(last + 2) / 8;
        *last = 0;
    } else if (ds) {
        return false;
    } else if (!strcmp(text + 1, "min") || !strcmp(text + 1, "max")) { /* smin, umax */
        a->type = *text == 's' ? 'i' : 'u';
        memmove(text, text + 1, strlen(text));
    }
    if (strlen(text) >= sizeof a->op)
        return false;
    strcpy(a->op, text);
    return true;
}

static inline bool access_ds(const char *s, struct access *a)
{
    static const struct {
        const char *name;
        enum access_kind kind;
    } whole[] = {{"swizzle_b32", ACCESS_SWIZZLE},
                 {"permute_b32", ACCESS_PERMUTE},
                 {"bpermute_b32", ACCESS_BPERMUTE},
                 {"append", ACCESS_APPEND},
                 {"consume", ACCESS_CONSUME},
                 {"read_addtid_b32", ACCESS_TID_LOAD},
                 {"write_addtid_b32", ACCESS_TID_STORE},
                 {"nop", ACCESS_NOTHING}},
      pairs[] = {{"read2", ACCESS_PAIR_LOAD}, {"write2", ACCESS_PAIR_STORE}, {"wrxchg2", ACCESS_PAIR_SWAP}};
    a->bytes = 4;
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (!strcmp(s, whole[i].name)) {
            a->kind = whole[i].kind;
            return true;
        }
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (access_strip(&s, pairs[i].name)) {
            const bool far = access_strip(&s, "st64");
            a->kind = pairs[i].kind;
            access_strip(&s, "_rtn");
            if (*s++ != '_' || !access_type(s, a))
                return false;
            a->scale = a->bytes * (far ? 64 : 1);
            return true;
        }
    if (access_strip(&s, "read_") || access_strip(&s, "write_")) {
        a->kind = s[-2] == 'd' ? ACCESS_LOAD : ACCESS_STORE;
        return access_type(s, a);
    }
    return access_atomic(s, true, a);
}

/* False for what has no reference here: global wave sync. */
static inline bool access_parse(const char *name, struct access *a)
{
    static const char *const prefixes[] = {"s_scratch_", "s_buffer_", "s_",       "flat_",
                                           "global_",    "scratch_",  "tbuffer_", "buffer_"};
    static const char *const nothing[] = {"inv", "wbl2", "dcache_", "atc_probe"};
    *a = (struct access){0};
    if (access_strip(&name, "ds_"))
        return strncmp(name, "gws_", 4) != 0 && access_ds(name, a);
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (access_strip(&name, prefixes[i]))
            break;
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++)
        if (!strncmp(name, nothing[i], strlen(nothing[i]))) {
            a->kind = ACCESS_NOTHING;
            return true;
        }
    if (!strcmp(name, "memtime") || !strcmp(name, "memrealtime")) {
        a->kind = ACCESS_CLOCK;
        return true;
    }
    if (access_strip(&name, "atomic_"))
        return access_atomic(name, false, a);
    const bool load = access_strip(&name, "load_");
    if (!load && !access_strip(&name, "store_"))
        return false;
    if (access_strip(&name, "format_")) {
        a->kind = load ? ACCESS_FORMAT_LOAD : ACCESS_FORMAT_STORE;
        a->d16 = access_strip(&name, "d16_");
        a->half = access_strip(&name, "hi_") ? 'h' : 0;
        a->components = (unsigned)strlen(name);
        return a->components >= 1 && a->components <= 4;
    }
    a->kind = load ? ACCESS_LOAD : ACCESS_STORE;
    a->to_lds = access_strip(&name, "lds_");
    return access_type(name, a);
}

#endif
