/* SPDX-License-Identifier: MIT */
/* What object.c loads: compiled only, and into nothing.  Code, constants of each kind, and names from
 * outside. */
#include <stdint.h>

typedef float quad __attribute__((vector_size(16)));
typedef uint64_t unary(uint64_t n);

/* From outside. */
uint64_t far_add(uint64_t a, uint64_t b);
extern const uint64_t far_table[4];
extern const char small_number[];

uint64_t code_plain(uint64_t n);
uint64_t code_call(uint64_t n);
unary *code_address(void);
uint64_t code_data(unsigned n);
uint64_t code_switch(unsigned n);
uint64_t code_pointer(unsigned n, uint64_t value);
const char *code_text(unsigned n);
void code_vector(quad *v);
uint64_t code_recursive(uint64_t n);

uint64_t code_plain(uint64_t n)
{
    return n * 3 + 1;
}

uint64_t code_call(uint64_t n)
{
    return far_add(far_add(n, 5), 7) + 1;
}

unary *code_address(void)
{
    return code_recursive;
}

uint64_t code_data(unsigned n)
{
    return far_table[n & 3];
}

/* A table of distances, in .rodata. */
uint64_t code_switch(unsigned n)
{
    switch (n) {
    case 0:
        return far_add(1, n);
    case 1:
        return code_recursive(3);
    case 2:
        return far_add(n, n);
    case 3:
        return 99;
    case 4:
        return far_add(1000, n);
    case 5:
        return code_recursive(5);
    case 6:
        return far_add(n, 10);
    default:
        return 0;
    }
}

static uint64_t twice(uint64_t n)
{
    return far_add(n, n);
}

static uint64_t square(uint64_t n)
{
    return n * n;
}

/* A table of addresses, in .data.rel.ro. */
static unary *const functions[] = {twice, square, code_plain, code_call};

uint64_t code_pointer(unsigned n, uint64_t value)
{
    return functions[n & 3](value);
}

static const char *const words[] = {"wave", "lane", "workgroup"};

const char *code_text(unsigned n)
{
    return words[n % 3];
}

/* Constants of 16 bytes, which the compiler aligns and shares. */
void code_vector(quad *v)
{
    *v = *v * (quad){1.5f, -2, 3.25f, 4} + (quad){0.5f, 1, 2, 3};
}

__attribute__((noinline)) uint64_t code_recursive(uint64_t n)
{
    return n < 2 ? 1 : far_add(code_recursive(n - 1), code_recursive(n - 2));
}

/* An address in 32 bits, and a distance in 64. */
__asm__(
    ".text\n.globl code_small\n.type code_small, @function\ncode_small: movl $small_number, %eax\n"
    "movslq %eax, %rdx\nmovq $small_number+1, %rax\naddq %rdx, %rax\nret\n.size code_small, .-code_small\n"
    ".section .rodata\n.globl code_distance\n.balign 8\ncode_distance: .quad code_plain - .\n.text\n");
