/* SPDX-License-Identifier: MIT */
/*
 * See schedule.h.  Algorithms and the sizes between them are those of the fixed rules of coll/tuned for few
 * ranks; where it passes a long message on in segments, a scatter or gather and a ring stand for that.  A
 * call's `v` is linear, a ring or pairwise, as there.
 */
#include "mpi/schedule.h"

#include <stddef.h>

enum {
    BROADCAST_LONG = 16384,  /* guess: from here on a scatter and a ring; below a binomial tree */
    REDUCE_LONG = 16384,     /* guess: the same the other way round */
    ALL_REDUCE_LONG = 10000, /* rings, and not recursive doubling */
    GATHER_LONG = 6000,      /* all to the root, and not by a binomial tree */
    SCATTER_LONG = 300,
    ALL_GATHER_LONG = 50000, /* of all: a ring, and not Bruck's */
    ALL_TO_ALL_LONG = 3000   /* pairs, and not all at once */
};

static void to(struct step *s, unsigned rank, uint64_t bytes)
{
    s->send[s->sends++] = (struct step_send){rank, bytes};
}

static void from(struct step *s, unsigned rank)
{
    s->receive[s->receives++] = rank;
}

/* The i-th of n pieces of so many bytes. */
static uint64_t piece(uint64_t bytes, unsigned n, unsigned i)
{
    return bytes * (i + 1) / n - bytes * i / n;
}

static unsigned rounds(unsigned n)
{
    unsigned k = 0;
    while ((1U << k) < n)
        k++;
    return k;
}

/* ---- binomial trees: ranks are counted from the root on ---- */

static unsigned counted(const struct schedule *c)
{
    return (c->me + c->ranks - c->root) % c->ranks;
}

static unsigned named(const struct schedule *c, unsigned v)
{
    return (v + c->root) % c->ranks;
}

/* What is below it, itself included: v to v + span - 1; of the root all. */
static unsigned span(unsigned v)
{
    return v & (0U - v);
}

static unsigned span_of(const struct schedule *c, unsigned v)
{
    return v ? span(v) : 1U << rounds(c->ranks);
}

static unsigned below(const struct schedule *c, unsigned v)
{
    const unsigned all = span_of(c, v);
    return all < c->ranks - v ? all : c->ranks - v;
}

static void from_parent(const struct schedule *c, struct step *s)
{
    const unsigned v = counted(c);
    if (v)
        from(s, named(c, v - span(v)));
}

static void to_parent(const struct schedule *c, struct step *s, uint64_t bytes)
{
    const unsigned v = counted(c);
    if (v)
        to(s, named(c, v - span(v)), bytes);
}

/* The one with most below it first; `each`: bytes of every rank below, else of all together. */
static void to_children(const struct schedule *c, struct step *s, uint64_t bytes, bool each)
{
    const unsigned v = counted(c);
    for (unsigned mask = span_of(c, v) / 2; mask; mask /= 2)
        if (v + mask < c->ranks)
            to(s, named(c, v + mask), each ? bytes * below(c, v + mask) : bytes);
}

static void from_children(const struct schedule *c, struct step *s)
{
    const unsigned v = counted(c);
    for (unsigned mask = 1; mask < span_of(c, v); mask *= 2)
        if (v + mask < c->ranks)
            from(s, named(c, v + mask));
}

/* ---- rings ---- */

/* Round `k` of n - 1: the piece of who is k before goes to the next. */
static void pass_on(const struct schedule *c, struct step *s, unsigned k, uint64_t bytes, bool reduce)
{
    const unsigned n = c->ranks, mine = (c->me + n - k % n) % n, other = (mine + n - 1) % n;
    to(s, (c->me + 1) % n, piece(bytes, n, mine));
    from(s, (c->me + n - 1) % n);
    if (reduce)
        s->reduced = piece(bytes, n, other);
}

/* ---- the calls ---- */

static bool barrier(const struct schedule *c, unsigned k, struct step *s)
{
    const unsigned n = c->ranks, far = 1U << k;
    if (k == rounds(n))
        return false;
    to(s, (c->me + far) % n, 0);
    from(s, (c->me + n - far) % n);
    return true;
}

static bool broadcast(const struct schedule *c, unsigned k, struct step *s)
{
    const unsigned n = c->ranks;
    const bool is_long = c->bytes >= BROADCAST_LONG;
    if (k == 0)
        from_parent(c, s);
    else if (k == 1)
        to_children(c, s, is_long ? c->bytes / n : c->bytes, is_long);
    else if (is_long && k < n + 1)
        pass_on(c, s, k - 2, c->bytes, false);
    else
        return false;
    return true;
}

static bool reduce(const struct schedule *c, unsigned k, struct step *s)
{
    const unsigned n = c->ranks, v = counted(c), far = 1U << k;
    if (c->bytes >= REDUCE_LONG) {
        if (k < n - 1)
            pass_on(c, s, k, c->bytes, true);
        else if (k == n - 1)
            from_children(c, s);
        else if (k == n)
            to_parent(c, s, c->bytes / n * below(c, v));
        else
            return false;
        return true;
    }
    if (k == rounds(n) || (v && span(v) < far))
        return false;
    if (v & far) {
        to(s, named(c, v - far), c->bytes);
    } else if (v + far < n) {
        from(s, named(c, v + far));
        s->reduced = c->bytes;
    }
    return true;
}

