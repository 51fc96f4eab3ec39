/* SPDX-License-Identifier: MIT */
/* The host's side of compute.hip. */
#include <math.h>
#include <string.h>

#include "pairs.h"

/* Eight chains, each of which fills a vector register of the widest host. */
typedef float lanes __attribute__((vector_size(64)));
enum { LANES = sizeof(lanes) / sizeof(float) };

void host_fma(const struct both *a)
{
    float *out = a[0].host;
    for (int first = 0; first < FMA_ITEMS; first += LANES) {
        lanes x[8], sum = {0};
        for (int c = 0; c < 8; c++)
            for (int l = 0; l < LANES; l++)
                x[c][l] = (float)(first + l) * 0.001f + (float)c;
        for (int i = 0; i < FMA_ROUNDS * 8; i++)
#pragma unroll
            for (int c = 0; c < 8; c++)
                x[c] = x[c] * 0.999f + 0.001f;
        for (int c = 0; c < 8; c++)
            sum += x[c];
        memcpy(out + first, &sum, sizeof(sum));
    }
}

/* Positions are x, y, z and mass, one after the other, as vectors of the host want them. */
#define NBODY(name, type, n, root)                                                                           \
    void name(const struct both *a)                                                                          \
    {                                                                                                        \
        const type *restrict x = a[0].host, *y = x + n, *z = y + n, *mass = z + n;                           \
        type *restrict out = a[1].host;                                                                      \
        for (int i = 0; i < n; i++) {                                                                        \
            type ax = 0, ay = 0, az = 0;                                                                     \
            for (int j = 0; j < n; j++) {                                                                    \
                const type dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];                             \
                const type inverse = 1 / root(dx * dx + dy * dy + dz * dz + (type)0.01);                     \
                const type force = mass[j] * inverse * inverse * inverse;                                    \
                ax += force * dx;                                                                            \
                ay += force * dy;                                                                            \
                az += force * dz;                                                                            \
            }                                                                                                \
            out[i] = ax;                                                                                     \
            out[n + i] = ay;                                                                                 \
            out[2 * n + i] = az;                                                                             \
        }                                                                                                    \
    }
NBODY(host_nbody, float, BODIES, sqrtf)
NBODY(host_nbody64, double, BODIES64, sqrt)

static float normal_below(float d)
{
    const float k = 1 / (1 + 0.2316419f * fabsf(d));
    const float tail =
        0.39894228f * expf(-0.5f * d * d) *
        (k *
         (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1 - tail : tail;
}

void host_black_scholes(const struct both *a)
{
    const float *restrict price = a[0].host, *restrict strike = a[1].host, *restrict years = a[2].host;
    float *restrict call = a[3].host;
    for (int i = 0; i < OPTIONS; i++) {
        const float s = 5 + 25 * price[i], x = 1 + 99 * strike[i], t = 0.25f + 9.75f * years[i];
        const float root = 0.3f * sqrtf(t), d1 = (logf(s / x) + (0.02f + 0.045f) * t) / root;
        call[i] = s * normal_below(d1) - x * expf(-0.02f * t) * normal_below(d1 - root);
    }
}

/* Lanes go on until the last of them has left, as a wave does; a loop for each pixel takes no vectors. */
void host_mandelbrot(const struct both *a)
{
    typedef int32_t flags __attribute__((vector_size(64)));
    for (int first = 0; first < FRACTAL * FRACTAL; first += LANES) {
        lanes cx, cy = {0}, x = {0}, y = {0};
        flags count = {0}, on = count == 0;
        for (int l = 0; l < LANES; l++)
            cx[l] = (float)((first + l) % FRACTAL) * (1.0f / 256) - 1.5f;
        cy += (float)(first / FRACTAL) * (1.0f / 256) - 1.0f;
        for (int i = 0; i < FRACTAL_ROUNDS; i++) {
            const lanes xx = x * x, yy = y * y;
            on &= xx + yy <= 4; /* what has left may wander back as infinities cancel */
            if (!__builtin_reduce_or(on))
                break;
            y = (x + x) * y + cy;
            x = xx - yy + cx;
            count -= on;
        }
        memcpy((uint32_t *)a[0].host + first, &count, sizeof(count));
    }
}

void host_sgemm(const struct both *a)
{
    const float *restrict left = a[0].host, *restrict right = a[1].host;
    float *restrict out = a[2].host;
    enum { ROWS_AT_ONCE = 4, COLUMNS = 64 };
    for (int column = 0; column < MATRIX; column += COLUMNS)
        for (int row = 0; row < MATRIX; row += ROWS_AT_ONCE) {
            float sum[ROWS_AT_ONCE][COLUMNS] = {{0}};
            for (int k = 0; k < MATRIX; k++)
                for (int r = 0; r < ROWS_AT_ONCE; r++)
                    for (int c = 0; c < COLUMNS; c++)
                        sum[r][c] += left[(row + r) * MATRIX + k] * right[k * MATRIX + column + c];
            for (int r = 0; r < ROWS_AT_ONCE; r++)
                memcpy(out + (row + r) * MATRIX + column, sum[r], sizeof(sum[r]));
        }
}

/* A wave's four tiles of 16x16; halves are converted once, as the host has no products of them. */
void host_mfma(const struct both *a)
{
    const _Float16 *in = a[0].host;
    float *restrict out = a[1].host;
    for (int w = 0; w < MFMA_WAVES; w++) {
        float left[16][16]; /* [k][row] */
        lanes right[16];    /* [k], a lane for each column */
        for (int lane = 0; lane < 64; lane++)
            for (int i = 0; i < 4; i++) {
                left[lane / 16 * 4 + i][lane % 16] = (float)in[(w * 64 + lane) * 8 + i];
                right[lane / 16 * 4 + i][lane % 16] = (float)in[(w * 64 + lane) * 8 + 4 + i];
            }
        for (int tile = 0; tile < 4; tile++) {
            lanes sum[16] = {{0}};
            for (int i = 0; i < MFMA_ROUNDS; i++) {
                __asm__ volatile("" : "+m"(left), "+m"(right)); /* the rounds are not one product */
                for (int k = 0; k < 16; k++)
#pragma unroll
                    for (int r = 0; r < 16; r++)
                        sum[r] += left[k][r] * right[k];
            }
            for (int lane = 0; lane < 64; lane++)
                for (int i = 0; i < 4; i++)
                    out[((w * 4 + tile) * 64 + lane) * 4 + i] = sum[lane / 16 * 4 + i][lane % 16];
        }
    }
}
