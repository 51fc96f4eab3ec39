/* SPDX-License-Identifier: MIT */
/*
 * Slices without lanes.  Where a branch goes by EXEC, a slice that has no lane goes by itself to where the
 * wave would if nobody had one.  Others may take the wave the other way, on which nothing of that slice's
 * changes but masks and scalars, until they meet again.  What masks become there is known here, as far as it
 * is nothing, all, or what they were; a slice looks whether that is what it has.  Scalars that are written
 * there it does not know from then on (region_block.c).
 */
#include <stdlib.h>
#include <string.h>

#include "isa/facts.h"
#include "jit/region.h"

enum {
    NONE = 1 << LOOP_IDLE_NONE,
    ALL = 1 << LOOP_IDLE_ALL,
    KEPT = 1 << LOOP_IDLE_KEPT,
    OTHER = 1 << LOOP_IDLE_OTHER
};

/* ---- values ---- */

struct value {
    uint8_t set, kept;
};

static void add_code(struct value *v, int code)
{
    if (code < LOOP_IDLES) {
        v->set |= (uint8_t)(1 << code);
    } else if (v->set & KEPT && v->kept != code - LOOP_IDLES) {
        v->set |= OTHER;
    } else {
        v->set |= KEPT;
        v->kept = (uint8_t)(code - LOOP_IDLES);
    }
}

static int code_of(const struct value *v, int way)
{
    return way == LOOP_IDLE_KEPT ? LOOP_IDLES + v->kept : way;
}

static struct value combine(unsigned op, const struct value *a, const struct value *b)
{
    struct value result = {0, 0};
    for (int i = 0; i < LOOP_IDLES; i++)
        for (int k = 0; k < LOOP_IDLES; k++)
            if (a->set >> i & 1 && b->set >> k & 1)
                add_code(&result, loop_idle_of(op, code_of(a, i), code_of(b, k)));
    return result;
}

static struct value get(const struct region_idle *s, unsigned mask)
{
    return (struct value){s->set[mask], s->kept[mask]};
}

static void set(struct region_idle *s, unsigned mask, struct value v)
{
    s->set[mask] = v.set;
    s->kept[mask] = v.kept;
}

static struct value operand(const struct region_idle *s, const struct isa_operand *o)
{
    if (!o)
        return get(s, SREG_EXEC / 2);
    if (o->kind == ISA_SGPR)
        return get(s, o->reg / 2);
    return (struct value){o->value == 0 ? NONE : o->value == UINT64_MAX ? ALL : OTHER, 0};
}

static bool join(struct region_idle *to, const struct region_idle *from)
{
    bool changed = false;
    for (unsigned m = 0; m < REGION_MASKS; m++) {
        struct value v = get(to, m);
        const struct value more = get(from, m), before = v;
        for (int i = 0; i < LOOP_IDLES; i++)
            if (more.set >> i & 1)
                add_code(&v, code_of(&more, i));
        changed |= v.set != before.set;
        set(to, m, v);
    }
    for (unsigned reg = 0; reg <= SREGS; reg++) {
        changed |= from->written[reg] && !to->written[reg];
        to->written[reg] |= from->written[reg];
    }
    return changed;
}

/* ---- an instruction ---- */

static struct value scalar_value(const struct xinst *x)
{
    const struct isa_operand *o = &x->isa->src[0];
    const struct value other = {OTHER, 0};
    return x->op == ISA_OP_s_mov_b64 && o->kind == ISA_CONST ? operand(NULL, o) : other;
}

static void pass_scalar(struct region_idle *s, const struct xinst *x, const struct loop_uses *u)
{
    for (unsigned reg = u->write.reg; u->writes && reg < u->write.reg + u->write.count; reg++) {
        s->written[reg] = true;
        set(s, reg / 2, scalar_value(x));
    }
    if (u->sets_scc) {
        s->written[SREGS] = true;
        set(s, REGION_SCC, (struct value){OTHER, 0});
    }
}

