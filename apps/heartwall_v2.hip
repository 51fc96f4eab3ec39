// SPDX-License-Identifier: MIT
// Heart wall without static variables: its data is allocated and passed on.
#include "heartwall.h"

__global__ void track(const film *all, point *points, const float *frame, int number)
{
    follow(*all, points[blockIdx.x], frame, number);
}

static int run_explicit(app &run)
{
    film all = film_of(run);
    film_reader reader(all, run.seed);
    point *points = host_alloc<point>(POINTS);
    place_points(all, points);
    const size_t count = size_t{POINTS} * run.steps;
    place *tracks = host_alloc<place>(count);

    run.begin_compute();
    film *d_film = gpu_alloc<film>(1);
    point *d_points = gpu_alloc<point>(POINTS);
    place *d_tracks = gpu_alloc<place>(count);
    {
        const point_memory memory(all, points, d_tracks);
        copy_to_gpu(d_film, &all, 1);
        copy_to_gpu(d_points, points, POINTS);
        run_frames_explicit(all, reader, frames::KEPT, [&](const float *frame, int number) {
            track<<<POINTS, THREADS>>>(d_film, d_points, frame, number);
        });
    }
    copy_to_cpu(tracks, d_tracks, count);
    run.end_compute();

    gpu_free(d_film);
    gpu_free(d_points);
    gpu_free(d_tracks);
    run.end();
    const int wrong = check_tracks(all, run.seed, tracks);
    host_free(points);
    host_free(tracks);
    return wrong;
}

static int run_unified(app &run)
{
    film *all = gpu_alloc<film>(1);
    *all = film_of(run);
    film_reader reader(*all, run.seed);
    point *points = gpu_alloc<point>(POINTS);
    place_points(*all, points);

    run.begin_compute();
    place *tracks = gpu_alloc<place>(size_t{POINTS} * run.steps);
    {
        const point_memory memory(*all, points, tracks);
        run_frames_unified(*all, reader, frames::KEPT, [&](const float *frame, int number) {
            track<<<POINTS, THREADS>>>(all, points, frame, number);
        });
    }
    run.end_compute();

    run.end();
    const int wrong = check_tracks(*all, run.seed, tracks);
    gpu_free(all);
    gpu_free(points);
    gpu_free(tracks);
    return wrong;
}

int main(int argc, char **argv)
{
    app run(argc, argv, "heartwall_v2", "rows and columns of a frame", 128, "frames", 8);
    return heartwall_main(run, [&] { return run.unified ? run_unified(run) : run_explicit(run); });
}
