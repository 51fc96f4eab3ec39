/* SPDX-License-Identifier: MIT */
/* Blocks and walks; see vm.h. */
#include "vm/vm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ehp/ehp.h"
#include "fabric/fabric.h"
#include "chip/chip.h"
#include "alloc/memory.h"
#include "vm/internal.h"

static unsigned order_of(uint64_t bytes)
{
    unsigned order = 0;
    while (order < SECTION_SHIFT && (VM_PAGE << (order + 1)) <= bytes)
        order++;
    return order;
}

static uint64_t first_page(const struct memory_block *b)
{
    return b->base & ~(VM_PAGE - 1);
}

static uint64_t page_count(const struct memory_block *b)
{
    return (b->base + b->bytes - first_page(b) + VM_PAGE - 1) >> VM_PAGE_SHIFT;
}

/* What a host behind PCIe has, no cache of a GPU keeps. */
static uint64_t flags_of(const struct vm *vm, int kind, bool uncached)
{
    uint64_t mtype = uncached || memory_place(vm->memory, 0, kind) == vm->memory->packages ? VM_MTYPE_UC
                     : memory_is_device(kind)                                              ? VM_MTYPE_RW
                                                                                           : VM_MTYPE_CC;
    return mtype << PTE_MTYPE_SHIFT | PTE_WRITABLE | PTE_PINNED;
}

/* ---- pages on demand ---- */

static void give_back(struct vm *vm, uint64_t physical, uint64_t frames)
{
    const unsigned package = package_of(vm, physical);
    frames_give(&vm->frames[package], (physical - package_base(vm, package)) >> VM_PAGE_SHIFT, frames);
}

/* A chunk's physical address, UINT64_MAX: there is none; those of a CPU's first touch are not spread evenly
 * over the stacks. */
static uint64_t take_demand_chunk(struct vm *vm, unsigned package, bool cpu_first)
{
    struct frames *frames = &vm->frames[package];
    for (;;) {
        uint64_t first = frames_take_chunk(frames, vm->turn++ % frames->domains, vm->demand_order[cpu_first]);
        if (first == UINT64_MAX)
            return UINT64_MAX;
        const uint64_t physical = first << VM_PAGE_SHIFT;
        if (!cpu_first || !vm->fabric || package == vm->memory->packages)
            return package_base(vm, package) + physical;
        vm->random = vm->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bool refused = (double)(vm->random >> 11) < vm->bias * 0x1p53;
        if (!refused || fabric_place_of(vm->fabric, physical).stack < vm->touch_stacks)
            return package_base(vm, package) + physical;
        frames_give(frames, first, UINT64_C(1) << vm->demand_order[cpu_first]);
    }
}

/* Another page of an aligned window whose frames came in the same way; 0: none. */
static uint64_t neighbour(const struct vm *vm, unsigned package, uint64_t start, unsigned order,
                          bool cpu_first, uint64_t *at)
{
    for (*at = start; *at < start + (VM_PAGE << order); *at += VM_PAGE) {
        uint64_t other = table_get(&vm->system, *at);
        if (other && cpu_first == ((other & PTE_CPU_FIRST) != 0) && package_of(vm, other) == package)
            return other;
    }
    return 0;
}

/*
 * Frames come in chunks: the first page touched of an aligned window takes one,
 * and the others find their frames in it.
 */
static uint64_t frame_in(struct vm *vm, unsigned package, uint64_t page, bool cpu_first)
{
    uint64_t at, chunk;
    unsigned order = vm->demand_order[cpu_first];
    uint64_t start = page & ~((VM_PAGE << order) - 1),
             other = neighbour(vm, package, start, order, cpu_first, &at);
    if (other) {
        chunk = (other & PTE_FRAME) - (at - start);
    } else {
        chunk = take_demand_chunk(vm, package, cpu_first);
        if (chunk == UINT64_MAX)
            return 0;
    }
    if (!table_map(&vm->system, page, 1, chunk + (page - start),
                   PTE_WRITABLE | (cpu_first ? PTE_CPU_FIRST : 0)))
        return 0;
    vm->use.demand += VM_PAGE;
    return chunk + (page - start);
}