/* False when lanes may become active. */
static bool pass_exec(struct region_idle *s, const struct xinst *x)
{
    struct region_exec exec;
    region_exec(x->isa, &exec);
    const struct value a = operand(s, exec.source[0]), b = operand(s, exec.source[1]),
                       result = combine(exec.op, &a, &b);
    if (exec.saved >= 0)
        set(s, (unsigned)exec.saved / 2, get(s, SREG_EXEC / 2));
    if (isa_facts[x->op].effects & ISA_E_SETS_SCC)
        set(s, REGION_SCC, result);
    return result.set == NONE;
}

static bool pass(struct emit *e, const struct region *r, size_t at, unsigned number, struct region_idle *s)
{
    const struct xinst *x = &e->block->x[at];
    struct loop_uses u;
    if (lift_leaves(x) || lift_does_nothing(x->op))
        return true;
    if (x->cls == XC_SALU && lift_writes_exec(x))
        return pass_exec(s, x);
    region_uses(e, r, at, number, &u);
    if (u.logic) {
        const struct value a = operand(s, &x->isa->src[0]),
                           b = masks_sources(x->isa) == 2 ? operand(s, &x->isa->src[1]) : a,
                           result = combine(x->op, &a, &b);
        set(s, u.write.reg / 2, result);
        if (u.sets_scc)
            set(s, REGION_SCC, result);
    } else if (u.writes && u.write.mask) {
        set(s, u.write.reg / 2, (struct value){NONE, 0});
    } else {
        pass_scalar(s, x, &u);
    }
    return true;
}

/* ---- ways ---- */

/*
 * Follows the others from a block on to where they meet the slice again: a block, or where the region is left
 * when there is none (`until` -1).  `met` is what that slice then has, `head` what it has at the head.
 */
static bool follow(struct emit *e, const struct region *r, unsigned from, int until, struct region_idle *met,
                   struct region_idle *head)
{
    struct region_idle *before = calloc(r->blocks, sizeof(*before));
    bool news[REGION_BLOCKS] = {false}, ok = before != NULL, again = ok;
    for (unsigned m = 0; ok && m < REGION_MASKS; m++)
        set(&before[from], m, (struct value){m == SREG_EXEC / 2 ? NONE : KEPT, (uint8_t)m});
    news[from] = true;
    while (ok && again) {
        again = false;
        for (unsigned i = 0; ok && i < r->blocks; i++) {
            const struct region_block *b = &r->block[i];
            if (!news[i])
                continue;
            news[i] = false;
            struct region_idle s = before[i];
            for (size_t at = b->first; ok && at < b->end; at++)
                ok = pass(e, r, at, b->base + (unsigned)(at - b->first), &s);
            for (unsigned k = 0; ok && k < 2; k++) {
                const int to = b->to[k];
                if (to == REGION_NOWHERE)
                    continue;
                if (to == until) {
                    join(met, &s);
                    continue;
                }
                if (until >= 0 && (to == 0 || to >= REGION_OUT)) {
                    ok = false; /* they may not meet */
                } else if (to >= REGION_OUT) {
                    join(met, &s);
                } else {
                    if (to == 0)
                        join(head, &s);
                    if (join(&before[to], &s))
                        again = news[to] = true;
                }
            }
        }
    }
    free(before);
    return ok;
}

bool region_has_mask(struct emit *e, const struct loop_forms *form, size_t at, unsigned mask)
{
    if (mask == REGION_SCC)
        return form->scc_of_lanes && live_scalar(e->live, at, MASK_SCC);
    return mask != SREG_EXEC / 2 && form->mask[2 * mask] &&
           (live_scalar(e->live, at, 2 * mask) || live_scalar(e->live, at, 2 * mask + 1));
}

