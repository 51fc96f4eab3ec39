/* SPDX-License-Identifier: MIT */
/*
 * The cache on disk: what comes back is what was put, and nothing else.
 *   cache        in a folder of its own in TMPDIR
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "jit/cache.h"

static char folder[256]; /* of this test; each part has one below it, `place` */
static char place[300];

static void use(const char *name)
{
    snprintf(place, sizeof(place), "%s/%s", folder, name);
}

/* The only entry in the folder; "" when there is none. */
static void only_entry(char path[600])
{
    DIR *d = opendir(place);
    unsigned found = 0;
    path[0] = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, 600, "%s/%s", place, e->d_name);
        found++;
    }
    if (d)
        closedir(d);
    CHECK(found <= 1);
}

static bool has(struct jit_cache *c, const char *key, const void *bytes, size_t size)
{
    struct jit_blob blob;
    if (!jit_cache_get(c, key, strlen(key), &blob))
        return false;
    CHECK_EQ(blob.size, size);
    CHECK((uintptr_t)blob.bytes % 16 == 0);
    CHECK(blob.size == size && memcmp(blob.bytes, bytes, size) == 0);
    jit_blob_free(&blob);
    CHECK(!blob.bytes);
    return true;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(bytes, 1, size, f) == size);
    if (f)
        fclose(f);
}

static size_t read_file(const char *path, uint8_t *bytes, size_t most)
{
    FILE *f = fopen(path, "rb");
    const size_t size = f ? fread(bytes, 1, most, f) : 0;
    if (f)
        fclose(f);
    return size;
}

static void test_round_trip(void)
{
    static uint8_t large[300000];
    for (size_t i = 0; i < sizeof(large); i++)
        large[i] = (uint8_t)(i * i >> 3);
    use("above/there");
    struct jit_cache *c = jit_cache_open(place, "maker");
    CHECK_STR(jit_cache_off(c), NULL);
    CHECK(!has(c, "one", "", 0));
    CHECK(jit_cache_put(c, "one", 3, "something", 9));
    CHECK(jit_cache_put(c, "two", 3, large, sizeof(large)));
    CHECK(jit_cache_put(c, "", 0, "no key", 6));
    CHECK(jit_cache_put(c, "nothing", 7, "", 0));
    CHECK(has(c, "one", "something", 9));
    CHECK(has(c, "two", large, sizeof(large)));
    CHECK(has(c, "", "no key", 6));
    CHECK(has(c, "nothing", "", 0));
    CHECK(!has(c, "on", "", 0));
    CHECK(jit_cache_put(c, "one", 3, "else", 4));
    CHECK(has(c, "one", "else", 4));
    jit_cache_close(c);
    c = jit_cache_open(place, "maker");
    CHECK(has(c, "one", "else", 4));
    jit_cache_close(c);
    c = jit_cache_open(place, "another");
    CHECK(!has(c, "one", "else", 4));
    jit_cache_close(c);
    struct stat st;
    CHECK(stat(place, &st) == 0 && (st.st_mode & 0777) == 0700);
    struct jit_cache_usage usage;
    jit_cache_usage(place, &usage);
    CHECK_EQ(usage.entries, 4);
    CHECK(usage.bytes > sizeof(large) && usage.bytes < sizeof(large) + 2000);
    CHECK_STR(usage.off, "");
    char path[700];
    snprintf(path, sizeof(path), "%s/a file of the user's", place);
    write_file(path, "x", 1);
    CHECK(jit_cache_clear(place));
    jit_cache_usage(place, &usage);
    CHECK_EQ(usage.entries, 0);
    CHECK_EQ(usage.bytes, 0);
    CHECK(access(path, F_OK) == 0);
}

