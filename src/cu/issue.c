/* SPDX-License-Identifier: MIT */
/*
 * A SIMD's turn: which of its waves issue what.
 *
 * A SIMD has every fourth cycle.  Waves are looked at in turn, those of higher
 * priority first; each unit takes one instruction a turn.  A wave issues at
 * most one instruction a turn, so a result of 4 cycles is there when its next
 * one issues; what takes longer is waited for.
 */
#include <limits.h>
#include <string.h>

#include "cu/cu.h"
#include "exec/code.h"
#include "isa/isa.h"
#include "wave/fuse.h"
#include "wave/special.h"

#define LINE_OF(pc) ((pc) & ~UINT64_C(63))
#define HALF_OF(pc) ((pc) & ~UINT64_C(31))

/* ---- when to look ---- */

static void look(struct port_domain *domain, struct port_event *event);

/* At its first turn from `cycle` on, which is not over. */
static void look_at(struct cu_simd *simd, uint64_t cycle)
{
    if (cycle >= simd->posted)
        return;
    cycle += (simd->index - cycle) % CU_TURN;
    if (cycle >= simd->posted)
        return;
    simd->posted = cycle; /* a later look, posted already, finds that it is not meant */
    port_post(simd->xcd->domain, cycle, look, simd);
}

static void set_ready(struct cu_wave *cw, uint64_t cycle)
{
    struct cu_simd *simd = cw->simd;
    simd->ready[cw->slot] = cycle;
    simd->may |= 1U << cw->slot;
    look_at(simd, cycle);
}

void cu_ready(struct cu_wave *cw, uint64_t cycle)
{
    set_ready(cw, cycle);
}

/* Counts a wave's cycles until this one for what it issued last, and then for what holds it up since. */
static void charge(struct cu_wave *cw, uint64_t cycle)
{
    uint64_t *stall = cw->simd->xcd->counters.stall;
    if (cw->charged >= cycle)
        return;
    const uint64_t cycles = cycle - cw->charged, issuing = cw->issuing < cycles ? cw->issuing : cycles;
    stall[STALL_ISSUE] += issuing;
    stall[cw->stall] += cycles - issuing;
    cw->issuing = (uint8_t)(cw->issuing - issuing);
    cw->charged = cycle;
}

/* It issues nothing from `cycle` on, for this reason. */
static void stalled(struct cu_wave *cw, enum cu_stall why, uint64_t cycle)
{
    charge(cw, cycle);
    cw->stall = (uint8_t)why;
}

/* ---- dependencies on matrix results ---- */

static bool overlaps(int first, unsigned rows, int16_t a, int16_t b)
{
    return rows && first <= b && first + (int)rows - 1 >= a;
}

/* The cycle from which no register that the instruction reads or writes is still to come from the matrix
 * core. */
static uint64_t matrix_dependency(const struct cu_wave *cw, const struct xinst *in)
{
    uint64_t until = 0;
    for (int i = 0; i < CU_MATRIX_RESULTS; i++) {
        if (cw->matrix[i].cycle <= until)
            continue;
        int16_t a = cw->matrix[i].first, b = cw->matrix[i].last;
        bool hit = overlaps(in->d, in->drows, a, b);
        for (int s = 0; s < 3 && !hit; s++)
            hit = overlaps(in->s[s], in->rows[s] ? in->rows[s] : 1, a, b);
        if (hit)
            until = cw->matrix[i].cycle;
    }
    return until;
}

/* An accumulation onto the same registers follows at once: the core forwards its sum. */
static bool accumulates(const struct cu_wave *cw, const struct xinst *in, const struct cu_rate *rate)
{
    if (rate->unit != UNIT_MATRIX)
        return false;
    const unsigned last = (cw->matrix_next + CU_MATRIX_RESULTS - 1) % CU_MATRIX_RESULTS;
    return in->s[2] == cw->matrix[last].first && in->d == cw->matrix[last].first;
}

