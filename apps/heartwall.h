// SPDX-License-Identifier: MIT
// Heart wall: follows points on the inner and outer wall of a heart through the frames of a film.
//
// A workgroup takes a point, compares the picture around it with the point's template (normalised correlation
// in whole numbers), moves the point to where it fits best and lets the template follow slowly.  The CPU
// decodes the next frame meanwhile.  heartwall_v1 keeps its data in static variables, heartwall_v2 allocates
// it.
#pragma once

#include "app.h"

#include <cmath>

constexpr int INNER_POINTS = 20, OUTER_POINTS = 31, POINTS = INNER_POINTS + OUTER_POINTS;
constexpr int RADIUS = 6, SIDE = 2 * RADIUS + 1;        // of a template
constexpr int REACH = 5, PLACES = 2 * REACH + 1;        // how far a point may move in a frame
constexpr int WINDOW = SIDE + 2 * REACH, THREADS = 128; // at least PLACES squared

// For all points.
struct film {
    int rows, columns, frames, reach, side;
};

// One point: where it is, what it looks like, where it was.
struct point {
    int row, column;
    uint16_t look[SIDE * SIDE]; // in 256ths of a grey level
};

struct place {
    int row, column;
};

__host__ __device__ static double fit(int count, int both, int look, int seen, int seen_squares)
{
    const int covariance = count * both - look * seen, variance = count * seen_squares - seen * seen;
    const double c = covariance;
    return variance > 0 && covariance > 0 ? c * c / variance : 0;
}

// All threads of a workgroup.
__device__ inline void follow(const film &all, point &mine, place *track, const uint8_t *frame, int number)
{
    __shared__ int window[WINDOW * WINDOW], look[SIDE * SIDE];
    __shared__ double best[THREADS];
    __shared__ int where[THREADS];
    const int t = static_cast<int>(threadIdx.x);

    for (int i = t; i < WINDOW * WINDOW; i += THREADS) {
        const int row = mine.row - RADIUS - REACH + i / WINDOW,
                  column = mine.column - RADIUS - REACH + i % WINDOW;
        const bool inside = row >= 0 && row < all.rows && column >= 0 && column < all.columns;
        window[i] = inside ? frame[row * all.columns + column] : 0;
    }
    for (int i = t; i < SIDE * SIDE; i += THREADS)
        look[i] = mine.look[i] >> 8;
    __syncthreads();

    best[t] = -1;
    where[t] = t;
    const int places = 2 * all.reach + 1;
    if (t < places * places) {
        int both = 0, sum = 0, seen = 0, squares = 0;
        for (int row = 0; row < all.side; row++)
            for (int column = 0; column < all.side; column++) {
                const int a = look[row * SIDE + column],
                          b = window[(t / places + row) * WINDOW + t % places + column];
                both += a * b;
                sum += a;
                seen += b;
                squares += b * b;
            }
        best[t] = fit(all.side * all.side, both, sum, seen, squares);
    }
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) { // of equal ones the first
        if (t < half &&
            (best[t + half] > best[t] || (best[t + half] == best[t] && where[t + half] < where[t]))) {
            best[t] = best[t + half];
            where[t] = where[t + half];
        }
        __syncthreads();
    }

    const int down = where[0] / places, right = where[0] % places;
    for (int i = t; i < SIDE * SIDE; i += THREADS) {
        const int seen = window[(down + i / SIDE) * WINDOW + right + i % SIDE];
        mine.look[i] = static_cast<uint16_t>((mine.look[i] * 7 + (seen << 8) + 4) / 8);
    }
    if (t == 0) {
        mine.row += down - all.reach;
        mine.column += right - all.reach;
        track[number] = {mine.row, mine.column};
    }
}

// ---- the film: two walls that beat
// ---------------------------------------------------------------------------

inline float wall_radius(const film &all, bool outer, int number)
{
    const float beat = 1 + 0.08f * std::sin(static_cast<float>(number) * 0.35f);
    return static_cast<float>(all.rows) * (outer ? 0.36f : 0.22f) * beat;
}

// The CPU's part of the pipeline.
inline void decode_frame(const film &all, unsigned seed, int number, uint8_t *frame)
{
    const float inner = wall_radius(all, false, number), outer = wall_radius(all, true, number);
    for (int row = 0; row < all.rows; row++)
        for (int column = 0; column < all.columns; column++) {
            const float dy = static_cast<float>(row) - static_cast<float>(all.rows) / 2;
            const float dx = static_cast<float>(column) - static_cast<float>(all.columns) / 2;
            const float r = std::sqrt(dx * dx + dy * dy);
            uint32_t speckle =
                static_cast<uint32_t>(row * 40503 + column * 30011) + seed * 9176u; // moves with nothing
            speckle = (speckle ^ speckle >> 13) * 0x5bd1e995u;
            const float near_inner = std::fabs(r - inner), near_outer = std::fabs(r - outer);
            const float wall = near_inner < near_outer ? near_inner : near_outer;
            const float light = 40 + 160 / (1 + wall * wall / 9) + static_cast<float>(speckle >> 27);
            frame[row * all.columns + column] = static_cast<uint8_t>(light);
        }
}

