/* SPDX-License-Identifier: MIT */
/* Accesses beyond a buffer that the chip would not notice; see bounds.h. */
#include "cp/bounds.h"

#include <stdio.h>
#include <stdlib.h>

#include "cp/cp.h"
#include "isa/facts.h"
#include "wave/fault.h"
#include "wave/fuse.h"
#include "alloc/site.h"

/* Who has more of them has read the first ones. */
enum { TOLD_MOST = 4096 };

void bounds_open(struct bounds *b)
{
    pthread_mutex_init(&b->lock, NULL);
}

void bounds_close(struct bounds *b)
{
    free(b->told);
    pthread_mutex_destroy(&b->lock);
}

void bounds_begin(struct cp *cp, uint64_t kernel)
{
    struct bounds *b = &cp->bounds;
    if (atomic_load_explicit(&b->kernel, memory_order_relaxed) == kernel)
        return;
    atomic_store(&b->kernel, kernel);
    memory_call_in(cp->memory);
}

bool bounds_tell(struct cp *cp, uint64_t kernel, uint64_t serial)
{
    struct bounds *b = &cp->bounds;
    if (cp->memory->bounds != EHP_BOUNDS_WARN)
        return false;
    pthread_mutex_lock(&b->lock);
    bool known = b->count == TOLD_MOST;
    for (size_t i = 0; i < b->count && !known; i++)
        known = b->told[i].kernel == kernel && b->told[i].serial == serial;
    if (!known && b->count == b->capacity) {
        size_t capacity = b->capacity ? 2 * b->capacity : 16;
        struct bounds_told *told = realloc(b->told, capacity * sizeof(*told));
        known = !told;
        b->told = told ? told : b->told;
        b->capacity = told ? capacity : b->capacity;
    }
    if (!known)
        b->told[b->count++] = (struct bounds_told){kernel, serial};
    pthread_mutex_unlock(&b->lock);
    return !known;
}

void bounds_say(struct cp *cp, const char *text)
{
    struct bounds *b = &cp->bounds;
    pthread_mutex_lock(&b->lock);
    fprintf(stderr, "ehp: %s\n%s", text,
            b->count == 1 ? "  the chip has mapped all of the 2 MiB around it and goes on, as this run does; "
                            "--bounds=fault (EHP_BOUNDS=fault) stops here\n"
                          : "");
    pthread_mutex_unlock(&b->lock);
}

bool bounds_mend(struct wave_guard *g)
{
    struct memory_block near;
    const struct xinst *in = g->in;
    if (!in->fn) /* a copy's, which was checked when it was asked for */
        return false;
    struct workgroup *wg = g->wave->wg;
    struct cp_dispatch *d = wg->owner;
    struct cp *cp = d->cp;
    if (!memory_lend(cp->memory, g->address, &near))
        return false;
    if (fuse_is_fused(in) && in->isa->op == ISA_OP_v_lshl_add_u64)
        in = fuse_access(in);
    g->fault_in = in;
    g->write = isa_facts[in->isa->op].effects & ISA_E_STORE;
    g->from_signal = false; /* the wave is in the middle of it: nobody asks its registers which lane it was */
    if (bounds_tell(cp, d->packet.kernel_object, near.serial)) {
        struct ehp_fault fault = {.size = sizeof(fault)};
        d->cp->listener->report_beyond(d, wg, g, &near, &fault);
        bounds_say(cp, fault.text);
    }
    return true;
}

bool bounds_mend_host(void *context, uint64_t address, bool write)
{
    struct cp *cp = context;
    struct memory_block near;
    char what[512], text[768];
    if (!memory_lend(cp->memory, address, &near))
        return false;
    atomic_store(&cp->bounds.kernel, 0);
    if (bounds_tell(cp, 0, near.serial)) {
        uint64_t end = near.base + near.bytes;
        site_print_block(&near, false, what, sizeof(what));
        snprintf(text, sizeof(text),
                 "warning: %s by the host program beyond a buffer, %s %#llx\n  %#llx bytes %s %s",
                 write ? "write" : "read", write ? "to" : "from", (unsigned long long)address,
                 (unsigned long long)(address < near.base ? near.base - address : address - end),
                 address < near.base ? "before" : "past the end of", what);
        bounds_say(cp, text);
    }
    return true;
}
