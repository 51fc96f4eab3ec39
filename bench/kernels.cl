// SPDX-License-Identifier: MIT
// Kernels of the benchmarks.  Built with
//   clang-22 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -O3 kernels.cl -o kernels.hsaco
// and checked in, so that the benchmarks run without a compiler for gfx942.
#define REPEAT16(x) x x x x x x x x x x x x x x x x
#define WORK_ITEM   (__builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x())

kernel void empty(void)
{
}

// 64 instructions a loop round, eight independent chains.
kernel void fma_f32(global float *out, int rounds)
{
    float a0 = (float)WORK_ITEM, a1 = a0 + 1, a2 = a0 + 2, a3 = a0 + 3, a4 = a0 + 4, a5 = a0 + 5, a6 = a0 + 6, a7 = a0 + 7;
    float m = a0 * 1.0e-6f, c = a0 * 1.0e-3f;
    for (int i = 0; i < rounds; i++) {
#define STEP                                                                                                           \
    __asm__ volatile("v_fma_f32 %0, %0, %8, %9\n v_fma_f32 %1, %1, %8, %9\n v_fma_f32 %2, %2, %8, %9\n"                     \
                 "v_fma_f32 %3, %3, %8, %9\n v_fma_f32 %4, %4, %8, %9\n v_fma_f32 %5, %5, %8, %9\n"                     \
                 "v_fma_f32 %6, %6, %8, %9\n v_fma_f32 %7, %7, %8, %9"                                                  \
                 : "+v"(a0), "+v"(a1), "+v"(a2), "+v"(a3), "+v"(a4), "+v"(a5), "+v"(a6), "+v"(a7)                       \
                 : "v"(m), "v"(c));
        STEP STEP STEP STEP STEP STEP STEP STEP
#undef STEP
    }
    out[WORK_ITEM] = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7;
}

// One instruction 64 times a round: NAME is the kernel, TEXT the assembly with %0 = in/out, %1 = input.
#define ONE(NAME, TYPE, TEXT)                                                                                          \
    kernel void NAME(global TYPE *out, int rounds)                                                                     \
    {                                                                                                                  \
        TYPE a = (TYPE)WORK_ITEM, b = (TYPE)(WORK_ITEM + 3);                                                           \
        __asm__ volatile("s_nop 1" : "+v"(b)); /* which DPP reads */                                                   \
        for (int i = 0; i < rounds; i++) {                                                                             \
            REPEAT16(__asm__ volatile(TEXT "\n" TEXT "\n" TEXT "\n" TEXT : "+v"(a) : "v"(b) : "vcc");)                     \
        }                                                                                                              \
        out[WORK_ITEM] = a;                                                                                            \
    }
ONE(add_f32, float, "v_add_f32 %0, %0, %1")
ONE(mul_f32_scalar, float, "v_mul_f32 %0, 0x3f800001, %0")
ONE(add_u32, uint, "v_add_u32 %0, %0, %1")
ONE(mul_lo_u32, uint, "v_mul_lo_u32 %0, %0, %1")
ONE(lshl_add_u32, uint, "v_lshl_add_u32 %0, %0, 2, %1")
ONE(and_or_b32, uint, "v_and_or_b32 %0, %0, %1, %1")
ONE(add_co_u32, uint, "v_add_co_u32 %0, vcc, %0, %1")
ONE(cmp_cndmask, uint, "v_cmp_lt_u32 vcc, %0, %1\n s_nop 1\n v_cndmask_b32 %0, %0, %1, vcc")
ONE(fma_f64, double, "v_fma_f64 %0, %0, %1, %1")
ONE(add_f16, uint, "v_add_f16 %0, %0, %1")
ONE(pk_fma_f16, uint, "v_pk_fma_f16 %0, %0, %1, %1")
ONE(rcp_f32, float, "v_rcp_f32 %0, %1")
ONE(exp_f32, float, "v_exp_f32 %0, %1")
ONE(cvt_i32_f32, uint, "v_cvt_i32_f32 %0, %1")
ONE(mov_dpp, uint, "v_mov_b32_dpp %0, %1 row_shr:1 row_mask:0xf bank_mask:0xf")
ONE(add_sdwa, uint, "v_add_u32_sdwa %0, %0, %1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_0")
ONE(readlane, uint, "v_readfirstlane_b32 s20, %1")
ONE(bpermute, uint, "ds_bpermute_b32 %0, %1, %0\n s_waitcnt lgkmcnt(0)")

// Scalar unit.
kernel void salu(global int *out, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        REPEAT16(__asm__ volatile("s_add_u32 s20, s20, s21\n s_and_b32 s22, s20, s21\n s_lshl_b32 s23, s22, 2\n s_cmp_lg_u32 s23, 0" ::: "s20", "s21", "s22", "s23", "scc");)
    }
    out[WORK_ITEM] = rounds;
}

// Half of the lanes are off.
kernel void fma_half(global float *out, int rounds)
{
    float a = (float)WORK_ITEM, b = a + 1;
    if (WORK_ITEM & 1) {
        for (int i = 0; i < rounds; i++) {
            REPEAT16(__asm__ volatile("v_fma_f32 %0, %0, %1, %1\n v_fma_f32 %0, %0, %1, %1\n v_fma_f32 %0, %0, %1, %1\n v_fma_f32 %0, %0, %1, %1" : "+v"(a) : "v"(b));)
        }
    }
    out[WORK_ITEM] = a;
}

kernel void lds_read(global float *out, int rounds)
{
    local float tile[512];
    uint t = __builtin_amdgcn_workitem_id_x();
    tile[t] = tile[t + 256] = (float)t;
    local float *p = tile + t;
    float sum = 0;
    for (int i = 0; i < rounds; i++) {
        float x;
        REPEAT16(__asm__ volatile("ds_read_b32 %0, %1\n ds_read_b32 %0, %1 offset:4\n ds_read_b32 %0, %1 offset:8\n ds_read_b32 %0, %1 offset:12\n s_waitcnt lgkmcnt(0)" : "=v"(x) : "v"(p) : "memory");)
        sum += x;
    }
    out[WORK_ITEM] = sum;
}

kernel void global_read(global float *out, int rounds)
{
    global float *p = out + WORK_ITEM;
    for (int i = 0; i < rounds; i++) {
        float x;
        REPEAT16(__asm__ volatile("global_load_dword %0, %1, off\n global_load_dword %0, %1, off offset:256\n global_load_dword %0, %1, off offset:512\n global_load_dword %0, %1, off offset:768\n s_waitcnt vmcnt(0)" : "=v"(x) : "v"(p));)
    }
    *p = 1;
}

kernel void global_gather(global float *out, int rounds)
{
    global float *p = out + ((WORK_ITEM * 2654435761u) & 0x3fff);
    for (int i = 0; i < rounds; i++) {
        float x;
        REPEAT16(__asm__ volatile("global_load_dword %0, %1, off\n global_load_dword %0, %1, off offset:4\n global_load_dword %0, %1, off offset:8\n global_load_dword %0, %1, off offset:12\n s_waitcnt vmcnt(0)" : "=v"(x) : "v"(p));)
    }
    out[WORK_ITEM] = 1;
}

kernel void vector_add(global const float *a, global const float *b, global float *c)
{
    uint i = WORK_ITEM;
    c[i] = a[i] + b[i];
}
