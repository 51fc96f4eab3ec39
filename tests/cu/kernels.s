// SPDX-License-Identifier: MIT
// Sequences of instructions whose cycles tests/cu/issue.c knows. kernels.hsaco is made of this by
//
//   clang -target amdgcn-amd-amdhsa -mcpu=gfx942 -Wl,--build-id=none kernels.s -o kernels.hsaco
//
// The kernel `run` jumps to the function that its argument names, with
//   s3  wave of the workgroup         s[4:5]   where its results go
//   s[8:9] the argument's memory      v0       work-item
// It is left by `done`, which stores s[16:23].
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text

.protected run
.globl run
.p2align 8
.type run,@function
run:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  v_readfirstlane_b32 s3, v0
  s_lshr_b32 s3, s3, 6
  s_lshl_b32 s10, s2, 10 // a kilobyte for each workgroup, 64 bytes for each wave
  s_lshl_b32 s11, s3, 6
  s_add_u32 s10, s10, s11
  s_mov_b64 s[16:17], 0
  s_mov_b64 s[18:19], 0
  s_mov_b64 s[20:21], 0
  s_getreg_b32 s22, hwreg(HW_REG_HW_ID)
  s_mov_b32 s23, 0
  v_mov_b32 v1, 1.0
  v_mov_b32 v2, 1.0
  v_mov_b32 v3, 1.0
  s_waitcnt lgkmcnt(0)
  s_add_u32 s4, s4, s10
  s_addc_u32 s5, s5, 0
  s_setpc_b64 s[6:7]
.size run, .-run

.protected done
.globl done
.p2align 8
.type done,@function
done:
  s_mov_b64 exec, 1
  v_mov_b32 v0, 0
  v_mov_b32 v4, s16
  v_mov_b32 v5, s17
  v_mov_b32 v6, s18
  v_mov_b32 v7, s19
  v_mov_b32 v8, s20
  v_mov_b32 v9, s21
  v_mov_b32 v10, s22
  v_mov_b32 v11, s23
  global_store_dwordx4 v0, v[4:7], s[4:5]
  global_store_dwordx4 v0, v[8:11], s[4:5] offset:16
  s_endpgm
.size done, .-done

// A function: `before`, then twice what is between `timed` and `end`, of which the second time counts: its
// instructions are then in the cache.
.macro function name
.protected \name
.globl \name
.p2align 8
.type \name,@function
\name:
  s_mov_b32 s24, 2
.endm
.macro timed together=0
.p2align 6
loop\@_:
.set here, loop\@_
  s_waitcnt vmcnt(0) lgkmcnt(0)
.if \together
  s_barrier
.endif
  s_memtime s[16:17]
  s_waitcnt lgkmcnt(0)
.endm
.macro end name
  s_memtime s[18:19]
  s_waitcnt lgkmcnt(0)
  s_sub_u32 s24, s24, 1
  s_cmp_lg_u32 s24, 0
  s_cbranch_scc1 here
  s_branch done
.size \name, .-\name
.endm
.macro sequence name, times, instruction:vararg
function \name
timed
.rept \times
  \instruction
.endr
end \name
.endm

sequence nothing, 0, s_nop 0
sequence nop_0, 1, s_nop 0
sequence nop_7, 1, s_nop 7
sequence nop_15, 1, s_nop 15
sequence sleep_1, 1, s_sleep 1
sequence sleep_3, 1, s_sleep 3
sequence salu, 8, s_add_u32 s30, s30, 1
sequence valu, 8, v_add_f32 v4, v4, v1
sequence packed, 4, v_pk_fma_f32 v[4:5], v[4:5], v[2:3], v[2:3]
sequence double, 4, v_fma_f64 v[4:5], v[4:5], v[2:3], v[2:3]
sequence rcp, 4, v_rcp_f32 v4, v1
sequence exp16, 4, v_exp_f16 v4, v1
sequence rcp64, 2, v_rcp_f64 v[4:5], v[2:3]
sequence mul_lo, 4, v_mul_lo_u32 v4, v1, v2
sequence mul_24, 4, v_mul_u32_u24 v4, v1, v2
sequence mad_64, 4, v_mad_u64_u32 v[4:5], vcc, v1, v2, v[2:3]
sequence cvt, 4, v_cvt_f32_i32 v4, v1
sequence cvt16, 4, v_cvt_f16_f32 v4, v1
sequence cvt64, 4, v_cvt_f64_i32 v[4:5], v1
sequence swap, 2, v_swap_b32 v4, v5

// A transcendental has the SIMD's lanes, not the scalar unit; but its wave waits for it.
function rcp_salu
timed
  v_rcp_f32 v4, v1
  s_add_u32 s30, s30, 1
