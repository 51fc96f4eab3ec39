/* SPDX-License-Identifier: MIT */
/*
 * The time of every instruction's handler: each row of the instruction table is
 * encoded with plain operands, decoded and translated as any code is, and run
 * on one wave, with all lanes active and with every other one.
 *
 *   isa [--all] [--level 2|3|4] [name...]
 *
 * Prints the slowest, or all, as ratios to v_add_f32.  The rule: no handler
 * takes more than 40 times as long, unless it does more work; a matrix
 * instruction not more than 40 times as long as its work takes v_add_f32, which
 * is the unit of work: 64 operations, a dword each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "wave/aperture.h"
#include "exec/code.h"
#include "wave/fault.h"
#include "wave/gws.h"
#include "exec/workgroup.h"
#include "isa/isa.h"

enum { SLOWEST = 20, LIMIT = 40, LDS_BYTES = 16384, SCRATCH_BYTES = 128, HOST_BYTES = 1 << 16 };

/* Where operands are. */
enum {
    V_ADDRESS = 0, /* a pair: consecutive places in host memory */
    V_LDS = 2,     /* the same as offsets, for LDS, buffers and scratch */
    V_PLACE = 4,   /* places in no order, and no two the same: as V_ADDRESS and V_LDS */
    V_PLACE_LDS = 6,
    V_SOURCE = 32, /* 16 apart for the first three */
    V_DATA = 96,
    V_RESULT = 128,
    S_POINTER = 8,
    S_BUFFER = 12,
    S_NUMBER = 16,
    S_SOURCE = 20,
    S_CODE = 30,
    S_RESULT = 48,
    S_MASK = 68,
};

/* Plain, or with the sub-dword and cross-lane forms of an operand; of memory with addresses in no order. */
enum variant { PLAIN, SDWA, DPP, GATHER, VARIANTS };
static const char *const variant_name[VARIANTS] = {"", "sdwa", "dpp", "gather"};

struct result {
    const struct isa_row *row;
    enum variant variant;
    double full, half; /* ns */
    double unit;       /* v_add_f32 right before it: the host's speed changes */
    double work;
    const char *fault;
};

struct rig {
    alignas(64) wave_row rows[WAVE_TEMPS + WAVE_ROWS];
    alignas(64) uint8_t lds[LDS_BYTES + 512];
    alignas(64) uint8_t scratch[SCRATCH_BYTES * WAVE_LANES];
    alignas(64) uint8_t host[HOST_BYTES];
    struct wave w;
    struct workgroup wg;
    struct exec_launch launch;
    struct gws gws[GWS_RESOURCES];
    struct wave_guard guard;
    struct exec_code code;
    struct exec_code_cache cache;
    uint32_t words[8];
};

/* ---- encoding ---- */

struct encoding {
    uint64_t bits, fixed;
};

static void put(struct encoding *e, unsigned low, uint64_t value)
{
    e->bits |= value << low & ~e->fixed;
}

static unsigned vector_source(const struct isa_row *row, unsigned i)
{
    switch (row->where[i]) {
    case 's':
        return S_MASK;
    case 'c':
        return S_NUMBER;
    default:
        return 256 + V_SOURCE + 16 * i;
    }
}

static uint32_t effects(const struct isa_row *row)
{
    return isa_facts[row->op].effects;
}

static void encode_scalar(struct encoding *e, const struct isa_row *row)
{
    bool jumps = effects(row) & ISA_E_BRANCH;
    switch (row->format) {
    case ISA_SOPK:
        put(e, 0, row->src[0] ? 1 | 3 << 11 : 4); /* four bits of MODE */
        put(e, 16, row->dst ? S_RESULT : S_SOURCE);
        break;
    case ISA_SOP1:
        put(e, 0, jumps ? S_CODE : S_SOURCE);
        put(e, 16, S_RESULT);
        break;
    case ISA_SOP2:
    case ISA_SOPC:
        put(e, 0, S_SOURCE);
        put(e, 8, S_SOURCE + 4);
        put(e, 16, S_RESULT);
        break;
    case ISA_SMEM:
        put(e, 0, (row->src[ISA_SBASE] == ISA_T_B128 ? S_BUFFER : S_POINTER) / 2);
        put(e, 6, S_RESULT);
        put(e, 17, 1);
        put(e, 32, 64);
        break;
    default:
        break;
    }
}

