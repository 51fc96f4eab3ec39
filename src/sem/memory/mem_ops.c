/* SPDX-License-Identifier: MIT */
/*
 * What each memory instruction does to memory, as a table over meanings.  The
 * families choose their handlers by it, and the fault handler names accesses.
 */
#include "sem/memory/mem.h"

/* FLAT, GLOBAL and SCRATCH share names. */
#define SEGMENTS(name, ...)                                                                                  \
    [ISA_OP_flat_##name] = {.space = MEM_FLAT, __VA_ARGS__},                                                 \
    [ISA_OP_global_##name] = {.space = MEM_GLOBAL, __VA_ARGS__},                                             \
    [ISA_OP_scratch_##name] = {.space = MEM_SCRATCH, __VA_ARGS__},                                           \
    [ISA_OP_buffer_##name] = {.space = MEM_BUFFER, __VA_ARGS__}

#define VECTOR_LOAD(name, KIND)  SEGMENTS(load_##name, .action = MEM_LOAD, .kind = KIND)
#define VECTOR_STORE(name, KIND) SEGMENTS(store_##name, .action = MEM_STORE, .kind = KIND)

#define LDS_LOAD(name, KIND)                                                                                 \
    [ISA_OP_global_load_lds_##name] = {.space = MEM_GLOBAL, .action = MEM_LOAD_LDS, .kind = KIND},           \
    [ISA_OP_scratch_load_lds_##name] = {.space = MEM_SCRATCH, .action = MEM_LOAD_LDS, .kind = KIND}

#define VECTOR_ATOMIC_FLAT(name, KIND, OP)                                                                   \
    [ISA_OP_flat_atomic_##name] = {.space = MEM_FLAT, .action = MEM_ATOMIC, .kind = KIND, .atomic = OP},     \
    [ISA_OP_global_atomic_##name] = {.space = MEM_GLOBAL, .action = MEM_ATOMIC, .kind = KIND, .atomic = OP}
#define VECTOR_ATOMIC(name, KIND, OP)                                                                        \
    VECTOR_ATOMIC_FLAT(name, KIND, OP),                                                                      \
        [ISA_OP_buffer_atomic_##                                                                             \
            name] = {.space = MEM_BUFFER, .action = MEM_ATOMIC, .kind = KIND, .atomic = OP}

#define SCALAR_ATOMIC_1(name, KIND, OP)                                                                      \
    [ISA_OP_s_##name] = {.space = MEM_SCALAR, .action = MEM_ATOMIC, .kind = KIND, .atomic = OP}
#define SCALAR_ATOMIC(name, KIND, OP)                                                                        \
    SCALAR_ATOMIC_1(atomic_##name, KIND, OP), SCALAR_ATOMIC_1(buffer_atomic_##name, KIND, OP)

/* Integer atomics: 32 bits, and 64 bits with _x2. */
#define INTEGER_ATOMIC(name, OP)                                                                             \
    VECTOR_ATOMIC(name, MEM_B32, OP), VECTOR_ATOMIC(name##_x2, MEM_B64, OP),                                 \
        SCALAR_ATOMIC(name, MEM_B32, OP), SCALAR_ATOMIC(name##_x2, MEM_B64, OP)

#define DS(name, ...) [ISA_OP_ds_##name] = {.space = MEM_LDS, __VA_ARGS__}
#define DS_ATOMIC(name, rtn_name, KIND, OP)                                                                  \
    DS(name, .action = MEM_ATOMIC, .kind = KIND, .atomic = OP),                                              \
        DS(rtn_name, .action = MEM_ATOMIC, .kind = KIND, .atomic = OP, .returns = true)
#define DS_TYPED(name, type, KIND, OP) DS_ATOMIC(name##_##type, name##_rtn_##type, KIND, OP)
#define DS_INTEGER(name, t, OP)        DS_TYPED(name, t##32, MEM_B32, OP), DS_TYPED(name, t##64, MEM_B64, OP)

#define FORMATS(prefix, SPACE, verb, ACTION)                                                                 \
    [ISA_OP_##prefix##_##verb##_format_x] = {.space = SPACE, .action = ACTION, .kind = 1},                   \
    [ISA_OP_##prefix##_##verb##_format_xy] = {.space = SPACE, .action = ACTION, .kind = 2},                  \
    [ISA_OP_##prefix##_##verb##_format_xyz] = {.space = SPACE, .action = ACTION, .kind = 3},                 \
    [ISA_OP_##prefix##_##verb##_format_xyzw] = {.space = SPACE, .action = ACTION, .kind = 4},                \
    [ISA_OP_##prefix##_##verb##_format_d16_x] = {.space = SPACE, .action = ACTION, .kind = 1, .d16 = true},  \
    [ISA_OP_##prefix##_##verb##_format_d16_xy] = {.space = SPACE, .action = ACTION, .kind = 2, .d16 = true}, \
    [ISA_OP_##prefix##_##verb##                                                                              \
        _format_d16_xyz] = {.space = SPACE, .action = ACTION, .kind = 3, .d16 = true},                       \
    [ISA_OP_##prefix##_##verb##                                                                              \
        _format_d16_xyzw] = {.space = SPACE, .action = ACTION, .kind = 4, .d16 = true}

#define SCALAR(name, ...)      [ISA_OP_s_##name] = {.space = MEM_SCALAR, __VA_ARGS__}
#define SCALAR_BOTH(name, ...) SCALAR(name, __VA_ARGS__), SCALAR(buffer_##name, __VA_ARGS__)
#define SCALAR_EACH(name, ...)                                                                               \
    SCALAR_BOTH(name, __VA_ARGS__), SCALAR(scratch_##name, __VA_ARGS__, .scratch = true)

static const struct mem_op ops[ISA_OP_COUNT] = {
    VECTOR_LOAD(ubyte, MEM_B8),
    VECTOR_LOAD(sbyte, MEM_I8),
    VECTOR_LOAD(ushort, MEM_B16),
    VECTOR_LOAD(sshort, MEM_I16),
    VECTOR_LOAD(dword, MEM_B32),
    VECTOR_LOAD(dwordx2, MEM_B64),
    VECTOR_LOAD(dwordx3, MEM_B96),
    VECTOR_LOAD(dwordx4, MEM_B128),
    VECTOR_LOAD(ubyte_d16, MEM_B8_D16),
    VECTOR_LOAD(ubyte_d16_hi, MEM_B8_D16_HI),
    VECTOR_LOAD(sbyte_d16, MEM_I8_D16),
    VECTOR_LOAD(sbyte_d16_hi, MEM_I8_D16_HI),
    VECTOR_LOAD(short_d16, MEM_B16_D16),
    VECTOR_LOAD(short_d16_hi, MEM_B16_D16_HI),
    VECTOR_STORE(byte, MEM_B8),
    VECTOR_STORE(byte_d16_hi, MEM_B8_D16_HI),
    VECTOR_STORE(short, MEM_B16),
    VECTOR_STORE(short_d16_hi, MEM_B16_D16_HI),
    VECTOR_STORE(dword, MEM_B32),
    VECTOR_STORE(dwordx2, MEM_B64),
    VECTOR_STORE(dwordx3, MEM_B96),
    VECTOR_STORE(dwordx4, MEM_B128),
    LDS_LOAD(ubyte, MEM_B8),
    LDS_LOAD(sbyte, MEM_I8),
    LDS_LOAD(ushort, MEM_B16),
    LDS_LOAD(sshort, MEM_I16),
    LDS_LOAD(dword, MEM_B32),

    INTEGER_ATOMIC(swap, MEM_SWAP),
    INTEGER_ATOMIC(cmpswap, MEM_CMPSWAP),
    INTEGER_ATOMIC(add, MEM_ADD),
    INTEGER_ATOMIC(sub, MEM_SUB),
    INTEGER_ATOMIC(smin, MEM_SMIN),
    INTEGER_ATOMIC(umin, MEM_UMIN),
    INTEGER_ATOMIC(smax, MEM_SMAX),
    INTEGER_ATOMIC(umax, MEM_UMAX),
    INTEGER_ATOMIC(and, MEM_AND),
    INTEGER_ATOMIC(or, MEM_OR),
    INTEGER_ATOMIC(xor, MEM_XOR),
    INTEGER_ATOMIC(inc, MEM_INC),
    INTEGER_ATOMIC(dec, MEM_DEC),
    VECTOR_ATOMIC(add_f32, MEM_B32, MEM_FADD),
    VECTOR_ATOMIC(pk_add_f16, MEM_B32, MEM_PK_ADD_F16),
    VECTOR_ATOMIC_FLAT(pk_add_bf16, MEM_B32, MEM_PK_ADD_BF16),
    VECTOR_ATOMIC(add_f64, MEM_B64, MEM_FADD),
    VECTOR_ATOMIC(min_f64, MEM_B64, MEM_FMIN),
    VECTOR_ATOMIC(max_f64, MEM_B64, MEM_FMAX),

    FORMATS(buffer, MEM_BUFFER, load, MEM_LOAD_FORMAT),
    FORMATS(buffer, MEM_BUFFER, store, MEM_STORE_FORMAT),
    FORMATS(tbuffer, MEM_TBUFFER, load, MEM_LOAD_FORMAT),
    FORMATS(tbuffer, MEM_TBUFFER, store, MEM_STORE_FORMAT),
    [ISA_OP_buffer_load_format_d16_hi_x] =
        {.space = MEM_BUFFER, .action = MEM_LOAD_FORMAT, .kind = 1, .d16 = true, .high = true},
    [ISA_OP_buffer_store_format_d16_hi_x] =
        {.space = MEM_BUFFER, .action = MEM_STORE_FORMAT, .kind = 1, .d16 = true, .high = true},
    [ISA_OP_buffer_inv] = {.space = MEM_BUFFER, .action = MEM_FENCE},
    [ISA_OP_buffer_wbl2] = {.space = MEM_BUFFER, .action = MEM_FENCE},

    DS(read_u8, .action = MEM_LOAD, .kind = MEM_B8),
    DS(read_i8, .action = MEM_LOAD, .kind = MEM_I8),
    DS(read_u16, .action = MEM_LOAD, .kind = MEM_B16),
    DS(read_i16, .action = MEM_LOAD, .kind = MEM_I16),
    DS(read_b32, .action = MEM_LOAD, .kind = MEM_B32),
    DS(read_b64, .action = MEM_LOAD, .kind = MEM_B64),
    DS(read_b96, .action = MEM_LOAD, .kind = MEM_B96),
    DS(read_b128, .action = MEM_LOAD, .kind = MEM_B128),
    DS(read_u8_d16, .action = MEM_LOAD, .kind = MEM_B8_D16),
    DS(read_u8_d16_hi, .action = MEM_LOAD, .kind = MEM_B8_D16_HI),
    DS(read_i8_d16, .action = MEM_LOAD, .kind = MEM_I8_D16),
    DS(read_i8_d16_hi, .action = MEM_LOAD, .kind = MEM_I8_D16_HI),
    DS(read_u16_d16, .action = MEM_LOAD, .kind = MEM_B16_D16),
    DS(read_u16_d16_hi, .action = MEM_LOAD, .kind = MEM_B16_D16_HI),
    DS(write_b8, .action = MEM_STORE, .kind = MEM_B8),
    DS(write_b8_d16_hi, .action = MEM_STORE, .kind = MEM_B8_D16_HI),
    DS(write_b16, .action = MEM_STORE, .kind = MEM_B16),
    DS(write_b16_d16_hi, .action = MEM_STORE, .kind = MEM_B16_D16_HI),
    DS(write_b32, .action = MEM_STORE, .kind = MEM_B32),
    DS(write_b64, .action = MEM_STORE, .kind = MEM_B64),
    DS(write_b96, .action = MEM_STORE, .kind = MEM_B96),
    DS(write_b128, .action = MEM_STORE, .kind = MEM_B128),
    DS(read2_b32, .action = MEM_LOAD2, .kind = MEM_B32, .scale = 1),
    DS(read2_b64, .action = MEM_LOAD2, .kind = MEM_B64, .scale = 2),
    DS(read2st64_b32, .action = MEM_LOAD2, .kind = MEM_B32, .scale = 64),
    DS(read2st64_b64, .action = MEM_LOAD2, .kind = MEM_B64, .scale = 128),
    DS(write2_b32, .action = MEM_STORE2, .kind = MEM_B32, .scale = 1),
    DS(write2_b64, .action = MEM_STORE2, .kind = MEM_B64, .scale = 2),
    DS(write2st64_b32, .action = MEM_STORE2, .kind = MEM_B32, .scale = 64),
    DS(write2st64_b64, .action = MEM_STORE2, .kind = MEM_B64, .scale = 128),
    DS(wrxchg2_rtn_b32, .action = MEM_EXCHANGE2, .kind = MEM_B32, .scale = 1),
    DS(wrxchg2_rtn_b64, .action = MEM_EXCHANGE2, .kind = MEM_B64, .scale = 2),
    DS(wrxchg2st64_rtn_b32, .action = MEM_EXCHANGE2, .kind = MEM_B32, .scale = 64),
    DS(wrxchg2st64_rtn_b64, .action = MEM_EXCHANGE2, .kind = MEM_B64, .scale = 128),
    DS_INTEGER(add, u, MEM_ADD),
    DS_INTEGER(sub, u, MEM_SUB),
    DS_INTEGER(rsub, u, MEM_RSUB),
    DS_INTEGER(inc, u, MEM_INC),
    DS_INTEGER(dec, u, MEM_DEC),
    DS_INTEGER(min, i, MEM_SMIN),
    DS_INTEGER(max, i, MEM_SMAX),
    DS_INTEGER(min, u, MEM_UMIN),
    DS_INTEGER(max, u, MEM_UMAX),
    DS_INTEGER(and, b, MEM_AND),
    DS_INTEGER(or, b, MEM_OR),
    DS_INTEGER(xor, b, MEM_XOR),
    DS_INTEGER(mskor, b, MEM_MSKOR),
    DS_INTEGER(cmpst, b, MEM_CMPSWAP),
    DS_INTEGER(cmpst, f, MEM_FCMPSWAP),
    DS_INTEGER(min, f, MEM_FMIN),
    DS_INTEGER(max, f, MEM_FMAX),
    DS_INTEGER(add, f, MEM_FADD),
    DS_TYPED(pk_add, f16, MEM_B32, MEM_PK_ADD_F16),
    DS_TYPED(pk_add, bf16, MEM_B32, MEM_PK_ADD_BF16),
    DS(wrxchg_rtn_b32, .action = MEM_ATOMIC, .kind = MEM_B32, .atomic = MEM_SWAP, .returns = true),
    DS(wrxchg_rtn_b64, .action = MEM_ATOMIC, .kind = MEM_B64, .atomic = MEM_SWAP, .returns = true),
    DS(wrap_rtn_b32, .action = MEM_ATOMIC, .kind = MEM_B32, .atomic = MEM_WRAP, .returns = true),
    DS(condxchg32_rtn_b64, .action = MEM_ATOMIC, .kind = MEM_B64, .atomic = MEM_CONDXCHG32, .returns = true),
    DS(read_addtid_b32, .action = MEM_LANES),
    DS(write_addtid_b32, .action = MEM_LANES),
    DS(swizzle_b32, .action = MEM_LANES),
    DS(permute_b32, .action = MEM_LANES),
    DS(bpermute_b32, .action = MEM_LANES),
    DS(append, .action = MEM_LANES),
    DS(consume, .action = MEM_LANES),
    DS(nop, .action = MEM_LANES),

    SCALAR_EACH(load_dword, .action = MEM_LOAD, .dwords = 1),
    SCALAR_EACH(load_dwordx2, .action = MEM_LOAD, .dwords = 2),
    SCALAR_EACH(load_dwordx4, .action = MEM_LOAD, .dwords = 4),
    SCALAR_BOTH(load_dwordx8, .action = MEM_LOAD, .dwords = 8),
    SCALAR_BOTH(load_dwordx16, .action = MEM_LOAD, .dwords = 16),
    SCALAR_EACH(store_dword, .action = MEM_STORE, .dwords = 1),
    SCALAR_EACH(store_dwordx2, .action = MEM_STORE, .dwords = 2),
    SCALAR_EACH(store_dwordx4, .action = MEM_STORE, .dwords = 4),
    SCALAR(dcache_inv, .action = MEM_FENCE),
    SCALAR(dcache_inv_vol, .action = MEM_FENCE),
    SCALAR(dcache_wb, .action = MEM_FENCE),
    SCALAR(dcache_wb_vol, .action = MEM_FENCE),
};

const struct mem_op *mem_op_of(unsigned op)
{
    return &ops[op < ISA_OP_COUNT ? op : ISA_OP_INVALID];
}