uint64_t vm_demand_frame(struct vm *vm, struct numa_asker *asker, uint64_t page, bool cpu_first)
{
    uint8_t order[EHP_PACKAGES_MAX];
    uint64_t frame = table_get(&vm->system, page) & PTE_FRAME;
    const unsigned count = frame ? 0 : numa_order(&vm->memory->numa, page, asker, order);
    for (unsigned i = 0; i < count && !frame; i++)
        frame = frame_in(vm, order[i], page, cpu_first);
    return frame;
}

void vm_demand_drop(struct vm *vm, uint64_t page)
{
    uint64_t old = table_get(&vm->system, page), at;
    table_unmap(&vm->gpu, page, 1, NULL, NULL);
    if (!old)
        return;
    bool cpu_first = (old & PTE_CPU_FIRST) != 0;
    unsigned order = vm->demand_order[cpu_first];
    uint64_t start = page & ~((VM_PAGE << order) - 1);
    table_unmap(&vm->system, page, 1, NULL, NULL);
    vm->use.demand -= VM_PAGE;
    if (!neighbour(vm, package_of(vm, old), start, order, cpu_first, &at))
        give_back(vm, (old & PTE_FRAME) - (page - start), UINT64_C(1) << order);
}

/* The driver looks for contiguous pages around one that it maps: twice as many, as long as all are there. */
void vm_demand_map(struct vm *vm, uint64_t page, uint64_t entry)
{
    struct table_node *leaf = table_leaf(&vm->gpu, page, true);
    if (!leaf)
        return;
    unsigned index = (unsigned)(page >> VM_PAGE_SHIFT) & (TABLE_ENTRIES - 1);
    atomic_store_explicit(&leaf->entry[index], entry, memory_order_release);
    const uint64_t flags = ~(PTE_FRAME | PTE_FRAGMENT);
    for (unsigned fragment = 1; fragment <= vm->demand_order[0]; fragment++) {
        unsigned count = 1U << fragment, first = index & ~(count - 1);
        uint64_t base = (entry & PTE_FRAME) - ((uint64_t)(index - first) << VM_PAGE_SHIFT);
        if (base & (((uint64_t)count << VM_PAGE_SHIFT) - 1))
            return;
        for (unsigned i = 0; i < count; i++) {
            uint64_t other = atomic_load_explicit(&leaf->entry[first + i], memory_order_relaxed);
            if ((other & flags) != (entry & flags) ||
                (other & PTE_FRAME) != base + ((uint64_t)i << VM_PAGE_SHIFT))
                return;
        }
        for (unsigned i = 0; i < count; i++)
            atomic_store_explicit(&leaf->entry[first + i],
                                  (entry & flags) | (base + ((uint64_t)i << VM_PAGE_SHIFT)) |
                                      (uint64_t)fragment << PTE_FRAGMENT_SHIFT,
                                  memory_order_release);
    }
}

/* ---- chunks ---- */

/* Frames for `pages`, in pieces; false: they do not suffice, and what was taken is in the table all the same.
 */
typedef bool piece_fn(struct vm *vm, struct memory_chunk *c, uint64_t page, uint64_t count,
                      uint64_t physical);

static bool note_piece(struct vm *vm, struct memory_chunk *c, uint64_t page, uint64_t count,
                       uint64_t physical)
{
    (void)vm;
    for (uint64_t i = 0; i < count; i++)
        c->frame[page + i] = (physical + (i << VM_PAGE_SHIFT)) | PTE_VALID;
    return true;
}

static bool map_piece(struct vm *vm, struct memory_chunk *c, uint64_t page, uint64_t count, uint64_t physical)
{
    uint64_t own = c->pages > page ? c->pages - page : 0, flags = flags_of(vm, c->kind, c->uncached);
    flags &= c->read_only ? ~PTE_WRITABLE : UINT64_MAX;
    own = own < count ? own : count;
    uint64_t address = c->node.base + (page << VM_PAGE_SHIFT), bytes = own << VM_PAGE_SHIFT;
    return (!own || table_map(&vm->gpu, address, own, physical, flags)) &&
           (own == count ||
            table_map(&vm->gpu, address + bytes, count - own, physical + bytes, flags | PTE_SPARE));
}

