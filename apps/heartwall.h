// SPDX-License-Identifier: MIT
// Heart wall: follows points on the inner and outer wall of a heart through the frames of a film.
//
// A workgroup takes a point, compares the picture around it with the point's template by normalised
// cross-correlation in whole numbers wherever they overlap, moves the point to where it fits best within
// reach, and lets the template follow slowly.  The first frame gives the templates.  What a box of the
// picture sums up to comes from running sums, so that the work is a row of stages with a barrier behind each.
// The CPU reads the next frame meanwhile.  heartwall_v1 keeps its data in static variables, heartwall_v2
// allocates it.
#pragma once

#include "app.h"

#include <algorithm>
#include <cmath>

constexpr int INNER_POINTS = 1, OUTER_POINTS = 1, POINTS = INNER_POINTS + OUTER_POINTS;
constexpr int MOST_RADIUS = 25, MOST_SIDE = 2 * MOST_RADIUS + 1; // of a template
constexpr int MOST_REACH = 15, MOST_PLACES = 2 * (MOST_SIDE + MOST_REACH) - 1, THREADS = 256;

// For all points.
struct film {
    int rows, columns, frames;
    int radius, reach; // of a template; how far a point may move in a frame
    int side;          // of a template
    int across;        // of the picture around a point, in which it is looked for
    int places;        // where a template covers some of that, down and across
    size_t pixels() const
    {
        return static_cast<size_t>(rows) * static_cast<size_t>(columns);
    }
};

struct place {
    int row, column;
};

// One point: where it is at first; and in memory of the GPU where it has been, what it looks like, and what
// the stages leave for each other.
struct point {
    place start;
    place *track;
    uint16_t *look;                  // in 256ths of a grey level
    int *window, *squares;           // the picture around it
    int *columns, *boxes;            // running sums
    int *both, *seen, *seen_squares; // for each place
    double *score;
};

__host__ __device__ static double fit(double count, double both, double look, double look_squares,
                                      double seen, double seen_squares)
{
    const double covariance = count * both - look * seen, of_look = count * look_squares - look * look,
                 of_seen = count * seen_squares - seen * seen;
    return of_look > 0 && of_seen > 0 && covariance > 0 ? covariance * covariance / (of_look * of_seen) : 0;
}

// What boxes of a template's size in `in` sum up to.
__device__ inline void sum_boxes(const film &all, const point &mine, const int *in, int *out)
{
    const int t = static_cast<int>(threadIdx.x);
    for (int column = t; column < all.across; column += THREADS) {
        int sum = 0;
        for (int row = 0; row < all.across; row++)
            mine.columns[row * all.across + column] = sum += in[row * all.across + column];
    }
    __syncthreads();
    for (int i = t; i < all.places * all.across; i += THREADS) {
        const int row = i / all.across, column = i % all.across,
                  end = row < all.across ? row : all.across - 1;
        mine.boxes[i] = mine.columns[end * all.across + column] -
                        (row < all.side ? 0 : mine.columns[(row - all.side) * all.across + column]);
    }
    __syncthreads();
    for (int row = t; row < all.places; row += THREADS) {
        int sum = 0;
        for (int column = 0; column < all.across; column++)
            mine.boxes[row * all.across + column] = sum += mine.boxes[row * all.across + column];
    }
    __syncthreads();
    for (int i = t; i < all.places * all.places; i += THREADS) {
        const int column = i % all.places, end = column < all.across ? column : all.across - 1;
        const int *box = mine.boxes + i / all.places * all.across;
        out[i] = box[end] - (column < all.side ? 0 : box[column - all.side]);
    }
    __syncthreads();
}

