// SPDX-License-Identifier: MIT
// Backpropagation: one training step of a network with one hidden layer.
//
// The GPU does the wide layer (size inputs to 16 hidden units): weighted sums forward, then the change of its
// weights with momentum.  The CPU does the rest, which is tiny.  The network keeps its weights in rows for
// the CPU, so a step first lays them out in one piece.  As in the published program, which times a step and
// ends, the new ones stay there; and each half of the step copies to the GPU what it reads, the weights twice
// therefore, and back what the GPU has, the units among it.  Of two buffers on each side and eight copies
// between them remains nothing in the unified variant: the piece that the CPU fills is the one that the GPU
// reads.
#include "app.h"

#include <cmath>

constexpr unsigned HIDDEN = 16, WIDTH = HIDDEN + 1; // with the bias, unit 0
constexpr unsigned TILE = 16;                       // inputs a workgroup takes
constexpr unsigned PITCH = 20;                      // of the CPU's rows: whole vectors of four
constexpr float RATE = 0.3f, MOMENTUM = 0.3f;

// Partial sums of a tile: partial[tile][hidden].  x is the hidden unit, y the input.
__global__ void forward(const float *units, const float *weights, float *partial)
{
    __shared__ float product[TILE][HIDDEN];
    const unsigned input = blockIdx.x * TILE + threadIdx.y + 1, hidden = threadIdx.x + 1;
    product[threadIdx.y][threadIdx.x] = units[input] * weights[size_t{input} * WIDTH + hidden];
    __syncthreads();
    for (unsigned step = TILE / 2; step; step /= 2) {
        if (threadIdx.y < step)
            product[threadIdx.y][threadIdx.x] += product[threadIdx.y + step][threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.y == 0)
        partial[blockIdx.x * HIDDEN + threadIdx.x] = product[0][threadIdx.x];
}

__global__ void adjust(const float *units, const float *delta, float *weights, float *change)
{
    const unsigned input = blockIdx.x * TILE + threadIdx.y + 1, hidden = threadIdx.x + 1;
    const size_t at = size_t{input} * WIDTH + hidden;
    const float step = RATE * delta[hidden] * units[input] + MOMENTUM * change[at];
    weights[at] += step;
    change[at] = step;
    if (blockIdx.x == 0 && threadIdx.y == 0) { // the bias's weights
        const float bias = RATE * delta[hidden] * units[0] + MOMENTUM * change[hidden];
        weights[hidden] += bias;
        change[hidden] = bias;
    }
}

struct network {
    unsigned inputs;
    float *units;             // inputs + 1, unit 0 is 1
    float *weights, *changes; // of each input: rows of WIDTH, PITCH apart; changes of the last step
    float out_weights[WIDTH], target;

    network(const app &run, float *unit_memory)
        : inputs(run.size), units(unit_memory), weights(host_alloc<float>(floats())),
          changes(host_alloc<float>(floats()))
    {
        random_numbers random{run.seed * 2654435761u | 1};
        units[0] = 1;
        for (unsigned i = 1; i <= inputs; i++)
            units[i] = random.uniform();
        for (size_t i = 0; i <= inputs; i++)
            for (unsigned h = 0; h < WIDTH; h++) {
                weights[i * PITCH + h] = (random.uniform() - 0.5f) / 64;
                changes[i * PITCH + h] = 0;
            }
        for (float &w : out_weights)
            w = random.uniform() - 0.5f;
        target = 0.1f;
    }
    network(const network &) = delete;
    ~network()
    {
        host_free(weights);
        host_free(changes);
    }
    size_t floats() const
    {
        return (size_t{inputs} + 1) * PITCH;
    }
};

// Rows to one piece.
static void lay_out(size_t rows, const float *from, float *to)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t h = 0; h < WIDTH; h++)
            to[i * WIDTH + h] = from[i * PITCH + h];
}

static float squash(double sum)
{
    return static_cast<float>(1 / (1 + std::exp(-sum)));
}

// Hidden sums to the errors of the hidden units: the layers that are too small for the GPU.
static void small_layers(const network &net, const double *sums, float *delta)
{
    float hidden[WIDTH] = {1};
    double sum = 0;
    for (unsigned h = 1; h < WIDTH; h++)
        hidden[h] = squash(sums[h]);
    for (unsigned h = 0; h < WIDTH; h++)
        sum += static_cast<double>(net.out_weights[h] * hidden[h]);
    const float out = squash(sum), out_delta = out * (1 - out) * (net.target - out);
    delta[0] = 0;
    for (unsigned h = 1; h < WIDTH; h++)
        delta[h] = hidden[h] * (1 - hidden[h]) * out_delta * net.out_weights[h];
}