/* Cut at every length, every byte changed, or more behind it: as if it were not there, and replaced. */
static void test_damage(void)
{
    static const char value[] = "the entry's bytes";
    uint8_t file[1024];
    char path[600];
    use("damage");
    struct jit_cache *c = jit_cache_open(place, "maker");
    CHECK(jit_cache_put(c, "key", 3, value, sizeof(value)));
    only_entry(path);
    const size_t size = read_file(path, file, sizeof(file) - 1);
    CHECK(size > sizeof(value) && size < sizeof(file) - 1);
    for (size_t cut = 0; cut < size; cut++) {
        write_file(path, file, cut);
        CHECK(!has(c, "key", value, sizeof(value)));
    }
    for (size_t i = 0; i < size; i++) {
        const uint8_t before = file[i];
        for (unsigned bit = 0; bit < 8; bit++) {
            file[i] = (uint8_t)(before ^ 1U << bit);
            write_file(path, file, size);
            CHECK(!has(c, "key", value, sizeof(value)));
        }
        file[i] = before;
    }
    file[size] = 0;
    write_file(path, file, size + 1);
    CHECK(!has(c, "key", value, sizeof(value)));
    CHECK(jit_cache_put(c, "key", 3, value, sizeof(value)));
    CHECK(has(c, "key", value, sizeof(value)));
    jit_cache_close(c);
}

/* The file of one maker, or one key, under the name of another. */
static void test_names(void)
{
    char first[600], second[600];
    use("names");
    struct jit_cache *old = jit_cache_open(place, "version 1"), *new = jit_cache_open(place, "version 2");
    CHECK(jit_cache_put(old, "key", 3, "old", 3));
    only_entry(first);
    unlink(first);
    CHECK(jit_cache_put(new, "key", 3, "new", 3));
    only_entry(second);
    CHECK(strcmp(first, second) != 0);
    CHECK(rename(second, first) == 0);
    CHECK(!has(old, "key", "new", 3));
    CHECK(jit_cache_put(old, "key", 3, "old", 3));
    CHECK(has(old, "key", "old", 3));
    CHECK(jit_cache_put(old, "yek", 3, "yek", 3));
    unlink(first);
    only_entry(second);
    CHECK(rename(second, first) == 0);
    CHECK(!has(old, "key", "yek", 3));
    jit_cache_close(old);
    jit_cache_close(new);
}

/* Off, with a reason that has the text. */
static void expect_off(struct jit_cache *c, const char *text)
{
    struct jit_blob blob;
    const char *off = jit_cache_off(c);
    if (!CHECK(off && strstr(off, text)))
        fprintf(stderr, "  \"%s\" instead of \"%s\"\n", off ? off : "(on)", text);
    CHECK(!jit_cache_put(c, "key", 3, "x", 1));
    CHECK(!jit_cache_get(c, "key", 3, &blob));
}

/* What others can write to, or is another's, is not looked at. */
static void test_owners(void)
{
    char path[600];
    use("owners");
    struct jit_cache *c = jit_cache_open(place, "maker"), *d;
    CHECK(jit_cache_put(c, "key", 3, "x", 1));
    only_entry(path);
    CHECK(chmod(path, 0620) == 0 && !has(c, "key", "x", 1));
    CHECK(chmod(path, 0602) == 0 && !has(c, "key", "x", 1));
    CHECK(chmod(path, 0600) == 0 && has(c, "key", "x", 1));
    for (unsigned i = 0; i < 2; i++) {
        CHECK(chmod(place, i ? 0702 : 0720) == 0);
        CHECK(!has(c, "key", "x", 1));
        d = jit_cache_open(place, "maker");
        expect_off(d, "can be written to by others");
        jit_cache_close(d);
        struct jit_cache_usage usage;
        jit_cache_usage(place, &usage);
        CHECK(strstr(usage.off, "can be written to by others") && !usage.entries);
        CHECK(!jit_cache_clear(place));
        CHECK(access(path, F_OK) == 0);
    }
    CHECK(!jit_cache_put(c, "key", 3, "x", 1));
    expect_off(c, "can be written to by others");
    CHECK(chmod(place, 0700) == 0);
    jit_cache_close(c);
    c = jit_cache_open(place, "maker");
    /* A link in its place, and a folder. */
    char aside[700];
    snprintf(aside, sizeof(aside), "%s/aside", folder);
    CHECK(rename(path, aside) == 0 && symlink(aside, path) == 0);
    CHECK(!has(c, "key", "x", 1));
    CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    CHECK(!has(c, "key", "x", 1));
    CHECK(unlink(path) == 0 && rename(aside, path) == 0);
    CHECK(has(c, "key", "x", 1));
    if (geteuid() == 0) {
        CHECK(chown(path, 12345, (gid_t)-1) == 0 && !has(c, "key", "x", 1));
        CHECK(chown(path, 0, (gid_t)-1) == 0 && has(c, "key", "x", 1));
        CHECK(chown(place, 12345, (gid_t)-1) == 0 && !has(c, "key", "x", 1));
        d = jit_cache_open(place, "maker");
        expect_off(d, "belongs to another user");
        jit_cache_close(d);
    }
    jit_cache_close(c);
}

