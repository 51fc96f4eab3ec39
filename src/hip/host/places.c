/* SPDX-License-Identifier: MIT */
/*
 * OpenMP's places: OMP_PLACES and OMP_PROC_BIND, by the CPUs of the simulated machine.
 *
 * Source: OpenMP API 5.2, 21.1.6 and 21.1.7.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/host/affinity.h"
#include "hip/host/time_host.h"

enum { PLACES = 1024 };

enum bind { BIND_NONE, BIND_PRIMARY, BIND_CLOSE, BIND_SPREAD };

static struct {
    pthread_once_t once;
    struct ehp_cpu_set *place;
    unsigned count;
    enum bind bind;
    char *text, *wish; /* OMP_PLACES, OMP_PROC_BIND */
} places = {.once = PTHREAD_ONCE_INIT};

static bool number(const char **at, unsigned *out)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    const unsigned long value = strtoul(*at, &end, 10);
    *at = end;
    *out = (unsigned)value;
    return value < EHP_CPUS_MAX;
}

/* ":count:step" behind something; both are 1 without it. */
static bool interval(const char **at, unsigned *count, int *step)
{
    unsigned by = 1;
    *count = 1;
    *step = 1;
    if (**at != ':')
        return true;
    ++*at;
    if (!number(at, count) || !*count)
        return false;
    if (**at != ':')
        return true;
    ++*at;
    const bool back = **at == '-';
    *at += back;
    if (!number(at, &by))
        return false;
    *step = back ? -(int)by : (int)by;
    return true;
}

static void add(struct ehp_cpu_set *set, long cpu)
{
    if (cpu >= 0 && cpu < EHP_CPUS_MAX)
        set->word[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

/* "{0:4:2,9}", or a number. */
static bool one_place(const char **at, struct ehp_cpu_set *set)
{
    unsigned first, count;
    int step;
    memset(set, 0, sizeof(*set));
    if (**at != '{') {
        if (!number(at, &first))
            return false;
        add(set, (long)first);
        return true;
    }
    do {
        ++*at;
        if (!number(at, &first) || !interval(at, &count, &step))
            return false;
        for (unsigned i = 0; i < count; i++)
            add(set, (long)first + (long)i * step);
    } while (**at == ',');
    return *(*at)++ == '}';
}

/* The same CPUs, all `by` further. */
static struct ehp_cpu_set moved(const struct ehp_cpu_set *set, long by)
{
    struct ehp_cpu_set out = {{0}};
    for (long cpu = 0; cpu < EHP_CPUS_MAX; cpu++)
        if (set->word[cpu / 64] >> cpu % 64 & 1)
            add(&out, cpu + by);
    return out;
}

/* "{0:8}:3:8,{24}". */
static bool listed(const char *at)
{
    do {
        struct ehp_cpu_set set;
        unsigned count;
        int step;
        if (!one_place(&at, &set) || !interval(&at, &count, &step))
            return false;
        for (unsigned i = 0; i < count && places.count < PLACES; i++)
            places.place[places.count++] = moved(&set, (long)i * step);
    } while (*at++ == ',');
    return at[-1] == '\0';
}

/* "cores", "ll_caches(2)", ...: so many CPUs each. */
static bool named(const char *text, unsigned cpus)
{
    ehp_machine *m = time_host_machine();
    struct ehp_chip_value cores = {.size = sizeof(cores)}, dies = {.size = sizeof(dies)};
    ehp_chip_value(m, "ccd.cores", &cores);
    ehp_chip_value(m, "ccd.count", &dies);
    const struct {
        const char *name;
        unsigned cpus;
    } kinds[] = {{"threads", 1},
                 {"cores", 1},
                 {"ll_caches", (unsigned)cores.number},
                 {"numa_domains", (unsigned)(cores.number * dies.number)},
                 {"sockets", (unsigned)(cores.number * dies.number)}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const size_t length = strlen(kinds[i].name);
        unsigned most = PLACES;
        if (strncmp(text, kinds[i].name, length) != 0)
            continue;
        const char *at = text + length;
        if (*at == '(') {
            at++;
            const bool good = number(&at, &most) && most && *at == ')';
            if (!good)
                return false;
            at++;
        }
        for (unsigned first = 0; first < cpus && places.count < most; first += kinds[i].cpus) {
            struct ehp_cpu_set *set = &places.place[places.count++];
            memset(set, 0, sizeof(*set));
            for (unsigned k = 0; k < kinds[i].cpus; k++)
                add(set, (long)first + (long)k);
        }
        return *at == '\0';
    }
    return false;
}

static enum bind read_bind(const char *text, bool has_places)
{
    if (!text || !*text)
        return has_places ? BIND_CLOSE : BIND_NONE;
    if (strncmp(text, "false", 5) == 0)
        return BIND_NONE;
    if (strncmp(text, "spread", 6) == 0)
        return BIND_SPREAD;
    return strncmp(text, "primary", 7) == 0 || strncmp(text, "master", 6) == 0 ? BIND_PRIMARY : BIND_CLOSE;
}

static char *take(const char *name)
{
    const char *text = secure_getenv(name);
    char *copy = text ? strdup(text) : NULL;
    unsetenv(name);
    return copy;
}

void places_take(void)
{
    places.text = take("OMP_PLACES");
    places.wish = take("OMP_PROC_BIND");
}

static void read_places(void)
{
    const char *text = places.text, *bind = places.wish;
    const unsigned cpus = ehp_cpu_count(time_host_machine());
    places.bind = read_bind(bind, text && *text);
    if (places.bind == BIND_NONE || !cpus)
        return;
    places.place = calloc(PLACES, sizeof(*places.place));
    if (!places.place)
        abort();
    text = text && *text ? text : "cores";
    places.count = 0;
    if (isdigit((unsigned char)*text) || *text == '{' ? listed(text) : named(text, cpus))
        return;
    fprintf(stderr,
            "ehp: OMP_PLACES=%s: expected threads, cores, ll_caches, numa_domains, sockets, or a list as "
            "{0:8}:3:8; it is ignored\n",
            text);
    places.bind = BIND_NONE;
}

/* The place of one of a team's threads. */
static unsigned place_of(unsigned index, unsigned size)
{
    if (places.bind == BIND_PRIMARY)
        return 0;
    if (places.bind == BIND_SPREAD || size > places.count) /* as many in each */
        return (unsigned)((uint64_t)index * places.count / size);
    return index;
}

/* The n-th CPU of a place, from the beginning again behind its last. */
static struct ehp_cpu_set nth_of(const struct ehp_cpu_set *place, unsigned n)
{
    struct ehp_cpu_set one = {{0}};
    unsigned count = 0;
    for (unsigned w = 0; w < EHP_CPUS_MAX / 64; w++)
        count += (unsigned)__builtin_popcountll(place->word[w]);
    n = count ? n % count : 0;
    for (unsigned cpu = 0; cpu < EHP_CPUS_MAX; cpu++)
        if (place->word[cpu / 64] >> cpu % 64 & 1 && n-- == 0)
            add(&one, cpu);
    return one;
}

bool places_of(unsigned index, unsigned size, struct ehp_cpu_set *out)
{
    pthread_once(&places.once, read_places);
    if (places.bind == BIND_NONE || !places.count)
        return false;
    unsigned before = 0; /* threads of the same place */
    while (before < index && place_of(index - before - 1, size) == place_of(index, size))
        before++;
    *out = nth_of(&places.place[place_of(index, size)], before);
    return true;
}
