/* SPDX-License-Identifier: MIT */
/*
 * Offload bundles: the container and the choice of an entry.
 *
 *   char magic[24]            "__CLANG_OFFLOAD_BUNDLE__"
 *   u64  entries
 *   entries times:            u64 offset, u64 size, u64 id length, the id
 *   the code objects          at their offsets from the magic
 *
 * An id is <kind>-<triple>-<target id>, and the triple may or may not have its
 * (empty) environment: hip-amdgcn-amd-amdhsa--gfx942, hipv4-amdgcn-amd-amdhsa-gfx942.
 */
#include "load/bundle.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ehp/ehp.h"

static const char plain_magic[] = "__CLANG_OFFLOAD_BUNDLE__";
enum { PLAIN_MAGIC = sizeof plain_magic - 1, PLAIN_HEADER = PLAIN_MAGIC + 8, ENTRY_HEADER = 24 };

/* More than anybody writes; keeps a damaged count from being taken seriously when the size is not known. */
enum { ENTRIES_MOST = 4096, ID_MOST = 1024 };

static uint64_t get_u64(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static bool inside(size_t bytes, uint64_t offset, uint64_t length)
{
    return offset <= bytes && length <= bytes - offset;
}

enum bundle_kind bundle_kind(const void *image, size_t bytes)
{
    if (bytes >= PLAIN_MAGIC && !memcmp(image, plain_magic, PLAIN_MAGIC))
        return BUNDLE_PLAIN;
    if (bytes >= 4 && !memcmp(image, "CCOB", 4))
        return BUNDLE_COMPRESSED;
    if (bytes >= SELFMAG && !memcmp(image, ELFMAG, SELFMAG))
        return BUNDLE_ELF;
    return BUNDLE_NONE;
}

/* ---- sizes ---- */

static void extend(uint64_t *end, uint64_t offset, uint64_t length)
{
    uint64_t sum;
    if (__builtin_add_overflow(offset, length, &sum))
        sum = UINT64_MAX;
    if (sum > *end)
        *end = sum;
}

static size_t elf_size(const uint8_t *image, size_t bytes)
{
    Elf64_Ehdr eh;
    if (bytes < sizeof eh)
        return 0;
    memcpy(&eh, image, sizeof eh);
    if (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB)
        return 0;
    uint64_t end = sizeof eh;
    if (eh.e_phnum)
        extend(&end, eh.e_phoff, (uint64_t)eh.e_phnum * sizeof(Elf64_Phdr));
    if (eh.e_shnum)
        extend(&end, eh.e_shoff, (uint64_t)eh.e_shnum * sizeof(Elf64_Shdr));
    if (end > bytes)
        return 0;
    for (unsigned i = 0; i < eh.e_phnum; i++) {
        Elf64_Phdr ph;
        memcpy(&ph, image + eh.e_phoff + i * sizeof ph, sizeof ph);
        extend(&end, ph.p_offset, ph.p_filesz);
    }
    for (unsigned i = 0; i < eh.e_shnum; i++) {
        Elf64_Shdr sh;
        memcpy(&sh, image + eh.e_shoff + i * sizeof sh, sizeof sh);
        if (sh.sh_type != SHT_NOBITS && sh.sh_type != SHT_NULL)
            extend(&end, sh.sh_offset, sh.sh_size);
    }
    return end <= bytes ? end : 0;
}

/* Walks the entry headers; fills entries[] unless it is NULL. */
static int plain_walk(const uint8_t *image, size_t bytes, struct bundle_entry *entries, unsigned *count,
                      uint64_t *end, struct code_error *err)
{
    if (bytes < PLAIN_HEADER)
        return code_fail(err, EHP_ERR_BAD_IMAGE, "bundle: cut off in its header, %zu bytes", bytes);
    uint64_t declared = get_u64(image + PLAIN_MAGIC);
    if (declared > ENTRIES_MOST)
        return code_fail(err, EHP_ERR_BAD_IMAGE, "bundle: %llu entries at offset %d, damaged",
                         (unsigned long long)declared, PLAIN_MAGIC);
    uint64_t at = PLAIN_HEADER;
    *end = at;
    for (unsigned i = 0; i < declared; i++) {
        if (!inside(bytes, at, ENTRY_HEADER))
            return code_fail(err, EHP_ERR_BAD_IMAGE,
                             "bundle: cut off at %zu bytes, in the header of entry %u of %llu", bytes, i,
                             (unsigned long long)declared);
        uint64_t offset = get_u64(image + at), size = get_u64(image + at + 8), id = get_u64(image + at + 16);
        if (id > ID_MOST || !inside(bytes, at + ENTRY_HEADER, id))
            return code_fail(err, EHP_ERR_BAD_IMAGE,
                             "bundle: entry %u has a name of %llu bytes at offset %llu", i,
                             (unsigned long long)id, (unsigned long long)at + 16);
        if (!inside(bytes, offset, size))
            return code_fail(
                err, EHP_ERR_BAD_IMAGE,
                "bundle: entry %u (%.*s) is %llu bytes at offset %llu, but the image ends at %zu", i, (int)id,
                (const char *)image + at + ENTRY_HEADER, (unsigned long long)size, (unsigned long long)offset,
                bytes);
        if (entries)
            entries[i] = (struct bundle_entry){.id = (const char *)image + at + ENTRY_HEADER,
                                               .id_bytes = (size_t)id,
                                               .data = image + offset,
                                               .bytes = (size_t)size};
        at += ENTRY_HEADER + id;
        extend(end, offset, size);
    }
    extend(end, at, 0);
    *count = (unsigned)declared;
    return EHP_OK;
}

size_t bundle_size(const void *image, size_t bytes)
{
    unsigned count;
    uint64_t end;
    switch (bundle_kind(image, bytes)) {
    case BUNDLE_ELF:
        return elf_size(image, bytes);
    case BUNDLE_PLAIN:
        return plain_walk(image, bytes, NULL, &count, &end, NULL) == EHP_OK ? (size_t)end : 0;
    case BUNDLE_COMPRESSED:
        return bundle_compressed_size(image, bytes);
    case BUNDLE_NONE:
        break;
    }
    return 0;
}

/* ---- entries ---- */

static bool skip(const char **text, size_t *bytes, const char *word)
{
    size_t length = strlen(word);
    if (*bytes < length || memcmp(*text, word, length) != 0)
        return false;
    *text += length;
    *bytes -= length;
    return true;
}

static void entry_classify(struct bundle_entry *e)
{
    const char *text = e->id;
    size_t bytes = e->id_bytes;
    if ((skip(&text, &bytes, "hipv4-") || skip(&text, &bytes, "hip-")) &&
        skip(&text, &bytes, "amdgcn-amd-amdhsa-")) {
        (void)skip(&text, &bytes, "-");
        e->is_target = target_parse(&e->target, text, bytes);
    }
}

static int open_plain(struct bundle *b, const uint8_t *image, size_t bytes, size_t *consumed,
                      struct code_error *err)
{
    unsigned count;
    uint64_t end;
    int status = plain_walk(image, bytes, NULL, &count, &end, err);
    if (status != EHP_OK)
        return status;
    b->entries = calloc(count ? count : 1, sizeof *b->entries);
    if (!b->entries)
        return code_fail(err, EHP_ERR_NO_MEMORY, "out of memory");
    plain_walk(image, bytes, b->entries, &b->count, &end, NULL);
    for (unsigned i = 0; i < b->count; i++)
        entry_classify(&b->entries[i]);
    *consumed = (size_t)end;
    return EHP_OK;
}

static int open_elf(struct bundle *b, const uint8_t *image, size_t bytes, struct code_error *err)
{
    size_t size = elf_size(image, bytes);
    b->entries = calloc(1, sizeof *b->entries);
    if (!b->entries)
        return code_fail(err, EHP_ERR_NO_MEMORY, "out of memory");
    /* A damaged ELF file is passed on whole: whoever reads it says better what is wrong. */
    b->consumed = size ? size : bytes;
    b->entries[0] = (struct bundle_entry){.id = "", .data = image, .bytes = b->consumed};
    b->count = 1;
    return EHP_OK;
}

int bundle_open(struct bundle *b, const void *image, size_t bytes, struct code_error *err)
{
    *b = (struct bundle){.kind = bundle_kind(image, bytes)};
    int status = EHP_OK;
    size_t plain_bytes, ignored;
    switch (b->kind) {
    case BUNDLE_ELF:
        status = open_elf(b, image, bytes, err);
        break;
    case BUNDLE_PLAIN:
        status = open_plain(b, image, bytes, &b->consumed, err);
        break;
    case BUNDLE_COMPRESSED:
        status = bundle_decompress(image, bytes, &b->owned, &plain_bytes, err);
        if (status == EHP_OK && bundle_kind(b->owned, plain_bytes) != BUNDLE_PLAIN)
            status = code_fail(err, EHP_ERR_BAD_IMAGE, "compressed bundle: what is inside is not a bundle");
        if (status == EHP_OK)
            status = open_plain(b, b->owned, plain_bytes, &ignored, err);
        b->consumed = bundle_compressed_size(image, bytes);
        break;
    case BUNDLE_NONE:
        status = code_fail(err, EHP_ERR_BAD_IMAGE,
                           bytes ? "neither an ELF file nor an offload bundle" : "empty image");
        break;
    }
    if (status != EHP_OK)
        bundle_close(b);
    return status;
}

void bundle_close(struct bundle *b)
{
    free(b->entries);
    free(b->owned);
    *b = (struct bundle){0};
}

size_t bundle_next(const void *image, size_t bytes, size_t from)
{
    const uint8_t *p = image;
    while (from < bytes && !p[from])
        from++;
    return from < bytes && bundle_kind(p + from, bytes - from) != BUNDLE_NONE ? from : bytes;
}

/* ---- the choice ---- */

/* "gfx906, gfx90a", each once. */
struct listing {
    char text[256];
    size_t used;
};

static void list_entry(struct listing *l, const struct bundle_entry *e)
{
    char name[80];
    const char *text = e->id;
    size_t bytes = e->id_bytes;
    if (e->is_target)
        target_print(&e->target, name, sizeof name);
    else if (skip(&text, &bytes, "host-"))
        return;
    else
        snprintf(name, sizeof name, "%.*s", (int)(e->id_bytes < 60 ? e->id_bytes : 60), e->id);
    if (!name[0]) /* an id that is empty, or starts with a NUL */
        snprintf(name, sizeof name, "an entry without a name");
    for (const char *p = l->text; (p = strstr(p, name)); p++) {
        char after = p[strlen(name)];
        if ((p == l->text || p[-1] == ' ') && (!after || after == ','))
            return;
    }
    int n = snprintf(l->text + l->used, sizeof l->text - l->used, "%s%s", l->used ? ", " : "", name);
    if (n > 0 && (size_t)n < sizeof l->text - l->used)
        l->used += (size_t)n;
    else
        l->text[l->used] = 0; /* full: the list stays as it was */
}

static const struct bundle_entry *best_entry(const struct bundle *b, const struct target *agent,
                                             struct listing *l)
{
    const struct bundle_entry *best = NULL;
    for (unsigned i = 0; i < b->count; i++) {
        const struct bundle_entry *e = &b->entries[i];
        list_entry(l, e);
        if (!e->is_target || !e->bytes || !target_runs_on(&e->target, agent))
            continue;
        if (!best || target_specificity(&e->target) > target_specificity(&best->target))
            best = e;
    }
    return best;
}

int bundle_find(struct bundle_pick *pick, const void *image, size_t bytes, const struct target *agent,
                struct code_error *err)
{
    const uint8_t *p = image;
    struct listing l = {.used = 0};
    *pick = (struct bundle_pick){0};
    for (size_t at = 0; at < bytes || at == 0; at = bundle_next(p, bytes, at)) {
        struct bundle b;
        int status = bundle_open(&b, p + at, bytes - at, err);
        if (status != EHP_OK)
            return status;
        const struct bundle_entry *e = b.kind == BUNDLE_ELF ? &b.entries[0] : best_entry(&b, agent, &l);
        if (e) {
            *pick = (struct bundle_pick){.data = e->data, .bytes = e->bytes, .bundle = b};
            return EHP_OK;
        }
        at += b.consumed;
        bundle_close(&b);
    }
    char self[80];
    target_print(agent, self, sizeof self);
    return code_fail(err, EHP_ERR_WRONG_ISA, "the bundle holds %s; this machine is %s",
                     l.used ? l.text : "no device code", self);
}

void bundle_pick_free(struct bundle_pick *pick)
{
    bundle_close(&pick->bundle);
    *pick = (struct bundle_pick){0};
}
