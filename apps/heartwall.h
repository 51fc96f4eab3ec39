// SPDX-License-Identifier: MIT
// Heart wall: follows points on the inner and outer wall of a heart through the frames of a film.
//
// A workgroup takes a point, compares the picture around it with the point's template (normalised correlation
// in whole numbers), moves the point to where it fits best and lets the template follow slowly.  The first
// frame gives the templates.  The CPU reads the next frame meanwhile.  heartwall_v1 keeps its data in static
// variables, heartwall_v2 allocates it.
#pragma once

#include "app.h"

#include <cmath>

constexpr int INNER_POINTS = 5, OUTER_POINTS = 8, POINTS = INNER_POINTS + OUTER_POINTS;
constexpr int MOST_RADIUS = 25, MOST_SIDE = 2 * MOST_RADIUS + 1; // of a template
constexpr int MOST_REACH = 15, WINDOW = MOST_SIDE + 2 * MOST_REACH, THREADS = 256;
constexpr double DECODE_PIXEL = 5; // instructions

// For all points.
struct film {
    int rows, columns, frames;
    int radius, reach; // of a template; how far a point may move in a frame
    __host__ __device__ int side() const
    {
        return 2 * radius + 1;
    }
    __host__ __device__ int places() const
    {
        return 2 * reach + 1;
    }
    size_t pixels() const
    {
        return static_cast<size_t>(rows) * static_cast<size_t>(columns);
    }
};

struct place {
    int row, column;
};

// One point: where it is; and in memory of the GPU what it looks like, how well it fits where, and where it
// was.
struct point {
    place at;
    uint16_t *look; // in 256ths of a grey level
    double *score;
    place *track;
};

__host__ __device__ static double fit(int count, int both, int look, int seen, int seen_squares)
{
    const double covariance = static_cast<double>(count) * both - static_cast<double>(look) * seen,
                 variance = static_cast<double>(count) * seen_squares - static_cast<double>(seen) * seen;
    return variance > 0 && covariance > 0 ? covariance * covariance / variance : 0;
}

// All threads of a workgroup.
__device__ inline void follow(const film &all, point &mine, const float *frame, int number)
{
    __shared__ int window[WINDOW * WINDOW], look[MOST_SIDE * MOST_SIDE];
    __shared__ double best[THREADS];
    __shared__ int where[THREADS];
    const int t = static_cast<int>(threadIdx.x);

    const int border = all.radius + all.reach, across = 2 * border + 1;
    for (int i = t; i < across * across; i += THREADS) {
        const int row = mine.at.row - border + i / across, column = mine.at.column - border + i % across;
        const bool inside = row >= 0 && row < all.rows && column >= 0 && column < all.columns;
        window[i] = inside ? static_cast<int>(frame[row * all.columns + column]) : 0;
    }
    const int side = all.side();
    if (number == 0) {
        __syncthreads();
        for (int i = t; i < side * side; i += THREADS)
            mine.look[i] =
                static_cast<uint16_t>(window[(all.reach + i / side) * across + all.reach + i % side] << 8);
        if (t == 0)
            mine.track[0] = mine.at;
        return;
    }
    for (int i = t; i < side * side; i += THREADS)
        look[i] = mine.look[i] >> 8;
    __syncthreads();

    for (int i = t; i < all.places() * all.places(); i += THREADS) {
        const int *corner = window + i / all.places() * across + i % all.places();
        int both = 0, sum = 0, seen = 0, squares = 0;
        for (int row = 0; row < all.side(); row++)
            for (int column = 0; column < all.side(); column++) {
                const int a = look[row * all.side() + column], b = corner[row * across + column];
                both += a * b;
                sum += a;
                seen += b;
                squares += b * b;
            }
        mine.score[i] = fit(all.side() * all.side(), both, sum, seen, squares);
    }
    __syncthreads();

    best[t] = -1;
    where[t] = 0;
    for (int i = t; i < all.places() * all.places(); i += THREADS)
        if (mine.score[i] > best[t]) {
            best[t] = mine.score[i];
            where[t] = i;
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

    const int down = where[0] / all.places(), right = where[0] % all.places();
    for (int i = t; i < side * side; i += THREADS) {
        const int seen = window[(down + i / side) * across + right + i % side];
        mine.look[i] = static_cast<uint16_t>((mine.look[i] * 7 + (seen << 8) + 4) / 8);
    }
    if (t == 0) {
        mine.at.row += down - all.reach;
        mine.at.column += right - all.reach;
        mine.track[number] = mine.at;
    }
}

// ---- the film: two walls that beat
// ---------------------------------------------------------------------------

inline float wall_radius(const film &all, bool outer, int number)
{
    const float beat = 1 + 0.08f * std::sin(static_cast<float>(number) * 0.35f);
    return static_cast<float>(all.rows) * (outer ? 0.36f : 0.22f) * beat;
}

// A byte for each pixel, as the camera takes them: from the last row up.
inline void make_frame(const film &all, unsigned seed, int number, uint8_t *frame)
{
    const float inner = wall_radius(all, false, number), outer = wall_radius(all, true, number);
    for (int row = all.rows - 1; row >= 0; row--)
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
            *frame++ = static_cast<uint8_t>(light);
        }
}