/* Run in a process of its own: what it changes ends with it. */
static void apart(void (*fn)(void))
{
    fflush(NULL);
    const unsigned before = check_failures;
    const pid_t child = fork();
    if (child == 0) {
        fn();
        fflush(NULL);
        _exit(check_failures > before);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* A folder that this user may not write to. */
static void in_unwritable(void)
{
    if (geteuid() == 0) {
        CHECK(chown(place, 12345, 12345) == 0);
        CHECK(setgid(12345) == 0 && setuid(12345) == 0);
    }
    struct jit_cache *c = jit_cache_open(place, "maker");
    CHECK(jit_cache_put(c, "before", 6, "x", 1));
    CHECK(chmod(place, 0500) == 0);
    CHECK(has(c, "before", "x", 1));
    CHECK(!jit_cache_put(c, "key", 3, "x", 1));
    expect_off(c, "cannot be written to: Permission denied");
    jit_cache_close(c);
    char below[400];
    snprintf(below, sizeof(below), "%s/below", place);
    c = jit_cache_open(below, "maker");
    expect_off(c, "cannot be made: Permission denied");
    jit_cache_close(c);
    CHECK(chmod(place, 0700) == 0);
}

/* The kernel ends a process that writes a file larger than it may, which must not happen to a program. */
static void in_small_files(void)
{
    static const char zeros[10000];
    const struct rlimit small = {5000, 5000};
    struct jit_cache *c = jit_cache_open(place, "maker");
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(jit_cache_put(c, "small", 5, zeros, 1000));
    CHECK(!jit_cache_put(c, "large", 5, zeros, sizeof(zeros)));
    expect_off(c, "cannot be written to: File too large");
    jit_cache_close(c);
}

/* A disk that is full leaves nothing half. */
static void in_full_disk(void)
{
    static const uint8_t noise[100000] = {1};
    if (mount("none", place, "tmpfs", 0, "size=64k,mode=0700") != 0) {
        printf("cannot mount here (%s): not tested with a full disk\n", strerror(errno));
        return;
    }
    struct jit_cache *c = jit_cache_open(place, "maker");
    CHECK(jit_cache_put(c, "small", 5, noise, 1000));
    CHECK(has(c, "small", noise, 1000));
    CHECK(!jit_cache_put(c, "large", 5, noise, sizeof(noise)));
    char path[600];
    only_entry(path);
    CHECK(path[0]);
    expect_off(c, "cannot be written to: No space left on device");
    jit_cache_close(c);
    CHECK(umount(place) == 0);
}

static void test_failures(void)
{
    use("unwritable");
    CHECK(mkdir(place, 0700) == 0 && chmod(folder, 0755) == 0);
    apart(in_unwritable);
    use("small");
    apart(in_small_files);
    use("full");
    CHECK(mkdir(place, 0700) == 0);
    apart(in_full_disk);
}

static void key_of(unsigned i, char key[16])
{
    snprintf(key, 16, "key %u", i);
}

static void set_used(const char *path, long seconds_ago)
{
    struct timespec now, times[2];
    clock_gettime(CLOCK_REALTIME, &now);
    times[0] = times[1] = (struct timespec){now.tv_sec - seconds_ago, 0};
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

/* One MiB: the eleventh entry of 100 kB does not fit, and those go that were not used for longest. */
static void test_bounds(void)
{
    static uint8_t value[100000];
    char key[16], path[600], stale[700], fresh[700];
    use("bounds");
    setenv("EHP_CACHE_SIZE", "1", 1);
    struct jit_cache *c = jit_cache_open(place, "maker");
    /* Each made older than all before; then the oldest is used. */
    for (unsigned i = 0; i < 10; i++) {
        char aside[400], name[700];
        snprintf(aside, sizeof(aside), "%s/bounds of", folder);
        CHECK(mkdir(aside, 0700) == 0 || errno == EEXIST);
        key_of(i, key);
        value[0] = (uint8_t)i;
        CHECK(jit_cache_put(c, key, strlen(key), value, sizeof(value)));
        only_entry(path);
        set_used(path, 1000 + i);
        snprintf(name, sizeof(name), "%s/%s", aside, strrchr(path, '/') + 1);
        CHECK(rename(path, name) == 0);
    }
    char from[400];
    snprintf(from, sizeof(from), "%s/bounds of", folder);
    CHECK(rmdir(place) == 0 && rename(from, place) == 0);
    snprintf(stale, sizeof(stale), "%s/%s.abc", place, strrchr(path, '/') + 1);
    snprintf(fresh, sizeof(fresh), "%s/%s.abd", place, strrchr(path, '/') + 1);
    write_file(stale, "half", 4);
    write_file(fresh, "half", 4);
    set_used(stale, 5000);
    value[0] = 9;
    CHECK(has(c, "key 9", value, sizeof(value)));
    value[0] = 10;
    CHECK(jit_cache_put(c, "key 10", 6, value, sizeof(value)));
    struct jit_cache_usage usage;
    jit_cache_usage(place, &usage);
    CHECK_EQ(usage.limit, 1 << 20);
    CHECK(usage.bytes <= usage.limit && usage.bytes >= usage.limit / 2);
    CHECK(access(stale, F_OK) != 0 && access(fresh, F_OK) == 0);
    for (unsigned i = 0; i <= 10; i++) {
        value[0] = (uint8_t)i;
        key_of(i, key);
        /* 9 and 10 are the newest, then 0, 1, 2 and so on. */
        if (has(c, key, value, sizeof(value)) != (i >= 9 || i < usage.entries - 2))
            CHECK_EQ(i, usage.entries);
    }
    static const uint8_t large[400000];
    CHECK(!jit_cache_put(c, "large", 5, large, sizeof(large)));
    CHECK_STR(jit_cache_off(c), NULL);
    /* It stays within its bounds, however many come. */
    for (unsigned i = 0; i < 100; i++) {
        key_of(i, key);
        CHECK(jit_cache_put(c, key, strlen(key), value, 1000 * (i % 50)));
        jit_cache_usage(place, &usage);
        CHECK(usage.bytes <= usage.limit);
    }
    jit_cache_close(c);
    setenv("EHP_CACHE_SIZE", "0", 1);
    c = jit_cache_open(place, "maker");
    expect_off(c, "EHP_CACHE_SIZE is 0");
    jit_cache_close(c);
    setenv("EHP_CACHE_SIZE", "-1", 1);
    c = jit_cache_open(place, "maker");
    expect_off(c, "EHP_CACHE_SIZE=-1: expected MiB");
    jit_cache_close(c);
    unsetenv("EHP_CACHE_SIZE");
}

/* Threads and processes at once, in a folder that is too small: each sees nothing, or the whole. */
enum { KEYS = 40, ROUNDS = 150, THREADS = 3 };

static void *work(void *cache)
{
    static _Atomic unsigned seed;
    unsigned at = (unsigned)getpid() * 7919 + seed++ * 104729, found = 0;
    uint8_t *value = malloc(100000);
    for (unsigned round = 0; round < ROUNDS; round++) {
        char key[16];
        at = at * 1103515245 + 12345;
        const unsigned n = (at >> 16) % KEYS;
        const size_t size = 1000 * n + n;
        memset(value, (int)n, 100000);
        key_of(n, key);
        if (has(cache, key, value, size))
            found++;
        else
            CHECK(jit_cache_put(cache, key, strlen(key), value, size));
    }
    free(value);
    CHECK(found > ROUNDS / 10);
    return NULL;
}

static void in_crowd(void)
{
    struct jit_cache *c = jit_cache_open(place, "maker");
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, c) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_STR(jit_cache_off(c), NULL);
    jit_cache_close(c);
}

static void test_crowd(void)
{
    pid_t children[3];
    use("crowd");
    setenv("EHP_CACHE_SIZE", "1", 1);
    fflush(NULL);
    for (unsigned i = 0; i < 3; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            in_crowd();
            _exit(check_failures != 0);
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        int status = -1;
        CHECK(children[i] > 0 && waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    struct jit_cache_usage usage;
    jit_cache_usage(place, &usage);
    CHECK(usage.bytes <= usage.limit + 3 * 40 * 1001 && usage.entries > 10);
    unsetenv("EHP_CACHE_SIZE");
}

/* What names the folder. */
static void test_environment(void)
{
    struct jit_cache_usage usage;
    char expected[600];
    use("from environment");
    setenv("EHP_CACHE_DIR", place, 1);
    struct jit_cache *c = jit_cache_open(NULL, "maker");
    CHECK(jit_cache_put(c, "key", 3, "x", 1));
    jit_cache_close(c);
    jit_cache_usage(NULL, &usage);
    CHECK_STR(usage.folder, place);
    CHECK_EQ(usage.entries, 1);
    CHECK_EQ(usage.limit, 256 << 20);
    /* A relative name means the same after chdir(). */
    CHECK(chdir(folder) == 0);
    setenv("EHP_CACHE_DIR", "relative//", 1);
    c = jit_cache_open(NULL, "maker");
    CHECK(chdir("/") == 0 && jit_cache_put(c, "key", 3, "x", 1));
    jit_cache_close(c);
    use("relative");
    jit_cache_usage(place, &usage);
    CHECK_EQ(usage.entries, 1);
    setenv("EHP_CACHE_DIR", "", 1);
    c = jit_cache_open(NULL, "maker");
    expect_off(c, "EHP_CACHE_DIR is empty");
    jit_cache_close(c);
    unsetenv("EHP_CACHE_DIR");
    use("home");
    setenv("XDG_CACHE_HOME", place, 1);
    jit_cache_usage(NULL, &usage);
    snprintf(expected, sizeof(expected), "%s/ehp/compiled", place);
    CHECK_STR(usage.folder, expected);
    CHECK(access(place, F_OK) != 0);
    c = jit_cache_open(NULL, "maker");
    CHECK(jit_cache_put(c, "key", 3, "x", 1));
    jit_cache_close(c);
    struct stat st;
    snprintf(expected, sizeof(expected), "%s/ehp", place);
    CHECK(stat(expected, &st) == 0 && (st.st_mode & 0777) == 0700);
    jit_cache_usage(NULL, &usage);
    CHECK_EQ(usage.entries, 1);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

int main(void)
{
    const char *base = getenv("TMPDIR");
    char made[200];
    umask(022);
    unsetenv("EHP_CACHE_SIZE");
    snprintf(made, sizeof(made), "%s/ehp-cache-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(made) || !realpath(made, folder)) {
        perror(made);
        return 1;
    }
    test_round_trip();
    test_damage();
    test_names();
    test_owners();
    test_failures();
    test_bounds();
    test_crowd();
    test_environment();
    CHECK_EQ(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    return check_status();
}
