// SPDX-License-Identifier: MIT
// SRAD: takes the speckle out of an ultrasound image by diffusion that stops at edges.
//
// Each step sums the image (how much noise there is), computes a coefficient for every pixel, and lets the
// pixels diffuse until none changes much.  The explicit variant moves the image in parts, so that copies
// overlap with the conversion of the parts before; and sums and a flag in every step.  In the unified variant
// there is nothing to move.  The flag is a variable on the host's stack, which the GPU reaches with
// HSA_XNACK=1; it lives long enough, for the host waits for each step.
#include "app.h"

#include <cmath>
#include <utility>

constexpr unsigned BLOCK = 256, PARTS = 4;
constexpr float LAMBDA = 0.5f, STILL = 1e-6f; // strength; a change that is none

struct shape {
    unsigned rows, columns;
    __host__ __device__ size_t pixels() const
    {
        return size_t{rows} * columns;
    }
};

__global__ void extract(const float *from, float *to, unsigned first, unsigned count)
{
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count)
        to[first + i] = expf(from[first + i] / 255);
}

__global__ void compress(const float *from, float *to, unsigned first, unsigned count)
{
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count)
        to[first + i] = logf(from[first + i]) * 255;
}

// Two sums of each workgroup's part.  The first pass squares; the last has one workgroup.
__global__ void reduce(const float *values, const float *squares, unsigned count, float *sums,
                       float *square_sums)
{
    __shared__ float sum[BLOCK], square[BLOCK];
    float a = 0, b = 0;
    for (unsigned i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        a += values[i];
        b += squares ? squares[i] : values[i] * values[i];
    }
    sum[threadIdx.x] = a;
    square[threadIdx.x] = b;
    __syncthreads();
    for (unsigned half = BLOCK / 2; half; half /= 2) {
        if (threadIdx.x < half) {
            sum[threadIdx.x] += sum[threadIdx.x + half];
            square[threadIdx.x] += square[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum[0];
        square_sums[blockIdx.x] = square[0];
    }
}

struct slopes { // differences to the four neighbours, and the coefficient
    float *north, *south, *west, *east, *coefficient;
};

__host__ __device__ static float coefficient_of(float here, float n, float s, float w, float e, float noise)
{
    const float gradient = (n * n + s * s + w * w + e * e) / (here * here),
                laplacian = (n + s + w + e) / here;
    const float numerator = 0.5f * gradient - laplacian * laplacian / 16, denominator = 1 + 0.25f * laplacian;
    const float variation = numerator / (denominator * denominator);
    const float c = 1 / (1 + (variation - noise) / (noise * (1 + noise)));
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

__global__ void coefficients(const float *image, shape size, slopes out, float noise)
{
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= size.pixels())
        return;
    const unsigned row = i / size.columns, column = i % size.columns;
    const float here = image[i];
    const float n = image[row ? i - size.columns : i] - here;
    const float s = image[row + 1 < size.rows ? i + size.columns : i] - here;
    const float w = image[column ? i - 1 : i] - here;
    const float e = image[column + 1 < size.columns ? i + 1 : i] - here;
    out.north[i] = n;
    out.south[i] = s;
    out.west[i] = w;
    out.east[i] = e;
    out.coefficient[i] = coefficient_of(here, n, s, w, e, noise);
}

__global__ void diffuse(float *image, shape size, slopes in, int *moving)
{
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= size.pixels())
        return;
    const unsigned row = i / size.columns, column = i % size.columns;
    const float c = in.coefficient[i];
    const float south = in.coefficient[row + 1 < size.rows ? i + size.columns : i];
    const float east = in.coefficient[column + 1 < size.columns ? i + 1 : i];
    const float change =
        0.25f * LAMBDA * (c * in.north[i] + south * in.south[i] + c * in.west[i] + east * in.east[i]);
    image[i] += change;
    if (__any(fabsf(change) > STILL * image[i]) && threadIdx.x % warpSize == 0)
        *moving = 1;
}

static void generate(const app &run, float *image)
{
    random_numbers random{run.seed * 2654435761u | 1};
    const float n = static_cast<float>(run.size);
    for (unsigned y = 0; y < run.size; y++)
        for (unsigned x = 0; x < run.size; x++) {
            const float dx = static_cast<float>(x) / n - 0.5f, dy = static_cast<float>(y) / n - 0.5f;
            const float tissue = dx * dx + dy * dy < 0.1f ? 180.0f : 90.0f;
            image[size_t{y} * run.size + x] = tissue * (0.7f + 0.6f * random.uniform());
        }
}

// In grey levels, as such pictures are kept; row by row.
static void write_picture(const app &run, const float *image)
{
    const size_t n = run.size;
    vector<uint8_t> row(n);
    FILE *file = temporary_file();
    for (size_t y = 0; y < n; y++) {
        for (size_t x = 0; x < n; x++)
            row[x] = static_cast<uint8_t>(std::fmin(std::fmax(image[y * n + x], 0.0f), 255.0f));
        write_file(file, row.data(), n);
    }
    std::fclose(file);
}

static float noise_of(float sum, float square_sum, size_t pixels)
{
    const double count = static_cast<double>(pixels), mean = static_cast<double>(sum) / count;
    return static_cast<float>((static_cast<double>(square_sum) / count - mean * mean) / (mean * mean));
}

// The same on the CPU; the largest difference in grey levels.
static double check(const app &run, const float *result, unsigned steps)
{
    const size_t n = run.size, pixels = n * n;
    vector<float> image(pixels), c(pixels), next(pixels);
    generate(run, image.data());
    for (float &v : image)
        v = std::exp(v / 255);
    for (unsigned step = 0; step < steps; step++) {
        double sum = 0, squares = 0;
        for (const float v : image) {
            sum += static_cast<double>(v);
            squares += static_cast<double>(v) * static_cast<double>(v);
        }
        const float noise = noise_of(static_cast<float>(sum), static_cast<float>(squares), pixels);
        const auto slope = [&](size_t i, bool there, std::ptrdiff_t offset) {
            return there ? image[static_cast<size_t>(static_cast<std::ptrdiff_t>(i) + offset)] - image[i]
                         : 0.0f;
        };
        const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(n);
        for (size_t i = 0; i < pixels; i++)
            c[i] = coefficient_of(image[i], slope(i, i >= n, -line), slope(i, i + n < pixels, line),
                                  slope(i, i % n, -1), slope(i, i % n + 1 < n, 1), noise);
        for (size_t i = 0; i < pixels; i++) {
            const bool below = i + n < pixels, right = i % n + 1 < n;
            next[i] = image[i] +
                      0.25f * LAMBDA *
                          (c[i] * slope(i, i >= n, -line) + (below ? c[i + n] * slope(i, true, line) : 0) +
                           c[i] * slope(i, i % n, -1) + (right ? c[i + 1] * slope(i, true, 1) : 0));
        }
        std::swap(image, next);
    }
    double worst = 0;
    for (size_t i = 0; i < pixels; i++)
        worst = std::fmax(worst, static_cast<double>(std::fabs(std::log(image[i]) * 255 - result[i])));
    return worst;
}

struct work { // what only the GPU uses
    slopes slope;
    float *sums, *square_sums; // a pair for each workgroup of the reduction, and the total
    unsigned workgroups;

    explicit work(shape size) : workgroups(blocks_of(size.pixels(), BLOCK * 4))
    {
        workgroups = workgroups > BLOCK ? BLOCK : workgroups;
        for (float **p : {&slope.north, &slope.south, &slope.west, &slope.east, &slope.coefficient})
            *p = gpu_alloc<float>(size.pixels());
        sums = gpu_alloc<float>(workgroups + 1);
        square_sums = gpu_alloc<float>(workgroups + 1);
    }
    work(const work &) = delete;
    ~work()
    {
        for (float *p :
             {slope.north, slope.south, slope.west, slope.east, slope.coefficient, sums, square_sums})
            gpu_free(p);
    }
    void sum(const float *image, shape size) const
    {
        reduce<<<workgroups, BLOCK>>>(image, nullptr, static_cast<unsigned>(size.pixels()), sums,
                                      square_sums);
        reduce<<<1, BLOCK>>>(sums, square_sums, workgroups, sums + workgroups, square_sums + workgroups);
    }
    void step(float *image, shape size, float noise, int *moving) const
    {
        const unsigned blocks = blocks_of(size.pixels(), BLOCK);
        coefficients<<<blocks, BLOCK>>>(image, size, slope, noise);
        diffuse<<<blocks, BLOCK>>>(image, size, slope, moving);
    }
};

static double run_explicit(app &run, unsigned *steps)
{
    const shape size = {run.size, run.size};
    const unsigned pixels = static_cast<unsigned>(size.pixels()), part = (pixels + PARTS - 1) / PARTS;
    float *original = host_alloc<float>(pixels), *result = host_alloc<float>(pixels);
    generate(run, original);
    CHECK_HIP(
        hipHostRegister(original, pixels * sizeof(float), hipHostRegisterDefault)); // for copies that overlap
    CHECK_HIP(hipHostRegister(result, pixels * sizeof(float), hipHostRegisterDefault));
    hipStream_t streams[2];
    for (hipStream_t &stream : streams)
        CHECK_HIP(hipStreamCreate(&stream));

    run.begin_compute();
    float *d_image = gpu_alloc<float>(pixels);
    int *d_moving = gpu_alloc<int>(1);
    const work gpu(size);
    for (unsigned k = 0; k < PARTS; k++) {
        const unsigned first = k * part, count = first + part < pixels ? part : pixels - first;
        CHECK_HIP(hipMemcpyAsync(d_image + first, original + first, count * sizeof(float),
                                 hipMemcpyHostToDevice, streams[k % 2]));
        extract<<<blocks_of(count, BLOCK), BLOCK, 0, streams[k % 2]>>>(d_image, d_image, first, count);
    }
    int moving = 1;
    for (*steps = 0; *steps < run.steps && moving; ++*steps) {
        float sum, square_sum;
        gpu.sum(d_image, size);
        copy_to_cpu(&sum, gpu.sums + gpu.workgroups, 1);
        copy_to_cpu(&square_sum, gpu.square_sums + gpu.workgroups, 1);
        moving = 0;
        copy_to_gpu(d_moving, &moving, 1);
        gpu.step(d_image, size, noise_of(sum, square_sum, pixels), d_moving);
        copy_to_cpu(&moving, d_moving, 1);
    }
    for (unsigned k = 0; k < PARTS; k++) {
        const unsigned first = k * part, count = first + part < pixels ? part : pixels - first;
        compress<<<blocks_of(count, BLOCK), BLOCK, 0, streams[k % 2]>>>(d_image, d_image, first, count);
        CHECK_HIP(hipMemcpyAsync(result + first, d_image + first, count * sizeof(float),
                                 hipMemcpyDeviceToHost, streams[k % 2]));
    }
    CHECK_HIP(hipDeviceSynchronize());
    run.end_compute();

    gpu_free(d_image);
    gpu_free(d_moving);
    for (hipStream_t stream : streams)
        CHECK_HIP(hipStreamDestroy(stream));
    CHECK_HIP(hipHostUnregister(original));
    CHECK_HIP(hipHostUnregister(result));
    write_picture(run, result);
    const kept<float> picture(result, pixels);
    host_free(original);
    host_free(result);
    run.end();
    return check(run, picture.data(), *steps);
}

static double run_unified(app &run, unsigned *steps)
{
    const shape size = {run.size, run.size};
    const unsigned pixels = static_cast<unsigned>(size.pixels()), blocks = blocks_of(pixels, BLOCK);
    float *original = gpu_alloc<float>(pixels);
    generate(run, original);

    run.begin_compute();
    float *image = gpu_alloc<float>(pixels);
    const work gpu(size);
    extract<<<blocks, BLOCK>>>(original, image, 0, pixels);
    int moving = 1;
    for (*steps = 0; *steps < run.steps && moving; ++*steps) {
        gpu.sum(image, size);
        CHECK_HIP(hipDeviceSynchronize());
        moving = 0;
        gpu.step(image, size, noise_of(gpu.sums[gpu.workgroups], gpu.square_sums[gpu.workgroups], pixels),
                 &moving);
        CHECK_HIP(hipDeviceSynchronize());
    }
    compress<<<blocks, BLOCK>>>(image, image, 0, pixels);
    CHECK_HIP(hipDeviceSynchronize());
    run.end_compute();

    write_picture(run, image);
    const kept<float> picture(image, pixels);
    gpu_free(original);
    gpu_free(image);
    run.end();
    return check(run, picture.data(), *steps);
}

int main(int argc, char **argv)
{
    app run(argc, argv, "srad_v1", "rows and columns of the image", 256, "steps at most", 8);
    if (run.size > 32768) {
        std::fprintf(stderr, "srad_v1: --size: at most 32768\n");
        return 2;
    }
    unsigned steps = 0;
    const double worst = run.unified ? run_unified(run, &steps) : run_explicit(run, &steps);
    run.print_times();
    return report(worst < 0.1, "%ux%u pixels, %u steps, largest error %.1e grey levels", run.size, run.size,
                  steps, worst);
}
