/* SPDX-License-Identifier: MIT */
/*
 * Beyond the XCD: the IODs of a package with their networks and the USR links between
 * them, the Infinity Cache slices, the probe filters, and the memory channels
 * behind the slices; the links to other packages of a node, and PCIe to a host.
 *
 * Agents (an XCD's L2, a CCD, an SDMA engine) ask with a struct fabric_request, which stays the asker's and
 * in place until it is answered; only the pointer travels.  The bytes move at the line's home, the slice of
 * the Infinity Cache in front of its channel: that is where an order of all accesses to a line exists.  The
 * Infinity Cache is memory-side, so its bytes are the host memory's own.
 *
 * Each IOD is a domain of port.h and holds its slices, filters and channels.
 *
 * Sources: ISCA'24, IV.C and IV.D and figures 5 to 8; AMD CDNA 3 white paper;
 * LLVM AMDGPUUsage, Memory Model GFX942 (probes).
 */
#ifndef EHP_FABRIC_FABRIC_H
#define EHP_FABRIC_FABRIC_H

#include "port/port.h"

enum { FABRIC_LINE = 128, FABRIC_PAIR = 2 * FABRIC_LINE };
/* As many IODs as a package of a node may have. */
enum { FABRIC_NODE_IODS = 8 };

/* XCDs and CCDs have ports and caches that are probed; SDMA engines have ports alone: they FETCH and WRITE.
 * Links (link.c) stand for the CCDs of other packages. */
enum fabric_kind_of_agent { FABRIC_XCD, FABRIC_CCD, FABRIC_LINK, FABRIC_SDMA };

/*
 * A home takes the requests for a line one after another, or for each half of it, where they are for that.
 * When an agent owns the line, any other's request first brings its bytes to memory by a probe; or a CPU's
 * brings them from one CCD to another.
 */
enum fabric_kind {
    FABRIC_READ,   /* the line, to be cached; the home notes who has it */
    FABRIC_OWN,    /* the same, to execute atomics on: every other copy is written back and dropped first */
    FABRIC_FETCH,  /* the line as memory has it now, not to be cached */
    FABRIC_WRITE,  /* bytes under the mask to memory; other agents' copies are dropped */
    FABRIC_ATOMIC, /* runs `atomic` on the line's bytes at the home; `data` is the requester's business */
};

struct fabric_request {
    enum fabric_kind kind;
    uint8_t agent; /* fabric_agent() */
    bool keeps;  /* FABRIC_WRITE: the writer keeps its copy of the line, as its owner if it was: one that the
                  * home gave it, or all of which this is */
    bool nobody; /* FABRIC_WRITE: takes its time and changes nothing, of a line that stands for others */
    /* Of a CPU, whose bytes are those of the process: none are moved, here or there.  A WRITE is of a line
     * that it owns; without any bytes it says that a clean one is gone. */
    bool in_place;
    bool past;  /* WRITE in place: of a line that it may not own, whose other copies are dropped first */
    bool first; /* nothing else that matters is under way: for the host, which is asked then for what the home
                 * looks at, as nobody does before it arrives */
    bool half;  /* READ, OWN: only 64 bytes travel */
    uint8_t halves; /* of the line that it is about, a bit each; a WRITE in place: that the asker has no more;
                     * 0: both */
    bool alone;     /* READ: the asker owns the line if nobody else has it; when answered: whether it does */
    /* READ, FETCH, WRITE: of the next line as well; `line` is aligned to FABRIC_PAIR: fabric_pairs().  A
     * WRITE then is of all bytes, and of lines that the writer does not own. */
    bool pair;
    uint8_t operations, depth; /* FABRIC_ATOMIC: lanes; most of them on one element */
    /* When answered.  faulted: the host has no memory at that address; missed: so many lines the Infinity
     * Cache did not have. */
    bool faulted;
    uint8_t missed;
    uint64_t line; /* address of the line in the process */
    uint64_t
        physical; /* simulated physical address, which decides package, stack, channel, slice, bank and row
                   */
    uint8_t *data, *second; /* the line's bytes of the asker's, and those of a pair's next: filled at the
                             * home, or read there */
    uint64_t mask[2];       /* FABRIC_WRITE: which bytes */
    void (*atomic)(struct fabric_request *request, uint8_t *line);
    /* Answered by an event of this function in the asker's domain, with word[0] the request. */
    port_fn *done;
    void *self;
    uint64_t after_ps;  /* it sets out so much later than it is submitted */
    uint64_t waited_ps; /* for the agent's port, which others kept busy; once submitted */
    double asked_ps;    /* when it set out */
    /* For whoever holds it at the moment. */
    struct fabric_request *next, *chain;
    uint32_t place; /* the line's number in its slice */
    uint16_t slice; /* of the home */
    uint8_t home;   /* IOD */
    uint8_t left;   /* of a pair: lines that are not yet ready */
    bool probed;    /* others had to give the line up for it */
    bool dirty;     /* OWN: with bytes that memory does not have, from another's cache */
    uint8_t remote; /* the package of the home, plus 1; 0: it is the agent's own */
    float home_ps;  /* from asked_ps to its home; from its answer on, how long it was there */
};