static void note_matrix(struct cu_wave *cw, const struct xinst *in, uint64_t cycle)
{
    unsigned i = cw->matrix_next;
    cw->matrix_next = (i + 1) % CU_MATRIX_RESULTS;
    cw->matrix[i].first = in->d;
    cw->matrix[i].last = (int16_t)(in->d + in->drows - 1);
    cw->matrix[i].cycle = cycle;
    cw->matrix_until = cycle > cw->matrix_until ? cycle : cw->matrix_until;
    cw->simd->matrix_until = cycle > cw->simd->matrix_until ? cycle : cw->simd->matrix_until;
}

/* ---- what the instruction buffer handles ---- */

static bool counts_hold(const struct cu_wave *cw)
{
    return cw->vm <= cw->want_vm && cw->lgkm <= cw->want_lgkm;
}

static void set_wanted(struct cu_wave *cw, uint16_t simm)
{
    const struct isa_target *target = cw->simd->xcd->target;
    const struct isa_waitcnt wanted = isa_waitcnt_of(target, simm);
    cw->want_vm = wanted.vm == isa_number_most(target->waitcnt.vm) ? UINT8_MAX : (uint8_t)wanted.vm;
    cw->want_lgkm = wanted.lgkm == isa_number_most(target->waitcnt.lgkm) ? UINT8_MAX : (uint8_t)wanted.lgkm;
}

void cu_returned(struct cu_wave *cw, enum cu_stall why)
{
    if (cw->ending) {
        if (cw->vm == 0 && cw->lgkm == 0 && !cw->fetching) {
            cw->stall = (uint8_t)why;
            charge(cw, port_now(cw->simd->xcd->domain));
            cu_wave_end(cw);
        }
        return;
    }
    if (cw->waits && counts_hold(cw)) {
        cw->waits = false;
        cw->stall = (uint8_t)why;
        cu_ready(cw, port_now(cw->simd->xcd->domain) + 1);
    }
}

static void end_program(struct cu_wave *cw)
{
    cw->ending = true;
    cu_not_ready(cw);
    xcd_mem_wave_ends(cw->simd->xcd->mem, cw->simd->cu->index, cu_wave_number(cw));
    cu_returned(cw, STALL_ISSUE);
}

static bool barrier_complete(const struct workgroup *wg)
{
    for (unsigned i = 0; i < wg->waves; i++)
        if (wg->wave[i].state != WAVE_BARRIER && wg->wave[i].state != WAVE_DONE)
            return false;
    return true;
}

static void release_barrier(struct workgroup *wg, uint64_t cycle)
{
    for (unsigned i = 0; i < wg->waves; i++)
        if (wg->wave[i].state == WAVE_BARRIER) {
            wg->wave[i].state = WAVE_RUNNING;
            cu_ready(wg->wave[i].slot, cycle);
        }
}

/* A handler has stopped the wave: a barrier, the end, a sleep, a wait of global wave sync. */
static void stopped(struct cu_wave *cw, const struct xinst *in, uint64_t cycle)
{
    struct wave *w = cw->w;
    struct workgroup *wg = w->wg;
    const struct cu_timing *t = &cw->simd->xcd->timing;
    switch (w->state) {
    case WAVE_DONE:
        end_program(cw);
        if (wg->waves > 1 && barrier_complete(wg))
            release_barrier(wg, cycle + t->barrier);
        break;
    case WAVE_BARRIER:
        stalled(cw, STALL_BARRIER, cycle);
        cu_not_ready(cw);
        if (barrier_complete(wg))
            release_barrier(wg, cycle + t->barrier);
        break;
    default: { /* s_sleep counts 64 cycles each; whoever waits for a wave elsewhere looks again as often */
        unsigned naps = in->isa->op == ISA_OP_s_sleep ? (unsigned)(in->control.simm & 127) : 1;
        w->state = WAVE_RUNNING;
        w->slept = false;
        stalled(cw, STALL_SLEEP, cycle);
        cu_ready(cw, cycle + CU_TURN + 64 * naps);
        break;
    }
    }
}

/* ---- execution ---- */