static void encode_vector(struct encoding *e, const struct isa_row *row, enum variant variant, bool acc)
{
    if (row->format == ISA_VOP1 || row->format == ISA_VOP2 || row->format == ISA_VOPC) {
        if (row->format != ISA_VOPC)
            put(e, 17, row->flags & ISA_F_DST_SGPR ? S_RESULT : V_RESULT);
        put(e, 9, V_SOURCE + 16);
        if (variant == PLAIN) {
            put(e, 0, vector_source(row, 0));
        } else if (variant == SDWA) {
            put(e, 32, V_SOURCE);
            put(e, 40, row->format == ISA_VOPC ? 0 : ISA_WORD_1 | ISA_UNUSED_PRESERVE << 3);
            put(e, 48, ISA_BYTE_1);
            put(e, 56, ISA_WORD_0);
        } else {
            bool wide = isa_type_dwords(row->dst) > 1 || isa_type_dwords(row->src[0]) > 1;
            put(e, 32, V_SOURCE);
            put(e, 40, wide ? 0x153 : 0x111); /* row_newbcast:3, row_shr:1 */
            put(e, 56, 0xff);
        }
        return;
    }
    put(e, 0, row->dst == ISA_T_MASK || (row->flags & ISA_F_DST_SGPR) ? S_RESULT : V_RESULT);
    if (row->sdst)
        put(e, 8, S_RESULT + 4);
    for (unsigned i = 0; i < 3; i++)
        if (row->src[i])
            put(e, 32 + 9 * i, vector_source(row, i));
    if (row->format == ISA_VOP3P && (row->form[0].live >> 59 & 3))
        put(e, 59, 3), put(e, 14, 1); /* both halves of packed sources */
    if (acc)
        put(e, 59, 3);
}

static void encode_memory(struct encoding *e, const struct isa_row *row, enum variant variant)
{
    unsigned offsets = variant == GATHER ? V_PLACE_LDS : V_LDS;
    bool gws = isa_facts[row->op].unit == ISA_UNIT_GWS;
    switch (row->format) {
    case ISA_DS:
        put(e, 32, gws ? V_DATA : offsets);
        put(e, 40, V_DATA);
        put(e, 48, V_DATA + 8);
        put(e, 56, V_RESULT);
        if (row->flags & ISA_F_TWO_ADDRESSES)
            put(e, 8, 2);
        break;
    case ISA_MUBUF:
    case ISA_MTBUF:
        put(e, 12, 1); /* offen */
        put(e, 14, (effects(row) & ISA_E_ATOMIC) != 0);
        if (row->format == ISA_MTBUF)
            put(e, 19, 4 | 7 << 4); /* 32, float */
        put(e, 32, offsets);
        put(e, 40, V_DATA);
        put(e, 48, S_BUFFER / 4);
        put(e, 56, 128);
        break;
    default:
        put(e, 13, row->format == ISA_SCRATCH);
        put(e, 16, (effects(row) & ISA_E_ATOMIC) != 0);
        put(e, 32, row->format == ISA_SCRATCH ? offsets : variant == GATHER ? V_PLACE : V_ADDRESS);
        put(e, 40, V_DATA);
        put(e, 48, row->format == ISA_FLAT ? 0 : 0x7f); /* no base */
        put(e, 56, V_RESULT);
        break;
    }
}

static bool is_memory(const struct isa_row *row)
{
    return row->format >= ISA_DS;
}

/* Clocks and messages ask the machine, which is not here. */
static bool needs_machine(unsigned op)
{
    return op == ISA_OP_s_memtime || op == ISA_OP_s_memrealtime || op == ISA_OP_s_sendmsg ||
           op == ISA_OP_s_sendmsghalt;
}

/* The instruction's words and what they decode to; false when the row has no such form. */
static bool encode(const struct isa_row *row, enum variant variant, uint32_t *words, struct isa_inst *inst)
{
    unsigned form = variant == SDWA ? ISA_FORM_SDWA : variant == DPP ? ISA_FORM_DPP : ISA_FORM_PLAIN;
    bool spread = variant == GATHER && (!is_memory(row) || !(effects(row) & (ISA_E_LOAD | ISA_E_STORE)));
    if (!row->form[form].mask || spread || needs_machine(row->op))
        return false;
    for (int acc = 0; acc < 2; acc++) {
        struct encoding e = {row->form[form].match, row->form[form].mask};
        if (is_memory(row))
            encode_memory(&e, row, variant);
        else if (row->format < ISA_VOP1)
            encode_scalar(&e, row);
        else
            encode_vector(&e, row, variant, acc);
        words[0] = (uint32_t)e.bits;
        words[1] = (uint32_t)(e.bits >> 32);
        words[2] = 0x3f800000; /* a literal where one belongs */
        if (!((row->form[form].live | row->form[form].mask) >> 32))
            words[1] = 0x3f800000;
        if (isa_decode(&isa_gfx942, words, 3, inst) && &isa_gfx942.rows[inst->row] == row && !inst->reserved)
            return true;
    }
    return false;
}

