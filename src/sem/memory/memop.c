/* SPDX-License-Identifier: MIT */
/*
 * What each memory instruction does to memory, as a table over meanings.  The
 * families choose their handlers by it, and the fault handler names accesses.
 */
#include "sem/memory/memop.h"

/* FLAT, GLOBAL and SCRATCH share names. */
#define SEGMENTS(name, ...)                                                                                  \
    [ISA_OP_flat_##name] = {.space = MEMOP_FLAT, __VA_ARGS__},                                               \
    [ISA_OP_global_##name] = {.space = MEMOP_GLOBAL, __VA_ARGS__},                                           \
    [ISA_OP_scratch_##name] = {.space = MEMOP_SCRATCH, __VA_ARGS__},                                         \
    [ISA_OP_buffer_##name] = {.space = MEMOP_BUFFER, __VA_ARGS__}

#define VECTOR_LOAD(name, KIND)  SEGMENTS(load_##name, .action = MEMOP_LOAD, .kind = KIND)
#define VECTOR_STORE(name, KIND) SEGMENTS(store_##name, .action = MEMOP_STORE, .kind = KIND)

#define LDS_LOAD(name, KIND)                                                                                 \
    [ISA_OP_global_load_lds_##name] = {.space = MEMOP_GLOBAL, .action = MEMOP_LOAD_LDS, .kind = KIND},       \
    [ISA_OP_scratch_load_lds_##name] = {.space = MEMOP_SCRATCH, .action = MEMOP_LOAD_LDS, .kind = KIND}

#define VECTOR_ATOMIC_FLAT(name, KIND, OP)                                                                   \
    [ISA_OP_flat_atomic_##name] = {.space = MEMOP_FLAT, .action = MEMOP_ATOMIC, .kind = KIND, .atomic = OP}, \
    [ISA_OP_global_atomic_##                                                                                 \
        name] = {.space = MEMOP_GLOBAL, .action = MEMOP_ATOMIC, .kind = KIND, .atomic = OP}
#define VECTOR_ATOMIC(name, KIND, OP)                                                                        \
    VECTOR_ATOMIC_FLAT(name, KIND, OP),                                                                      \
        [ISA_OP_buffer_atomic_##                                                                             \
            name] = {.space = MEMOP_BUFFER, .action = MEMOP_ATOMIC, .kind = KIND, .atomic = OP}

#define SCALAR_ATOMIC_1(name, KIND, OP)                                                                      \
    [ISA_OP_s_##name] = {.space = MEMOP_SCALAR, .action = MEMOP_ATOMIC, .kind = KIND, .atomic = OP}
#define SCALAR_ATOMIC(name, KIND, OP)                                                                        \
    SCALAR_ATOMIC_1(atomic_##name, KIND, OP), SCALAR_ATOMIC_1(buffer_atomic_##name, KIND, OP)

/* Integer atomics: 32 bits, and 64 bits with _x2. */
#define INTEGER_ATOMIC(name, OP)                                                                             \
    VECTOR_ATOMIC(name, MEMOP_B32, OP), VECTOR_ATOMIC(name##_x2, MEMOP_B64, OP),                             \
        SCALAR_ATOMIC(name, MEMOP_B32, OP), SCALAR_ATOMIC(name##_x2, MEMOP_B64, OP)

#define DS(name, ...) [ISA_OP_ds_##name] = {.space = MEMOP_LDS, __VA_ARGS__}
#define DS_ATOMIC(name, rtn_name, KIND, OP)                                                                  \
    DS(name, .action = MEMOP_ATOMIC, .kind = KIND, .atomic = OP),                                            \
        DS(rtn_name, .action = MEMOP_ATOMIC, .kind = KIND, .atomic = OP, .returns = true)
#define DS_TYPED(name, type, KIND, OP) DS_ATOMIC(name##_##type, name##_rtn_##type, KIND, OP)
#define DS_INTEGER(name, t, OP) DS_TYPED(name, t##32, MEMOP_B32, OP), DS_TYPED(name, t##64, MEMOP_B64, OP)

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

#define SCALAR(name, ...)      [ISA_OP_s_##name] = {.space = MEMOP_SCALAR, __VA_ARGS__}
#define SCALAR_BOTH(name, ...) SCALAR(name, __VA_ARGS__), SCALAR(buffer_##name, __VA_ARGS__)
#define SCALAR_EACH(name, ...)                                                                               \
    SCALAR_BOTH(name, __VA_ARGS__), SCALAR(scratch_##name, __VA_ARGS__, .scratch = true)

static const struct memop ops[ISA_OP_COUNT] = {
    VECTOR_LOAD(ubyte, MEMOP_B8),
    VECTOR_LOAD(sbyte, MEMOP_I8),
    VECTOR_LOAD(ushort, MEMOP_B16),
    VECTOR_LOAD(sshort, MEMOP_I16),
    VECTOR_LOAD(dword, MEMOP_B32),
    VECTOR_LOAD(dwordx2, MEMOP_B64),
    VECTOR_LOAD(dwordx3, MEMOP_B96),
    VECTOR_LOAD(dwordx4, MEMOP_B128),
    VECTOR_LOAD(ubyte_d16, MEMOP_B8_D16),
    VECTOR_LOAD(ubyte_d16_hi, MEMOP_B8_D16_HI),
    VECTOR_LOAD(sbyte_d16, MEMOP_I8_D16),
    VECTOR_LOAD(sbyte_d16_hi, MEMOP_I8_D16_HI),
    VECTOR_LOAD(short_d16, MEMOP_B16_D16),
    VECTOR_LOAD(short_d16_hi, MEMOP_B16_D16_HI),
    VECTOR_STORE(byte, MEMOP_B8),
    VECTOR_STORE(byte_d16_hi, MEMOP_B8_D16_HI),
    VECTOR_STORE(short, MEMOP_B16),
    VECTOR_STORE(short_d16_hi, MEMOP_B16_D16_HI),
    VECTOR_STORE(dword, MEMOP_B32),
    VECTOR_STORE(dwordx2, MEMOP_B64),
    VECTOR_STORE(dwordx3, MEMOP_B96),
    VECTOR_STORE(dwordx4, MEMOP_B128),
    LDS_LOAD(ubyte, MEMOP_B8),
    LDS_LOAD(sbyte, MEMOP_I8),
    LDS_LOAD(ushort, MEMOP_B16),
    LDS_LOAD(sshort, MEMOP_I16),
    LDS_LOAD(dword, MEMOP_B32),

    INTEGER_ATOMIC(swap, MEMOP_SWAP),
    INTEGER_ATOMIC(cmpswap, MEMOP_CMPSWAP),
    INTEGER_ATOMIC(add, MEMOP_ADD),
    INTEGER_ATOMIC(sub, MEMOP_SUB),
    INTEGER_ATOMIC(smin, MEMOP_SMIN),
    INTEGER_ATOMIC(umin, MEMOP_UMIN),
    INTEGER_ATOMIC(smax, MEMOP_SMAX),
    INTEGER_ATOMIC(umax, MEMOP_UMAX),
    INTEGER_ATOMIC(and, MEMOP_AND),
    INTEGER_ATOMIC(or, MEMOP_OR),
    INTEGER_ATOMIC(xor, MEMOP_XOR),
    INTEGER_ATOMIC(inc, MEMOP_INC),
    INTEGER_ATOMIC(dec, MEMOP_DEC),
    VECTOR_ATOMIC(add_f32, MEMOP_B32, MEMOP_FADD),
    VECTOR_ATOMIC(pk_add_f16, MEMOP_B32, MEMOP_PK_ADD_F16),
    VECTOR_ATOMIC_FLAT(pk_add_bf16, MEMOP_B32, MEMOP_PK_ADD_BF16),
    VECTOR_ATOMIC(add_f64, MEMOP_B64, MEMOP_FADD),
    VECTOR_ATOMIC(min_f64, MEMOP_B64, MEMOP_FMIN),
    VECTOR_ATOMIC(max_f64, MEMOP_B64, MEMOP_FMAX),

    FORMATS(buffer, MEMOP_BUFFER, load, MEMOP_LOAD_FORMAT),
    FORMATS(buffer, MEMOP_BUFFER, store, MEMOP_STORE_FORMAT),
    FORMATS(tbuffer, MEMOP_TBUFFER, load, MEMOP_LOAD_FORMAT),
    FORMATS(tbuffer, MEMOP_TBUFFER, store, MEMOP_STORE_FORMAT),
    [ISA_OP_buffer_load_format_d16_hi_x] =
        {.space = MEMOP_BUFFER, .action = MEMOP_LOAD_FORMAT, .kind = 1, .d16 = true, .high = true},
    [ISA_OP_buffer_store_format_d16_hi_x] =
        {.space = MEMOP_BUFFER, .action = MEMOP_STORE_FORMAT, .kind = 1, .d16 = true, .high = true},
    [ISA_OP_buffer_inv] = {.space = MEMOP_BUFFER, .action = MEMOP_FENCE},
    [ISA_OP_buffer_wbl2] = {.space = MEMOP_BUFFER, .action = MEMOP_FENCE},

    DS(read_u8, .action = MEMOP_LOAD, .kind = MEMOP_B8),
    DS(read_i8, .action = MEMOP_LOAD, .kind = MEMOP_I8),
    DS(read_u16, .action = MEMOP_LOAD, .kind = MEMOP_B16),
    DS(read_i16, .action = MEMOP_LOAD, .kind = MEMOP_I16),
    DS(read_b32, .action = MEMOP_LOAD, .kind = MEMOP_B32),
    DS(read_b64, .action = MEMOP_LOAD, .kind = MEMOP_B64),
    DS(read_b96, .action = MEMOP_LOAD, .kind = MEMOP_B96),
    DS(read_b128, .action = MEMOP_LOAD, .kind = MEMOP_B128),
    DS(read_u8_d16, .action = MEMOP_LOAD, .kind = MEMOP_B8_D16),
    DS(read_u8_d16_hi, .action = MEMOP_LOAD, .kind = MEMOP_B8_D16_HI),
    DS(read_i8_d16, .action = MEMOP_LOAD, .kind = MEMOP_I8_D16),
    DS(read_i8_d16_hi, .action = MEMOP_LOAD, .kind = MEMOP_I8_D16_HI),
    DS(read_u16_d16, .action = MEMOP_LOAD, .kind = MEMOP_B16_D16),
    DS(read_u16_d16_hi, .action = MEMOP_LOAD, .kind = MEMOP_B16_D16_HI),
    DS(write_b8, .action = MEMOP_STORE, .kind = MEMOP_B8),
    DS(write_b8_d16_hi, .action = MEMOP_STORE, .kind = MEMOP_B8_D16_HI),
    DS(write_b16, .action = MEMOP_STORE, .kind = MEMOP_B16),
    DS(write_b16_d16_hi, .action = MEMOP_STORE, .kind = MEMOP_B16_D16_HI),
    DS(write_b32, .action = MEMOP_STORE, .kind = MEMOP_B32),
    DS(write_b64, .action = MEMOP_STORE, .kind = MEMOP_B64),
    DS(write_b96, .action = MEMOP_STORE, .kind = MEMOP_B96),
    DS(write_b128, .action = MEMOP_STORE, .kind = MEMOP_B128),
    DS(read2_b32, .action = MEMOP_LOAD2, .kind = MEMOP_B32, .scale = 1),
    DS(read2_b64, .action = MEMOP_LOAD2, .kind = MEMOP_B64, .scale = 2),
    DS(read2st64_b32, .action = MEMOP_LOAD2, .kind = MEMOP_B32, .scale = 64),
    DS(read2st64_b64, .action = MEMOP_LOAD2, .kind = MEMOP_B64, .scale = 128),
    DS(write2_b32, .action = MEMOP_STORE2, .kind = MEMOP_B32, .scale = 1),
    DS(write2_b64, .action = MEMOP_STORE2, .kind = MEMOP_B64, .scale = 2),
    DS(write2st64_b32, .action = MEMOP_STORE2, .kind = MEMOP_B32, .scale = 64),
    DS(write2st64_b64, .action = MEMOP_STORE2, .kind = MEMOP_B64, .scale = 128),
    DS(wrxchg2_rtn_b32, .action = MEMOP_EXCHANGE2, .kind = MEMOP_B32, .scale = 1),
    DS(wrxchg2_rtn_b64, .action = MEMOP_EXCHANGE2, .kind = MEMOP_B64, .scale = 2),
    DS(wrxchg2st64_rtn_b32, .action = MEMOP_EXCHANGE2, .kind = MEMOP_B32, .scale = 64),
    DS(wrxchg2st64_rtn_b64, .action = MEMOP_EXCHANGE2, .kind = MEMOP_B64, .scale = 128),
    DS_INTEGER(add, u, MEMOP_ADD),
    DS_INTEGER(sub, u, MEMOP_SUB),
    DS_INTEGER(rsub, u, MEMOP_RSUB),
    DS_INTEGER(inc, u, MEMOP_INC),
    DS_INTEGER(dec, u, MEMOP_DEC),
    DS_INTEGER(min, i, MEMOP_SMIN),
    DS_INTEGER(max, i, MEMOP_SMAX),
    DS_INTEGER(min, u, MEMOP_UMIN),
    DS_INTEGER(max, u, MEMOP_UMAX),
    DS_INTEGER(and, b, MEMOP_AND),
    DS_INTEGER(or, b, MEMOP_OR),
    DS_INTEGER(xor, b, MEMOP_XOR),
    DS_INTEGER(mskor, b, MEMOP_MSKOR),
    DS_INTEGER(cmpst, b, MEMOP_CMPSWAP),
    DS_INTEGER(cmpst, f, MEMOP_FCMPSWAP),
    DS_INTEGER(min, f, MEMOP_FMIN),
    DS_INTEGER(max, f, MEMOP_FMAX),
    DS_INTEGER(add, f, MEMOP_FADD),
    DS_TYPED(pk_add, f16, MEMOP_B32, MEMOP_PK_ADD_F16),
    DS_TYPED(pk_add, bf16, MEMOP_B32, MEMOP_PK_ADD_BF16),
    DS(wrxchg_rtn_b32, .action = MEMOP_ATOMIC, .kind = MEMOP_B32, .atomic = MEMOP_SWAP, .returns = true),
    DS(wrxchg_rtn_b64, .action = MEMOP_ATOMIC, .kind = MEMOP_B64, .atomic = MEMOP_SWAP, .returns = true),
    DS(wrap_rtn_b32, .action = MEMOP_ATOMIC, .kind = MEMOP_B32, .atomic = MEMOP_WRAP, .returns = true),
    DS(condxchg32_rtn_b64, .action = MEMOP_ATOMIC, .kind = MEMOP_B64, .atomic = MEMOP_CONDXCHG32,
       .returns = true),
    DS(read_addtid_b32, .action = MEMOP_LANES),
    DS(write_addtid_b32, .action = MEMOP_LANES),
    DS(swizzle_b32, .action = MEMOP_LANES),
    DS(permute_b32, .action = MEMOP_LANES),
    DS(bpermute_b32, .action = MEMOP_LANES),
    DS(append, .action = MEMOP_LANES),
    DS(consume, .action = MEMOP_LANES),
    DS(nop, .action = MEMOP_LANES),

    SCALAR_EACH(load_dword, .action = MEMOP_LOAD, .dwords = 1),
    SCALAR_EACH(load_dwordx2, .action = MEMOP_LOAD, .dwords = 2),
    SCALAR_EACH(load_dwordx4, .action = MEMOP_LOAD, .dwords = 4),
    SCALAR_BOTH(load_dwordx8, .action = MEMOP_LOAD, .dwords = 8),
    SCALAR_BOTH(load_dwordx16, .action = MEMOP_LOAD, .dwords = 16),
    SCALAR_EACH(store_dword, .action = MEMOP_STORE, .dwords = 1),
    SCALAR_EACH(store_dwordx2, .action = MEMOP_STORE, .dwords = 2),
    SCALAR_EACH(store_dwordx4, .action = MEMOP_STORE, .dwords = 4),
    SCALAR(dcache_inv, .action = MEMOP_FENCE),
    SCALAR(dcache_inv_vol, .action = MEMOP_FENCE),
    SCALAR(dcache_wb, .action = MEMOP_FENCE),
    SCALAR(dcache_wb_vol, .action = MEMOP_FENCE),
};

const struct memop *memop_of(unsigned op)
{
    return &ops[op < ISA_OP_COUNT ? op : ISA_OP_INVALID];
}