/* One by one: any of them may become a block's. */
static bool map_spare(struct vm *vm, const struct memory_chunk *c)
{
    bool done = true;
    for (uint64_t i = 0; i < HEAP_PAGES && done; i++)
        done = table_map(&vm->gpu, c->node.base + (i << VM_PAGE_SHIFT), 1, c->frame[i] & PTE_FRAME,
                         flags_of(vm, c->kind, c->uncached) | PTE_SPARE);
    return done;
}

/* As much as possible in one piece. */
static bool take_runs(struct vm *vm, struct memory_chunk *c, uint64_t pages, piece_fn *fn)
{
    const unsigned package = memory_package(vm->memory, c->agent),
                   domain = memory_domain(vm->memory, c->agent);
    for (uint64_t done = 0, count; done < pages; done += count) {
        uint64_t first = frames_take_run(&vm->frames[package], domain, pages - done, &count);
        if (first == UINT64_MAX ||
            !fn(vm, c, done, count, package_base(vm, package) + (first << VM_PAGE_SHIFT)))
            return false;
    }
    return true;
}

/* Here and there, in powers of two that are not larger than the whole. */
static unsigned chunk_order(const struct vm *vm, const struct memory_chunk *c)
{
    unsigned order = order_of(c->bytes);
    return order < vm->host_order ? order : vm->host_order;
}

static bool take_chunks(struct vm *vm, struct memory_chunk *c, uint64_t pages, piece_fn *fn)
{
    uint64_t address = c->node.base, end = address + (pages << VM_PAGE_SHIFT);
    const unsigned order = chunk_order(vm, c), package = memory_place(vm->memory, c->agent, c->kind),
                   domain = memory_domain(vm->memory, c->agent);
    while (address < end) {
        uint64_t window = address & ~((VM_PAGE << order) - 1), next = window + (VM_PAGE << order);
        uint64_t first = frames_take_chunk(&vm->frames[package], domain, order);
        next = next < end ? next : end;
        if (first == UINT64_MAX ||
            !fn(vm, c, (address - c->node.base) >> VM_PAGE_SHIFT, (next - address) >> VM_PAGE_SHIFT,
                package_base(vm, package) + (first << VM_PAGE_SHIFT) + (address - window)))
            return false;
        address = next;
    }
    return true;
}

struct unmapping {
    struct vm *vm;
    unsigned order;
    uint64_t window; /* given back last */
};

static void run_gone(void *context, uint64_t address, uint64_t pages, uint64_t entry)
{
    struct unmapping *u = context;
    (void)address;
    give_back(u->vm, entry & PTE_FRAME, pages);
}

static void chunk_gone(void *context, uint64_t address, uint64_t pages, uint64_t entry)
{
    struct unmapping *u = context;
    uint64_t window = address & ~((VM_PAGE << u->order) - 1);
    (void)pages;
    if (window == u->window)
        return;
    u->window = window;
    give_back(u->vm, (entry & PTE_FRAME) - (address - window), UINT64_C(1) << u->order);
}

static void give_frames(struct vm *vm, struct memory_chunk *c)
{
    struct unmapping u = {.vm = vm, .order = chunk_order(vm, c), .window = UINT64_MAX};
    table_gone_fn *gone = memory_is_device(c->kind) ? run_gone : chunk_gone;
    uint64_t pages = c->bytes >> VM_PAGE_SHIFT;
    table_unmap(&vm->gpu, c->node.base, pages, c->frame ? NULL : gone, &u);
    for (uint64_t i = 0; c->frame && i < pages; i++)
        if (c->frame[i])
            gone(&u, c->node.base + (i << VM_PAGE_SHIFT), 1, c->frame[i]);
    free(c->frame);
    c->frame = NULL;
}

/* A chunk that is cut has its frames from the beginning on, and its allocations share them. */
static bool reserved(void *context, struct memory_chunk *c)
{
    struct vm *vm = context;
    if (c->on_demand)
        return true;
    pthread_mutex_lock(&vm->lock);
    if (c->cut)
        c->frame = calloc(HEAP_PAGES, sizeof(*c->frame));
    bool done = c->frame || !c->cut;
    if (done) {
        piece_fn *fn = c->cut ? note_piece : map_piece;
        uint64_t pages = c->bytes >> VM_PAGE_SHIFT;
        done = memory_is_device(c->kind) ? take_runs(vm, c, pages, fn) : take_chunks(vm, c, pages, fn);
        if (done && c->cut && vm->memory->bounds != EHP_BOUNDS_FAULT)
            done = map_spare(vm, c);
    }
    pthread_mutex_unlock(&vm->lock);
    return done;
}