/* Whether that is known of a mask. */
static bool is_known(const struct region_idle *s, unsigned mask)
{
    return !(s->set[mask] & OTHER) && !(s->set[mask] & KEPT && s->kept[mask] != mask) &&
           (s->set[mask] & (NONE | ALL)) != (NONE | ALL);
}

/* What a slice that goes by itself from a block's end looks at, and what it does not know behind. */
static bool find_departure(struct emit *e, struct region *r, struct region_block *b)
{
    const int until = b->to[b->empty];
    struct region_idle met = {0};
    if (b->to[!b->empty] == REGION_NOWHERE || until == REGION_NOWHERE)
        return false;
    if (until >= REGION_OUT)
        return b->to[!b->empty] < REGION_OUT &&
               follow(e, r, (unsigned)b->to[!b->empty], -1, &r->exit_idle, &r->head_idle);
    if (b->to[!b->empty] == until)
        return true;
    if (b->to[!b->empty] >= REGION_OUT || b->to[!b->empty] == 0 ||
        !follow(e, r, (unsigned)b->to[!b->empty], until, &met, NULL))
        return false;
    const struct region_block *to = &r->block[until];
    for (unsigned m = 0; m < REGION_MASKS; m++) {
        if (!region_has_mask(e, &to->form, to->first, m))
            continue;
        if (!is_known(&met, m))
            return false;
        b->check_none[m] = met.set[m] & NONE;
        b->check_all[m] = met.set[m] & ALL;
    }
    for (unsigned reg = 0; reg <= SREGS; reg++) {
        const bool mask = reg == SREGS ? to->form.scc_of_lanes : to->form.mask[reg];
        b->poisons[reg] =
            met.written[reg] && !mask && live_scalar(e->live, to->first, reg == SREGS ? MASK_SCC : reg);
        r->poisoned[reg] |= b->poisons[reg];
    }
    return true;
}

/* What follows from scalars that a slice may not know. */
static void find_poisoned(struct emit *e, struct region *r)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 0; i < r->blocks; i++) {
            const struct region_block *b = &r->block[i];
            for (size_t at = b->first; b->reached && at < b->end; at++) {
                const struct xinst *x = &e->block->x[at];
                struct loop_uses u;
                if (x->cls != XC_SALU || lift_does_nothing(x->op) || lift_leaves(x))
                    continue;
                region_uses(e, r, at, b->base + (unsigned)(at - b->first), &u);
                bool poisoned = u.reads_scc && r->poisoned[SREGS];
                for (unsigned k = 0; k < u.reads; k++)
                    for (unsigned reg = u.read[k].reg; reg < u.read[k].reg + u.read[k].count; reg++)
                        poisoned |= r->poisoned[reg];
                if (!poisoned || u.logic)
                    continue;
                for (unsigned reg = u.write.reg; u.writes && reg < u.write.reg + u.write.count; reg++) {
                    changed |= !r->poisoned[reg];
                    r->poisoned[reg] = true;
                }
                changed |= u.sets_scc && !r->poisoned[SREGS];
                r->poisoned[SREGS] |= u.sets_scc;
            }
        }
    }
}

bool region_find_idle(struct emit *e, struct region *r)
{
    if (!follow(e, r, 0, -1, &r->exit_idle, &r->head_idle)) /* of slices that have no lane to begin with */
        return false;
    for (unsigned i = 0; i < r->blocks; i++)
        if (r->block[i].reached && r->block[i].how == REGION_OF_LANES && !find_departure(e, r, &r->block[i]))
            return false;
    for (unsigned m = 0; m < REGION_MASKS; m++) {
        if (region_has_mask(e, &r->head_form, r->head, m) && !is_known(&r->head_idle, m))
            return false;
        for (unsigned i = 0; i < r->exits; i++)
            if (region_has_mask(e, &r->exit_form, r->exit[i], m) && !is_known(&r->exit_idle, m))
                return false;
    }
    find_poisoned(e, r);
    return true;
}
