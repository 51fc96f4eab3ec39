// SPDX-License-Identifier: MIT
// Nearest neighbours: the records of storms whose position is next to a given one.
//
// The GPU computes all distances; the CPU picks the nearest ten.  Positions are collected in a std::vector,
// and in the unified variant the GPU reads that vector where it is: memory of the default allocator, so it
// needs HSA_XNACK=1, and each of its pages costs a fault on the GPU.  A vector with an allocator of its own
// would not.
#include "app.h"

#include <algorithm>
#include <cmath>

struct position {
    float latitude, longitude;
};

// A line of the database.
struct record {
    char text[48];
    float distance;
};

constexpr unsigned NEAREST = 10, BLOCK = 256, READ_AHEAD = 1024; // records that are read at a time

__global__ void distances(const position *places, float *out, unsigned count, position from)
{
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count) {
        const float north = from.latitude - places[i].latitude, east = from.longitude - places[i].longitude;
        out[i] = sqrtf(north * north + east * east);
    }
}

static const position FROM = {30.0f, 90.0f};

// One record after the other, each as long as `text`.
static FILE *database_file(const app &run)
{
    static const char *const storms[] = {"ALBERTO", "BERYL",    "CHRIS", "DEBBY",
                                         "ERNESTO", "FLORENCE", "GORDON"};
    const untimed input;
    random_numbers random{run.seed * 2654435761u | 1};
    FILE *file = temporary_file();
    for (unsigned i = 0; i < run.size; i++) {
        char text[sizeof record::text] = {};
        const unsigned when = random.next();
        // Hundredths of a degree: the text holds all of them.
        std::snprintf(text, sizeof text, "%4u %2u %2u %02u %4u %-9s %6.2f %6.2f", 1950 + when % 60,
                      when / 64 % 12 + 1, when / 1024 % 28 + 1, when / 32768 % 4 * 6, i % 10000,
                      storms[when / 131072 % 7], static_cast<double>(random.next() % 18000) / 100,
                      static_cast<double>(random.next() % 36000) / 100);
        if (std::fwrite(text, 1, sizeof text, file) != sizeof text)
            std::exit(1);
    }
    std::rewind(file);
    return file;
}

// A number with blanks before it and two digits behind its point.
static float number_of(const char *text)
{
    int hundredths = 0;
    while (*text == ' ')
        text++;
    for (; (*text >= '0' && *text <= '9') || *text == '.'; text++)
        hundredths = *text == '.' ? hundredths : hundredths * 10 + *text - '0';
    return static_cast<float>(hundredths) / 100;
}

// The records and, from their text, the positions.
static void read_database(const app &run, vector<record> &records, vector<position> &places)
{
    FILE *file = database_file(run);
    records.reserve(run.size);
    places.reserve(run.size);
    constexpr size_t length = sizeof record::text;
    vector<char> ahead(READ_AHEAD * length);
    for (unsigned i = 0; i < run.size; i++) {
        if (i % READ_AHEAD == 0)
            read_file(file, ahead.data(), std::min(run.size - i, READ_AHEAD) * length);
        record line = {};
        std::memcpy(line.text, ahead.data() + i % READ_AHEAD * length, length);
        records.push_back(line);
        places.push_back({number_of(line.text + 29), number_of(line.text + 36)});
    }
    std::fclose(file);
}

// The nearest, best first.
static vector<unsigned> pick(vector<record> &records, const float *distance)
{
    vector<unsigned> best;
    for (unsigned i = 0; i < records.size(); i++) {
        records[i].distance = distance[i];
        const auto nearer = [&](unsigned a, unsigned b) {
            return distance[a] != distance[b] ? distance[a] < distance[b] : a < b;
        };
        if (best.size() == NEAREST && !nearer(i, best.back()))
            continue;
        best.insert(std::upper_bound(best.begin(), best.end(), i, nearer), i);
        if (best.size() > NEAREST)
            best.pop_back();
    }
    return best;
}

// Whether these are the nearest by exact distances, up to what single precision cannot tell.
static bool check(const vector<position> &places, const vector<unsigned> &best)
{
    vector<double> all(places.size());
    for (size_t i = 0; i < all.size(); i++)
        all[i] = std::hypot(static_cast<double>(FROM.latitude) - static_cast<double>(places[i].latitude),
                            static_cast<double>(FROM.longitude) - static_cast<double>(places[i].longitude));
    vector<double> sorted = all;
    const size_t wanted = std::min(all.size(), size_t{NEAREST});
    std::partial_sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(wanted), sorted.end());
    for (size_t k = 0; k < wanted; k++)
        if (k >= best.size() || std::fabs(all[best[k]] - sorted[k]) > 1e-4)
            return false;
    return best.size() == wanted;
}

static bool run_explicit(app &run)
{
    vector<record> records;
    vector<position> places;
    read_database(run, records, places);
    const size_t count = places.size();
    float *distance = host_alloc<float>(count);

    // Will it fit?  What the device has free says so for a device with memory of its own.
    size_t available, all;
    CHECK_HIP(hipMemGetInfo(&available, &all));
    if (available < count * (sizeof(position) + sizeof(float))) {
        std::fprintf(stderr, "nn: %zu records do not fit into the device's memory\n", count);
        std::exit(1);
    }

    position *d_places = gpu_alloc<position>(count);
    float *d_distance = gpu_alloc<float>(count);
    run.begin_compute();
    copy_to_gpu(d_places, places.data(), count);
    distances<<<blocks_of(count, BLOCK), BLOCK>>>(d_places, d_distance, run.size, FROM);
    copy_to_cpu(distance, d_distance, count);
    run.end_compute();
    gpu_free(d_places);
    gpu_free(d_distance);

    const vector<unsigned> best = pick(records, distance);
    host_free(distance);
    run.end();
    return check(places, best);
}

static bool run_unified(app &run)
{
    vector<record> records;
    vector<position> places;
    read_database(run, records, places);
    const size_t count = places.size();
    float *distance = gpu_alloc<float>(count);

    run.begin_compute();
    distances<<<blocks_of(count, BLOCK), BLOCK>>>(places.data(), distance, run.size, FROM);
    CHECK_HIP(hipDeviceSynchronize());
    run.end_compute();

    const vector<unsigned> best = pick(records, distance);
    gpu_free(distance);
    run.end();
    return check(places, best);
}

int main(int argc, char **argv)
{
    app run(argc, argv, "nn", "records", 262144);
    const bool right = run.unified ? run_unified(run) : run_explicit(run);
    run.print_times();
    return report(right, "the %u nearest of %u records", NEAREST, run.size);
}