static void released(void *context, struct memory_chunk *c)
{
    struct vm *vm = context;
    if (c->on_demand)
        return;
    pthread_mutex_lock(&vm->lock);
    give_frames(vm, c);
    atomic_fetch_add_explicit(&vm->generation, 1, memory_order_release);
    pthread_mutex_unlock(&vm->lock);
}

/* ---- blocks ---- */

static void unmap_block(struct vm *vm, const struct memory_block *b, uint64_t pages)
{
    table_unmap(&vm->gpu, first_page(b), pages, NULL, NULL);
    for (uint64_t i = 0; b->on_demand && i < pages; i++)
        vm_demand_drop(vm, first_page(b) + (i << VM_PAGE_SHIFT));
    atomic_fetch_add_explicit(&vm->generation, 1, memory_order_release);
}

/* Pages of a chunk, as contiguous as its frames are. */
static bool map_cut(struct vm *vm, const struct memory_block *b, const struct memory_chunk *c)
{
    uint64_t page = (first_page(b) - c->node.base) >> VM_PAGE_SHIFT, end = page + page_count(b), next;
    for (; page < end; page = next) {
        for (next = page + 1; next < end && c->frame[next] == c->frame[next - 1] + VM_PAGE;)
            next++;
        if (!table_map(&vm->gpu, c->node.base + (page << VM_PAGE_SHIFT), next - page,
                       c->frame[page] & PTE_FRAME, flags_of(vm, b->kind, b->uncached)))
            return false;
    }
    return true;
}

/* Pinned where they are; pages that were never touched come now.  What the process may not write, the GPU may
 * not either. */
static uint64_t registered_frame(struct vm *vm, const struct memory_block *b, uint64_t page,
                                 struct host_pages *pages)
{
    struct numa_asker device = {.package = memory_package(vm->memory, b->agent)};
    return b->mapped ? vm_demand_frame(vm, &device, page, false)
                     : vm_demand_frame(vm, &vm->memory->numa.program, page, host_present(pages, page));
}

static bool map_registered(struct vm *vm, const struct memory_block *b)
{
    struct host_pages pages;
    if (!host_open(&pages))
        return false;
    host_look(&pages);
    uint64_t done = 0;
    for (uint64_t i = 0; i < page_count(b); i++) {
        uint64_t page = first_page(b) + (i << VM_PAGE_SHIFT), frame = registered_frame(vm, b, page, &pages);
        if (!frame) {
            unmap_block(vm, b, i);
            break;
        }
        const struct mapping *m = host_find(&pages, page);
        uint64_t flags =
            flags_of(vm, b->kind, b->uncached) & (m && !m->writable ? ~PTE_WRITABLE : UINT64_MAX);
        vm_demand_map(vm, page, flags | frame | PTE_VALID);
        done++;
    }
    host_close(&pages);
    atomic_fetch_add_explicit(&vm->generation, 1, memory_order_release);
    return done == page_count(b);
}

static bool mapped(void *context, const struct memory_block *b, const struct memory_chunk *c)
{
    struct vm *vm = context;
    pthread_mutex_lock(&vm->lock);
    bool done = !c || !c->cut || b->on_demand || map_cut(vm, b, c);
    if (!c)
        done = map_registered(vm, b);
    if (c && c->cut && atomic_exchange(&vm->spare_walked, false))
        atomic_fetch_add_explicit(&vm->generation, 1, memory_order_release);
    pthread_mutex_unlock(&vm->lock);
    return done;
}

/* What has a chunk for itself goes with it. */
static void unmapped(void *context, const struct memory_block *b, const struct memory_chunk *c)
{
    struct vm *vm = context;
    if (c && !c->cut && !c->on_demand)
        return;
    pthread_mutex_lock(&vm->lock);
    unmap_block(vm, b, page_count(b));
    pthread_mutex_unlock(&vm->lock);
}

/* ---- where pages lie, for those who ask ---- */

/* Memory that is registered may have pages that nobody has touched. */
static bool is_touched(uint64_t page)
{
    unsigned char resident = 1;
    return mincore((void *)(uintptr_t)page, VM_PAGE, &resident) != 0 || resident & 1;
}

