/* SPDX-License-Identifier: MIT */
/*
 * From a kernel dispatch packet and the kernel descriptor it points to, to what
 * all workgroups of the dispatch have in common: sizes, resources and the
 * initial state of a wave's registers.
 *
 * Source: LLVM AMDGPUUsage, "Kernel Descriptor" and "Initial Kernel Execution
 * State" (gfx942: architected flat scratch, packed work-item ids, kernarg
 * preload).
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hsa/code.h"
#include "hsa/descriptor.h"
#include "soc/machine.h"

static uint32_t bits(uint32_t word, unsigned low, unsigned count)
{
    return word >> low & ((1u << count) - 1);
}

static unsigned round_up(unsigned value, unsigned granule)
{
    return (value + granule - 1) / granule * granule;
}

static void set_sgpr64(uint32_t *s, unsigned at, uint64_t value)
{
    s[at] = (uint32_t)value;
    s[at + 1] = (uint32_t)(value >> 32);
}

/* User SGPRs, in the descriptor's fixed order, then the system's. */
static bool set_sgprs(struct cp_dispatch *d, const struct kernel_descriptor *kd)
{
    struct exec_launch *l = &d->launch;
    unsigned properties = kd->kernel_code_properties, at = 0;
    uint32_t rsrc2 = kd->compute_pgm_rsrc2;
    unsigned user = bits(rsrc2, 1, 5);
    uint32_t *s = l->sgprs;
    uint32_t staged[64] = {0};
    if (properties & KERNEL_CODE_PRIVATE_SEGMENT_BUFFER)
        at += 4; /* no buffer-addressed scratch on this processor: the registers exist, their value is unused */
    if (properties & KERNEL_CODE_DISPATCH_PTR) {
        set_sgpr64(staged, at, (uint64_t)(uintptr_t)&d->packet);
        at += 2;
    }
    if (properties & KERNEL_CODE_QUEUE_PTR) {
        set_sgpr64(staged, at, (uint64_t)(uintptr_t)&d->queue->block);
        at += 2;
    }
    if (properties & KERNEL_CODE_KERNARG_SEGMENT_PTR) {
        set_sgpr64(staged, at, (uint64_t)(uintptr_t)d->packet.kernarg_address);
        at += 2;
    }
    if (properties & KERNEL_CODE_DISPATCH_ID) {
        set_sgpr64(staged, at, d->id);
        at += 2;
    }
    if (properties & KERNEL_CODE_FLAT_SCRATCH_INIT)
        at += 2; /* architected flat scratch: as above */
    if (properties & KERNEL_CODE_PRIVATE_SEGMENT_SIZE)
        staged[at++] = l->scratch_bytes;
    unsigned preload = kd->kernarg_preload & 0x7f, offset = kd->kernarg_preload >> 7 & 0x1ff;
    if (at + preload > sizeof(staged) / sizeof(staged[0]))
        return false;
    if (preload && d->packet.kernarg_address)
        memcpy(staged + at, (const uint32_t *)d->packet.kernarg_address + offset, preload * sizeof(uint32_t));
    at += preload;
    if (at > user)
        user = at;
    memcpy(s, staged, user * sizeof(uint32_t));
    for (unsigned i = 0; i < 3; i++)
        l->id_sgpr[i] = bits(rsrc2, 7 + i, 1) ? (int)user++ : -1;
    l->info_sgpr = bits(rsrc2, 10, 1) ? (int)user++ : -1;
    return true;
}

static void set_registers(struct cp_dispatch *d, const struct kernel_descriptor *kd)
{
    struct exec_launch *l = &d->launch;
    uint32_t rsrc1 = kd->compute_pgm_rsrc1, rsrc3 = kd->compute_pgm_rsrc3;
    unsigned total = (bits(rsrc1, 0, 6) + 1) * 8;
    unsigned accum_offset = (bits(rsrc3, 0, 6) + 1) * 4;
    l->vgprs = accum_offset < total ? accum_offset : total;
    l->agprs = total - l->vgprs;
    d->vgprs = round_up(total, d->machine->cp.vgpr_granule);
    d->sgprs = round_up((bits(rsrc1, 6, 4) / 2 + 1) * 16, d->machine->cp.sgpr_granule);
    l->mode = bits(rsrc1, 12, 8) | bits(rsrc1, 21, 1) << 8 | bits(rsrc1, 23, 1) << 9 | bits(rsrc1, 26, 1) << 23 |
              bits(kd->compute_pgm_rsrc2, 24, 7) << 12;
    l->id_dims = bits(kd->compute_pgm_rsrc2, 11, 2) + 1;
}

