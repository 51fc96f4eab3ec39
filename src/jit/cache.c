/* SPDX-License-Identifier: MIT */
/* What a file of the cache contains: see struct header. */
#include "jit/cache.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/build_id.h"
#include "base/must.h"
#include "jit/cache_folder.h"

enum { FORMAT = 1, ALIGN = 16, LOOK_AGAIN = 64 };

static const char magic[8] = "EHPcode";

/* Behind it are the maker, the key, and, aligned, what was put. */
struct header {
    char magic[8];
    uint32_t format, maker_size;
    uint64_t key_size, size;
    struct hash check; /* of the whole file, with zeros here */
};
static_assert(sizeof(struct header) == 48, "in files");

struct jit_cache {
    char *maker; /* this build of the library, and what the caller says */
    size_t maker_size;
    struct jit_cache_usage place;
    _Atomic(const char *) off;
    pthread_mutex_t lock;
    uint64_t held; /* bytes in the folder, as far as this process knows */
    unsigned puts; /* since it looked */
};

static bool turn_off(struct jit_cache *c, const char *what, const char *why)
{
    pthread_mutex_lock(&c->lock);
    if (!c->off) {
        snprintf(c->place.off, sizeof(c->place.off), "%.4000s %s%s", c->place.folder, what, why);
        c->off = c->place.off;
    }
    pthread_mutex_unlock(&c->lock);
    return false;
}

struct jit_cache *jit_cache_open(const char *folder, const char *maker)
{
    struct jit_cache *c = must(calloc(1, sizeof(*c)));
    char build[BUILD_ID_TEXT], *text = NULL;
    build_id(build);
    const int n = asprintf(&text, "EHP %s, %s", build, maker);
    c->maker = must(n < 0 ? NULL : text);
    c->maker_size = (size_t)n;
    pthread_mutex_init(&c->lock, NULL);
    cache_folder_find(folder, true, &c->place);
    if (!c->place.off[0] && !build[0])
        snprintf(c->place.off, sizeof(c->place.off), "the library was linked without --build-id");
    c->off = c->place.off[0] ? c->place.off : NULL;
    c->puts = LOOK_AGAIN;
    return c;
}

void jit_cache_close(struct jit_cache *c)
{
    pthread_mutex_destroy(&c->lock);
    free(c->maker);
    free(c);
}

const char *jit_cache_off(const struct jit_cache *c)
{
    return c->off;
}

static void name_of(const struct jit_cache *c, const void *key, size_t key_size, char name[CACHE_NAME])
{
    static const uint32_t format = FORMAT;
    struct hash h = hash_bytes((struct hash){0}, &format, sizeof(format));
    h = hash_bytes(h, c->maker, c->maker_size);
    cache_folder_name(name, hash_bytes(h, key, key_size));
}