/*
 * What an agent may rely on, for one line of which it has no more than one READ or OWN under way:
 * its requests are executed at the home in the order of submission; answers to READ, OWN, FETCH
 * and ATOMIC and probes arrive in the order in which the home made them, so an answer that comes
 * after a probe was made after it.  Only the acknowledgement of a WRITE may overtake and be
 * overtaken.  A line that it owns and has just sent home with a WRITE is not lost to a probe that
 * meets it on the way: the home waits for it.
 *
 * A home asks an agent to give up a line: posted to the agent's domain as an
 * event of the function given to fabric_attach(), with word[0] the probe.  The
 * L2 drops its copy, hands over in `data` and `mask` what is dirty of a line
 * that it owns, and calls fabric_probe_answer() once; if not at the same cycle, it says when it takes the
 * bytes by fabric_probe_take(), as what it writes from then on is newer.  Bytes that it stored without owning
 * the line it keeps: nobody may see them before they are released, and a writer's own copy would not show
 * them.
 */
struct fabric_probe {
    uint64_t line, physical;
    uint8_t agent;
    bool in_place; /* set with the mask: memory has these bytes */
    bool shares;   /* whoever asks will not write: the agent may keep its copy, no longer as its owner, */
    bool keeps;    /* and says so */
    uint8_t data[FABRIC_LINE];
    uint64_t mask[2]; /* bytes that were dirty; set by the agent, none when it comes */
    uint8_t halves;   /* that are asked for, a bit each: a CPU's caches hold them by themselves */
    bool owner;       /* the home takes the agent for the owner of one */
    /* A CPU's line that another asks for: its owner may send it there itself (`gives`), and then says so. */
    struct fabric_request *asker;
    bool gives;
    double late_ps;            /* by so much behind others' */
    void *home;                /* the home's business */
    bool answered;             /* but for a write before it */
    struct fabric_probe *next; /* for whoever holds it at the moment */
};

struct fabric;
struct chip;

/*
 * IOD i is domain first_domain + i, of which the clock is set here.  `nps`: into how many
 * domains the stacks are divided.  NULL when memory is short, or the chip is one that cannot
 * be: fabric_check() says why.  Unmapped memory is survived once fault_install() was called.
 */
struct fabric *fabric_open(const struct chip *chip, struct port *port, unsigned first_domain, unsigned nps);
void fabric_close(struct fabric *fabric);
/* Whether the chip's numbers fit each other, in a node of so many packages; else one line in `error`. */
bool fabric_check(const struct chip *chip, unsigned nps, unsigned packages, char *error, size_t bytes);

/* One of several packages, with their number in physical addresses from bit `shift` on.  When all are open,
 * fabric_join() connects them, by package. */
struct node;
struct fabric_place_in_node {
    unsigned package, packages, shift;
};
struct fabric *fabric_open_package(const struct chip *chip, struct port *port, unsigned first_domain,
                                   unsigned nps, const struct fabric_place_in_node *place);
void fabric_join(struct fabric *const *fabrics, const struct node *node);
unsigned fabric_package(const struct fabric *fabric);
/* If the chip has a host behind PCIe: its memory, whose addresses lie above those of all packages, is in this
 * domain. */
void fabric_join_host(struct fabric *const *fabrics, unsigned packages, const struct chip *chip,
                      struct port_domain *domain);