static bool page_find(void *context, uint64_t page, struct numa_asker *asker, unsigned *package)
{
    struct vm *vm = context;
    pthread_mutex_lock(&vm->lock);
    uint64_t entry = table_get(&vm->gpu, page);
    if (!(entry & PTE_PINNED))
        entry = table_get(&vm->system, page);
    if (!entry && asker)
        entry = vm_demand_frame(vm, asker, page, is_touched(page));
    if (entry)
        *package = package_of(vm, entry);
    pthread_mutex_unlock(&vm->lock);
    return entry != 0;
}

/* Entries that caches have of the old frame's lines are nobody's. */
static bool page_move(void *context, uint64_t page, unsigned package, bool mapped)
{
    struct vm *vm = context;
    pthread_mutex_lock(&vm->lock);
    const uint64_t gpu = table_get(&vm->gpu, page), have = table_get(&vm->system, page);
    bool moved = have && !(gpu & PTE_PINNED) && (!gpu || mapped);
    if (moved && package_of(vm, have) != package) {
        const bool cpu_first = (have & PTE_CPU_FIRST) != 0;
        vm_demand_drop(vm, page);
        moved = frame_in(vm, package, page, cpu_first) != 0;
        if (!moved)
            frame_in(vm, package_of(vm, have), page, cpu_first);
        if (have & PTE_CPU)
            vm_core_see(vm, page);
        atomic_fetch_add_explicit(&vm->generation, 1, memory_order_release);
    }
    pthread_mutex_unlock(&vm->lock);
    return moved;
}

static void page_gone(void *context, uint64_t page)
{
    vm_unmapped(context, page, VM_PAGE);
}

/* ---- the interface ---- */

unsigned vm_package_shift(const struct chip *chip)
{
    const uint64_t bytes = (uint64_t)(chip->value[CHIP_hbm_stacks] * chip->value[CHIP_hbm_stack_size]);
    unsigned shift = 0;
    while (UINT64_C(1) << shift < bytes)
        shift++;
    return shift;
}

struct vm *vm_open(const struct chip *chip, struct memory *memory)
{
    struct vm *vm = calloc(1, sizeof(*vm));
    if (!vm)
        return NULL;
    pthread_mutex_init(&vm->lock, NULL);
    vm->memory = memory;
    vm->package_shift = vm_package_shift(chip);
    vm->host_order = order_of((uint64_t)chip->value[CHIP_vm_host_fragment]);
    vm->demand_order[0] = order_of((uint64_t)chip->value[CHIP_vm_malloc_fragment]);
    vm->demand_order[1] = order_of((uint64_t)chip->value[CHIP_vm_touch_fragment]);
    vm->bias = chip->value[CHIP_vm_touch_bias] / 100;
    vm->touch_stacks = chip_get(chip, CHIP_vm_touch_stacks);
    vm->line_pages = chip_get(chip, CHIP_utcl2_line) / (unsigned)sizeof(uint64_t);
    vm->interval_ps = (uint64_t)(chip->value[CHIP_fault_interval] * 1e6);
    vm->batch_ps = (uint64_t)(chip->value[CHIP_fault_batch] * 1e6);
    vm->minor_ps = (uint64_t)(chip->value[CHIP_fault_minor] * 1e6);
    vm->major_ps = (uint64_t)(chip->value[CHIP_fault_major] * 1e6);
    vm->major_batch_ps = (uint64_t)(chip->value[CHIP_fault_major_batch] * 1e6);
    vm->core_fault_ps = (uint64_t)(chip->value[CHIP_core_fault] * 1e6);
    vm->core_page_ps = (uint64_t)(chip->value[CHIP_core_fault_page] * 1e6);
    vm->core_serial_ps = (uint64_t)(chip->value[CHIP_core_fault_serial] * 1e6);
    vm->pending_end = &vm->pending;
    host_small_pages();
    unsigned most = order_of((uint64_t)chip->value[CHIP_vm_device_fragment]);
    /* Eight bytes for each frame, and as much again at most for large pages' entries: behind all frames. */
    const uint64_t section = (uint64_t)SECTION << VM_PAGE_SHIFT;
    vm->tables = memory->size - (memory->size / 256 + section - 1) / section * section;
    vm->commit_of = calloc(COMMIT_SLOTS, sizeof(*vm->commit_of));
    bool room =
        vm->commit_of && table_open(&vm->gpu, most) && table_open(&vm->system, 0) && host_open(&vm->pages);
    for (unsigned i = 0; i < memory->packages; i++)
        room = room && frames_open(&vm->frames[i], vm->tables, memory->size / memory->domains);
    if (memory->host_size)
        room = room && frames_open(&vm->frames[memory->packages], memory->host_size, memory->host_size);
    if (!room) {
        vm_close(vm);
        return NULL;
    }
    memory->hooks = (struct memory_hooks){
        .context = vm, .reserved = reserved, .released = released, .mapped = mapped, .unmapped = unmapped};
    memory->numa.hooks =
        (struct numa_hooks){.context = vm, .find = page_find, .move = page_move, .gone = page_gone};
    return vm;
}

