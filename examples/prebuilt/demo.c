// SPDX-License-Identifier: MIT
// Loads a code object that is ready-made for gfx942, runs its kernel on the simulated GPU, draws the result
// and checks every point against the CPU. Plain C and the module interface: needs no compiler that knows the
// GPU.
#include <hip/hip_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>

// A line of text is about twice as high as wide: every second row of points is drawn.
enum { WIDTH = 72, HEIGHT = 48, LIMIT = 200 };

static void check(hipError_t error, const char *what)
{
    if (error != hipSuccess) {
        fprintf(stderr, "demo: %s: %s\n", what, hipGetErrorString(error));
        exit(1);
    }
}

// The kernel's loop once more. Compiled without contraction to fused multiply-add, as the kernel is.
static int steps_on_cpu(float cx, float cy)
{
    float zx = 0, zy = 0;
    int n = 0;
    while (n < LIMIT && zx * zx + zy * zy < 4.0f) {
        float next = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = next;
        n++;
    }
    return n;
}

int main(int argc, char **argv)
{
    const char *file = argc > 1 ? argv[1] : "mandelbrot.hsaco";
    // One shade for each doubling of the steps, about.
    static const char shades[] = " .:-=+*#%";
    static const int bounds[] = {3, 5, 7, 9, 12, 16, 24, 48};
    hipDeviceProp_t properties;
    hipModule_t module;
    hipFunction_t kernel;
    void *steps;

    check(hipGetDeviceProperties(&properties, 0), "hipGetDeviceProperties");
    check(hipModuleLoad(&module, file), file);
    check(hipModuleGetFunction(&kernel, module, "mandelbrot"), "kernel mandelbrot");
    check(hipMalloc(&steps, WIDTH * HEIGHT), "hipMalloc");

    int width = WIDTH, height = HEIGHT, limit = LIMIT;
    float left = -2.2f, top = -1.2f, scale = 0.05f;
    unsigned char *picture = calloc(HEIGHT, WIDTH);
    if (!picture)
        return 1;
    void *arguments[] = {&steps, &width, &height, &left, &top, &scale, &limit};
    check(hipModuleLaunchKernel(kernel, (WIDTH + 63) / 64, HEIGHT / 4, 1, 64, 4, 1, 0, NULL, arguments, NULL),
          "hipModuleLaunchKernel");
    check(hipDeviceSynchronize(), "hipDeviceSynchronize");
    check(hipMemcpy(picture, steps, WIDTH * HEIGHT, hipMemcpyDeviceToHost), "hipMemcpy");
    check(hipFree(steps), "hipFree");
    check(hipModuleUnload(module), "hipModuleUnload");

    int wrong = 0;
    for (int y = 0; y < HEIGHT; y++) {
        char line[WIDTH + 1];
        for (int x = 0; x < WIDTH; x++) {
            int n = picture[y * WIDTH + x];
            wrong += n != steps_on_cpu(left + scale * (float)x, top + scale * (float)y);
            int shade = 0;
            while (shade < 8 && n >= bounds[shade])
                shade++;
            line[x] = n == LIMIT ? '@' : shades[shade];
        }
        line[WIDTH] = 0;
        if (y % 2 == 0)
            printf("    %s\n", line);
    }
    free(picture);
    printf("%s (%d CUs): %d points, %d differ from the CPU's\n", properties.gcnArchName,
           properties.multiProcessorCount, WIDTH * HEIGHT, wrong);
    return wrong != 0;
}
