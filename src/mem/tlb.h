/* SPDX-License-Identifier: MIT */
/* Translation: a UTCL1 for each vL1 and scalar cache, the XCD's UTCL2 and its page walks. */
#ifndef EHP_MEM_TLB_H
#define EHP_MEM_TLB_H

#include "fabric/fabric.h"
#include "mem/line.h"
#include "mem/request.h"
#include "vm/vm.h"

struct utcl1_entry {
    uint64_t base, bytes, physical;
    uint64_t used;
    uint8_t mtype;
    bool writable, spare;
};

struct utcl1;

struct utcl1_miss {
    bool busy, mapped, store, replayed;
    bool faulting;    /* waits for the driver */
    uint64_t address; /* of the first to miss */
    struct utcl1_entry entry;
    struct request_queue waiting;
    struct vm_request fault;
    struct utcl1 *tlb;
    struct utcl1_miss *next; /* that waits for the same walk */
    uint64_t soonest;        /* cycle of the answer if the entry were there */
};

enum { UTCL1_GUESSES = 64 };
struct utcl1 {
    struct request_queue blocked; /* no free miss, or behind another instruction's */
    unsigned missing, recent, used;
    unsigned walking; /* walks for it that read their line */
    struct utcl1_entry *entry;
    uint16_t guess[UTCL1_GUESSES]; /* by what an entry reaches at most: which was found there last */
    uint64_t generation, clock;
    uint64_t free; /* cycle of the next look-up */
    struct xcd_mem *mem;
    void (*go)(struct mem_request *request, uint64_t cycle); /* translated, or faulted */
    void (*drained)(struct utcl1 *tlb);                      /* nothing is blocked any more; may be NULL */
    struct utcl1_miss *miss;
};

void utcl1_open(struct utcl1 *tlb, struct xcd_mem *mem, void (*go)(struct mem_request *, uint64_t));
/* An access's: go() is called for each, at once or later; `cycle` is when they are looked up, and after it
 * their `lookup`. */
void utcl1_translate(struct utcl1 *tlb, struct mem_request *first, uint64_t cycle);

/* The same for one that needs no look-up of its own and the translation for a load alone, if that is at hand
 * and nobody waits for theirs; false: nothing has happened. */
bool utcl1_hit(struct utcl1 *tlb, uint64_t line, uint64_t cycle);

/* The XCD's. */
struct utcl2 {
    unsigned sets, ways;
    struct utcl2_entry *entry;
    uint64_t clock;
    struct port_server port; /* in parts of a cycle */
    unsigned walking;
    struct utcl2_walk *waiting, **waiting_end; /* for their turn */
    struct utcl2_walk *spare;
};

struct utcl2_entry {
    uint64_t base, bytes; /* bytes 0: free */
    uint64_t used;
    struct utcl2_walk *walk; /* that brings it; NULL: it is there */
};

/* Reads a line of entries through the fabric. */
struct utcl2_walk {
    struct utcl2_walk *next;
    struct xcd_mem *mem;
    struct utcl1 *client;
    struct utcl2_entry *entry; /* NULL: another has its place by now */
    struct utcl1_miss *waiting;
    struct fabric_request request;
    uint8_t table[LINE], data[LINE]; /* what is read, for its time only: entries are vm's */
};

#endif