void vm_close(struct vm *vm)
{
    if (!vm)
        return;
    vm->memory->hooks = (struct memory_hooks){0};
    vm->memory->numa.hooks = (struct numa_hooks){0};
    table_close(&vm->gpu);
    table_close(&vm->system);
    for (unsigned i = 0; i < HEAP_PLACES; i++)
        frames_close(&vm->frames[i]);
    host_close(&vm->pages);
    free(vm->commits);
    free(vm->core_pages);
    free(vm->commit_of);
    pthread_mutex_destroy(&vm->lock);
    free(vm);
}

/* A small fragment's line has other entries; the first one that is there stands for all. */
static void find_line(struct vm *vm, unsigned package, uint64_t address, struct vm_entry *out)
{
    uint64_t bytes = vm->line_pages * VM_PAGE, physical = out->physical;
    struct table_node *leaf = out->bytes < bytes ? table_leaf(&vm->gpu, address, false) : NULL;
    unsigned first = (unsigned)(address >> VM_PAGE_SHIFT) & (TABLE_ENTRIES - 1) & ~(vm->line_pages - 1);
    for (unsigned i = vm->line_pages; leaf && i > 0; i--) {
        uint64_t entry = atomic_load_explicit(&leaf->entry[first + i - 1], memory_order_acquire);
        physical = entry ? entry & PTE_FRAME : physical;
    }
    out->line = leaf ? address & ~(bytes - 1) : out->base;
    out->line_bytes = leaf ? bytes : out->bytes;
    out->line_key = physical / out->line_bytes;
    /* Entries of frames that are side by side are; those of large pages lie behind.  Each package's GPU has
     * its own. */
    const uint64_t entry_bytes = 8, line_bytes = entry_bytes * vm->line_pages,
                   key = (physical & (package_base(vm, 1) - 1)) / out->line_bytes;
    out->table = package_base(vm, package) + vm->tables +
                 (leaf ? key * line_bytes : vm->memory->size / VM_PAGE * entry_bytes + key * entry_bytes);
}

bool vm_walk(struct vm *vm, unsigned package, uint64_t address, struct vm_entry *out)
{
    uint64_t entry = table_get(&vm->gpu, address);
    const bool spare = entry & PTE_SPARE;
    if (!entry || (spare && vm->memory->bounds == EHP_BOUNDS_FAULT)) {
        *out = (struct vm_entry){.table = package_base(vm, package) + vm->tables};
        return false;
    }
    if (spare)
        atomic_store_explicit(&vm->spare_walked, true, memory_order_relaxed);
    uint64_t bytes = VM_PAGE << pte_fragment(entry);
    uint64_t span = entry & PTE_LARGE ? VM_PAGE << TABLE_BITS : VM_PAGE;
    uint64_t physical = (entry & PTE_FRAME) + (address & (span - 1) & ~(VM_PAGE - 1));
    *out = (struct vm_entry){
        .base = address & ~(bytes - 1),
        .bytes = bytes,
        .physical = physical & ~(bytes - 1),
        .mtype = (uint8_t)(entry >> PTE_MTYPE_SHIFT & 3),
        .writable = (entry & PTE_WRITABLE) != 0,
        .spare = spare,
    };
    if (package_of(vm, physical) != package && out->mtype != VM_MTYPE_UC)
        out->mtype = VM_MTYPE_NC;
    find_line(vm, package, address, out);
    return true;
}