static size_t round_up(size_t n)
{
    return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* ---- get ----------------------------------------------------------------------------------------------- */

/* Where in a file what was put begins; 0: it is not of this key, of another maker, or damaged. */
static size_t check_file(const struct jit_cache *c, const void *key, size_t key_size, uint8_t *file,
                         size_t file_size)
{
    struct header h;
    if (file_size < sizeof(h))
        return 0;
    memcpy(&h, file, sizeof(h));
    if (memcmp(h.magic, magic, sizeof(magic)) != 0 || h.format != FORMAT || h.maker_size != c->maker_size ||
        h.key_size != key_size)
        return 0;
    const size_t begin = round_up(sizeof(h) + c->maker_size + key_size);
    if (file_size < begin || h.size != file_size - begin ||
        memcmp(file + sizeof(h), c->maker, c->maker_size) != 0 ||
        (key_size && memcmp(file + sizeof(h) + c->maker_size, key, key_size) != 0))
        return 0;
    memset(file + offsetof(struct header, check), 0, sizeof(h.check));
    const struct hash check = hash_bytes((struct hash){0}, file, file_size);
    return memcmp(&check, &h.check, sizeof(check)) == 0 ? begin : 0;
}

bool jit_cache_get(struct jit_cache *c, const void *key, size_t key_size, struct jit_blob *blob)
{
    const char *wrong;
    char name[CACHE_NAME];
    size_t size, begin;
    if (c->off)
        return false;
    const int dir = cache_folder_open(c->place.folder, &wrong);
    if (dir < 0)
        return false;
    name_of(c, key, key_size, name);
    uint8_t *file = cache_folder_read(dir, name, &size);
    close(dir);
    if (!file)
        return false;
    begin = check_file(c, key, key_size, file, size);
    if (!begin) {
        free(file);
        return false;
    }
    *blob = (struct jit_blob){.bytes = file + begin, .size = size - begin, .memory = file};
    return true;
}

void jit_blob_free(struct jit_blob *blob)
{
    free(blob->memory);
    *blob = (struct jit_blob){0};
}

/* ---- put ----------------------------------------------------------------------------------------------- */

static uint8_t *make_file(const struct jit_cache *c, const void *key, size_t key_size, const void *bytes,
                          size_t size, size_t *file_size)
{
    struct header h = {
        .format = FORMAT, .maker_size = (uint32_t)c->maker_size, .key_size = key_size, .size = size};
    const size_t begin = round_up(sizeof(h) + c->maker_size + key_size);
    uint8_t *file = calloc(1, begin + size);
    if (!file)
        return NULL;
    memcpy(h.magic, magic, sizeof(magic));
    memcpy(file, &h, sizeof(h));
    memcpy(file + sizeof(h), c->maker, c->maker_size);
    if (key_size)
        memcpy(file + sizeof(h) + c->maker_size, key, key_size);
    if (size)
        memcpy(file + begin, bytes, size);
    *file_size = begin + size;
    h.check = hash_bytes((struct hash){0}, file, *file_size);
    memcpy(file, &h, sizeof(h));
    return file;
}

/* A look at the folder costs as much as it has files: it is for the first put, and then now and again, as
 * others write as well.  It leaves room for some more. */
static void make_room(struct jit_cache *c, int dir, uint64_t bytes)
{
    uint64_t entries;
    pthread_mutex_lock(&c->lock);
    if (c->puts >= LOOK_AGAIN || c->held + bytes > c->place.limit) {
        c->held = cache_folder_trim(dir, UINT64_MAX, &entries);
        c->puts = 0;
    }
    if (c->held + bytes > c->place.limit)
        c->held = cache_folder_trim(dir, c->place.limit - c->place.limit / 8 - bytes, &entries);
    c->held += bytes;
    c->puts++;
    pthread_mutex_unlock(&c->lock);
}

static bool put_file(struct jit_cache *c, const char *name, const uint8_t *file, size_t size)
{
    const char *wrong;
    const int dir = cache_folder_open(c->place.folder, &wrong);
    if (dir < 0)
        return wrong                                ? turn_off(c, wrong, "")
               : errno == EMFILE || errno == ENFILE ? false
                                                    : turn_off(c, "cannot be opened: ", strerror(errno));
    make_room(c, dir, size);
    const int error = cache_folder_write(dir, name, file, size);
    close(dir);
    /* A program that has too many files open may close some; a disk that is full stays so. */
    if (error && error != EMFILE && error != ENFILE && error != EEXIST)
        return turn_off(c, "cannot be written to: ", strerror(error));
    return !error;
}

bool jit_cache_put(struct jit_cache *c, const void *key, size_t key_size, const void *bytes, size_t size)
{
    char name[CACHE_NAME];
    size_t file_size;
    if (c->off || key_size > c->place.limit / 4 || size > c->place.limit / 4)
        return false;
    uint8_t *file = make_file(c, key, key_size, bytes, size, &file_size);
    if (!file)
        return false;
    name_of(c, key, key_size, name);
    const bool kept = put_file(c, name, file, file_size);
    free(file);
    return kept;
}

/* ---- for who looks at it from outside ------------------------------------------------------------------ */

/* The folder's descriptor; -1: there is none, or it is not to be looked at. */
static int open_place(const char *folder, struct jit_cache_usage *u)
{
    const char *wrong;
    cache_folder_find(folder, false, u);
    if (!u->folder[0])
        return -1;
    const int dir = cache_folder_open(u->folder, &wrong);
    if (dir < 0 && (wrong || errno != ENOENT))
        snprintf(u->off, sizeof(u->off), "%.4000s %s", u->folder, wrong ? wrong : strerror(errno));
    return dir;
}

void jit_cache_usage(const char *folder, struct jit_cache_usage *u)
{
    const int dir = open_place(folder, u);
    if (dir < 0)
        return;
    u->bytes = cache_folder_trim(dir, UINT64_MAX, &u->entries);
    close(dir);
}

bool jit_cache_clear(const char *folder)
{
    struct jit_cache_usage u;
    uint64_t entries = 0;
    const int dir = open_place(folder, &u);
    if (dir < 0)
        return !u.folder[0] || access(u.folder, F_OK) != 0;
    cache_folder_trim(dir, 0, &entries);
    close(dir);
    return entries == 0;
}