/* ---- values ---- */

static uint32_t value_of(unsigned type, unsigned lane, unsigned row)
{
    float f = 1.0f + (float)(lane + 1) / 128.0f + (float)row;
    double d = f;
    uint64_t wide;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    memcpy(&wide, &d, 8);
    switch (type) {
    case ISA_T_F32:
    case ISA_T_PKF32:
        return bits;
    case ISA_T_F64:
        return row & 1 ? (uint32_t)(wide >> 32) : (uint32_t)wide;
    case ISA_T_F16:
        return 0x3c00 + lane;
    case ISA_T_PKF16:
    case ISA_T_B256: /* of matrices: f16 */
        return 0x3c003c00 + lane * 0x10001;
    case ISA_T_BF16:
    case ISA_T_PKBF16:
        return 0x3f803f80 + lane * 0x10001;
    default:
        return lane * 5 + 3 + row;
    }
}

static void set_values(struct rig *r, const struct isa_row *row)
{
    struct wave *w = &r->w;
    memset(r->rows, 0, sizeof(r->rows));
    memset(w->s, 0, sizeof(w->s));
    for (unsigned l = 0; l < WAVE_LANES; l++) {
        unsigned data = isa_type_dwords(row->src[ISA_DATA]), dst = isa_type_dwords(row->dst);
        unsigned bytes = 4 * (effects(row) & ISA_E_STORE || data > dst ? data : dst);
        static const char *const byte_names[] = {"byte", "_u8", "_i8", "_b8", NULL};
        static const char *const short_names[] = {"short", "_u16", "_i16", "_b16", NULL};
        for (unsigned i = 0; byte_names[i]; i++)
            bytes = strstr(row->name, byte_names[i]) ? 1 : strstr(row->name, short_names[i]) ? 2 : bytes;
        if (bytes == 0)
            bytes = 4;
        if (row->format == ISA_SCRATCH)
            bytes = 0; /* each lane has its own */
        unsigned place = row->format == ISA_SCRATCH ? l * 7 % 16 * 4 : l * 29 % 64 * 32;
        uint64_t base = (uint64_t)(uintptr_t)r->host, dense = base + l * bytes, spread = base + place;
        w->v[V_ADDRESS][l] = (uint32_t)dense;
        w->v[V_ADDRESS + 1][l] = (uint32_t)(dense >> 32);
        w->v[V_LDS][l] = l * bytes;
        w->v[V_PLACE][l] = (uint32_t)spread;
        w->v[V_PLACE + 1][l] = (uint32_t)(spread >> 32);
        w->v[V_PLACE_LDS][l] = place;
        for (unsigned i = 0; i < 3; i++) {
            bool matrix = row->format == ISA_VOP3PMAI;
            unsigned type = matrix ? (i == 2                                         ? ISA_T_F32
                                      : isa_facts[row->op].math == ISA_MATH_MFMA_F64 ? ISA_T_F64
                                                                                     : ISA_T_PKF16)
                                   : row->src[i];
            for (unsigned k = 0; k < (i == 2 ? 32 : 16); k++)
                w->v[V_SOURCE + 16 * i + k][l] = value_of(type, l, k);
        }
        for (unsigned k = 0; k < 16; k++)
            w->v[V_DATA + k][l] = value_of(row->src[ISA_DATA], l, k);
    }
    wave_set_sgpr64(w, S_POINTER, (uint64_t)(uintptr_t)r->host);
    wave_set_sgpr64(w, S_BUFFER, (uint64_t)(uintptr_t)r->host);
    w->s[S_BUFFER + 2] = HOST_BYTES;
    w->s[S_BUFFER + 3] = 7 << 12 | 4 << 15 | 4; /* dst_sel x = R; 32, float */
    w->s[S_NUMBER] = 3;
    wave_set_sgpr64(w, S_SOURCE, UINT64_C(0x3f80000000000007));
    wave_set_sgpr64(w, S_SOURCE + 4, UINT64_C(0x3f90000000000005));
    wave_set_sgpr64(w, S_CODE, (uint64_t)(uintptr_t)r->words);
    wave_set_sgpr64(w, S_MASK, UINT64_C(0xaaaaaaaaaaaaaaaa));
    w->vcc = UINT64_C(0x00ff00ff00ff00ff);
    wave_set_mode(w, MODE_FLOAT_PLAIN | MODE_IEEE | MODE_DX10_CLAMP);
    w->special = false;
}