bool vm_find(struct vm *vm, unsigned package, uint64_t address, struct vm_entry *out)
{
    struct memory_block block;
    bool inside;
    if (vm_walk(vm, package, address, out))
        return true;
    if (!vm->memory->xnack)
        return false;
    if (address - vm->memory->arena < vm->memory->arena_bytes &&
        !(memory_find(vm->memory, address, &block, &inside) && inside && block.on_demand))
        return false;
    uint64_t page = address & ~(VM_PAGE - 1);
    pthread_mutex_lock(&vm->lock);
    uint64_t frame = vm_demand_frame(vm, &vm->memory->numa.program, page, true);
    pthread_mutex_unlock(&vm->lock);
    *out = (struct vm_entry){.base = page, .bytes = VM_PAGE, .physical = frame, .writable = true};
    return frame != 0;
}

bool vm_take(struct vm *vm, unsigned package, uint64_t *physical, uint64_t *bytes)
{
    pthread_mutex_lock(&vm->lock);
    *physical = take_demand_chunk(vm, vm->memory->host_size ? vm->memory->packages : package, true);
    pthread_mutex_unlock(&vm->lock);
    *bytes = VM_PAGE << vm->demand_order[1];
    return *physical != UINT64_MAX;
}

uint64_t vm_generation(const struct vm *vm)
{
    return atomic_load_explicit(&vm->generation, memory_order_acquire);
}

const _Atomic uint64_t *vm_generation_word(const struct vm *vm)
{
    return &vm->generation;
}

void vm_get_use(struct vm *vm, struct vm_use *use)
{
    pthread_mutex_lock(&vm->lock);
    *use = vm->use;
    pthread_mutex_unlock(&vm->lock);
}

uint64_t vm_touch(struct vm *vm, unsigned package, uint64_t address, uint64_t bytes)
{
    uint64_t faults = 0, end = address + bytes;
    struct numa_asker asker = {.package = package};
    bool dropped = false;
    struct host_pages pages;
    pthread_mutex_lock(&vm->lock);
    if (host_open(&pages)) {
        for (uint64_t at = address & ~(VM_PAGE - 1); at < end; at += VM_PAGE) {
            if (table_get(&vm->gpu, at) & PTE_PINNED)
                continue;
            if (!host_present(&pages, at)) {
                dropped |= table_get(&vm->system, at) != 0; /* of what was unmapped there */
                vm_demand_drop(vm, at);
                host_populate(&pages, at);
                faults++;
            }
            vm_demand_frame(vm, &asker, at, true);
            vm_core_see(vm, at);
        }
        host_close(&pages);
    }
    vm->use.cpu_faults += faults;
    if (dropped)
        atomic_fetch_add_explicit(&vm->generation, 1, memory_order_release);
    pthread_mutex_unlock(&vm->lock);
    return faults;
}

void vm_unmapped(struct vm *vm, uint64_t address, uint64_t bytes)
{
    bool dropped = false;
    pthread_mutex_lock(&vm->lock);
    for (uint64_t at = (address + VM_PAGE - 1) & ~(VM_PAGE - 1); at + VM_PAGE <= address + bytes;
         at += VM_PAGE) {
        if (table_get(&vm->gpu, at) & PTE_PINNED || !table_get(&vm->system, at))
            continue;
        vm_demand_drop(vm, at);
        dropped = true;
    }
    if (dropped)
        atomic_fetch_add_explicit(&vm->generation, 1, memory_order_release);
    pthread_mutex_unlock(&vm->lock);
}

void vm_moved(struct vm *vm, uint64_t from, uint64_t to, uint64_t bytes)
{
    pthread_mutex_lock(&vm->lock);
    for (uint64_t at = 0; at < bytes; at += VM_PAGE) {
        const uint64_t entry = table_get(&vm->system, from + at);
        if (!entry || table_get(&vm->gpu, from + at) & PTE_PINNED)
            continue;
        vm_demand_drop(vm, from + at);
        if (frame_in(vm, package_of(vm, entry), to + at, entry & PTE_CPU_FIRST) && entry & PTE_CPU)
            vm_core_see(vm, to + at);
    }
    atomic_fetch_add_explicit(&vm->generation, 1, memory_order_release);
    pthread_mutex_unlock(&vm->lock);
}