/* The handler has left by wave_fault(). */
static void faulted(struct cu_wave *cw, struct cu_thread *thread)
{
    struct cu_xcd *xcd = cw->simd->xcd;
    struct wave *w = cw->w;
    thread->guard.armed = false;
    thread->guard.in = NULL;
    w->state = WAVE_FAULT;
    cw->in = w->next;
    cu_not_ready(cw);
    xcd->events.fault(xcd->events.context, w->wg, &thread->guard);
}

static struct cu_thread *begin_guard(struct cu_wave *cw)
{
    struct cu_thread *thread = port_thread(cw->simd->xcd->domain);
    thread->guard.wave = cw->w;
    thread->guard.armed = true;
    cw->w->guard = &thread->guard;
    cw->w->budget = INT_MAX;
    return thread;
}

static void count_lanes(struct cu_counters *c, const struct wave *w, const struct xinst *in,
                        const struct cu_rate *rate)
{
    unsigned lanes = w->exec == UINT64_MAX ? WAVE_LANES : (unsigned)__builtin_popcountll(w->exec);
    c->valu_lane_cycles += (uint64_t)lanes * rate->cycles;
    if (in->cls == XC_VALU)
        c->did.lanes_valu += lanes;
}

/* Fewer are not worth looking for what is compiled of them. */
enum { LEAST_COMPILED = 6 };

/* What is compiled of the function of so many instructions that are executed now; NULL: it is not to be
 * entered. */
static const struct exec_compiled *runs_of(const struct wave *w, const struct xinst *in, unsigned count)
{
    struct workgroup *wg = w->wg;
    const struct wave_guard *guard = w->guard;
    if (!guard->code->compiler || count < LEAST_COMPILED || w->mode_slow ||
        w->mode & (MODE_SPECIAL | MODE_FP16_OVFL))
        return NULL;
    if (!wg->compiled || in < wg->block->x || in > wg->block->x + wg->block->count)
        wg->compiled = exec_code_compiled(guard->code, guard->cache, in, EXEC_RUNS, count, &wg->block);
    return wg->compiled;
}

/* Executes those that begin here by what is compiled of them; how many, 0: there is nothing. */
static unsigned run_compiled(struct cu_wave *cw, const struct exec_compiled *compiled, const struct xinst *in,
                             const struct xinst *end)
{
    struct wave *w = cw->w;
    struct cu_counters *c = &cw->simd->xcd->counters;
    const size_t at = (size_t)(in - w->wg->block->x);
    const struct exec_run *run = &compiled->runs[at];
    if (!run->length || run->length > end - in)
        return 0;
    const unsigned lanes = w->exec == UINT64_MAX ? WAVE_LANES : (unsigned)__builtin_popcountll(w->exec);
    c->valu_lane_cycles += (uint64_t)lanes * CU_TURN * run->passes;
    c->did.lanes_valu += (uint64_t)lanes * run->valu;
    compiled->fn(w, w->wg->block->x, compiled->heads[at], 1);
    return run->length;
}

static void run_deferred(struct cu_wave *cw)
{
    struct cu_xcd *xcd = cw->simd->xcd;
    struct wave *w = cw->w;
    const struct xinst *end = cw->in;
    const bool special = w->mode & MODE_SPECIAL; /* what changes that is not put off */
    if (w->next == end)
        return;
    const struct exec_compiled *compiled = runs_of(w, w->next, (unsigned)(end - w->next));
    for (const struct xinst *in = w->next; in != end;) {
        const unsigned done = compiled ? run_compiled(cw, compiled, in, end) : 0;
        in += done;
        if (done)
            continue;
        const struct cu_rate *rate = &xcd->rates[in->op];
        if (rate->unit == UNIT_VALU)
            count_lanes(&xcd->counters, w, in, rate);
        w->next = in; /* should it fault */
        if (special)
            exec_special_step(w, in);
        else
            in->fn(w, in); /* a sum may be put off until its access: see fuse.h */
        in++;
    }
    w->next = end;
}

