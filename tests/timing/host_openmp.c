/* SPDX-License-Identifier: MIT */
/* OpenMP's threads on cores: a sum, and how long it takes, the same on every run. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    enum { N = 1 << 16 };
    double *a = malloc(N * sizeof(*a)), sum = 0, begin;
    if (!a)
        return 1;
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        a[i] = i;
    begin = omp_get_wtime();
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++)
        sum += a[i];
    printf("%.0f, %.3f us\n", sum, (omp_get_wtime() - begin) * 1e6);
    free(a);
    return sum != (double)N * (N - 1) / 2;
}
