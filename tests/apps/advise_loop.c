/* SPDX-License-Identifier: MIT */
/* For `ehp cc --time-host -fopenmp`: a long loop on all cores, or with an argument a walk through a list. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 20, STEPS = 20000 };

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        uint32_t *next = malloc(N * sizeof *next), at = 0;
        if (!next)
            return 1;
        for (uint32_t i = 0; i < N; i += 16)
            next[i] = (i * 1664525u + 1013904223u) % N & ~15u;
        for (int i = 0; i < STEPS; i++)
            at = next[at];
        printf("%u\n", at);
        free(next);
        return 0;
    }
    double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), sum = 0;
    if (!a || !b)
        return 1;
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        b[i] = i;
    for (int k = 0; k < 4; k++) {
#pragma omp parallel for
        for (int i = 0; i < N; i++)
            a[i] = 2 * b[i] + k;
    }
    sum = a[N - 1];
    printf("%.0f\n", sum);
    free(a);
    free(b);
    return sum != 2.0 * (N - 1) + 3;
}
