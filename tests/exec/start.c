/* SPDX-License-Identifier: MIT */
/* A workgroup in the memory of another of its launch begins as one in memory of its own does. */
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "exec/code.h"
#include "exec/workgroup.h"

enum { LDS = 1000, ROWS = 8, GROUPS = 3 * 3 * 3, USER = 6, FIRST_SPECIAL = 96 };

/* Everything that a wave may change. */
static void leave_traces(struct workgroup *wg)
{
    for (unsigned i = 0; i < wg->waves; i++) {
        struct wave *w = &wg->wave[i];
        memset(w->s, 0xa5, sizeof(w->s));
        memset(w->v[0], 0xa5, ROWS * sizeof(w->v[0]));
        w->scc = w->special = w->slept = w->gws_waits = w->spinning = w->compiled = w->leaving = true;
        w->trapsts = w->status = 0xa5a5;
        wave_set_mode(w, MODE_FLOAT_BITS);
        w->state = WAVE_DONE;
        w->next = NULL;
        w->stretch.first = wg->launch->entry;
        if (i & 1)
            wave_grow(w);
    }
    memset(wg->lds, 0xa5, LDS);
    wg->live = 0;
    wg->runs = wg->wary = 5;
    wg->leaving = true;
}

static void check_wave(const struct wave *w, const struct wave *alone)
{
    CHECK(memcmp(w->s, alone->s, (USER + 4) * sizeof(w->s[0])) == 0);
    CHECK(memcmp(w->s + FIRST_SPECIAL, alone->s + FIRST_SPECIAL,
                 sizeof(w->s) - FIRST_SPECIAL * sizeof(w->s[0])) == 0);
    CHECK(memcmp(w->v[0], alone->v[0], sizeof(w->v[0])) == 0);
    CHECK(w->rows == alone->rows && w->vgprs == alone->vgprs && w->agprs == alone->agprs);
    CHECK(w->gpr_alloc == alone->gpr_alloc && w->lds_alloc == alone->lds_alloc);
    CHECK(w->exec == alone->exec && w->mode == alone->mode && w->mode_slow == alone->mode_slow);
    CHECK(w->trapsts == alone->trapsts && w->status == alone->status && w->index == alone->index);
    CHECK(w->scc == alone->scc && w->special == alone->special && w->slept == alone->slept);
    CHECK(w->gws_waits == alone->gws_waits && w->spinning == alone->spinning);
    CHECK(w->compiled == alone->compiled && w->leaving == alone->leaving);
    CHECK(w->state == alone->state && w->next == alone->next && w->stretch.first == alone->stretch.first);
    CHECK(w->lds_bytes == alone->lds_bytes && w->scratch_bytes == alone->scratch_bytes);
}

static void check_same(const struct workgroup *wg, const struct workgroup *alone)
{
    CHECK(wg->linear == alone->linear && memcmp(wg->id, alone->id, sizeof(wg->id)) == 0);
    CHECK(wg->waves == alone->waves && wg->live == alone->live && wg->launch == alone->launch);
    CHECK(wg->runs == alone->runs && wg->wary == alone->wary && wg->leaving == alone->leaving);
    CHECK(memcmp(wg->lds, alone->lds, LDS) == 0);
    for (unsigned i = 0; i < wg->waves; i++) {
        check_wave(&wg->wave[i], &alone->wave[i]);
        CHECK(wg->wave[i].wg == wg && wg->wave[i].lds == wg->lds && wg->wave[i].scratch == wg->scratch[i]);
        CHECK((wg->wave[i].v - WAVE_TEMPS - wg->rows) % (wg->wave[1].v - wg->wave[0].v) == 0);
    }
}

/* One after another, and then here and there; the grid's last workgroups in each direction are partial. */
static void test_again(unsigned dims, uint32_t mode)
{
    static const struct xinst entry;
    struct exec_launch launch = {.entry = &entry,
                                 .rows = ROWS,
                                 .id_sgpr = {USER, USER + 1, USER + 2},
                                 .info_sgpr = USER + 3,
                                 .mode = mode,
                                 .vgprs = ROWS,
                                 .lds_bytes = LDS,
                                 .scratch_bytes = 16,
                                 .items = {48, 3, 2},
                                 .grid = {100, 7, 5},
                                 .groups = {3, 3, 3},
                                 .id_dims = dims,
                                 .waves = 5};
    for (unsigned i = 0; i < USER; i++)
        launch.sgprs[i] = 100 + i;
    launch.sgprs[SREG_M0] = 7;
    CHECK(launch_make_ids(&launch));
    struct workgroup *wg = workgroup_start(NULL, &launch, 0, NULL);
    for (unsigned turn = 1; turn < 3 * GROUPS; turn++) {
        const uint64_t linear = turn < GROUPS ? turn : turn * 10 % GROUPS;
        struct workgroup *alone = workgroup_start(NULL, &launch, linear, NULL);
        leave_traces(wg);
        workgroup_start_again(wg, linear);
        check_same(wg, alone);
        /* The second row of items, if there is one, begins after the 48 of a first, or the 4 at the edge. */
        const uint32_t second = wg->wave[0].v[0][linear % 3 == 2 ? 4 : 48];
        CHECK(wg->wave[0].v[0][1] == 1);
        CHECK(linear / 3 % 3 == 2 || (dims == 1 ? second == 0 : second == 1 << 10));
        workgroup_free(alone);
    }
    workgroup_free(wg);
    free(launch.v0);
}

int main(void)
{
    for (unsigned dims = 1; dims <= 3; dims++) {
        test_again(dims, MODE_FLOAT_PLAIN | MODE_IEEE);
        test_again(dims, MODE_FLOAT_PLAIN | MODE_ROUND_32);
    }
    return check_status();
}
