// SPDX-License-Identifier: MIT
// Hotspot: the temperature of a chip over time, from its floor plan's power (finite differences).
//
// A workgroup takes a tile with a border of DEPTH cells, computes DEPTH steps in LDS on a shrinking part of
// it, and writes the part that is still right.  In the unified variant the grids that the CPU fills are the
// GPU's.
#include "app.h"

#include <cmath>
#include <utility>

constexpr int TILE = 16, DEPTH = 2, INNER = TILE - 2 * DEPTH;

// Coefficients of one step for a cell of the grid.
struct conductance {
    float step_over_capacity, per_row, per_column, to_ambient, ambient;
};

__host__ __device__ static float next_temperature(const conductance &k, float here, float north, float south,
                                                  float east, float west, float power)
{
#pragma clang fp contract(off)
    const float vertical = (north + south - 2.0f * here) * k.per_row;
    const float horizontal = (east + west - 2.0f * here) * k.per_column;
    return here + k.step_over_capacity * (power + vertical + horizontal + (k.ambient - here) * k.to_ambient);
}

// The edge's neighbours outside of the chip are as warm as the edge.
__global__ void several_steps(const float *from, const float *power, float *to, int n, int steps,
                              conductance k)
{
    __shared__ float now[TILE][TILE], next[TILE][TILE];
    const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
    const int x = static_cast<int>(blockIdx.x) * INNER + tx - DEPTH;
    const int y = static_cast<int>(blockIdx.y) * INNER + ty - DEPTH;
    const bool inside = x >= 0 && x < n && y >= 0 && y < n;
    float watts = 0;
    if (inside) {
        now[ty][tx] = from[y * n + x];
        watts = power[y * n + x];
    }
    __syncthreads();
    for (int step = 1; step <= steps; step++) {
        const bool right = tx >= step && tx < TILE - step && ty >= step && ty < TILE - step;
        if (inside && right) {
            const float here = now[ty][tx];
            next[ty][tx] =
                next_temperature(k, here, y > 0 ? now[ty - 1][tx] : here, y < n - 1 ? now[ty + 1][tx] : here,
                                 x < n - 1 ? now[ty][tx + 1] : here, x > 0 ? now[ty][tx - 1] : here, watts);
        }
        __syncthreads();
        if (inside && right)
            now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (inside && tx >= DEPTH && tx < TILE - DEPTH && ty >= DEPTH && ty < TILE - DEPTH)
        to[y * n + x] = now[ty][tx];
}

static conductance conductance_of(unsigned n)
{
    const float side = 0.016f, thick = 0.0005f, silicon = 100.0f, heat = 1.75e6f,
                cell = side / static_cast<float>(n);
    const float capacity = 0.5f * heat * thick * cell * cell, resistance_x = 1 / (2.0f * silicon * thick);
    const float resistance_z = thick / (silicon * cell * cell);
    const float slope = 3.0e6f / (0.5f * thick * heat), step = 0.001f / slope;
    return {step / capacity, 1 / resistance_x, 1 / resistance_x, 1 / resistance_z, 80.0f};
}

static void generate(const app &run, float *temperature, float *power)
{
    random_numbers random{run.seed * 2654435761u | 1};
    const size_t n = run.size;
    for (size_t y = 0; y < n; y++)
        for (size_t x = 0; x < n; x++) {
            const bool core = (x * 8 / n + y * 8 / n) % 3 == 0; // units of the floor plan that do something
            temperature[y * n + x] = 320.0f + 10.0f * random.uniform();
            power[y * n + x] = (core ? 4e-6f : 2e-7f) * (0.5f + random.uniform());
        }
}

// The steps on the CPU, one at a time.
static double check(const app &run, const float *result)
{
    const int n = static_cast<int>(run.size);
    const conductance k = conductance_of(run.size);
    vector<float> now(size_t{run.size} * run.size), power(now.size()), next(now.size());
    generate(run, now.data(), power.data());
    for (unsigned step = 0; step < run.steps; step++) {
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const auto at = [&](int row, int column) {
                    row = row < 0 ? 0 : row >= n ? n - 1 : row;
                    column = column < 0 ? 0 : column >= n ? n - 1 : column;
                    return now[static_cast<size_t>(row) * run.size + static_cast<size_t>(column)];
                };
                const size_t i = static_cast<size_t>(y) * run.size + static_cast<size_t>(x);
                next[i] = next_temperature(k, now[i], at(y - 1, x), at(y + 1, x), at(y, x + 1), at(y, x - 1),
                                           power[i]);
            }
        std::swap(now, next);
    }
    double worst = 0;
    for (size_t i = 0; i < now.size(); i++)
        worst = std::fmax(worst, static_cast<double>(std::fabs(now[i] - result[i])));
    return worst;
}

// Launches for all steps; where the last one wrote.
static float *iterate(const app &run, float *now, float *next, const float *power)
{
    const int n = static_cast<int>(run.size);
    const unsigned tiles = blocks_of(run.size, INNER);
    for (unsigned done = 0; done < run.steps; done += DEPTH) {
        const unsigned left = run.steps - done;
        several_steps<<<dim3(tiles, tiles), dim3(TILE, TILE)>>>(
            now, power, next, n, static_cast<int>(left < DEPTH ? left : DEPTH), conductance_of(run.size));
        std::swap(now, next);
    }
    return now;
}

static double run_explicit(app &run)
{
    const size_t cells = size_t{run.size} * run.size;
    float *temperature = host_alloc<float>(cells), *power = host_alloc<float>(cells);
    generate(run, temperature, power);

    run.begin_compute();
    float *d_now = gpu_alloc<float>(cells), *d_next = gpu_alloc<float>(cells),
          *d_power = gpu_alloc<float>(cells);
    copy_to_gpu(d_now, temperature, cells);
    copy_to_gpu(d_power, power, cells);
    const float *d_result = iterate(run, d_now, d_next, d_power);
    copy_to_cpu(temperature, d_result, cells);
    run.end_compute();

    for (float *p : {d_now, d_next, d_power})
        gpu_free(p);
    const kept<float> grid(temperature, cells);
    host_free(temperature);
    host_free(power);
    run.end();
    return check(run, grid.data());
}

static double run_unified(app &run)
{
    const size_t cells = size_t{run.size} * run.size;
    float *now = gpu_alloc<float>(cells), *power = gpu_alloc<float>(cells);
    generate(run, now, power);

    run.begin_compute();
    float *next = gpu_alloc<float>(cells);
    const float *result = iterate(run, now, next, power);
    CHECK_HIP(hipDeviceSynchronize());
    run.end_compute();

    const kept<float> grid(result, cells);
    for (float *p : {now, next, power})
        gpu_free(p);
    run.end();
    return check(run, grid.data());
}

int main(int argc, char **argv)
{
    app run(argc, argv, "hotspot", "rows and columns of the grid", 512, "time steps", 8);
    if (run.size > 32768) {
        std::fprintf(stderr, "hotspot: --size: at most 32768\n");
        return 2;
    }
    const double worst = run.unified ? run_unified(run) : run_explicit(run);
    run.print_times();
    return report(worst < 1e-3, "%ux%u cells, %u steps, largest error %.1e", run.size, run.size, run.steps,
                  worst);
}
