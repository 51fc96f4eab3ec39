// SPDX-License-Identifier: MIT
// Jacobi's steps on a plate that is cut into strips, one on each device, in three ways: hipMemcpyPeerAsync()
// of the outer rows after all are computed; the outer rows first, which go to the neighbours while those
// inside are computed; and a kernel that stores the outer rows to the neighbours itself. Events between
// devices keep the strips in step.
//
//     halo_stencil [WIDTH [ROWS [STEPS]]]       1024, 64 for each device and 6 unless told
//     ehp run --node mi300a-x4 --mode timing ./halo_stencil
#include "devices.h"

#include <algorithm>
#include <vector>

enum way { AFTER, MEANWHILE, STORED, WAYS };
static const char *const title[WAYS] = {"strips, all rows and then copies",
                                        "strips, rows inside during copies",
                                        "strips, rows stored to neighbours"};
enum { UP, DOWN };

// A row for each blockIdx.y, from `first` on, `apart` rows apart. The first and the last column stay. What is
// stored goes to `up` from the first row and to `down` from the last one, too.
__global__ void step(const float *from, float *to, int width, int first, int apart, float *up, float *down)
{
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) + 1;
    const int at = (first + static_cast<int>(blockIdx.y) * apart) * width + x;
    if (x >= width - 1)
        return;
    const float mean = 0.25f * (from[at - 1] + from[at + 1] + from[at - width] + from[at + width]);
    to[at] = mean;
    if (up && blockIdx.y == 0)
        up[x] = mean;
    if (down && blockIdx.y == gridDim.y - 1)
        down[x] = mean;
}

struct plate {
    int width, rows; // rows of a strip; above and below is one more, a neighbour's or the plate's edge
    std::vector<float> start, want;
};

struct strip {
    float *data[2];                       // each step reads one and writes the other
    hipStream_t inside, outside, copy[2]; // to the neighbours above and below, by an engine each
    // Of this step and of the one before, which others may still have to wait for.
    hipEvent_t inner[2], outer[2], sent[2][2];
    hipEvent_t begun, ended;
};

static void issue(const std::vector<strip> &all, const plate &p, int s, way how)
{
    const int devices = static_cast<int>(all.size()), now = s & 1, before = now ^ 1;
    const unsigned groups = (p.width - 2 + 255) / 256;
    for (int d = 0; d < devices; d++) {
        const strip &own = all[d];
        const float *from = own.data[now];
        float *to = own.data[before];
        float *away[2] = {}; // where the outer rows go
        if (d > 0)
            away[UP] = all[d - 1].data[before] + (p.rows + 1) * p.width;
        if (d < devices - 1)
            away[DOWN] = all[d + 1].data[before];
        CHECK_HIP(hipSetDevice(d));
        // The neighbours' rows have come, and they do not need those that came before.
        for (int side : {UP, DOWN})
            if (s > 0 && away[side]) {
                const strip &peer = all[side == UP ? d - 1 : d + 1];
                CHECK_HIP(hipStreamWaitEvent(
                    own.outside, how == STORED ? peer.outer[before] : peer.sent[side ^ 1][before], 0));
            }
        if (how == AFTER) {
            step<<<dim3(groups, p.rows), 256, 0, own.outside>>>(from, to, p.width, 1, 1, nullptr, nullptr);
        } else {
            if (s > 0) {
                CHECK_HIP(hipStreamWaitEvent(own.outside, own.inner[before], 0));
                CHECK_HIP(hipStreamWaitEvent(own.inside, own.outer[before], 0));
            }
            step<<<dim3(groups, 2), 256, 0, own.outside>>>(from, to, p.width, 1, p.rows - 1,
                                                           how == STORED ? away[UP] : nullptr,
                                                           how == STORED ? away[DOWN] : nullptr);
            step<<<dim3(groups, p.rows - 2), 256, 0, own.inside>>>(from, to, p.width, 2, 1, nullptr, nullptr);
            CHECK_HIP(hipEventRecord(own.inner[now], own.inside));
        }
        CHECK_HIP(hipGetLastError());
        CHECK_HIP(hipEventRecord(own.outer[now], own.outside));
        for (int side : {UP, DOWN}) {
            if (!away[side] || how == STORED)
                continue;
            const int peer = side == UP ? d - 1 : d + 1;
            CHECK_HIP(hipStreamWaitEvent(own.copy[side], own.outer[now], 0));
            CHECK_HIP(hipMemcpyPeerAsync(away[side], peer, to + (side == UP ? 1 : p.rows) * p.width, d,
                                         p.width * sizeof(float), own.copy[side]));
            CHECK_HIP(hipEventRecord(own.sent[side][now], own.copy[side]));
        }
    }
}

