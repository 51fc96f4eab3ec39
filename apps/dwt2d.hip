// SPDX-License-Identifier: MIT
// DWT: the reversible 5/3 wavelet transform of JPEG 2000, over some levels, of an image's three components.
//
// The image comes from a file in text form and the coefficients go to one: that is most of the program's time
// and memory, and the CPU's alone.  The explicit variant sends the image in parts, each of which is converted
// to components while the next is under way, and fetches the coefficients.  The unified variant moves
// nothing.
#include "app.h"

#include <array>

constexpr unsigned BLOCK = 256, PARTS = 4, LEVELS = 3, COMPONENTS = 3,
                   TEXT = 12; // characters a coefficient takes

struct pixel {
    uint8_t red, green, blue;
};

// The reversible component transform, after the shift to numbers around 0.
__global__ void to_components(const pixel *image, int *y, int *u, int *v, unsigned first, unsigned count)
{
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    const pixel p = image[first + i];
    const int r = p.red - 128, g = p.green - 128, b = p.blue - 128;
    y[first + i] = (r + 2 * g + b) >> 2;
    u[first + i] = b - g;
    v[first + i] = r - g;
}

// An index beyond the ends counts back from there.
__device__ static int mirror(int i, int length)
{
    while (i < 0 || i >= length)
        i = i < 0 ? -i : 2 * (length - 1) - i;
    return i;
}

// One pair of a line of `length` numbers, each `step` after the other: low to its first half, high to its
// second.
__device__ static void lift(const int *from, int *to, int pair, int length, int step)
{
    const auto x = [&](int i) { return from[mirror(i, length) * step]; };
    const auto high = [&](int i) { return x(2 * i + 1) - ((x(2 * i) + x(2 * i + 2)) >> 1); };
    const int lows = (length + 1) / 2, here = high(pair);
    to[pair * step] = x(2 * pair) + ((high(pair - 1) + here + 2) >> 2);
    if (2 * pair + 1 < length)
        to[(lows + pair) * step] = here;
}

__global__ void rows(const int *from, int *to, int width, int stride)
{
    const int pair = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x),
              line = static_cast<int>(blockIdx.y) * stride;
    if (2 * pair < width)
        lift(from + line, to + line, pair, width, 1);
}

__global__ void columns(const int *from, int *to, int width, int height, int stride)
{
    const int column = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x);
    if (column < width)
        lift(from + column, to + column, static_cast<int>(blockIdx.y), height, stride);
}

// All levels; the result is where the component was.
static void transform(int *component, int *scratch, unsigned size)
{
    const int stride = static_cast<int>(size);
    for (unsigned level = 0, side = size; level < LEVELS && side > 1; level++, side = (side + 1) / 2) {
        const int length = static_cast<int>(side);
        rows<<<dim3(blocks_of((side + 1) / 2, BLOCK), side), BLOCK>>>(component, scratch, length, stride);
        columns<<<dim3(blocks_of(side, BLOCK), (side + 1) / 2), BLOCK>>>(scratch, component, length, length,
                                                                         stride);
    }
}

static size_t text_size(const app &run)
{
    return size_t{run.size} * run.size * 12;
}

// Three numbers of four characters a pixel.
static FILE *image_file(const app &run)
{
    const untimed input;
    random_numbers random{run.seed * 2654435761u | 1};
    FILE *file = temporary_file();
    for (unsigned y = 0; y < run.size; y++)
        for (unsigned x = 0; x < run.size; x++)
            for (unsigned c = 0; c < 3; c++)
                std::fprintf(file, "%3u\n", (x * (c + 1) + y * (3 - c) + random.next() % 32) & 255);
    std::rewind(file);
    return file;
}

