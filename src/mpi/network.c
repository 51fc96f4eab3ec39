/* SPDX-License-Identifier: MIT */
/* See network.h. */
#include "mpi/network.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

static const struct {
    const char *name;
    size_t offset;
} words[] = {
#define WORD(name, field) {name "=", offsetof(struct network_numbers, field)}
    WORD("mpi.overhead", overhead),       WORD("mpi.latency", latency),   WORD("mpi.rate", rate),
    WORD("mpi.reduce", reduce),           WORD("mpi.eager", eager),       WORD("mpi.poll", poll),
    WORD("network.latency", far_latency), WORD("network.rate", far_rate), WORD("network.ports", ports),
    WORD("network.ranks", ranks),         WORD("link.rate", link_rate),   WORD("link.latency", link_latency),
    WORD("link.header", link_header),
#undef WORD
};

static bool read_links(struct network_numbers *n, const char *text)
{
    for (unsigned i = 0; i < n->packages * n->packages; i++) {
        char *end;
        n->links[i / n->packages][i % n->packages] = (unsigned)strtoul(text, &end, 10);
        if (end == text)
            return false;
        text = end + (*end == ',');
    }
    return true;
}

static bool read_word(struct network_numbers *n, const char *word)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const size_t length = strlen(words[i].name);
        if (strncmp(word, words[i].name, length) == 0) {
            char *end;
            *(double *)((char *)n + words[i].offset) = strtod(word + length, &end);
            return end != word + length;
        }
    }
    if (strncmp(word, "packages=", 9) == 0) {
        n->packages = (unsigned)strtoul(word + 9, NULL, 10);
        return n->packages >= 1 && n->packages <= NETWORK_PACKAGES;
    }
    return strncmp(word, "links=", 6) == 0 && read_links(n, word + 6);
}

bool network_read(struct network_numbers *numbers, const char *text, char wrong[64])
{
    *numbers = (struct network_numbers){.packages = 1};
    for (const char *p = text; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        char word[512];
        snprintf(word, sizeof(word), "%.*s", (int)strcspn(p, " "), p);
        if (!read_word(numbers, word)) {
            snprintf(wrong, 64, "%.63s", word);
            return false;
        }
    }
    snprintf(wrong, 64, "no numbers");
    return numbers->overhead > 0 && numbers->rate > 0 && numbers->reduce > 0 && numbers->poll > 0;
}

static uint64_t ps_of(double ns)
{
    return (uint64_t)llround(ns * 1000);
}

static double ps_per_byte(double gb_per_s)
{
    return 1000 / gb_per_s;
}

/* How many links are on the way from each package to each other. */
static void count_hops(struct network *w)
{
    const struct network_numbers *n = &w->numbers;
    for (unsigned from = 0; from < n->packages; from++) {
        uint8_t list[NETWORK_PACKAGES] = {(uint8_t)from};
        unsigned count = 1;
        for (unsigned i = 0; i < count; i++)
            for (unsigned p = 0; p < n->packages; p++)
                if (p != from && !w->hops[from][p] && n->links[list[i]][p]) {
                    w->hops[from][p] = (uint8_t)(w->hops[from][list[i]] + 1);
                    list[count++] = (uint8_t)p;
                }
    }
}

void network_open(struct network *w, const struct network_numbers *numbers, unsigned ranks)
{
    *w = (struct network){.numbers = *numbers, .ranks = ranks, .each = ranks};
    if (numbers->ranks >= 1)
        w->each = (unsigned)numbers->ranks;
    w->nodes = (ranks + w->each - 1) / w->each;
    w->overhead_ps = ps_of(numbers->overhead);
    w->poll_ps = ps_of(numbers->poll);
    w->near_ps = ps_of(numbers->latency);
    w->far_ps = ps_of(numbers->far_latency);
    count_hops(w);
    const size_t ports = (size_t)w->nodes * (numbers->ports >= 1 ? (size_t)numbers->ports : 1);
    w->copier = must(calloc(ranks, sizeof(uint64_t)));
    w->out = must(calloc(ports, sizeof(uint64_t)));
    w->in = must(calloc(ports, sizeof(uint64_t)));
    w->link = must(calloc((size_t)w->nodes * NETWORK_PACKAGES * NETWORK_PACKAGES, sizeof(uint64_t)));
}

void network_close(struct network *w)
{
    free(w->copier);
    free(w->out);
    free(w->in);
    free(w->link);
}

static unsigned package_of(const struct network *w, unsigned rank)
{
    return rank % w->each % w->numbers.packages;
}

/* Of a node's ranks each port has as many, one after another. */
static size_t port_of(const struct network *w, unsigned rank)
{
    const unsigned ports = (unsigned)w->numbers.ports, local = rank % w->each;
    return (size_t)(rank / w->each) * ports + (size_t)local * ports / w->each;
}

static void add(struct network_way *way, uint64_t *port, double rate, double latency)
{
    assert(way->stages < NETWORK_STAGES);
    way->stage[way->stages++] = (struct network_stage){port, ps_per_byte(rate), ps_of(latency)};
}

/* By the shortest way, of several the one by the lower numbers, seen from the lower package: as node_way().
 */
static void find_links(const struct network *w, struct network_way *way, unsigned node, unsigned a,
                       unsigned b)
{
    const struct network_numbers *n = &w->numbers;
    const unsigned from = a < b ? a : b, to = a < b ? b : a, hops = w->hops[from][to];
    uint64_t *link = w->link + (size_t)node * NETWORK_PACKAGES * NETWORK_PACKAGES;
    unsigned list[NETWORK_PACKAGES] = {from};
    for (unsigned i = 1; i <= hops; i++) {
        unsigned p = 0;
        while (!n->links[list[i - 1]][p] || w->hops[p][to] != hops - i)
            p++;
        list[i] = p;
    }
    for (unsigned i = 0; i < hops; i++) {
        const unsigned x = list[a < b ? i : hops - i], y = list[a < b ? i + 1 : hops - i - 1];
        add(way, &link[x * NETWORK_PACKAGES + y], n->link_rate * n->links[x][y] * 64 / (64 + n->link_header),
            n->link_latency);
    }
    way->stage[0].latency_ps += ps_of(n->latency);
}

void network_find(const struct network *w, struct network_way *way, unsigned from, unsigned to)
{
    const struct network_numbers *n = &w->numbers;
    const unsigned package = package_of(w, from), other = package_of(w, to);
    *way = (struct network_way){0};
    if (from / w->each != to / w->each) {
        add(way, &w->out[port_of(w, from)], n->far_rate, n->far_latency);
        add(way, &w->in[port_of(w, to)], n->far_rate, 0);
    } else if (package != other) {
        find_links(w, way, from / w->each, package, other);
    } else {
        add(way, &w->copier[from], n->rate, n->latency);
    }
}

uint64_t network_pass(struct network_way *way, uint64_t ps, uint64_t bytes)
{
    const struct network_stage *s = &way->stage[way->at++];
    const uint64_t start = *s->free_ps > ps ? *s->free_ps : ps,
                   end = start + (uint64_t)llround((double)bytes * s->ps_per_byte);
    *s->free_ps = end;
    way->tail_ps = (end > way->tail_ps ? end : way->tail_ps) + s->latency_ps;
    return way->at < way->stages ? start + s->latency_ps : way->tail_ps;
}

uint64_t network_reduce_ps(const struct network *w, uint64_t bytes)
{
    return (uint64_t)llround((double)bytes * ps_per_byte(w->numbers.reduce));
}
