// SPDX-License-Identifier: MIT
// Heart wall with its data in static variables, as such programs grew: one of the host's and one of the
// device's with copies between them, or in the unified variant managed ones, which both sides see.  Each
// frame has a buffer of its own, which is freed behind it.
#include "heartwall.h"

static film h_film;
static point h_points[POINTS];
__constant__ film d_film;
__constant__ point d_points[POINTS];

__managed__ film m_film;
__managed__ point m_points[POINTS];

__global__ void track_device(const float *frame, int number)
{
    follow(d_film, d_points[blockIdx.x], frame, number);
}

__global__ void track_managed(const float *frame, int number)
{
    follow(m_film, m_points[blockIdx.x], frame, number);
}

static int run_explicit(app &run)
{
    h_film = film_of(run);
    film_reader reader(h_film, run.seed);
    place_points(h_film, h_points);
    const size_t count = size_t{POINTS} * run.steps;
    place *tracks = host_alloc<place>(count);

    run.begin_compute();
    place *d_tracks = gpu_alloc<place>(count);
    {
        const point_memory memory(h_film, h_points, d_tracks);
        CHECK_HIP(hipMemcpyToSymbol(HIP_SYMBOL(d_film), &h_film, sizeof h_film));
        CHECK_HIP(hipMemcpyToSymbol(HIP_SYMBOL(d_points), h_points, sizeof h_points));
        run_frames_explicit(h_film, reader, frames::NEW, [&](const float *frame, int number) {
            track_device<<<POINTS, THREADS>>>(frame, number);
        });
    }
    copy_to_cpu(tracks, d_tracks, count);
    run.end_compute();

    gpu_free(d_tracks);
    run.end();
    const int wrong = check_tracks(h_film, run.seed, tracks);
    host_free(tracks);
    return wrong;
}

static int run_unified(app &run)
{
    m_film = film_of(run);
    film_reader reader(m_film, run.seed);
    place_points(m_film, m_points);

    run.begin_compute();
    place *tracks = gpu_alloc<place>(size_t{POINTS} * run.steps);
    {
        const point_memory memory(m_film, m_points, tracks);
        run_frames_unified(m_film, reader, frames::NEW, [&](const float *frame, int number) {
            track_managed<<<POINTS, THREADS>>>(frame, number);
        });
    }
    run.end_compute();

    run.end();
    const int wrong = check_tracks(m_film, run.seed, tracks);
    gpu_free(tracks);
    return wrong;
}

int main(int argc, char **argv)
{
    app run(argc, argv, "heartwall_v1", "rows and columns of a frame", 128, "frames", 8);
    return heartwall_main(run, [&] { return run.unified ? run_unified(run) : run_explicit(run); });
}