/* Those beyond a power of two give what they have to a neighbour before, and get it afterwards. */
static bool double_up(const struct schedule *c, unsigned k, struct step *s)
{
    const unsigned n = c->ranks, all = rounds(n + 1) - 1, beyond = n - (1U << all);
    const bool paired = c->me < 2 * beyond, away = paired && c->me % 2 == 0;
    if (k == 0 || k == all + 1) {
        if (paired && away == (k == 0)) {
            to(s, away ? c->me + 1 : c->me - 1, c->bytes);
        } else if (paired) {
            from(s, away ? c->me + 1 : c->me - 1);
            s->reduced = k == 0 ? c->bytes : 0;
        }
        return true;
    }
    if (k > all + 1)
        return false;
    if (!away) {
        const unsigned mine = paired ? c->me / 2 : c->me - beyond, other = mine ^ 1U << (k - 1),
                       rank = other < beyond ? 2 * other + 1 : other + beyond;
        to(s, rank, c->bytes);
        from(s, rank);
        s->reduced = c->bytes;
    }
    return true;
}

static bool all_reduce(const struct schedule *c, unsigned k, struct step *s)
{
    const unsigned n = c->ranks;
    if (c->bytes < ALL_REDUCE_LONG)
        return double_up(c, k, s);
    if (k == 2 * (n - 1))
        return false;
    pass_on(c, s, k, c->bytes, k < n - 1);
    return true;
}

static bool gather(const struct schedule *c, unsigned k, struct step *s)
{
    const unsigned n = c->ranks;
    const bool all = c->parts || c->bytes >= GATHER_LONG;
    if (k > 1)
        return false;
    if (!all && k == 0)
        from_children(c, s);
    else if (!all)
        to_parent(c, s, c->bytes * below(c, counted(c)));
    else if (k == 1 && c->me != c->root)
        to(s, c->root, c->bytes);
    else if (k == 1)
        for (unsigned i = 1; i < n; i++)
            from(s, named(c, i));
    return true;
}

static bool scatter(const struct schedule *c, unsigned k, struct step *s)
{
    const unsigned n = c->ranks;
    const bool all = c->parts || c->bytes >= SCATTER_LONG;
    if (k > 1)
        return false;
    if (!all && k == 0)
        from_parent(c, s);
    else if (!all)
        to_children(c, s, c->bytes, true);
    else if (k == 1 && c->me != c->root)
        from(s, c->root);
    else if (k == 1)
        for (unsigned i = 1; i < n; i++)
            to(s, named(c, i), c->parts ? c->parts[named(c, i)] : c->bytes);
    return true;
}

static bool all_gather(const struct schedule *c, unsigned k, struct step *s)
{
    const unsigned n = c->ranks, far = 1U << k;
    if (c->parts || c->bytes * n >= ALL_GATHER_LONG) {
        const unsigned mine = (c->me + n - k % n) % n;
        if (k == n - 1)
            return false;
        to(s, (c->me + 1) % n, c->parts ? c->parts[mine] : c->bytes);
        from(s, (c->me + n - 1) % n);
        return true;
    }
    if (k == rounds(n))
        return false;
    to(s, (c->me + n - far) % n, c->bytes * (far < n - far ? far : n - far));
    from(s, (c->me + far) % n);
    return true;
}

static bool all_to_all(const struct schedule *c, unsigned k, struct step *s)
{
    const unsigned n = c->ranks;
    const bool at_once = !c->parts && c->bytes < ALL_TO_ALL_LONG;
    if (k == (at_once ? 1 : n - 1))
        return false;
    for (unsigned i = k + 1; i < (at_once ? n : k + 2); i++) {
        const unsigned rank = (c->me + i) % n;
        to(s, rank, c->parts ? c->parts[rank] : c->bytes);
        from(s, (c->me + n - i) % n);
    }
    return true;
}

static bool reduce_scatter(const struct schedule *c, unsigned k, struct step *s)
{
    if (k == c->ranks - 1)
        return false;
    pass_on(c, s, k, c->bytes, true);
    return true;
}

static bool scan(const struct schedule *c, unsigned k, struct step *s)
{
    const unsigned far = 1U << k;
    if (k == rounds(c->ranks))
        return false;
    if (c->me + far < c->ranks)
        to(s, c->me + far, c->bytes);
    if (c->me >= far) {
        from(s, c->me - far);
        s->reduced = c->bytes;
    }
    return true;
}

bool schedule_step(const struct schedule *c, unsigned number, struct step *step)
{
    static bool (*const of[COLLECT_KINDS])(const struct schedule *, unsigned, struct step *) = {
        [COLLECT_BARRIER] = barrier,
        [COLLECT_BROADCAST] = broadcast,
        [COLLECT_REDUCE] = reduce,
        [COLLECT_ALL_REDUCE] = all_reduce,
        [COLLECT_GATHER] = gather,
        [COLLECT_SCATTER] = scatter,
        [COLLECT_ALL_GATHER] = all_gather,
        [COLLECT_ALL_TO_ALL] = all_to_all,
        [COLLECT_SCAN] = scan,
        [COLLECT_REDUCE_SCATTER] = reduce_scatter,
    };
    step->sends = step->receives = 0;
    step->reduced = 0;
    return c->ranks > 1 && of[c->kind] && of[c->kind](c, number, step);
}
