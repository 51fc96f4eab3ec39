    .section .rodata
    .globl hip_blit_code, hip_blit_code_end
    .hidden hip_blit_code, hip_blit_code_end
    .balign 16
hip_blit_code:
    .incbin BLIT_CODE
hip_blit_code_end:
    .section .note.GNU-stack, "", @progbits