bool cu_settle(struct cu_wave *cw)
{
    if (cw->w->next == cw->in)
        return true;
    struct cu_thread *thread = begin_guard(cw);
    if (sigsetjmp(thread->guard.env, 0) != 0) {
        faulted(cw, thread);
        return false;
    }
    run_deferred(cw);
    thread->guard.armed = false;
    return true;
}

/* Executes it after everything before it; false when that was a fault.  *next: NULL when it stopped the wave.
 */
static bool act(struct cu_wave *cw, const struct xinst *in, const struct xinst **next)
{
    struct cu_thread *thread = begin_guard(cw);
    if (sigsetjmp(thread->guard.env, 0) != 0) {
        faulted(cw, thread);
        return false;
    }
    run_deferred(cw);
    *next = (cw->w->mode & MODE_SPECIAL ? exec_special_step : fuse_single(in))(cw->w, in);
    thread->guard.armed = false;
    return true;
}

/* It waits for counts that outstanding memory instructions hold up. */
static void wait_for_counts(struct cu_wave *cw)
{
    cw->waits = true; /* for what: cu_returned() */
    xcd_mem_wave_waits(cw->simd->xcd->mem, cw->simd->cu->index, cu_wave_number(cw));
    cu_not_ready(cw);
}

/* Sends an access to memory; false when it faults, or is to come again after what it has asked for. */
static bool send(struct cu_wave *cw, const struct xinst *in, uint64_t cycle)
{
    struct cu_thread *thread = begin_guard(cw);
    if (sigsetjmp(thread->guard.env, 0) != 0) {
        faulted(cw, thread);
        return false;
    }
    run_deferred(cw);
    if (cw->w->mode & MODE_VSKIP && in->isa->format != ISA_SMEM)
        cw->w->next = in + 1;
    else
        cu_access(cw, in, cycle);
    cw->in = cw->w->next;
    thread->guard.armed = false;
    if (cw->in != in)
        return true;
    stalled(cw, STALL_DEPENDENCY, cycle);
    cw->want_vm = 0;
    cw->want_lgkm = UINT8_MAX;
    wait_for_counts(cw);
    return false;
}

/* ---- one instruction ---- */

/* Executes it now or later; the wave's next issue is not before `ready`. */
static void execute(struct cu_wave *cw, const struct xinst *in, uint64_t cycle, uint64_t ready)
{
    if (cw->simd->xcd->rates[in->op].later) {
        cw->in = in + 1;
        set_ready(cw, ready);
        return;
    }
    const struct xinst *next = NULL;
    if (!act(cw, in, &next))
        return;
    if (next)
        cw->w->next = next;
    cw->in = cw->w->next;
    if (next)
        cu_ready(cw, ready);
    else
        stopped(cw, in, cycle);
}

static void issue_buffered(struct cu_wave *cw, const struct xinst *in, uint64_t cycle)
{
    uint64_t ready = cycle + CU_TURN;
    switch (in->op) {
    case ISA_OP_s_waitcnt:
        set_wanted(cw, (uint16_t)in->control.simm);
        if (cw->w->next == in) /* else it is put off with those before it, and does nothing then */
            cw->w->next = in + 1;
        cw->in = in + 1;
        if (!counts_hold(cw)) {
            wait_for_counts(cw);
            return;
        }
        set_ready(cw, ready);
        return;
    case ISA_OP_s_nop: /* as many cycles of the wave as it says, and one */
        ready = cycle + CU_TURN * (1 + (in->control.simm & 15));
        break;
    case ISA_OP_s_setprio:
        cw->priority = in->control.simm & 3;
        if (cw->priority > cw->simd->highest)
            cw->simd->highest = cw->priority;
        break;
    default:
        break;
    }
    execute(cw, in, cycle, ready);
}

static void issue_lds(struct cu_wave *cw, const struct xinst *in, uint64_t cycle);

/* What a SIMD knows in its turn. */
struct turn {
    uint64_t cycle;
    unsigned taken; /* units */
    bool asked, vector_ready;
};

