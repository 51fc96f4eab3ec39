/* SPDX-License-Identifier: MIT */
/* Moves to and from AccVGPRs: under EXEC, from registers, scalars and constants. */
#include "matrix_wave.h"

enum { FROM = 7, TO = 9 };

static void run(struct rig *r, const struct rig_level *level, unsigned op, enum isa_kind from,
                enum isa_kind to, uint64_t exec)
{
    rig_clear(r, op);
    rig_operand(r, -1, to, TO, 1);
    if (from == ISA_CONST) {
        rig_constant(r, 0, 0x3f800000, 1);
    } else if (from == ISA_SGPR) {
        r->inst.src[0] = (struct isa_operand){.kind = ISA_SGPR, .reg = FROM, .dwords = 1};
        r->x.prep[0] = XPREP_SGPR;
        r->x.reg[0] = FROM;
        r->x.s[0] = TEMP_SRC0;
        r->x.any_prep = true;
    } else {
        rig_operand(r, 0, from, FROM, 1);
    }
    wave_row old, source;
    for (int l = 0; l < 64; l++) {
        old[l] = rig_random(r);
        source[l] = from == ISA_CONST ? 0x3f800000 : from == ISA_SGPR ? 0x12345678 : rig_random(r);
    }
    wave_row *v = r->w.v;
    memcpy(v[r->x.d], old, sizeof(old));
    if (from == ISA_VGPR || from == ISA_AGPR)
        memcpy(v[r->x.s[0]], source, sizeof(source));
    r->w.s[FROM] = 0x12345678;
    r->w.exec = exec;
    exec_fn *fn = level->lookup(&r->inst, &r->x);
    if (!fn) {
        r->failures++;
        return;
    }
    oracle_ran_op(r->inst.op, ORACLE_HANDLER);
    fn(&r->w, &r->x);
    for (int l = 0; l < 64; l++) {
        uint32_t want = exec >> l & 1 ? source[l] : old[l];
        r->checks++;
        if (v[r->x.d][l] != want)
            rig_fail(r, "v_accvgpr", level->name, (int)op, l, 0, v[r->x.d][l], want);
    }
}

int main(void)
{
    struct rig *r = rig_new(5);
    for (const struct rig_level *level = rig_levels(); level->name; level++)
        for (int i = 0; i < 8; i++) {
            uint64_t exec = i == 0 ? UINT64_MAX : i == 1 ? 0 : (uint64_t)rig_random(r) << 32 | rig_random(r);
            run(r, level, ISA_OP_v_accvgpr_read_b32, ISA_AGPR, ISA_VGPR, exec);
            run(r, level, ISA_OP_v_accvgpr_write_b32, ISA_VGPR, ISA_AGPR, exec);
            run(r, level, ISA_OP_v_accvgpr_write_b32, ISA_SGPR, ISA_AGPR, exec);
            run(r, level, ISA_OP_v_accvgpr_write_b32, ISA_CONST, ISA_AGPR, exec);
        }
    printf("%ld lanes compared, %ld wrong\n", r->checks, r->failures);
    long failures = r->failures;
    free(r);
    return failures != 0;
}