// All threads of a workgroup.
__device__ inline void follow(const film &all, const point &mine, const float *frame, int number)
{
    __shared__ int look[MOST_SIDE * MOST_SIDE];
    __shared__ int row_sum[MOST_SIDE], row_squares[MOST_SIDE], look_sum, look_squares;
    __shared__ double best[MOST_PLACES];
    __shared__ int where[MOST_PLACES], found_row, found_column;
    const int t = static_cast<int>(threadIdx.x);

    const place at = number ? mine.track[number - 1] : mine.start;
    for (int i = t; i < all.across * all.across; i += THREADS) {
        const int row = at.row - all.radius - all.reach + i / all.across,
                  column = at.column - all.radius - all.reach + i % all.across;
        const bool inside = row >= 0 && row < all.rows && column >= 0 && column < all.columns;
        mine.window[i] = inside ? static_cast<int>(frame[row * all.columns + column]) : 0;
    }
    __syncthreads();
    if (number == 0) {
        for (int i = t; i < all.side * all.side; i += THREADS)
            mine.look[i] = static_cast<uint16_t>(
                256 * mine.window[(all.reach + i / all.side) * all.across + all.reach + i % all.side]);
        if (t == 0)
            mine.track[0] = at;
        return;
    }

    // the template, and how far it agrees
    for (int i = t; i < all.side * all.side; i += THREADS)
        look[i] = mine.look[i] >> 8;
    __syncthreads();
    for (int i = t; i < all.places * all.places; i += THREADS) {
        // where the template's first row and column lie, and which of its rows and columns cover the picture
        const int down = i / all.places - all.side + 1, right = i % all.places - all.side + 1,
                  top = down < 0 ? -down : 0, left = right < 0 ? -right : 0,
                  bottom = all.across - down < all.side ? all.across - down : all.side,
                  end = all.across - right < all.side ? all.across - right : all.side;
        int sum = 0;
        for (int row = top; row < bottom; row++)
            for (int column = left; column < end; column++)
                sum +=
                    look[row * all.side + column] * mine.window[(down + row) * all.across + right + column];
        mine.both[i] = sum;
    }
    __syncthreads();

    // sums of the picture, of its squares, and of the template
    sum_boxes(all, mine, mine.window, mine.seen);
    for (int i = t; i < all.across * all.across; i += THREADS)
        mine.squares[i] = mine.window[i] * mine.window[i];
    __syncthreads();
    sum_boxes(all, mine, mine.squares, mine.seen_squares);
    for (int row = t; row < all.side; row += THREADS) {
        int sum = 0, squares = 0;
        for (int column = 0; column < all.side; column++) {
            const int value = look[row * all.side + column];
            sum += value;
            squares += value * value;
        }
        row_sum[row] = sum;
        row_squares[row] = squares;
    }
    __syncthreads();
    if (t == 0) {
        int sum = 0, squares = 0;
        for (int row = 0; row < all.side; row++) {
            sum += row_sum[row];
            squares += row_squares[row];
        }
        look_sum = sum;
        look_squares = squares;
    }
    __syncthreads();

    // the best fit within reach, of equal ones the first: of each row, and of all
    for (int i = t; i < all.places * all.places; i += THREADS)
        mine.score[i] = fit(all.side * all.side, mine.both[i], look_sum, look_squares, mine.seen[i],
                            mine.seen_squares[i]);
    __syncthreads();
    for (int i = t; i < all.places * all.places; i += THREADS) {
        const int row = i / all.places - all.side + 1, column = i % all.places - all.side + 1;
        if (row < 0 || row > 2 * all.reach || column < 0 || column > 2 * all.reach)
            mine.score[i] = -1;
    }
    __syncthreads();
    for (int row = t; row < all.places; row += THREADS) {
        best[row] = -2;
        for (int column = 0; column < all.places; column++)
            if (mine.score[row * all.places + column] > best[row]) {
                best[row] = mine.score[row * all.places + column];
                where[row] = column;
            }
    }
    __syncthreads();
    if (t == 0) {
        int row = 0;
        for (int i = 1; i < all.places; i++)
            row = best[i] > best[row] ? i : row;
        found_row = row - all.side + 1;
        found_column = where[row] - all.side + 1;
        mine.track[number] = {at.row + found_row - all.reach, at.column + found_column - all.reach};
    }
    __syncthreads();

    for (int i = t; i < all.side * all.side; i += THREADS) {
        const int seen = mine.window[(found_row + i / all.side) * all.across + found_column + i % all.side];
        mine.look[i] = static_cast<uint16_t>((mine.look[i] * 7 + (seen << 8) + 4) / 8);
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
        const untimed input;
        vector<uint8_t> frame(all.pixels());
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
        points[i].start.row = static_cast<int>(static_cast<float>(all.rows) / 2 + r * std::sin(angle));
        points[i].start.column = static_cast<int>(static_cast<float>(all.columns) / 2 + r * std::cos(angle));
    }
}

// What the points have in the GPU's memory; `tracks` is one after the other.
class point_memory
{
    vector<void *> arrays_;

    template <typename T> void share(point *points, T *point::*of_point, int rows, int columns)
    {
        const size_t each = static_cast<size_t>(rows) * static_cast<size_t>(columns);
        T *array = gpu_alloc<T>(POINTS * each);
        arrays_.push_back(array);
        for (size_t i = 0; i < POINTS; i++)
            points[i].*of_point = array + i * each;
    }