// The film's file, and the CPU's part of the pipeline.
class film_reader
{
    film all_;
    FILE *file_;
    uint8_t *raw_; // of one frame

  public:
    film_reader(const film &all, unsigned seed)
        : all_(all), file_(temporary_file()), raw_(host_alloc<uint8_t>(all.pixels()))
    {
        std::vector<uint8_t> frame(all.pixels());
        for (int number = 0; number < all.frames; number++) {
            make_frame(all, seed, number, frame.data());
            if (std::fwrite(frame.data(), 1, frame.size(), file_) != frame.size())
                std::exit(1);
        }
        std::rewind(file_);
    }
    film_reader(const film_reader &) = delete;
    ~film_reader()
    {
        std::fclose(file_);
        host_free(raw_);
    }
    // The next one: the first row is the uppermost, and the GPU wants floats.
    void decode(float *frame)
    {
        read_file(file_, raw_, all_.pixels());
        host_work(DECODE_PIXEL * static_cast<double>(all_.pixels()),
                  {{raw_, all_.pixels()}, {frame, all_.pixels() * sizeof *frame}});
        for (int row = 0; row < all_.rows; row++)
            for (int column = 0; column < all_.columns; column++)
                frame[row * all_.columns + column] = raw_[(all_.rows - 1 - row) * all_.columns + column];
    }
};

inline void place_points(const film &all, point *points)
{
    for (int i = 0; i < POINTS; i++) {
        const bool outer = i >= INNER_POINTS;
        const float angle = 6.2831853f * static_cast<float>(outer ? i - INNER_POINTS : i) /
                            (outer ? OUTER_POINTS : INNER_POINTS);
        const float r = wall_radius(all, outer, 0);
        points[i].at.row = static_cast<int>(static_cast<float>(all.rows) / 2 + r * std::sin(angle));
        points[i].at.column = static_cast<int>(static_cast<float>(all.columns) / 2 + r * std::cos(angle));
    }
}

// What the points have in the GPU's memory; `tracks` is one after the other.
class point_memory
{
    uint16_t *look_;
    double *score_;

  public:
    point_memory(const film &all, point *points, place *tracks)
    {
        const size_t look = static_cast<size_t>(all.side() * all.side()),
                     score = static_cast<size_t>(all.places() * all.places());
        look_ = gpu_alloc<uint16_t>(POINTS * look);
        score_ = gpu_alloc<double>(POINTS * score);
        for (size_t i = 0; i < POINTS; i++) {
            points[i].look = look_ + i * look;
            points[i].score = score_ + i * score;
            points[i].track = tracks + i * static_cast<size_t>(all.frames);
        }
    }
    point_memory(const point_memory &) = delete;
    ~point_memory()
    {
        gpu_free(look_);
        gpu_free(score_);
    }
};

