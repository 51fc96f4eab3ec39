/* SPDX-License-Identifier: MIT */
/*
 * Ways between the IODs of a package, over the links that the chip file lists: of all, the one of the least
 * latency, then of the fewest links.  Where several are equal, the next link is the one that is listed first:
 * with those along rows before those along columns, a way goes along its row first.
 */
#include "fabric/internal.h"

#include <math.h>

struct length {
    uint64_t fs; /* of latency: whole numbers, so that equal ways are equal */
    unsigned links;
};

static bool shorter(struct length a, struct length b)
{
    return a.fs < b.fs || (a.fs == b.fs && a.links < b.links);
}

static struct length sum(struct length a, struct length b)
{
    return (struct length){a.fs + b.fs, a.links + b.links};
}

static struct length length_of(const struct chip_link *link)
{
    return (struct length){(uint64_t)llround(link->latency.value * 1e6), 1};
}

/* Floyd and Warshall's. */
static void find_lengths(const struct chip *chip, struct length length[CHIP_MAX_IODS][CHIP_MAX_IODS])
{
    static const struct length far = {UINT64_MAX / 4, 0};
    for (unsigned a = 0; a < chip->iods; a++)
        for (unsigned b = 0; b < chip->iods; b++)
            length[a][b] = a == b ? (struct length){0} : far;
    for (unsigned i = 0; i < chip->links; i++) {
        const struct chip_link *l = &chip->link[i];
        length[l->iod[0]][l->iod[1]] = length[l->iod[1]][l->iod[0]] = length_of(l);
    }
    for (unsigned via = 0; via < chip->iods; via++)
        for (unsigned a = 0; a < chip->iods; a++)
            for (unsigned b = 0; b < chip->iods; b++) {
                const struct length over = sum(length[a][via], length[via][b]);
                if (shorter(over, length[a][b]))
                    length[a][b] = over;
            }
}

void route_find(const struct chip *chip, struct fabric_route route[CHIP_MAX_IODS][CHIP_MAX_IODS])
{
    struct length length[CHIP_MAX_IODS][CHIP_MAX_IODS];
    const double near = chip->value[CHIP_fabric_xcd_latency] + chip->value[CHIP_fabric_network_latency];
    find_lengths(chip, length);
    for (unsigned a = 0; a < chip->iods; a++)
        for (unsigned b = 0; b < chip->iods; b++) {
            struct fabric_route *r = &route[a][b];
            r->way_ps = 1000 * near + (double)length[a][b].fs / 1000;
            r->hops = (uint8_t)length[a][b].links;
            r->part_ps = r->way_ps / (r->hops + 1);
            r->next = (uint8_t)b;
            for (unsigned i = chip->links; a != b && i-- > 0;) {
                const struct chip_link *l = &chip->link[i];
                if (l->iod[0] != a && l->iod[1] != a)
                    continue;
                const unsigned next = l->iod[l->iod[0] == a];
                if (!shorter(length[a][b], sum(length_of(l), length[next][b])))
                    r->next = (uint8_t)next;
            }
        }
}
