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

#include "cp/cp.h"
#include "cp/signal.h"
#include "load/code_list.h"
#include "load/descriptor.h"

static unsigned round_up(unsigned value, unsigned granule)
{
    return (value + granule - 1) / granule * granule;
}

static void set_sgpr64(uint32_t *s, unsigned at, uint64_t value)
{
    s[at] = (uint32_t)value;
    s[at + 1] = (uint32_t)(value >> 32);
}

/* User SGPRs, in the descriptor's fixed order, then the system's; see load/descriptor.h. */
static void set_sgprs(struct cp_dispatch *d, const struct kernel_descriptor *kd)
{
    struct exec_launch *l = &d->launch;
    unsigned properties = kd->kernel_code_properties, at = 0;
    if (properties & KD_SGPR_PRIVATE_SEGMENT_BUFFER)
        at +=
            4; /* no buffer-addressed scratch on this processor: the registers exist, their value is unused */
    if (properties & KD_SGPR_DISPATCH_PTR) {
        union ehp_packet *packet = &d->queue->started[d->id & (d->queue->block.hsa.size - 1)];
        packet->dispatch = d->packet;
        set_sgpr64(l->sgprs, at, (uint64_t)(uintptr_t)packet);
        at += 2;
    }
    if (properties & KD_SGPR_QUEUE_PTR) {
        set_sgpr64(l->sgprs, at, (uint64_t)(uintptr_t)d->queue->seen);
        at += 2;
    }
    if (properties & KD_SGPR_KERNARG_SEGMENT_PTR) {
        set_sgpr64(l->sgprs, at, (uint64_t)(uintptr_t)d->packet.kernarg_address);
        at += 2;
    }
    if (properties & KD_SGPR_DISPATCH_ID) {
        set_sgpr64(l->sgprs, at, d->id);
        at += 2;
    }
    if (properties & KD_SGPR_FLAT_SCRATCH_INIT)
        at += 2; /* architected flat scratch: as above */
    if (properties & KD_SGPR_PRIVATE_SEGMENT_SIZE)
        l->sgprs[at++] = l->scratch_bytes;
    const uint32_t *kernarg = d->packet.kernarg_address;
    for (unsigned i = 0;
         i < kd_preload_dwords(kd) && at < d->cp->code->target->registers.user_sgprs && kernarg; i++)
        l->sgprs[at++] = kernarg[kd_preload_offset(kd) + i];
    at = kd_user_sgprs(kd);
    for (unsigned i = 0; i < 3; i++)
        l->id_sgpr[i] = kd_workgroup_id(kd, i) ? (int)at++ : -1;
    l->info_sgpr = kd_workgroup_info(kd) ? (int)at++ : -1;
}

static void set_registers(struct cp_dispatch *d, const struct kernel_descriptor *kd)
{
    struct exec_launch *l = &d->launch;
    const struct isa_target *target = d->cp->code->target;
    l->vgprs = kd_arch_vgprs(target, kd);
    l->agprs = kd_acc_vgprs(target, kd);
    d->vgprs = round_up(kd_vgprs(target, kd), d->cp->vgpr_granule);
    d->sgprs = round_up(kd_sgprs(target, kd), d->cp->sgpr_granule);
    l->mode = kd_float_mode(kd) | (kd_dx10_clamp(kd) ? MODE_DX10_CLAMP : 0) |
              (kd_ieee_mode(kd) ? MODE_IEEE : 0) | (kd_fp16_ovfl(kd) ? MODE_FP16_OVFL : 0) |
              kd_exceptions(kd) << 12;
    l->id_dims = kd_workitem_id(kd) + 1;
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
    char room[512];
    snprintf(fault->text, sizeof(fault->text), "cannot dispatch %s: %s",
             d->kernel ? ehp_printable(d->kernel, room, sizeof(room)) : "a kernel", why);
    return false;
}