/* Whether the CU's vector memory can take something.  In one turn it can become full, but not free. */
static bool vector_ready(struct turn *turn, const struct cu *cu)
{
    if (!turn->asked || turn->vector_ready) {
        turn->asked = true;
        turn->vector_ready = xcd_mem_vector_ready(cu->xcd->mem, cu->index);
    }
    return turn->vector_ready;
}

/* Whether there is room for its access; else it is stalled. */
static bool can_access(struct cu_wave *cw, unsigned unit, struct turn *turn)
{
    struct cu_simd *simd = cw->simd;
    const struct cu_timing *t = &simd->xcd->timing;
    bool room;
    if (unit == UNIT_SMEM) {
        room = cw->lgkm < t->lgkm_limit;
    } else {
        bool ready = vector_ready(turn, simd->cu);
        if (!ready)
            simd->queued |= 1U << cw->slot;
        room = ready && cw->vm < t->vm_limit;
    }
    if (!room) {
        stalled(cw, STALL_QUEUE, turn->cycle);
        set_ready(cw, turn->cycle + CU_TURN);
    }
    return room;
}

/* Not of a wave whose buffer still waits for what branches have left behind. */
static void fetch_ahead(struct cu_wave *cw, uint64_t line)
{
    enum { MOST = 4 }; /* a guess */
    if (cw->fetching >= MOST)
        return;
    cw->next_line = line;
    cw->next_here = false;
    cu_fetch(cw, line);
}

/* It goes on in a line that has come. */
static void enter_line(struct cu_wave *cw, uint64_t half)
{
    struct cu_xcd *xcd = cw->simd->xcd;
    const uint64_t behind = LINE_OF(half) + 64;
    cw->half = half;
    xcd->counters.fetches++;
    if (cw->next_line == behind)
        return;
    cw->next_line = UINT64_MAX;
    if (xcd_mem_fetch_ready(xcd->mem, cw->simd->cu->index))
        fetch_ahead(cw, behind);
}

void cu_fetched(struct cu_wave *cw, uint64_t cycle)
{
    cw->starved = false;
    enter_line(cw, HALF_OF(cw->in->pc));
    cu_ready(cw, cycle);
}

/* Whether the half of a program line with its instruction is there; else it is stalled, and the line asked
 * for, with the next one behind it if that is the other half's. */
static bool has_half(struct cu_wave *cw, uint64_t half, uint64_t cycle)
{
    struct xcd_mem *mem = cw->simd->xcd->mem;
    uint64_t line = LINE_OF(half);
    struct cu_counters *c = &cw->simd->xcd->counters;
    if (line == LINE_OF(cw->half)) {
        cw->half = half;
        uint64_t comes = xcd_mem_fetch_half(mem, cw->simd->cu->index);
        c->fetches++;
        c->level[CU_LEVEL_FETCH] += comes - cycle + cw->simd->xcd->timing.fetch;
        if (comes <= cycle + CU_TURN) /* asked for a turn ago */
            return true;
        stalled(cw, STALL_FETCH, cycle);
        set_ready(cw, comes);
        return false;
    }
    if (line == cw->next_line && cw->next_here) {
        enter_line(cw, half);
        return true;
    }
    stalled(cw, STALL_FETCH, cycle);
    cu_not_ready(cw);
    cw->starved = true;
    if (line != cw->next_line) { /* else it is on its way */
        cw->next_line = UINT64_MAX;
        cu_fetch(cw, line);
        if (half != line)
            fetch_ahead(cw, line + 64);
    }
    return false;
}

/* A taken branch empties the buffer: what it goes to is fetched, wherever it is. */
static void leave_code(struct cu_wave *cw)
{
    cw->half = cw->next_line = UINT64_MAX;
}

/* Whether it has to wait for a unit that is busy until `free`. */
static bool busy(struct cu_wave *cw, uint64_t free, uint64_t cycle)
{
    if (free <= cycle)
        return false;
    stalled(cw, STALL_UNIT, cycle);
    set_ready(cw, free);
    return true;
}