end rcp_salu

// Matrix: independent ones follow when the core is free.
.macro pair name, first, second
function \name
timed
  \first
  \second
end \name
.endm
pair mfma_4x4, "v_mfma_f32_4x4x4_16b_f16 v[4:7], v[2:3], v[2:3], 0", "v_mfma_f32_4x4x4_16b_f16 v[8:11], v[2:3], v[2:3], 0"
pair mfma_16x16_f16, "v_mfma_f32_16x16x16_f16 v[4:7], v[2:3], v[2:3], 0", "v_mfma_f32_16x16x16_f16 v[8:11], v[2:3], v[2:3], 0"
pair mfma_16x16_f32, "v_mfma_f32_16x16x4_f32 v[4:7], v2, v3, 0", "v_mfma_f32_16x16x4_f32 v[8:11], v2, v3, 0"
pair mfma_32x32_f16, "v_mfma_f32_32x32x8_f16 v[4:19], v[2:3], v[2:3], 0", "v_mfma_f32_32x32x8_f16 v[20:35], v[2:3], v[2:3], 0"
pair mfma_32x32_f32, "v_mfma_f32_32x32x2_f32 v[4:19], v2, v3, 0", "v_mfma_f32_32x32x2_f32 v[20:35], v2, v3, 0"
pair mfma_16x16_f64, "v_mfma_f64_16x16x4_f64 v[4:11], v[2:3], v[2:3], 0", "v_mfma_f64_16x16x4_f64 v[12:19], v[2:3], v[2:3], 0"
pair mfma_4x4_f64, "v_mfma_f64_4x4x4_4b_f64 v[4:5], v[2:3], v[2:3], 0", "v_mfma_f64_4x4x4_4b_f64 v[6:7], v[2:3], v[2:3], 0"
pair mfma_read_16x16, "v_mfma_f32_16x16x16_f16 v[4:7], v[2:3], v[2:3], 0", "v_add_f32 v40, v4, v1"
pair mfma_read_32x32, "v_mfma_f32_32x32x2_f32 v[4:19], v2, v3, 0", "v_add_f32 v40, v19, v1"
pair mfma_overwrite, "v_mfma_f32_16x16x16_f16 v[4:7], v[2:3], v[2:3], 0", "v_mov_b32 v7, v1"
pair mfma_next_register, "v_mfma_f32_16x16x16_f16 v[4:7], v[2:3], v[2:3], 0", "v_mov_b32 v8, v1"
pair mfma_beside_xf32, "v_mfma_f32_16x16x8_xf32 v[4:7], v[2:3], v[2:3], 0", "v_mov_b32 v8, v1"
pair mfma_beside_f32, "v_mfma_f32_16x16x4_f32 v[4:7], v2, v3, 0", "v_mov_b32 v8, v1"
pair mfma_beside_f64, "v_mfma_f64_4x4x4_4b_f64 v[4:5], v[2:3], v[2:3], 0", "v_mov_b32 v8, v1"
pair mfma_beside_sparse, "v_smfmac_f32_16x16x32_f16 v[4:7], v[2:3], v[10:13], v14", "v_mov_b32 v8, v1"
pair mfma_accumulate, "v_mfma_f32_16x16x16_f16 v[4:7], v[2:3], v[2:3], v[4:7]", "v_mfma_f32_16x16x16_f16 v[4:7], v[2:3], v[2:3], v[4:7]"
pair mfma_factor, "v_mfma_f32_16x16x16_f16 v[4:7], v[2:3], v[2:3], 0", "v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[2:3], 0"
pair mfma_salu, "v_mfma_f32_32x32x2_f32 v[4:19], v2, v3, 0", "s_add_u32 s30, s30, 1"

// LDS. v4: the address.
.macro lds name, shift, mask, instruction:vararg
function \name
  v_and_b32 v4, \mask, v0
  v_lshlrev_b32 v4, \shift, v4
timed
  \instruction
  s_waitcnt lgkmcnt(0)
