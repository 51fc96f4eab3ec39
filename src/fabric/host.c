/* SPDX-License-Identifier: MIT */
/*
 * A host behind PCIe: memory of its own, for all packages of a node, and a link to each of them, at an IOD.
 *
 * A request comes to that IOD as if it were the home, goes up as a TLP, or as several of at most pcie.payload
 * bytes, and its bytes are read and written when the host's memory has been waited for, one after another for
 * all packages: there is the order of accesses to a line.  No cache of a GPU is probed for them, and none of
 * the host's is modelled.  Atomic operations go one by one, as PCIe's AtomicOps do; all of them are executed,
 * though PCIe has fetch-and-add, swap and compare-and-swap alone.
 *
 * Sources: ISCA'24, VIII and figure 18(b); PCI Express 5.0, 2.2 (TLPs), 6.15 (AtomicOps).
 */
#include "fabric/internal.h"

#include "base/guarded.h"

enum { OPERAND = 16, RESULT = 8 }; /* of an AtomicOp, at most */

struct host_memory {
    struct ps_server port;
    double byte_ps, latency_ps;
};

/* The end of a package. */
struct fabric_host {
    struct fabric *fabric;
    struct iod *iod;
    struct port_domain *domain; /* the host's */
    struct host_memory *memory;
    struct ps_server up, down; /* up: the IOD's; down: the host's */
    struct fabric_traffic traffic[2];
    double byte_ps, latency_ps;
    unsigned header, payload;
};

static unsigned bytes_of(const struct fabric_request *r)
{
    if (r->kind == FABRIC_WRITE)
        return (r->pair ? 2 * FABRIC_LINE : 0) +
               (r->pair ? 0 : FABRIC_LINE / 2 * ((r->mask[0] ? 1U : 0U) + (r->mask[1] ? 1U : 0U)));
    return r->half ? FABRIC_LINE / 2 : FABRIC_LINE * lines_of(r);
}

/* With the headers that bytes need, of which there may be none. */
static double tlps_bytes(const struct fabric_host *h, unsigned bytes)
{
    const unsigned tlps = bytes ? (bytes + h->payload - 1) / h->payload : 1;
    return bytes + tlps * h->header;
}

static double up_bytes(const struct fabric_host *h, const struct fabric_request *r)
{
    if (r->kind == FABRIC_ATOMIC)
        return r->operations * (double)(h->header + OPERAND);
    return tlps_bytes(h, r->kind == FABRIC_WRITE ? bytes_of(r) : 0);
}

/* A write is posted: its acknowledgement is the link's own, and takes no place. */
static double down_bytes(const struct fabric_host *h, const struct fabric_request *r)
{
    if (r->kind == FABRIC_ATOMIC)
        return r->operations * (double)(h->header + RESULT);
    return r->kind == FABRIC_WRITE ? 0 : tlps_bytes(h, bytes_of(r));
}

static void returned(struct port_domain *domain, struct port_event *event)
{
    const struct fabric_host *h = event->self;
    (void)domain;
    net_answer(h->iod, (struct fabric_request *)event->word[0], 0);
}

static void answer(struct port_domain *domain, struct port_event *event)
{
    struct fabric_host *h = event->self;
    struct fabric_request *r = (struct fabric_request *)event->word[0];
    home_bytes(r);
    r->missed = (uint8_t)lines_of(r);
    r->alone = false;
    const double bytes = down_bytes(h, r), busy = bytes * h->byte_ps,
                 wait = ps_server_take(&h->down, (double)port_now_ps(domain), busy);
    if (bytes > 0)
        count_traffic(&h->traffic[true], bytes, wait);
    port_send(domain, h->iod->domain, (uint64_t)(h->latency_ps + wait + busy), returned, h)->word[0] =
        (uint64_t)r;
}

static void arrived(struct port_domain *domain, struct port_event *event)
{
    const struct fabric_host *h = event->self;
    const struct fabric_request *r = (const struct fabric_request *)event->word[0];
    const double now = (double)port_now_ps(domain), busy = bytes_of(r) * h->memory->byte_ps,
                 delay = ps_server_take(&h->memory->port, now, busy) + busy + h->memory->latency_ps;
    port_post(domain, port_cycle_of(domain, (uint64_t)(now + delay)), answer, event->self)->word[0] =
        (uint64_t)r;
}

void host_take(struct fabric_host *h, struct fabric_request *r)
{
    struct iod *iod = h->iod;
    const double bytes = up_bytes(h, r), busy = bytes * h->byte_ps,
                 wait = ps_server_take(&h->up, iod_now(iod), busy);
    count_traffic(&h->traffic[false], bytes, wait);
    port_send(iod->domain, h->domain, (uint64_t)(h->latency_ps + wait + busy), arrived, h)->word[0] =
        (uint64_t)r;
}

const struct iod *host_iod(const struct fabric_host *h)
{
    return h->iod;
}

const struct fabric_traffic *host_traffic(const struct fabric_host *h, bool back)
{
    return &h->traffic[back];
}

void fabric_join_host(struct fabric *const *fabrics, unsigned packages, const struct chip *chip,
                      struct port_domain *domain)
{
    const double *v = chip->value;
    if (!(v[CHIP_host_memory] > 0))
        return;
    struct host_memory *memory = arena_take(&fabrics[0]->arena, sizeof(*memory));
    memory->byte_ps = 1000 / v[CHIP_host_bandwidth];
    memory->latency_ps = v[CHIP_host_latency] * 1000;
    for (unsigned i = 0; i < packages; i++) {
        struct fabric_host *h = fabrics[i]->host = arena_take(&fabrics[i]->arena, sizeof(*h));
        h->fabric = fabrics[i];
        h->iod = &fabrics[i]->iod[chip_get(chip, CHIP_pcie_iod)];
        h->domain = domain;
        h->memory = memory;
        h->byte_ps = 1000 / v[CHIP_pcie_rate];
        h->latency_ps = v[CHIP_pcie_latency] * 1000;
        h->header = chip_get(chip, CHIP_pcie_header);
        h->payload = chip_get(chip, CHIP_pcie_payload);
    }
}