/* The shortest time between an agent and an IOD, or two IODs: the port's lookahead. */
uint64_t fabric_lookahead_ps(const struct chip *chip);

/* What the package's XCD, CCD or engine `index` is called in requests. */
uint8_t fabric_agent(const struct fabric *fabric, enum fabric_kind_of_agent kind, unsigned index);
/* Answers to it happen in `domain`; probes are events of `probe`, with `self`.  NULL: it has no cache. */
void fabric_attach(struct fabric *fabric, unsigned agent, struct port_domain *domain, port_fn *probe,
                   void *self);

/* Whether both lines of a pair are in one channel. */
bool fabric_pairs(const struct fabric *fabric);
/* From the agent's domain. */
void fabric_submit(struct fabric *fabric, struct fabric_request *request);
void fabric_probe_take(struct fabric *fabric, struct fabric_probe *probe);
void fabric_probe_answer(struct fabric *fabric, struct fabric_probe *probe);

/* Where a physical address is. */
struct fabric_place {
    unsigned iod, stack, channel; /* channel of the stack; slice = stack * channels + channel */
    uint64_t offset;              /* within the channel's memory */
};
struct fabric_place fabric_place_of(const struct fabric *fabric, uint64_t physical);

/*
 * For dispatches of which a part is left out (engine/timed/sample.c), each in the domain of the IOD.
 * How many lines its Infinity Cache has taken in, and how many writes it has had; and as if
 * `lines` more had come into each of its slices before the last `fresh`, of which a part is dirty: lines
 * of addresses that nobody uses push out what was there.  A package has so many slices, each of which holds
 * so many lines.
 */
struct fabric_use {
    uint64_t filled, written;
};
unsigned fabric_slices(const struct fabric *fabric);
uint64_t fabric_slice_lines(const struct fabric *fabric);
unsigned fabric_iods(const struct fabric *fabric);
struct port_domain *fabric_domain(const struct fabric *fabric, unsigned iod);
void fabric_read_use(const struct fabric *fabric, unsigned iod, struct fabric_use *out);
void fabric_age(struct fabric *fabric, unsigned iod, uint64_t lines, double dirty, uint64_t fresh);

/*
 * For those who leave a part of a long copy out (sdma/sdma.h), while nobody else asks for anything: the
 * Infinity Cache as if these pairs of lines had been fetched or written, in this order.  From the domain
 * `from`, as if `after_ps` from now.  Each IOD's answer, if any is wanted: an event with word[0] the lines
 * that would have gone from and to memory.
 */
struct fabric_skip {
    uint64_t physical;
    bool write;
};
struct fabric_skip_told {
    port_fn *fn;
    struct port_domain *domain;
    void *self;
    uint64_t word; /* [1] */
};
void fabric_skip(struct fabric *fabric, struct port_domain *from, uint64_t after_ps,
                 const struct fabric_skip *pairs, unsigned count, const struct fabric_skip_told *told);

/* Where requests pass or wait: links, ingress, agents' ports, slices, memory (struct ehp_part). */
struct ehp_part;
unsigned fabric_parts(const struct fabric *fabric);
void fabric_read_part(const struct fabric *fabric, unsigned part, struct ehp_part *out);

/* Counters, summed over the package. */
struct fabric_counters {
    uint64_t reads, writes, atomics, probes;
    uint64_t displaced; /* lines whose entry of a probe filter another took */
    uint64_t cache_hits, cache_misses, prefetches, filled;         /* of lines; filled: put into the cache */
    uint64_t dram_reads, dram_writes, activates, refreshes, turns; /* turns: of a data bus, either way */
    uint64_t usr_bytes;
    uint64_t link_bytes; /* to other packages */
};
/*
 * What went over the links from the package to a neighbour, headers included, and how long it waited for
 * them; `to` the number behind the last package: over PCIe, or with `back` from there.  False: there is none.
 */
struct fabric_traffic {
    uint64_t bytes, packets;
    double waited_ps;
};
bool fabric_read_traffic(const struct fabric *fabric, unsigned to, bool back, struct fabric_traffic *out);
void fabric_read_counters(const struct fabric *fabric, struct fabric_counters *out);

#endif