end \name
.endm
lds lds_read, 2, 63, ds_read_b32 v8, v4
lds lds_broadcast, 2, 0, ds_read_b32 v8, v4
lds lds_pairs, 2, 31, ds_read_b32 v8, v4
lds lds_conflict_2, 3, 63, ds_read_b32 v8, v4
lds lds_conflict_4, 4, 63, ds_read_b32 v8, v4
lds lds_conflict_32, 7, 63, ds_read_b32 v8, v4
lds lds_bytes, 0, 63, ds_read_u8 v8, v4
lds lds_read_64, 3, 63, ds_read_b64 v[8:9], v4
lds lds_read_128, 4, 63, ds_read_b128 v[8:11], v4
lds lds_conflict_64, 4, 63, ds_read_b64 v[8:9], v4
lds lds_permute, 2, 63, ds_bpermute_b32 v8, v4, v1
lds lds_read2, 2, 63, ds_read2_b32 v[8:9], v4 offset1:64
lds lds_add, 2, 63, ds_add_u32 v4, v1
lds lds_add_same, 2, 0, ds_add_u32 v4, v1
lds lds_add_4, 2, 7, ds_add_rtn_u32 v8, v4, v1
lds lds_add_64_same, 3, 0, ds_add_u64 v4, v[2:3]
lds lds_exchange2, 2, 31, ds_wrxchg2_rtn_b32 v[8:9], v4, v1, v1 offset1:64
// Four lanes and four of the other half of 32 have the banks for themselves, four and the next four have not.
.macro quads name, instruction:vararg
function \name
  v_and_b32 v4, 3, v0
  v_lshlrev_b32 v4, 4, v4
  v_and_b32 v5, 16, v0
  v_lshlrev_b32 v5, 2, v5
  v_and_b32 v6, 12, v0
  v_lshlrev_b32 v6, 5, v6
  v_or3_b32 v4, v4, v5, v6
timed
  \instruction
  s_waitcnt lgkmcnt(0)
end \name
.endm
quads lds_read_quads, ds_read_b128 v[8:11], v4
quads lds_write_quads, ds_write_b128 v4, v[8:11]

// s_waitcnt lets a wave go on as soon as few enough are under way.
function lds_two
  v_lshlrev_b32 v4, 2, v0
timed
  ds_read_b32 v8, v4
  ds_read_b32 v9, v4
  s_waitcnt lgkmcnt(1)
end lds_two
function lds_unwaited
  v_lshlrev_b32 v4, 2, v0
timed
  ds_read_b32 v8, v4
  s_waitcnt lgkmcnt(1)
end lds_unwaited

// Vector memory, in the cache; vmcnt counts down in order.
function load_all
  v_lshlrev_b32 v4, 2, v0
timed
  global_load_dword v8, v4, s[8:9]
  s_waitcnt vmcnt(0)
end load_all
function load_one_of_two
  v_lshlrev_b32 v4, 2, v0
timed
  global_load_dword v8, v4, s[8:9]
  global_load_dword v9, v4, s[8:9]
  s_waitcnt vmcnt(1)
end load_one_of_two
function load_both
  v_lshlrev_b32 v4, 2, v0
timed
  global_load_dword v8, v4, s[8:9]
  global_load_dword v9, v4, s[8:9]
  s_waitcnt vmcnt(0)
end load_both
function load_unwaited
  v_lshlrev_b32 v4, 2, v0
timed
  global_load_dword v8, v4, s[8:9]
  s_waitcnt vmcnt(1)
end load_unwaited
function load_scalar
timed
  s_load_dword s30, s[8:9], 0x0
  s_waitcnt lgkmcnt(0)
end load_scalar

// Branches, within the line.
function branch_taken
timed
  s_branch 1f
1:
end branch_taken
function branch_not_taken
timed
  s_cbranch_execz 1f
1:
end branch_not_taken
// To a line that is in the instruction cache, but not in the wave's buffer.
function branch_far
timed
  s_branch 1f
  .p2align 6
  s_endpgm
  .p2align 6
  s_endpgm
  .p2align 6
1:
end branch_far
// Within half a line, and to the last instruction of a line.
function branch_near
.p2align 6
timed
  s_branch 1f
  s_nop 0
1:
end branch_near
function branch_to_end
timed
  s_branch 1f
.p2align 6
.rept 15
  s_nop 0
.endr
1:
.rept 4
  s_nop 0
.endr
end branch_to_end
// The next line has been asked for when the program comes there.
function lines
timed
.rept 40
  s_add_u32 s30, s30, 1
.endr
end lines
// Only the first time is the line not in the cache, nor read ahead, which ends with the page: s[20:21] and
// s[22:23] around it.
function miss
timed
  s_cmp_eq_u32 s24, 2
  s_cbranch_scc0 2f
  s_memtime s[20:21]
  s_waitcnt lgkmcnt(0)
  s_branch 1f
2:
end miss
  .p2align 8
  s_endpgm
  .p2align 12
1:
  s_memtime s[22:23]
  s_waitcnt lgkmcnt(0)
  s_branch 2b

// A loop of two instructions after so many others in a line of 64 bytes, 100 times by each wave from a barrier on.
.macro short_loop name, before
function \name
timed 1
  s_movk_i32 s30, 99