static void read_image(const app &run, FILE *file, pixel *image)
{
    char *text = host_alloc<char>(text_size(run));
    const size_t pixels = size_t{run.size} * run.size;
    read_file(file, text, text_size(run));
    const auto number = [&](size_t at) {
        const auto digit = [&](size_t i) { return text[i] == ' ' ? 0 : text[i] - '0'; };
        return static_cast<uint8_t>(digit(at) * 100 + digit(at + 1) * 10 + digit(at + 2));
    };
    for (size_t i = 0; i < pixels; i++)
        image[i] = {number(i * 12), number(i * 12 + 4), number(i * 12 + 8)};
    host_free(text);
}

static void write_coefficients(const app &run, int *const components[COMPONENTS])
{
    const size_t pixels = size_t{run.size} * run.size, bytes = pixels * COMPONENTS * TEXT;
    char *text = host_alloc<char>(bytes), *line = text;
    for (unsigned c = 0; c < COMPONENTS; c++) {
        for (size_t i = 0; i < pixels; i++, line += TEXT) {
            const int value = components[c][i];
            unsigned digits = static_cast<unsigned>(value < 0 ? -value : value), place = TEXT - 1;
            line[place] = '\n';
            do
                line[--place] = static_cast<char>('0' + digits % 10);
            while (digits /= 10);
            if (value < 0)
                line[--place] = '-';
            std::memset(line, ' ', place);
        }
    }
    FILE *file = temporary_file();
    write_file(file, text, bytes);
    std::fclose(file);
    host_free(text);
}

// One line on the CPU: predict the odd ones, update the even ones, part them.
static void reference_line(vector<int> &line)
{
    const size_t n = line.size();
    vector<int> high, low;
    for (size_t i = 1; i < n; i += 2)
        high.push_back(line[i] - ((line[i - 1] + (i + 1 < n ? line[i + 1] : line[i - 1])) >> 1));
    for (size_t i = 0; i < n; i += 2) {
        const int right = i / 2 < high.size() ? high[i / 2] : high[i / 2 - 1];
        low.push_back(line[i] + (((i ? high[i / 2 - 1] : right) + right + 2) >> 2));
    }
    std::copy(low.begin(), low.end(), line.begin());
    std::copy(high.begin(), high.end(), line.begin() + static_cast<std::ptrdiff_t>(low.size()));
}

// How many coefficients differ from the CPU's.
static size_t check(const app &run, const std::array<kept<int>, COMPONENTS> &components)
{
    const size_t size = run.size, pixels = size * size;
    vector<pixel> image(pixels);
    FILE *file = image_file(run);
    read_image(run, file, image.data());
    std::fclose(file);
    size_t wrong = 0;
    for (unsigned c = 0; c < COMPONENTS; c++) {
        vector<int> plane(pixels);
        for (size_t i = 0; i < pixels; i++) {
            const int r = image[i].red, g = image[i].green, b = image[i].blue;
            plane[i] = c == 0 ? (r + 2 * g + b - 512) >> 2 : c == 1 ? b - g : r - g;
        }
        for (size_t level = 0, side = size; level < LEVELS && side > 1; level++, side = (side + 1) / 2) {
            vector<int> line(side);
            for (size_t y = 0; y < side; y++) {
                for (size_t x = 0; x < side; x++)
                    line[x] = plane[y * size + x];
                reference_line(line);
                for (size_t x = 0; x < side; x++)
                    plane[y * size + x] = line[x];
            }
            for (size_t x = 0; x < side; x++) {
                for (size_t y = 0; y < side; y++)
                    line[y] = plane[y * size + x];
                reference_line(line);
                for (size_t y = 0; y < side; y++)
                    plane[y * size + x] = line[y];
            }
        }
        for (size_t i = 0; i < pixels; i++)
            wrong += plane[i] != components[c].data()[i];
    }
    return wrong;
}

// Pinned: for copies that do not wait.
template <typename T> static T *pinned_alloc(size_t count)
{
    void *p;
    CHECK_HIP(hipHostMalloc(&p, count * sizeof(T), hipHostMallocDefault));
    memory_in_use.add(count * sizeof(T));
    return static_cast<T *>(p);
}