// How many places of all tracks differ from those that the CPU finds.
inline int check_tracks(const film &all, unsigned seed, const place *tracks)
{
    std::vector<float> frame(all.pixels());
    std::vector<point> points(POINTS);
    film_reader reader(all, seed);
    const int side = all.side();
    std::vector<uint16_t> looks(POINTS * static_cast<size_t>(side * side));
    place_points(all, points.data());
    int wrong = 0;
    for (int number = 0; number < all.frames; number++) {
        reader.decode(frame.data());
        const auto pixel = [&](int row, int column) -> int {
            const bool inside = row >= 0 && row < all.rows && column >= 0 && column < all.columns;
            return inside ? static_cast<int>(frame[static_cast<size_t>(row * all.columns + column)]) : 0;
        };
        const auto of_template = [&](place at, int k) {
            return pixel(at.row - all.radius + k / side, at.column - all.radius + k % side);
        };
        for (int i = 0; i < POINTS; i++) {
            point &p = points[static_cast<size_t>(i)];
            uint16_t *look = looks.data() + i * side * side;
            place at = p.at;
            double best = -1;
            for (int row = p.at.row - all.reach; number && row <= p.at.row + all.reach; row++)
                for (int column = p.at.column - all.reach; column <= p.at.column + all.reach; column++) {
                    int both = 0, sum = 0, seen = 0, squares = 0;
                    for (int k = 0; k < side * side; k++) {
                        const int a = look[k] >> 8, b = of_template({row, column}, k);
                        both += a * b;
                        sum += a;
                        seen += b;
                        squares += b * b;
                    }
                    const double score = fit(side * side, both, sum, seen, squares);
                    if (score > best) {
                        best = score;
                        at = {row, column};
                    }
                }
            for (int k = 0; k < side * side; k++)
                look[k] = static_cast<uint16_t>(number ? (look[k] * 7 + (of_template(at, k) << 8) + 4) / 8
                                                       : of_template(at, k) << 8);
            p.at = at;
            const place &found = tracks[i * all.frames + number];
            wrong += found.row != at.row || found.column != at.column;
        }
    }
    return wrong;
}

// ---- the pipeline
// ----------------------------------------------------------------------------------------------

// One buffer on each side: the CPU decodes while the kernel of the frame before works on its copy.
template <typename Launch> void run_frames_explicit(const film &all, film_reader &reader, Launch launch)
{
    float *frame = host_alloc<float>(all.pixels()), *d_frame = gpu_alloc<float>(all.pixels());
    for (int number = 0; number < all.frames; number++) {
        reader.decode(frame);
        copy_to_gpu(d_frame, frame, all.pixels());
        launch(d_frame, number);
    }
    CHECK_HIP(hipDeviceSynchronize());
    gpu_free(d_frame);
    host_free(frame);
}

// Both sides would meet in one buffer; with two, the CPU decodes into the one that no kernel reads.
template <typename Launch> void run_frames_unified(const film &all, film_reader &reader, Launch launch)
{
    float *frames[2];
    hipEvent_t free_again[2];
    for (int k = 0; k < 2; k++) {
        frames[k] = gpu_alloc<float>(all.pixels());
        CHECK_HIP(hipEventCreate(&free_again[k]));
    }
    for (int number = 0; number < all.frames; number++) {
        const int k = number % 2;
        CHECK_HIP(hipEventSynchronize(free_again[k])); // at once the first time
        reader.decode(frames[k]);
        launch(frames[k], number);
        CHECK_HIP(hipEventRecord(free_again[k]));
    }
    CHECK_HIP(hipDeviceSynchronize());
    for (int k = 0; k < 2; k++) {
        gpu_free(frames[k]);
        CHECK_HIP(hipEventDestroy(free_again[k]));
    }
}

// Templates are as large in the picture as in a film of 609 rows.
inline film film_of(const app &run)
{
    const int side = static_cast<int>(run.size), radius = side * MOST_RADIUS / 609,
              reach = side * MOST_REACH / 609;
    return {side, side, static_cast<int>(run.steps), radius < MOST_RADIUS ? radius : MOST_RADIUS,
            reach < MOST_REACH ? reach : MOST_REACH};
}

// What both versions' main does; `run_one` returns the tracks' places that are wrong.
template <typename Run> int heartwall_main(app &run, Run run_one)
{
    if (run.size < 64 || run.size > 16384) {
        std::fprintf(stderr, "%s: --size: from 64 to 16384\n", run.name);
        return 2;
    }
    const int wrong = run_one();
    run.print_times();
    return report(wrong == 0, "%d points in %u frames of %ux%u, %d wrong", POINTS, run.steps, run.size,
                  run.size, wrong);
}
