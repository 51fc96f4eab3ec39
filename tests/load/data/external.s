; SPDX-License-Identifier: MIT
; A code object without metadata that uses symbols which it does not define.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 5
.text
.globl bare
.p2align 8
.type bare,@function
bare:
    s_trap 2 ; where hardware that does not preload kernel arguments enters
    .p2align 8
    s_getpc_b64 s[2:3]
    s_nop 0
    s_endpgm
.Lend:
.size bare, .Lend-bare

.rodata
.p2align 6
.amdhsa_kernel bare
    .amdhsa_next_free_vgpr 20
    .amdhsa_next_free_sgpr 40
    .amdhsa_accum_offset 12
    .amdhsa_group_segment_fixed_size 1024
    .amdhsa_private_segment_fixed_size 16
    .amdhsa_kernarg_size 24
    .amdhsa_user_sgpr_dispatch_ptr 1
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_user_sgpr_kernarg_preload_length 3
    .amdhsa_user_sgpr_kernarg_preload_offset 2
    .amdhsa_system_sgpr_workgroup_id_y 1
    .amdhsa_system_vgpr_workitem_id 2
    .amdhsa_float_round_mode_32 1
    .amdhsa_float_denorm_mode_32 3
    .amdhsa_ieee_mode 0
    .amdhsa_fp16_overflow 1
    .amdhsa_tg_split 1
    .amdhsa_exception_fp_ieee_div_zero 1
    .amdhsa_uses_dynamic_stack 1
.end_amdhsa_kernel

.data
.p2align 3
.globl slots
.type slots,@object
slots:
    .quad elsewhere+16
    .quad maybe
    .quad bare+4
    .quad slots
.size slots, 32
.weak maybe