/* ---- timing ---- */

static double time_of(struct rig *r, const struct xinst *x, uint64_t exec)
{
    enum { RUNS = 12, CALLS = 100 };
    double best = 1e9;
    for (int run = 0; run < RUNS; run++) {
        double start = bench_seconds();
        for (int i = 0; i < CALLS; i++) {
            r->w.exec = exec;
            x->fn(&r->w, x);
        }
        double t = (bench_seconds() - start) / CALLS;
        best = t < best ? t : best;
    }
    return best * 1e9;
}

/*
 * Of matrix instructions the multiplications and additions (of f64 they are two
 * dwords wide), of memory the dwords of a lane; else one.  An atomic on host memory is a locked operation for
 * each lane, of which the host does one in the time of v_add_f32.
 */
static double work_of(const struct isa_row *row)
{
    const struct isa_facts *facts = &isa_facts[row->op];
    if (facts->mops)
        return 512.0 / WAVE_LANES * facts->mops * (facts->math == ISA_MATH_MFMA_F64 ? 2 : 1) *
               (row->flags & ISA_F_ACCUMULATE ? 0.5 : 1); /* the sparse ones */
    unsigned dwords = isa_type_dwords(row->dst), data = isa_type_dwords(row->src[ISA_DATA]);
    if (!is_memory(row) && row->format != ISA_SMEM)
        return 1;
    if ((effects(row) & ISA_E_ATOMIC) && row->format != ISA_DS && row->format != ISA_SMEM)
        return WAVE_LANES;
    dwords = dwords > data ? dwords : data;
    if (row->flags & ISA_F_TWO_ADDRESSES && effects(row) & ISA_E_STORE)
        dwords *= 2;
    return dwords ? dwords : 1;
}

static bool bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
    struct rig *r = context;
    *start = (uint64_t)(uintptr_t)r->words;
    *end = *start + sizeof(r->words);
    return pc >= *start && pc < *end;
}

static void measure(struct rig *r, const struct isa_inst *inst, struct result *out)
{
    static const char *const kinds[] = {[EHP_FAULT_UNIMPLEMENTED] = "not implemented",
                                        [EHP_FAULT_TRAP] = "a trap",
                                        [EHP_FAULT_ILLEGAL_INSTRUCTION] = "illegal"};
    unsigned words = inst->size / 4u;
    for (unsigned i = words; i < sizeof(r->words) / 4; i++)
        r->words[i] =
            0xbf9c0000; /* s_set_gpr_idx_off: ends what s_set_gpr_idx_on begins, and else does nothing */
    uint64_t start = (uint64_t)(uintptr_t)r->words;
    exec_code_drop(&r->code, start, start + sizeof(r->words));
    const struct xinst *x = exec_code_find(&r->code, &r->cache, start);
    set_values(r, out->row);
    r->guard.armed = true;
    r->guard.in = NULL;
    r->guard.wave = &r->w;
    if (sigsetjmp(r->guard.env, 1)) {
        unsigned kind = r->guard.kind;
        out->fault = kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[kind] ? kinds[kind] : "a fault";
        return;
    }
    out->full = time_of(r, x, UINT64_MAX);
    set_values(r, out->row);
    out->half = time_of(r, x, UINT64_C(0x5555555555555555));
}

/* v_add_f32 of VGPRs, in a rig of its own. */
static const struct xinst *make_unit(struct rig *r)
{
    struct isa_inst inst;
    size_t i = 0;
    while (isa_gfx942.rows[i].op != ISA_OP_v_add_f32 || isa_gfx942.rows[i].format != ISA_VOP2)
        i++;
    if (!encode(&isa_gfx942.rows[i], PLAIN, r->words, &inst))
        abort();
    set_values(r, &isa_gfx942.rows[i]);
    return exec_code_find(&r->code, &r->cache, (uint64_t)(uintptr_t)r->words);
}