.p2align 6
.rept \before
  s_nop 0
.endr
1:
  s_sub_u32 s30, s30, 1
  s_cbranch_scc0 1b
end \name
.endm
short_loop loop_in_half, 0
short_loop loop_over_halves, 7

// Each wave has jumps of its own to take, on other SIMDs at the same time.
function branches
timed 1
.rept 8
  s_cbranch_execz 1f
1:
.endr
end branches

// Two waves on one SIMD, others leave: each adds `times` times with a unit of its own or the same, from a barrier on.
.macro contend name, priority, first, second
function \name
  s_cmp_lg_u32 s3, 0
  s_cbranch_scc1 1f
.if \priority
  s_setprio 3
.endif
timed 1
.rept 8
  \first
.endr
end \name
1:
  s_cmp_lg_u32 s3, 4
  s_cbranch_scc1 2f
timed 1
.rept 8
  \second
.endr
end \name
2:
  s_endpgm
.endm
contend valu_valu, 0, "v_add_f32 v4, v4, v1", "v_add_f32 v4, v4, v1"
contend valu_valu_priority, 1, "v_add_f32 v4, v4, v1", "v_add_f32 v4, v4, v1"
contend valu_salu, 0, "v_add_f32 v4, v4, v1", "s_add_u32 s30, s30, 1"
contend valu_nop, 0, "v_add_f32 v4, v4, v1", "s_nop 0"
contend salu_salu, 0, "s_add_u32 s30, s30, 1", "s_add_u32 s30, s30, 1"
contend rcp_valu, 0, "v_rcp_f32 v4, v1", "v_add_f32 v4, v4, v1"

// The last wave comes to the barrier late: s[16:17] when it came, s[18:19] when it went on; so for every wave.
function barrier
  s_cmp_lg_u32 s3, 0
  s_cbranch_scc1 1f
  s_sleep 20
1:
  s_barrier // lines up the waves, and brings the code in
  s_cmp_lg_u32 s3, 0
  s_cbranch_scc1 2f
  s_sleep 20
2:
  s_memtime s[16:17]
  s_waitcnt lgkmcnt(0)
  s_barrier
  s_memtime s[18:19]
  s_waitcnt lgkmcnt(0)
  s_branch done
.size barrier, .-barrier

// Arithmetic to be counted: one of each, and of the matrix core.
function counted
  v_add_f32 v4, v1, v2
  v_sub_f32 v4, v1, v2
  v_mul_f32 v4, v1, v2
  v_fma_f32 v4, v1, v2, v3
  v_fmac_f32 v4, v1, v2
  v_rcp_f32 v4, v1
  v_add_f16 v4, v1, v2
  v_pk_mul_f16 v4, v1, v2
  v_pk_fma_f16 v4, v1, v2, v3
  v_add_f64 v[4:5], v[2:3], v[2:3]
  v_fma_f64 v[4:5], v[2:3], v[2:3], v[2:3]
  v_add_u32 v4, v1, v2
  v_lshlrev_b32 v4, 1, v1
  v_lshl_add_u64 v[4:5], v[2:3], 1, v[2:3]
  v_cvt_f32_u32 v4, v1
  v_mov_b32 v4, v1
  v_max_f32 v4, v1, v2
  v_mfma_f32_32x32x8_f16 v[4:19], v[2:3], v[2:3], 0
  v_mfma_f32_4x4x1_16b_f32 v[4:7], v2, v3, 0
  v_mfma_f64_16x16x4_f64 v[4:11], v[2:3], v[2:3], 0
  v_mfma_i32_32x32x16_i8 v[4:19], v[2:3], v[2:3], 0
  v_mfma_f32_16x16x32_bf8_fp8 v[4:7], v[2:3], v[2:3], 0
  v_mfma_f32_32x32x4_2b_bf16 v[4:35], v[2:3], v[2:3], 0
  v_smfmac_f32_16x16x32_f16 v[4:7], v[2:3], v[8:11], v1
  s_nop 7
  s_nop 7
  s_branch done
.size counted, .-counted

.rodata
.p2align 6
.amdhsa_kernel run
  .amdhsa_group_segment_fixed_size 16384
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr 64
  .amdhsa_next_free_sgpr 48
  .amdhsa_accum_offset 64
.end_amdhsa_kernel

.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: run
    .symbol: run.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 16384
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 54
    .vgpr_count: 64
    .agpr_count: 0
    .max_flat_workgroup_size: 1024
    .args:
      - {.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}
      - {.size: 8, .offset: 8, .value_kind: by_value}
      - {.size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global}
.end_amdgpu_metadata
