/* SPDX-License-Identifier: MIT */
/* The host's side of memory.hip and groups.hip. */
#include <string.h>

#include "pairs.h"

void host_add(const struct both *a)
{
    const float *restrict x = a[0].host, *restrict y = a[1].host;
    float *restrict out = a[2].host;
    for (int i = 0; i < STREAM; i++)
        out[i] = x[i] + y[i];
}

/* A loop, which the compiler would make a call of memcpy(): that has stores past the caches. */
__attribute__((no_builtin("memcpy"))) void host_copy(const struct both *a)
{
    const float *restrict x = a[0].host;
    float *restrict out = a[1].host;
    for (int i = 0; i < STREAM; i++)
        out[i] = x[i];
}

void host_triad(const struct both *a)
{
    const float *restrict x = a[0].host, *restrict y = a[1].host;
    float *restrict out = a[2].host;
    for (int i = 0; i < STREAM; i++)
        out[i] = x[i] + 3 * y[i];
}

void host_stencil(const struct both *a)
{
    const float *restrict in = a[0].host;
    float *restrict out = a[1].host;
    for (int y = 1; y < GRID - 1; y++)
        for (int x = 1; x < GRID - 1; x++) {
            const float *p = in + y * GRID + x;
            out[y * GRID + x] = 0.5f * p[0] + 0.125f * (p[-1] + p[1] + p[-GRID] + p[GRID]);
        }
}

/* Row after row, as memory has them. */
void host_columns(const struct both *a)
{
    const float *restrict in = a[0].host;
    float *restrict out = a[1].host;
    static float mean[GRID];
    for (int x = 0; x < GRID; x++)
        mean[x] = 0;
    for (int y = 0; y < GRID; y++)
        for (int x = 0; x < GRID; x++)
            mean[x] += in[y * GRID + x];
    for (int x = 0; x < GRID; x++)
        mean[x] /= GRID;
    for (int y = 0; y < GRID; y++)
        for (int x = 0; x < GRID; x++)
            out[y * GRID + x] = in[y * GRID + x] - mean[x];
}

void host_gather(const struct both *a)
{
    const float *restrict in = a[0].host;
    const uint32_t *restrict index = a[1].host;
    float *restrict out = a[2].host;
    for (int i = 0; i < GATHER; i++)
        out[i] = in[index[i]];
}

void host_spmv(const struct both *a)
{
    const uint32_t *restrict rows = a[0].host, *restrict columns = a[1].host;
    const float *restrict values = a[2].host, *restrict x = a[3].host;
    float *restrict y = a[4].host;
    for (int row = 0; row < ROWS; row++) {
        float sum = 0;
        for (uint32_t i = rows[row]; i < rows[row + 1]; i++)
            sum += values[i] * x[columns[i]];
        y[row] = sum;
    }
}

void host_reduce(const struct both *a)
{
    const float *in = a[0].host;
    float sum = 0;
    for (int first = 0; first < ITEMS; first += 4096) { /* few enough for a float to keep them */
        float part = 0;
        for (int i = first; i < first + 4096; i++)
            part += in[i];
        sum += part;
    }
    memcpy(a[2].host, &sum, sizeof(sum));
}

void host_scan(const struct both *a)
{
    const uint32_t *restrict in = a[0].host;
    uint32_t *restrict out = a[2].host, sum = 0;
    for (int i = 0; i < ITEMS; i++) {
        out[i] = sum;
        sum += in[i];
    }
}

/* Four tables: the same bin twice in a row need not wait for itself. */
void host_histogram(const struct both *a)
{
    const uint32_t *in = a[0].host;
    uint32_t bins[4][DIGITS] = {{0}}, *out = a[1].host;
    for (int i = 0; i < ITEMS; i += 4)
        for (int t = 0; t < 4; t++)
            bins[t][in[i + t] % DIGITS]++;
    for (int d = 0; d < DIGITS; d++)
        out[d] = bins[0][d] + bins[1][d] + bins[2][d] + bins[3][d];
}

void host_radix(const struct both *a)
{
    const uint32_t *restrict in = a[0].host;
    uint32_t *restrict out = a[3].host, next[DIGITS] = {0}, sum = 0;
    for (int i = 0; i < KEYS; i++)
        next[in[i] % DIGITS]++;
    for (int d = 0; d < DIGITS; d++) {
        const uint32_t count = next[d];
        next[d] = sum;
        sum += count;
    }
    for (int i = 0; i < KEYS; i++)
        out[next[in[i] % DIGITS]++] = in[i];
}