template <typename T> static void pinned_free(T *p, size_t count)
{
    CHECK_HIP(hipHostFree(p));
    memory_in_use.now -= count * sizeof(T);
}

static std::array<kept<int>, COMPONENTS> keep(int *const components[COMPONENTS], size_t pixels)
{
    return {{{components[0], pixels}, {components[1], pixels}, {components[2], pixels}}};
}

static size_t run_explicit(app &run, FILE *file)
{
    const unsigned pixels = run.size * run.size, part = (pixels + PARTS - 1) / PARTS;
    pixel *image = pinned_alloc<pixel>(pixels);
    read_image(run, file, image);
    int *components[COMPONENTS], *d_components[COMPONENTS];
    for (unsigned c = 0; c < COMPONENTS; c++) {
        components[c] = pinned_alloc<int>(pixels);
        d_components[c] = gpu_alloc<int>(pixels);
    }
    pixel *d_image = gpu_alloc<pixel>(pixels);
    int *d_scratch = gpu_alloc<int>(pixels);
    hipStream_t streams[2];
    for (hipStream_t &stream : streams)
        CHECK_HIP(hipStreamCreate(&stream));

    run.begin_compute();
    for (unsigned k = 0; k < PARTS; k++) {
        const unsigned first = k * part, count = first + part < pixels ? part : pixels - first;
        CHECK_HIP(hipMemcpyAsync(d_image + first, image + first, count * sizeof(pixel), hipMemcpyHostToDevice,
                                 streams[k % 2]));
        to_components<<<blocks_of(count, BLOCK), BLOCK, 0, streams[k % 2]>>>(
            d_image, d_components[0], d_components[1], d_components[2], first, count);
    }
    for (unsigned c = 0; c < COMPONENTS; c++) {
        transform(d_components[c], d_scratch, run.size);
        copy_to_cpu(components[c], d_components[c], pixels);
    }
    run.end_compute();

    for (int *p : {d_components[0], d_components[1], d_components[2], d_scratch})
        gpu_free(p);
    gpu_free(d_image);
    for (hipStream_t stream : streams)
        CHECK_HIP(hipStreamDestroy(stream));
    pinned_free(image, pixels);
    write_coefficients(run, components);
    const std::array<kept<int>, COMPONENTS> result = keep(components, pixels);
    for (int *component : components)
        pinned_free(component, pixels);
    run.end();
    return check(run, result);
}

static size_t run_unified(app &run, FILE *file)
{
    const unsigned pixels = run.size * run.size;
    pixel *image = gpu_alloc<pixel>(pixels);
    read_image(run, file, image);
    int *components[COMPONENTS], *scratch = gpu_alloc<int>(pixels);
    for (int *&component : components)
        component = gpu_alloc<int>(pixels);

    run.begin_compute();
    to_components<<<blocks_of(pixels, BLOCK), BLOCK>>>(image, components[0], components[1], components[2], 0,
                                                       pixels);
    for (int *component : components)
        transform(component, scratch, run.size);
    CHECK_HIP(hipDeviceSynchronize());
    run.end_compute();

    gpu_free(scratch);
    gpu_free(image);
    write_coefficients(run, components);
    const std::array<kept<int>, COMPONENTS> result = keep(components, pixels);
    for (int *component : components)
        gpu_free(component);
    run.end();
    return check(run, result);
}

int main(int argc, char **argv)
{
    app run(argc, argv, "dwt2d", "rows and columns of the image", 256);
    if (run.size > 16384) {
        std::fprintf(stderr, "dwt2d: --size: at most 16384\n");
        return 2;
    }
    FILE *file = image_file(run);
    const size_t wrong = run.unified ? run_unified(run, file) : run_explicit(run, file);
    std::fclose(file);
    run.print_times();
    return report(wrong == 0, "%ux%u pixels, %u levels, %zu wrong coefficients", run.size, run.size, LEVELS,
                  wrong);
}