static bool set_sizes(struct cp_dispatch *d, struct ehp_fault *fault)
{
    const struct ehp_kernel_dispatch_packet *p = &d->packet;
    struct exec_launch *l = &d->launch;
    uint32_t items[3] = {p->workgroup_size_x, p->workgroup_size_y, p->workgroup_size_z};
    uint32_t grid[3] = {p->grid_size_x, p->grid_size_y, p->grid_size_z};
    uint64_t flat = (uint64_t)items[0] * items[1] * items[2];
    unsigned most = chip_get(d->cp->chip, CHIP_cu_workgroup_items);
    if (flat == 0 || flat > most)
        return refuse(d, fault, EHP_FAULT_PACKET,
                      "a workgroup of %u x %u x %u work-items; from 1 to %u are possible", items[0], items[1],
                      items[2], most);
    d->total = 1;
    int64_t all = 1; /* work-items; what is counted in them, or in waves or workgroups, fits as well */
    for (int i = 0; i < 3; i++) {
        if (grid[i] == 0)
            return refuse(d, fault, EHP_FAULT_PACKET, "a grid of %u x %u x %u work-items", grid[0], grid[1],
                          grid[2]);
        if (__builtin_mul_overflow(all, (int64_t)grid[i], &all))
            return refuse(d, fault, EHP_FAULT_PACKET,
                          "a grid of %u x %u x %u work-items, which is more than 2^63 of them", grid[0],
                          grid[1], grid[2]);
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
    struct cp *cp = d->cp;
    const struct ehp_kernel_dispatch_packet *p = &d->packet;
    pthread_rwlock_rdlock(&cp->codes->lock);
    struct ehp_code *code = code_list_find(cp->codes, p->kernel_object);
    const struct code_kernel *kernel = code ? code_kernel_by_object(code, p->kernel_object) : NULL;
    if (kernel)
        d->kernel = strdup(kernel->info.name);
    d->code_changes = cp->codes->changes;
    pthread_rwlock_unlock(&cp->codes->lock);
    if (!d->kernel)
        return refuse(d, fault, EHP_FAULT_PACKET, "kernel object %#llx is not a loaded kernel descriptor",
                      (unsigned long long)p->kernel_object);
    const struct kernel_descriptor *kd = (const struct kernel_descriptor *)(uintptr_t)p->kernel_object;
    struct exec_launch *l = &d->launch;
    if (!set_sizes(d, fault))
        return false;
    if (p->group_segment_size > cp->cu_lds)
        return refuse(d, fault, EHP_FAULT_RESOURCES,
                      "a workgroup needs %u bytes of LDS, a compute unit has %u", p->group_segment_size,
                      cp->cu_lds);
    l->lds_bytes = p->group_segment_size;
    d->lds = round_up(l->lds_bytes, cp->lds_granule);
    if (p->private_segment_size > EHP_SCRATCH_MAX)
        return refuse(d, fault, EHP_FAULT_NO_MEMORY, "%u bytes of scratch a work-item; up to %u are possible",
                      p->private_segment_size, EHP_SCRATCH_MAX);
    l->scratch_bytes = round_up(p->private_segment_size, 4);
    set_registers(d, kd);
    set_sgprs(d, kd);
    char why[160];
    if (!ace_can_ever_fit(cp, d, why, sizeof(why)))
        return refuse(d, fault, EHP_FAULT_RESOURCES, "%s", why);
    uint64_t entry = kd_entry(kd, p->kernel_object);
    struct exec_code_cache *cache = calloc(1, sizeof(*cache));
    l->entry = cache ? exec_code_find(cp->code, cache, entry) : NULL;
    l->rows = l->entry ? exec_code_rows(cache, entry) : 0;
    free(cache);
    if (!l->entry)
        return refuse(d, fault, EHP_FAULT_PACKET, "its entry %#llx is not code", (unsigned long long)entry);
    if (!launch_make_ids(l))
        return refuse(d, fault, EHP_FAULT_RESOURCES, "the host is out of memory");
    if (!cp->engine->ops->admit(cp->engine, d, why, sizeof(why)))
        return refuse(d, fault, EHP_FAULT_NO_MEMORY,
                      "no memory for its scratch, %u bytes a work-item, of one workgroup on each XCD",
                      l->scratch_bytes);
    return true;
}

struct cp_dispatch *cp_dispatch_make(struct cp_queue *queue, uint64_t id,
                                     const struct ehp_kernel_dispatch_packet *packet, struct ehp_fault *fault)
{
    struct cp_dispatch *d = aligned_alloc(64, (sizeof(*d) + 63) & ~(size_t)63);
    if (!d)
        abort(); /* a kilobyte: the process is beyond help */
    memset(d, 0, sizeof(*d));
    struct cp *cp = queue->cp;
    d->cp = cp;
    d->queue = queue;
    d->id = id;
    d->packet = *packet;
    d->xccs = cp->xcds_per_agent;
    d->first_xcc = queue->agent * d->xccs;
    ace_find_takers(cp, d);
    d->chunk = cp->xcc_chunk;
    d->priority = queue->priority;
    d->queue_number = queue->number;
    bounds_begin(cp, packet->kernel_object);
    d->start_ns = d->begun_ns = clock_now_ns();
    pthread_mutex_init(&d->stats_lock, NULL);
    d->stats.size = sizeof(d->stats);
    d->limit = UINT64_MAX;
    d->launch.gws = queue->gws;
    d->launch.gws_later = cp->engine->gws_later;
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

void cp_dispatch_count(struct cp_dispatch *d, const struct wave_stats *did)
{
    struct ehp_stats *sum = &d->stats;
    for (int i = 0; i < XC_COUNT; i++)
        sum->instructions += did->count[i];
    sum->valu += did->count[XC_VALU];
    sum->salu += did->count[XC_SALU];
    sum->mfma += did->count[XC_MFMA];
    sum->vmem += did->count[XC_VMEM];
    sum->smem += did->count[XC_SMEM];
    sum->lds += did->count[XC_LDS];
    sum->flat_scratch += did->count[XC_FLAT_SCRATCH];
    sum->branch += did->count[XC_BRANCH];
    sum->other += did->count[XC_OTHER];
    sum->lanes_valu += did->lanes_valu;
    sum->bytes_read += did->bytes_read;
    sum->bytes_written += did->bytes_written;
    sum->lds_bytes += did->lds_bytes;
    sum->scratch_bytes += did->scratch_bytes;
    sum->atomics += did->atomics;
    sum->compiled += did->compiled;
}

void cp_dispatch_complete(struct cp_dispatch *d)
{
    struct cp *cp = d->cp;
    d->stats.kernel = d->kernel;
    d->stats.workgroups = d->total;
    d->stats.waves = d->waves;
    d->stats.seconds = (double)(cp_now_ns(cp) - d->start_ns) * 1e-9;
    cp->listener->completed(cp, d);
    pthread_mutex_lock(&cp->lock);
    for (struct cp_dispatch **at = &cp->active; *at; at = &(*at)->next)
        if (*at == d) {
            *at = d->next;
            break;
        }
    cp->active_count--;
    cp_packet_done(d->queue, d->packet.completion_signal, d->start_ns);
    cp->engine->ops->completed(cp->engine);
    pthread_mutex_unlock(&cp->lock);
    cp_dispatch_drop(d);
}

void cp_dispatch_drop(struct cp_dispatch *d)
{
    if (atomic_fetch_sub(&d->users, 1) == 1)
        cp_dispatch_free(d);
}

void cp_dispatch_free(struct cp_dispatch *d)
{
    d->cp->engine->ops->forget(d->cp->engine, d);
    pthread_mutex_destroy(&d->stats_lock);
    free(d->launch.v0);
    free(d->kernel);
    free(d->fault);
    free(d);
}