static void issued(struct cu_wave *cw, const struct xinst *in, const struct cu_rate *rate, struct turn *turn)
{
    struct cu_counters *c = &cw->simd->xcd->counters;
    charge(cw, turn->cycle);
    cw->issuing = CU_TURN;
    cw->stall = STALL_DEPENDENCY;
    c->instructions++;
    c->count[rate->unit]++;
    c->math[rate->math]++;
    c->did.count[in->cls]++;
    turn->taken |= 1U << rate->unit & ~(1U << UNIT_NONE);
}

/* Whether an instruction waits for the VALU alone: it is in the half of a line that the wave has. */
static bool wants_valu(const struct cu_xcd *xcd, const struct xinst *in, uint64_t half)
{
    return in->isa && HALF_OF(in->pc) == half && xcd->rates[in->op].unit == UNIT_VALU;
}

/* Whether the wave's instruction issued, or what it waits for. */
static bool try_issue(struct cu_wave *cw, struct turn *turn)
{
    uint64_t cycle = turn->cycle;
    struct cu_simd *simd = cw->simd;
    struct cu_xcd *xcd = simd->xcd;
    const struct xinst *in = cw->in;
    while (!in->isa) { /* from one function to the next that follows it: no instruction */
        if (!act(cw, in, &in))
            return false;
        cw->in = cw->w->next = in;
    }
    uint64_t half = HALF_OF(in->pc);
    if (half != cw->half && !has_half(cw, half, cycle))
        return false;
    const struct cu_rate *rate = &xcd->rates[in->op];
    const unsigned unit = rate->unit;
    if (turn->taken >> unit & 1) {
        stalled(cw, STALL_UNIT, cycle);
        set_ready(cw, cycle + CU_TURN);
        if (unit == UNIT_VALU)
            simd->for_valu |= 1U << cw->slot;
        return false;
    }
    if (simd->matrix_until > cycle && cw->matrix_until > cycle && unit != UNIT_NONE && unit != UNIT_SALU &&
        unit != UNIT_BRANCH && unit != UNIT_SMEM && !accumulates(cw, in, rate)) {
        uint64_t until = matrix_dependency(cw, in);
        if (until > cycle) {
            stalled(cw, STALL_DEPENDENCY, cycle);
            set_ready(cw, until);
            return false;
        }
    }
    switch (unit) {
    case UNIT_NONE:
        issued(cw, in, rate, turn);
        issue_buffered(cw, in, cycle);
        return true;
    case UNIT_VALU:
        if (busy(cw, simd->valu_free, cycle) || (rate->beside && busy(cw, simd->trans_free, cycle)))
            return false;
        issued(cw, in, rate, turn);
        if (rate->beside)
            simd->trans_free = cycle + rate->cycles;
        simd->valu_free = cycle + (rate->beside ? CU_TURN : rate->cycles);
        xcd->counters.valu_busy_cycles += rate->beside ? CU_TURN : rate->cycles;
        execute(cw, in, cycle, cycle + rate->cycles);
        if (rate->later && rate->cycles == CU_TURN && wants_valu(xcd, in + 1, half)) {
            cw->stall = STALL_UNIT;
            simd->for_valu |= 1U << cw->slot;
        }
        return true;
    case UNIT_MATRIX:
        if (busy(cw, simd->matrix_free > simd->valu_free ? simd->matrix_free : simd->valu_free, cycle))
            return false;
        issued(cw, in, rate, turn);
        simd->valu_free = cycle + rate->alone;
        simd->matrix_free = cycle + rate->cycles;
        xcd->counters.matrix_busy_cycles += rate->cycles;
        xcd->counters.mops[rate->math] += rate->mops;
        note_matrix(cw, in, cycle + rate->result);
        execute(cw, in, cycle, cycle + CU_TURN);
        return true;
    case UNIT_SALU:
        if (busy(cw, simd->cu->salu.free, cycle))
            return false;
        issued(cw, in, rate, turn);
        simd->cu->salu.free = cycle + rate->cycles;
        execute(cw, in, cycle, cycle + CU_TURN);
        return true;
    case UNIT_BRANCH:
        if (busy(cw, simd->cu->branch.free, cycle))
            return false;
        issued(cw, in, rate, turn);
        simd->cu->branch.free = cycle + rate->cycles;
        execute(cw, in, cycle, cycle + xcd->timing.branch);
        if (cw->in != in + 1)
            leave_code(cw);
        return true;
    case UNIT_LDS:
        if (busy(cw, simd->cu->lds_port[simd->index].free, cycle))
            return false;
        issued(cw, in, rate, turn);
        issue_lds(cw, in, cycle);
        return true;
    case UNIT_MESSAGE:
        issued(cw, in, rate, turn);
        execute(cw, in, cycle, cycle + CU_TURN);
        return true;
    default: /* memory */
        if (!can_access(cw, unit, turn) || !send(cw, in, cycle))
            return false;
        issued(cw, in, rate, turn);
        set_ready(cw, cycle + CU_TURN);
        return true;
    }
}