static struct rig *rig_make(unsigned level)
{
    struct rig *r = aligned_alloc(64, (sizeof(*r) + 63) & ~(size_t)63);
    if (!r)
        abort();
    memset(r, 0, sizeof(*r));
    exec_code_init(&r->code, &isa_gfx942, bounds, r);
    if (level)
        r->code.level = level;
    r->guard.code = &r->code;
    r->guard.cache = &r->cache;
    r->launch.gws = r->gws;
    r->wg.launch = &r->launch;
    r->wg.waves = r->wg.live = 1;
    r->w.v = r->rows + WAVE_TEMPS;
    r->w.vgprs = r->w.agprs = 256;
    r->w.lds = r->lds;
    r->w.lds_bytes = LDS_BYTES;
    r->w.scratch = r->scratch;
    r->w.scratch_bytes = SCRATCH_BYTES;
    r->w.wg = &r->wg;
    r->w.guard = &r->guard;
    r->w.mem_mask = APERTURE_HOST_MASK;
    return r;
}

static int slower(const void *a, const void *b)
{
    const struct result *x = a, *y = b;
    double tx = (x->full > x->half ? x->full : x->half) / x->unit;
    double ty = (y->full > y->half ? y->full : y->half) / y->unit;
    return tx < ty ? 1 : tx > ty ? -1 : 0;
}

static bool violates(const struct result *x)
{
    double ratio = (x->full > x->half ? x->full : x->half) / x->unit;
    bool matrix = x->row->format == ISA_VOP3PMAI;
    return !x->fault && (matrix ? ratio > LIMIT * x->work : ratio > LIMIT && x->work <= LIMIT);
}

static void print(const struct result *x)
{
    printf("%-10s %-36s %-7s", isa_format_name(x->row->format), x->row->name, variant_name[x->variant]);
    if (x->fault)
        printf(" %s\n", x->fault);
    else
        printf("%9.1f %9.1f %8.1f %8.1f %6.0f %8.1f%s\n", x->full, x->half, x->full / x->unit,
               x->half / x->unit, x->work, x->full / x->unit / x->work, violates(x) ? "  too slow" : "");
}

static bool wanted(const struct isa_row *row, char **names, int count)
{
    for (int i = 0; i < count; i++)
        if (strstr(row->name, names[i]))
            return true;
    return count == 0;
}

int main(int argc, char **argv)
{
    bool all = false;
    unsigned level = 0;
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++)
        if (strcmp(argv[at], "--all") == 0)
            all = true;
        else if (strcmp(argv[at], "--level") == 0 && at + 1 < argc)
            level = (unsigned)atoi(argv[++at]);
    struct rig *r = rig_make(level), *for_unit = rig_make(level);
    const struct xinst *add = make_unit(for_unit);
    struct fault_thread *thread = fault_thread_enter(&r->guard);
    struct result *results = calloc(isa_gfx942.row_count * VARIANTS, sizeof(*results));
    if (!thread || !results)
        abort();
    size_t count = 0, faults = 0, too_slow = 0;
    struct isa_inst inst;
    double unit = 1e9;
    for (size_t i = 0; i < isa_gfx942.row_count; i++)
        for (enum variant v = PLAIN; v < VARIANTS; v++) {
            if (!wanted(&isa_gfx942.rows[i], argv + at, argc - at) ||
                !encode(&isa_gfx942.rows[i], v, r->words, &inst))
                continue;
            struct result *x = &results[count++];
            *x = (struct result){
                .row = &isa_gfx942.rows[i], .variant = v, .work = work_of(&isa_gfx942.rows[i])};
            x->unit = time_of(for_unit, add, UINT64_MAX);
            unit = x->unit < unit ? x->unit : unit;
            measure(r, &inst, x);
        }
    if (!all)
        qsort(results, count, sizeof(*results), slower);
    printf("%-10s handlers for x86-64-v%-13u %-7s%9s %9s %8s %8s %6s %8s\n", "", r->code.level, "",
           "full, ns", "half, ns", "of add", "of add", "work", "of work");
    for (size_t i = 0; i < count; i++) {
        if (all || (i < SLOWEST))
            print(&results[i]);
        faults += results[i].fault != NULL;
        too_slow += violates(&results[i]);
    }
    printf("v_add_f32 %.1f ns; of %zu handlers %zu are too slow; %zu end in a fault\n", unit, count, too_slow,
           faults);
    fault_thread_leave(thread);
    exec_code_destroy(&r->code);
    exec_code_destroy(&for_unit->code);
    free(results);
    free(r);
    free(for_unit);
    return 0;
}