inline void place_points(const film &all, unsigned seed, point *points)
{
    std::vector<uint8_t> frame(static_cast<size_t>(all.rows) * static_cast<size_t>(all.columns));
    decode_frame(all, seed, 0, frame.data());
    for (int i = 0; i < POINTS; i++) {
        const bool outer = i >= INNER_POINTS;
        const float angle = 6.2831853f * static_cast<float>(outer ? i - INNER_POINTS : i) /
                            (outer ? OUTER_POINTS : INNER_POINTS);
        const float r = wall_radius(all, outer, 0);
        points[i].row = static_cast<int>(static_cast<float>(all.rows) / 2 + r * std::sin(angle));
        points[i].column = static_cast<int>(static_cast<float>(all.columns) / 2 + r * std::cos(angle));
        for (int k = 0; k < SIDE * SIDE; k++)
            points[i].look[k] = static_cast<uint16_t>(
                frame[static_cast<size_t>((points[i].row - RADIUS + k / SIDE) * all.columns +
                                          points[i].column - RADIUS + k % SIDE)]
                << 8);
    }
}

// How many places of all tracks differ from those that the CPU finds.
inline int check_tracks(const film &all, unsigned seed, const place *tracks)
{
    std::vector<uint8_t> frame(static_cast<size_t>(all.rows) * static_cast<size_t>(all.columns));
    std::vector<point> points(POINTS);
    place_points(all, seed, points.data());
    int wrong = 0;
    for (int number = 0; number < all.frames; number++) {
        decode_frame(all, seed, number + 1, frame.data());
        for (int i = 0; i < POINTS; i++) {
            point &p = points[static_cast<size_t>(i)];
            const auto pixel = [&](int row, int column) -> int {
                const bool inside = row >= 0 && row < all.rows && column >= 0 && column < all.columns;
                return inside ? frame[static_cast<size_t>(row * all.columns + column)] : 0;
            };
            double best = -1;
            place at = {};
            for (int row = p.row - REACH; row <= p.row + REACH; row++)
                for (int column = p.column - REACH; column <= p.column + REACH; column++) {
                    int both = 0, sum = 0, seen = 0, squares = 0;
                    for (int k = 0; k < SIDE * SIDE; k++) {
                        const int a = p.look[k] >> 8,
                                  b = pixel(row - RADIUS + k / SIDE, column - RADIUS + k % SIDE);
                        both += a * b;
                        sum += a;
                        seen += b;
                        squares += b * b;
                    }
                    const double score = fit(SIDE * SIDE, both, sum, seen, squares);
                    if (score > best) {
                        best = score;
                        at = {row, column};
                    }
                }
            for (int k = 0; k < SIDE * SIDE; k++)
                p.look[k] = static_cast<uint16_t>(
                    (p.look[k] * 7 + (pixel(at.row - RADIUS + k / SIDE, at.column - RADIUS + k % SIDE) << 8) +
                     4) /
                    8);
            p.row = at.row;
            p.column = at.column;
            const place &found = tracks[i * all.frames + number];
            wrong += found.row != at.row || found.column != at.column;
        }
    }
    return wrong;
}

// ---- the pipeline
// ----------------------------------------------------------------------------------------------

// One buffer on each side: the CPU decodes while the kernel of the frame before works on its copy.
template <typename Launch> void run_frames_explicit(const film &all, unsigned seed, Launch launch)
{
    const size_t bytes = static_cast<size_t>(all.rows) * static_cast<size_t>(all.columns);
    uint8_t *frame = host_alloc<uint8_t>(bytes), *d_frame = gpu_alloc<uint8_t>(bytes);
    for (int number = 0; number < all.frames; number++) {
        decode_frame(all, seed, number + 1, frame);
        copy_to_gpu(d_frame, frame, bytes);
        launch(d_frame, number);
    }
    CHECK_HIP(hipDeviceSynchronize());
    gpu_free(d_frame);
    host_free(frame);
}

// Both sides would meet in one buffer; with two, the CPU decodes into the one that no kernel reads.
template <typename Launch> void run_frames_unified(const film &all, unsigned seed, Launch launch)
{
    const size_t bytes = static_cast<size_t>(all.rows) * static_cast<size_t>(all.columns);
    uint8_t *frames[2];
    hipEvent_t free_again[2];
    for (int k = 0; k < 2; k++) {
        frames[k] = gpu_alloc<uint8_t>(bytes);
        CHECK_HIP(hipEventCreate(&free_again[k]));
    }
    for (int number = 0; number < all.frames; number++) {
        const int k = number % 2;
        CHECK_HIP(hipEventSynchronize(free_again[k])); // at once the first time
        decode_frame(all, seed, number + 1, frames[k]);
        launch(frames[k], number);
        CHECK_HIP(hipEventRecord(free_again[k]));
    }
    CHECK_HIP(hipDeviceSynchronize());
    for (int k = 0; k < 2; k++) {
        gpu_free(frames[k]);
        CHECK_HIP(hipEventDestroy(free_again[k]));
    }
}

inline film film_of(const app &run)
{
    const int side = static_cast<int>(run.size);
    return {side, side, static_cast<int>(run.steps), REACH, SIDE};
}

// What both versions' main does; `run_one` returns the tracks' places that are wrong.
template <typename Run> int heartwall_main(app &run, Run run_one)
{
    if (run.size < 64 || run.size > 16384) {
        std::fprintf(stderr, "%s: --size: from 64 to 16384\n", run.name);
        return 2;
    }
    const int wrong = run_one();
    return run.report(wrong == 0, "%d points in %u frames of %ux%u, %d wrong", POINTS, run.steps, run.size,
                      run.size, wrong);
}