static void sum_partials(const network &net, const float *partial, const float *bias_row, double *sums)
{
    for (unsigned h = 1; h < WIDTH; h++)
        sums[h] = static_cast<double>(bias_row[h]);
    for (size_t tile = 0; tile < net.inputs / TILE; tile++)
        for (unsigned h = 1; h < WIDTH; h++)
            sums[h] += static_cast<double>(partial[tile * HIDDEN + h - 1]);
}

// Largest difference of the trained weights from a plain computation.
static double check(const app &run, const float *trained)
{
    vector<float> units(size_t{run.size} + 1);
    const network net(run, units.data());
    double sums[WIDTH] = {}, worst = 0;
    for (unsigned h = 1; h < WIDTH; h++)
        for (size_t i = 0; i <= net.inputs; i++)
            sums[h] += static_cast<double>(net.units[i]) * static_cast<double>(net.weights[i * PITCH + h]);
    float delta[WIDTH];
    small_layers(net, sums, delta);
    for (size_t i = 0; i <= net.inputs; i++)
        for (unsigned h = 1; h < WIDTH; h++) {
            const float want = net.weights[i * PITCH + h] + RATE * delta[h] * net.units[i];
            worst = std::fmax(worst, static_cast<double>(std::fabs(want - trained[i * WIDTH + h])));
        }
    return worst;
}

// The compute phase is the training step, from its allocations to its frees.
static double run_explicit(app &run)
{
    const size_t n = run.size, all = (n + 1) * WIDTH, sums_count = n / TILE * HIDDEN;
    float *units = host_alloc<float>(n + 1);
    network net(run, units);
    const dim3 block(HIDDEN, TILE);
    const unsigned tiles = run.size / TILE;

    run.begin_compute();
    float *weights = host_alloc<float>(all), *change = host_alloc<float>(all);
    float *partial = host_alloc<float>(sums_count);
    lay_out(n + 1, net.weights, weights);
    lay_out(n + 1, net.changes, change);
    float *d_units = gpu_alloc<float>(n + 1), *d_weights = gpu_alloc<float>(all);
    float *d_partial = gpu_alloc<float>(sums_count);
    copy_to_gpu(d_units, units, n + 1);
    copy_to_gpu(d_weights, weights, all);
    forward<<<tiles, block>>>(d_units, d_weights, d_partial);
    copy_to_cpu(partial, d_partial, sums_count);

    double sums[WIDTH] = {};
    float delta[WIDTH];
    sum_partials(net, partial, weights, sums);
    small_layers(net, sums, delta);

    float *d_delta = gpu_alloc<float>(WIDTH), *d_change = gpu_alloc<float>(all);
    copy_to_gpu(d_delta, delta, WIDTH);
    copy_to_gpu(d_change, change, all);
    copy_to_gpu(d_weights, weights, all);
    adjust<<<tiles, block>>>(d_units, d_delta, d_weights, d_change);
    copy_to_cpu(units, d_units, n + 1);
    copy_to_cpu(weights, d_weights, all);
    const kept<float> trained(weights, all);
    for (float *p : {d_units, d_weights, d_partial, d_delta, d_change})
        gpu_free(p);
    for (float *p : {weights, change, partial})
        host_free(p);
    run.end_compute();

    host_free(units);
    run.end();
    return check(run, trained.data());
}

static double run_unified(app &run)
{
    const size_t n = run.size, all = (n + 1) * WIDTH, sums_count = n / TILE * HIDDEN;
    float *units = gpu_alloc<float>(n + 1);
    network net(run, units);
    const dim3 block(HIDDEN, TILE);
    const unsigned tiles = run.size / TILE;

    run.begin_compute();
    float *weights = gpu_alloc<float>(all), *change = gpu_alloc<float>(all);
    float *partial = gpu_alloc<float>(sums_count), *delta = gpu_alloc<float>(WIDTH);
    lay_out(n + 1, net.weights, weights);
    lay_out(n + 1, net.changes, change);
    forward<<<tiles, block>>>(units, weights, partial);
    CHECK_HIP(hipDeviceSynchronize());

    double sums[WIDTH] = {};
    sum_partials(net, partial, weights, sums);
    small_layers(net, sums, delta);

    adjust<<<tiles, block>>>(units, delta, weights, change);
    CHECK_HIP(hipDeviceSynchronize());
    const kept<float> trained(weights, all);
    for (float *p : {weights, partial, delta, change})
        gpu_free(p);
    run.end_compute();

    gpu_free(units);
    run.end();
    return check(run, trained.data());
}

int main(int argc, char **argv)
{
    app run(argc, argv, "backprop", "inputs, a multiple of 16", 65536);
    run.size = (run.size + TILE - 1) / TILE * TILE;
    const double worst = run.unified ? run_unified(run) : run_explicit(run);
    run.print_times();
    return report(worst < 1e-6, "%u inputs, largest error %.1e", run.size, worst);
}