/* ---- LDS: executed at issue, known to be done later ---- */

static void lds_returned(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct cu_wave *cw = event->self;
    cw->lgkm--;
    cu_returned(cw, STALL_LDS);
}

/*
 * A SIMD's port passes 64 bytes a cycle, the banks 128: two SIMDs together reach
 * what the banks can. What banks take longer for because of conflicts comes no
 * faster than the port can pass it on.
 */
static void issue_lds(struct cu_wave *cw, const struct xinst *in, uint64_t cycle)
{
    if (!cu_settle(cw))
        return;
    struct cu_xcd *xcd = cw->simd->xcd;
    struct cu_lds_conflicts conflicts;
    unsigned busy = cu_lds_cycles(cw->w, in, xcd->timing.lds_banks, &conflicts);
    uint64_t start = port_take(&cw->simd->cu->lds, cycle, busy);
    struct port_server *port = &cw->simd->cu->lds_port[cw->simd->index];
    unsigned passing = 2 * (busy - conflicts.bank - conflicts.address),
             through = busy < passing ? passing : busy;
    through = through < CU_TURN ? CU_TURN : through;
    port_take(port, start, through);
    xcd->counters.lds_busy_cycles += busy;
    xcd->counters.lds_bank_conflict_cycles += conflicts.bank;
    xcd->counters.lds_address_conflict_cycles += conflicts.address;
    cw->lgkm++;
    uint64_t end = start + xcd->timing.lds_latency + through;
    xcd->counters.level[CU_LEVEL_LDS] += end - cycle;
    port_post(xcd->domain, end, lds_returned, cw);
    execute(cw, in, cycle, cycle + CU_TURN);
}

/* ---- a turn ---- */

void cu_vector_room(void *xcd, unsigned cu)
{
    struct cu *c = &((struct cu_xcd *)xcd)->cu[cu];
    for (unsigned i = 0; i < c->xcd->simds; i++)
        if (c->simd[i].queued)
            look_at(&c->simd[i], port_now(c->xcd->domain) + 1);
}