static bool refuse(struct cp_dispatch *d, struct ehp_fault *fault, int kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static bool refuse(struct cp_dispatch *d, struct ehp_fault *fault, int kind, const char *format, ...)
{
    char why[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof(why), format, arguments);
    va_end(arguments);
    fault->kind = kind;
    fault->kernel = d->kernel ? d->kernel : NULL;
    fault->dispatch_id = d->id;
    fault->lane = UINT_MAX;
    snprintf(fault->text, sizeof(fault->text), "cannot dispatch %s: %s", d->kernel ? d->kernel : "a kernel", why);
    return false;
}

static bool set_sizes(struct cp_dispatch *d, struct ehp_fault *fault)
{
    const struct ehp_kernel_dispatch_packet *p = &d->packet;
    struct exec_launch *l = &d->launch;
    uint32_t items[3] = {p->workgroup_size_x, p->workgroup_size_y, p->workgroup_size_z};
    uint32_t grid[3] = {p->grid_size_x, p->grid_size_y, p->grid_size_z};
    uint64_t flat = (uint64_t)items[0] * items[1] * items[2];
    unsigned most = chip_get(&d->machine->chip, CHIP_cu_workgroup_items);
    if (flat == 0 || flat > most)
        return refuse(d, fault, EHP_FAULT_PACKET, "a workgroup of %u x %u x %u work-items; from 1 to %u are possible",
                      items[0], items[1], items[2], most);
    d->total = 1;
    for (int i = 0; i < 3; i++) {
        if (grid[i] == 0)
            return refuse(d, fault, EHP_FAULT_PACKET, "a grid of %u x %u x %u work-items", grid[0], grid[1], grid[2]);
        l->items[i] = items[i];
        l->grid[i] = grid[i];
        l->groups[i] = (uint32_t)(((uint64_t)grid[i] + items[i] - 1) / items[i]);
        d->total *= l->groups[i];
    }
    l->waves = (unsigned)((flat + WAVE_LANES - 1) / WAVE_LANES);
    return true;
}

static bool decode(struct cp_dispatch *d, struct ehp_fault *fault)
{
    struct ehp_machine *m = d->machine;
    const struct ehp_kernel_dispatch_packet *p = &d->packet;
    struct ehp_kernel kernel = EHP_KERNEL_INIT;
    pthread_rwlock_rdlock(&m->codes_lock);
    struct ehp_code *code = machine_code_containing(m, p->kernel_object);
    bool known = code && code_kernel_by_object(code, p->kernel_object, &kernel);
    if (known)
        d->kernel = strdup(kernel.name);
    pthread_rwlock_unlock(&m->codes_lock);
    if (!known)
        return refuse(d, fault, EHP_FAULT_PACKET, "kernel object %#llx is not a loaded kernel descriptor",
                      (unsigned long long)p->kernel_object);
    const struct kernel_descriptor *kd = (const struct kernel_descriptor *)(uintptr_t)p->kernel_object;
    struct exec_launch *l = &d->launch;
    if (!set_sizes(d, fault))
        return false;
    l->lds_bytes = p->group_segment_size;
    d->lds = round_up(l->lds_bytes, m->cp.lds_granule);
    l->scratch_bytes = round_up(p->private_segment_size, 4);
    set_registers(d, kd);
    if (!set_sgprs(d, kd))
        return refuse(d, fault, EHP_FAULT_PACKET, "its descriptor preloads more kernel arguments than there are SGPRs");
    char why[160];
    if (!ace_can_ever_fit(m, d, why, sizeof(why)))
        return refuse(d, fault, EHP_FAULT_RESOURCES, "%s", why);
    struct exec_code_cache *cache = calloc(1, sizeof(*cache));
    l->entry = cache ? exec_code_find(&m->code, cache, code_kernel_entry(kd)) : NULL;
    free(cache);
    if (!l->entry)
        return refuse(d, fault, EHP_FAULT_PACKET, "its entry %#llx is not code",
                      (unsigned long long)code_kernel_entry(kd));
    return launch_make_ids(l) || refuse(d, fault, EHP_FAULT_RESOURCES, "the host is out of memory");
}

struct cp_dispatch *cp_dispatch_make(struct cp_queue *queue, uint64_t id,
                                     const struct ehp_kernel_dispatch_packet *packet, struct ehp_fault *fault)
{
    struct cp_dispatch *d = aligned_alloc(64, (sizeof(*d) + 63) & ~(size_t)63);
    if (!d)
        abort(); /* a kilobyte: the process is beyond help */
    memset(d, 0, sizeof(*d));
    struct ehp_machine *m = queue->machine;
    d->machine = m;
    d->queue = queue;
    d->id = id;
    d->packet = *packet;
    d->xccs = m->xcds_per_agent;
    d->first_xcc = queue->agent * d->xccs;
    d->chunk = m->xcc_chunk;
    d->priority = queue->priority;
    d->start_ns = machine_now_ns();
    pthread_mutex_init(&d->stats_lock, NULL);
    d->stats.size = sizeof(d->stats);
    if (!decode(d, fault)) {
        /* The name in the report must outlive the dispatch. */
        fault->kernel = NULL;
        cp_dispatch_free(d);
        return NULL;
    }
    for (int i = 0; i < 3; i++) {
        d->stats.grid[i] = d->launch.groups[i];
        d->stats.block[i] = d->launch.items[i];
    }
    return d;
}

void cp_dispatch_free(struct cp_dispatch *d)
{
    for (struct workgroup *wg = d->deferred, *next; wg; wg = next) {
        next = wg->next;
        workgroup_free(wg);
    }
    pthread_mutex_destroy(&d->stats_lock);
    free(d->launch.v0);
    free(d->kernel);
    free(d);
}