// All steps on the first `devices` devices, and what comes out; the time is that of the last to end.
static double run(int devices, const plate &p, int steps, way how, long *wrong)
{
    std::vector<strip> all(devices);
    const size_t bytes = static_cast<size_t>(p.rows + 2) * p.width * sizeof(float);
    gate begin;
    for (int d = 0; d < devices; d++) {
        strip &own = all[d];
        CHECK_HIP(hipSetDevice(d));
        for (hipStream_t *stream : {&own.inside, &own.outside, &own.copy[UP], &own.copy[DOWN]})
            CHECK_HIP(hipStreamCreateWithFlags(stream, hipStreamNonBlocking));
        for (hipEvent_t *e : {own.inner, own.outer, own.sent[UP], own.sent[DOWN]})
            for (int i = 0; i < 2; i++)
                CHECK_HIP(hipEventCreateWithFlags(&e[i], hipEventDisableTiming));
        CHECK_HIP(hipEventCreate(&own.begun));
        CHECK_HIP(hipEventCreate(&own.ended));
        for (float *&data : own.data) {
            CHECK_HIP(hipMalloc(&data, bytes));
            CHECK_HIP(hipMemcpy(data, &p.start[static_cast<size_t>(d) * p.rows * p.width], bytes,
                                hipMemcpyHostToDevice));
        }
        step<<<1, 256, 0, own.outside>>>(own.data[0], own.data[1], 0, 0, 0, nullptr,
                                         nullptr); // loads the code
        CHECK_HIP(hipGetLastError());
        CHECK_HIP(hipDeviceSynchronize());
    }

    begin.close();
    for (int d = 0; d < devices; d++) {
        CHECK_HIP(hipSetDevice(d));
        begin.hold(all[d].inside);
        begin.hold(all[d].outside);
        CHECK_HIP(hipEventRecord(all[d].begun, all[d].outside));
    }
    for (int s = 0; s < steps; s++)
        issue(all, p, s, how);
    for (int d = 0; d < devices; d++) {
        CHECK_HIP(hipSetDevice(d));
        if (how != AFTER)
            CHECK_HIP(hipStreamWaitEvent(all[d].outside, all[d].inner[(steps - 1) & 1], 0));
        CHECK_HIP(hipEventRecord(all[d].ended, all[d].outside));
    }
    begin.open();

    float slowest = 0;
    for (int d = 0; d < devices; d++) {
        float time;
        CHECK_HIP(hipEventSynchronize(all[d].ended));
        CHECK_HIP(hipEventElapsedTime(&time, all[d].begun, all[d].ended));
        slowest = std::max(slowest, time);
    }
    std::vector<float> seen(static_cast<size_t>(p.rows) * p.width);
    for (int d = 0; d < devices; d++) {
        const strip &own = all[d];
        CHECK_HIP(hipMemcpy(seen.data(), own.data[steps & 1] + p.width, seen.size() * sizeof(float),
                            hipMemcpyDeviceToHost));
        for (size_t i = 0; i < seen.size(); i++)
            *wrong += seen[i] != p.want[static_cast<size_t>(d) * seen.size() + p.width + i];
        CHECK_HIP(hipSetDevice(d));
        for (hipStream_t stream : {own.inside, own.outside, own.copy[UP], own.copy[DOWN]})
            CHECK_HIP(hipStreamDestroy(stream));
        for (const hipEvent_t *e : {own.inner, own.outer, own.sent[UP], own.sent[DOWN]})
            for (int i = 0; i < 2; i++)
                CHECK_HIP(hipEventDestroy(e[i]));
        CHECK_HIP(hipEventDestroy(own.begun));
        CHECK_HIP(hipEventDestroy(own.ended));
        for (float *data : own.data)
            CHECK_HIP(hipFree(data));
    }
    return static_cast<double>(slowest) * 1000;
}

int main(int argc, char **argv)
{
    int told[3] = {1024, 64, 6};
    for (int i = 0; i < 3 && i + 1 < argc; i++)
        told[i] = atoi(argv[i + 1]);
    const int steps = told[2];
    int devices;
    CHECK_HIP(hipGetDeviceCount(&devices));
    if (told[0] < 3 || told[1] < 3 || steps < 1)
        return report(false, "usage: halo_stencil [WIDTH [ROWS [STEPS]]], at least 3 3 1");
    if (devices == 1)
        return report(true, "one device, a strip without neighbours");

    plate p = {told[0], told[1], {}, {}};
    const int width = p.width, height = p.rows * devices + 2;
    p.start.resize(static_cast<size_t>(width) * height);
    random_numbers random = {12345};
    for (float &x : p.start)
        x = random.uniform();
    p.want = p.start;
    std::vector<float> next = p.start;
    for (int s = 0; s < steps; s++, std::swap(p.want, next))
        for (int y = 1; y < height - 1; y++)
            for (int x = 1; x < width - 1; x++) {
                const float *at = &p.want[static_cast<size_t>(y) * width + x];
                next[static_cast<size_t>(y) * width + x] = 0.25f * (at[-1] + at[1] + at[-width] + at[width]);
            }

    int from, to;
    if (!enable_peers(devices, &from, &to))
        return report(true, "device %d does not reach the memory of %d", from, to);

    long wrong = 0;
    const plate whole = {width, height - 2, p.start, p.want};
    const double one = run(1, whole, steps, AFTER, &wrong) / steps;
    std::printf("%-34s %9.2f us a step\n", "one device", one);
    for (way how : {AFTER, MEANWHILE, STORED}) {
        const double time = run(devices, p, steps, how, &wrong) / steps;
        std::printf("%-34s %9.2f us a step, %.2f times as fast\n", title[how], time, one / time);
    }
    return report(wrong == 0, "%d devices, %dx%d, %d steps, %ld wrong", devices, width, height - 2, steps,
                  wrong);
}
