/* SPDX-License-Identifier: MIT */
/*
 * Instructions whose operands are not what most are: the x87's registers, gathers by vectors of indices,
 * strings by registers that they have by themselves. What llvm-mca does not take costs nothing, and it says
 * so.
 */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

__attribute__((noinline)) static long double divide(long double a, int n)
{
    long double c[MOST], b = 2;
    for (int i = 0; i < n; i++)
        c[i] = i + a;
    for (int i = 0; i < n; i++) {
        a += c[i] * b / (c[i] + 1);
        if (a > 5)
            b -= 1;
    }
    return a + b;
}

__attribute__((noinline, target("avx2"))) static double gather(const double *from, const int *index)
{
    __m256d sum = _mm256_setzero_pd();
    double part[4];
    for (int i = 0; i < MOST; i += 4)
        sum = _mm256_add_pd(sum, _mm256_i32gather_pd(from, _mm_loadu_si128((const __m128i *)(index + i)), 8));
    _mm256_storeu_pd(part, sum);
    return part[0] + part[1] + part[2] + part[3];
}

/* What it would be without gathers. */
static double add(const double *from, const int *index)
{
    double sum = 0;
    for (int i = 0; i < MOST; i++)
        sum += from[index[i]];
    return sum;
}

static int strings(void)
{
    static char from[MOST] = "strings", to[MOST];
    const char *source = from;
    char *target = to, first;
    long left = MOST;
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(left)::"memory");
    source = to;
    __asm__ volatile("lodsb" : "=a"(first), "+S"(source)::"memory");
    target = to;
    left = 2;
    __asm__ volatile("rep stosb" : "+D"(target), "+c"(left) : "a"('x') : "memory");
    return first == 's' && strcmp(to, "xxrings") == 0;
}

int main(void)
{
    static double from[MOST];
    static int index[MOST];
    for (int i = 0; i < MOST; i++) {
        from[i] = i;
        index[i] = i * 7 % MOST;
    }
    const int right = (int)(divide(1, 8) * 1000) == 2613 && strings() &&
                      (!__builtin_cpu_supports("avx2") || gather(from, index) == add(from, index));
    return !right;
}