  public:
    point_memory(const film &all, point *points, place *tracks)
    {
        for (size_t i = 0; i < POINTS; i++)
            points[i].track = tracks + i * static_cast<size_t>(all.frames);
        share(points, &point::look, all.side, all.side);
        share(points, &point::window, all.across, all.across);
        share(points, &point::squares, all.across, all.across);
        share(points, &point::columns, all.across, all.across);
        share(points, &point::boxes, all.places, all.across);
        share(points, &point::both, all.places, all.places);
        share(points, &point::seen, all.places, all.places);
        share(points, &point::seen_squares, all.places, all.places);
        share(points, &point::score, all.places, all.places);
    }
    point_memory(const point_memory &) = delete;
    ~point_memory()
    {
        for (void *array : arrays_)
            gpu_free(array);
    }
};

// How many places of all tracks differ from those that the CPU finds.
inline int check_tracks(const film &all, unsigned seed, const place *tracks)
{
    vector<float> frame(all.pixels());
    vector<point> points(POINTS);
    film_reader reader(all, seed);
    const int side = all.side;
    vector<uint16_t> looks(POINTS * static_cast<size_t>(side * side));
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
            place at = p.start; // of the frame before
            double best = -1;
            for (int row = p.start.row - all.reach; number && row <= p.start.row + all.reach; row++)
                for (int column = p.start.column - all.reach; column <= p.start.column + all.reach;
                     column++) {
                    int both = 0, sum = 0, own_squares = 0, seen = 0, squares = 0;
                    for (int k = 0; k < side * side; k++) {
                        const int a = look[k] >> 8, b = of_template({row, column}, k);
                        both += a * b;
                        sum += a;
                        own_squares += a * a;
                        seen += b;
                        squares += b * b;
                    }
                    const double score = fit(side * side, both, sum, own_squares, seen, squares);
                    if (score > best) {
                        best = score;
                        at = {row, column};
                    }
                }
            for (int k = 0; k < side * side; k++)
                look[k] = static_cast<uint16_t>(number ? (look[k] * 7 + (of_template(at, k) << 8) + 4) / 8
                                                       : of_template(at, k) << 8);
            p.start = at;
            const place &found = tracks[i * all.frames + number];
            wrong += found.row != at.row || found.column != at.column;
        }
    }
    return wrong;
}

// ---- the pipeline
// ----------------------------------------------------------------------------------------------

// Where frames are decoded to.  The published program has a new buffer for each one, and frees it when the
// kernel has what it needs.
enum class frames { NEW, KEPT };

// One buffer on each side: the CPU decodes while the kernel of the frame before works on its copy.
template <typename Launch>
void run_frames_explicit(const film &all, film_reader &reader, frames buffers, Launch launch)
{
    float *frame = nullptr, *d_frame = gpu_alloc<float>(all.pixels());
    for (int number = 0; number < all.frames; number++) {
        if (!frame)
            frame = host_alloc<float>(all.pixels());
        reader.decode(frame);
        copy_to_gpu(d_frame, frame, all.pixels());
        launch(d_frame, number);
        if (buffers == frames::NEW) {
            host_free(frame);
            frame = nullptr;
        }
    }
    CHECK_HIP(hipDeviceSynchronize());
    gpu_free(d_frame);
    host_free(frame);
}

// Both sides would meet in one buffer; with two, the CPU decodes into the one that no kernel reads.
template <typename Launch>
void run_frames_unified(const film &all, film_reader &reader, frames buffers, Launch launch)
{
    float *frame[2] = {};
    hipEvent_t free_again[2];
    for (hipEvent_t &event : free_again)
        CHECK_HIP(hipEventCreate(&event));
    for (int number = 0; number < all.frames; number++) {
        const int k = number % 2;
        CHECK_HIP(hipEventSynchronize(free_again[k])); // at once the first time
        if (buffers == frames::NEW && frame[k]) {
            gpu_free(frame[k]);
            frame[k] = nullptr;
        }
        if (!frame[k])
            frame[k] = gpu_alloc<float>(all.pixels());
        reader.decode(frame[k]);
        launch(frame[k], number);
        CHECK_HIP(hipEventRecord(free_again[k]));
    }
    CHECK_HIP(hipDeviceSynchronize());
    for (int k = 0; k < 2; k++) {
        if (frame[k])
            gpu_free(frame[k]);
        CHECK_HIP(hipEventDestroy(free_again[k]));
    }
}

// Templates are as large in the picture as in a film of 609 rows.
inline film film_of(const app &run)
{
    film all = {};
    all.rows = all.columns = static_cast<int>(run.size);
    all.frames = static_cast<int>(run.steps);
    all.radius = std::min(all.rows * MOST_RADIUS / 609, MOST_RADIUS);
    all.reach = std::min(all.rows * MOST_REACH / 609, MOST_REACH);
    all.side = 2 * all.radius + 1;
    all.across = all.side + 2 * all.reach;
    all.places = all.across + all.side - 1;
    return all;
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