static void look(struct port_domain *domain, struct port_event *event)
{
    struct cu_simd *simd = event->self;
    struct turn turn = {.cycle = port_now(domain)};
    if (simd->posted != turn.cycle)
        return;
    simd->posted = PORT_NEVER;
    /* Those would find vector memory full again: they are not looked at until it is not. */
    if (simd->queued && vector_ready(&turn, simd->cu))
        simd->queued = 0;
    uint32_t due = simd->for_valu;
    uint64_t next = PORT_NEVER; /* of the others; one that is due says itself when it is again */
    for (uint32_t slots = simd->may & ~(simd->queued | due); slots; slots &= slots - 1) {
        const unsigned i = (unsigned)__builtin_ctz(slots);
        if (simd->ready[i] <= turn.cycle)
            due |= 1U << i;
        else if (simd->ready[i] < next)
            next = simd->ready[i];
    }
    const unsigned first = simd->turn;
    bool any = false;
    for (int priority = simd->highest; due && priority >= 0; priority--) {
        uint32_t slots = due >> first << first, rest = due ^ slots; /* those before it come after the last */
        while (slots | rest) {
            if (!slots) {
                slots = rest;
                rest = 0;
            }
            const unsigned i = (unsigned)__builtin_ctz(slots);
            const uint32_t self = slots & -slots;
            slots ^= self;
            struct cu_wave *cw = &simd->wave[i];
            if (simd->highest && cw->priority != priority)
                continue;
            if (simd->for_valu & self && turn.taken >> UNIT_VALU & 1) { /* so for all of these */
                look_at(simd, turn.cycle + CU_TURN);
                due &= ~simd->for_valu;
                slots &= ~simd->for_valu;
                rest &= ~simd->for_valu;
                continue;
            }
            due ^= self;
            simd->for_valu &= ~self;
            if (try_issue(cw, &turn) && !any) { /* those behind it come first next time */
                any = true;
                simd->turn = (uint8_t)(i + 1);
            }
        }
    }
    if (simd->queued) {
        const uint64_t again = xcd_mem_vector_again(simd->xcd->mem, simd->cu->index);
        next = again < next ? again : next;
    }
    look_at(simd, next);
}

/* ---- ahead of the events ---- */

void cu_prefetch_wave(const struct cu_wave *cw)
{
    const struct wave *w = cw->w;
    port_prefetch(w, 64);
    port_prefetch(w->s, 128);
    port_prefetch(&w->vcc, sizeof(*w) - offsetof(struct wave, vcc));
}

static void prefetch_source(const struct wave *w, const struct xinst *in, unsigned s)
{
    if (in->s[s] >= 0)
        port_prefetch(w->v + in->s[s], in->rows[s] * (unsigned)sizeof(wave_row));
}

void cu_prefetch_rows(const struct cu_wave *cw)
{
    enum { NEAR = 8 };
    const struct xinst *access = cw->in, *far = access + NEAR;
    while (access != far && access->isa && access->cls != XC_VMEM)
        access++;
    if (access == far || !access->isa)
        return;
    for (const struct xinst *at = cw->w->next; at <= access; at++) {
        for (unsigned s = fuse_is_fused(at); s < 3; s++) /* no rows of addresses, but what they are made of */
            prefetch_source(cw->w, at, s);
        if (at != access && at->d >= 0)
            port_prefetch(cw->w->v + at->d, at->drows * (unsigned)sizeof(wave_row));
    }
    if (fuse_is_fused(access))
        prefetch_source(cw->w, fuse_sum(access), 2);
}

/* The waves that it will find ready and, of those that execute something, what that works on. */
static bool prefetch_look(const struct port_event *event, unsigned stage)
{
    const struct cu_simd *simd = event->self;
    if (stage == 0) {
        port_prefetch(simd, offsetof(struct cu_simd, ready) + 64);
        return true;
    }
    bool more = false;
    uint32_t slots = simd->may & ~(simd->queued | simd->for_valu);
    if (simd->for_valu) { /* one of these, most often */
        const uint32_t behind = simd->for_valu >> simd->turn << simd->turn;
        slots |= behind ? behind & -behind : simd->for_valu & -simd->for_valu;
    }
    for (; slots; slots &= slots - 1) {
        const unsigned i = (unsigned)__builtin_ctz(slots);
        if (simd->ready[i] > simd->posted)
            continue;
        const struct cu_wave *cw = &simd->wave[i];
        const struct xinst *in = cw->in;
        if (stage == 1) {
            port_prefetch(cw, offsetof(struct cu_wave, matrix));
            more = true;
        } else if (in->cls == XC_VALU || in->cls == XC_SALU || in->cls == XC_MFMA) {
            continue; /* put off, most of them */
        } else if (stage == 2) {
            cu_prefetch_wave(cw);
            more = more || in->cls == XC_VMEM;
        } else if (in->cls == XC_VMEM) {
            cu_prefetch_rows(cw);
        }
    }
    return more;
}

void cu_prefetch(struct cu_xcd *xcd)
{
    port_set_prefetch(xcd->domain, look, prefetch_look);
}
