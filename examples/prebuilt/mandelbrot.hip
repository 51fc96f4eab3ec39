// SPDX-License-Identifier: MIT
// The kernel of the demo's first result. mandelbrot.hsaco beside it was made from this file with
//   ehp cc -O2 -nogpuinc -ffp-contract=off --genco --no-gpu-bundle-output mandelbrot.hip -o mandelbrot.hsaco
// It needs no header, so that anybody can make it again.
#define GLOBAL __attribute__((global))

// Each work item of a 64x4 workgroup counts the steps of one point until it leaves the circle of radius 2.
extern "C" GLOBAL __attribute__((amdgpu_flat_work_group_size(256, 256))) void
mandelbrot(unsigned char *steps, int width, int height, float left, float top, float scale, int limit)
{
    int x = static_cast<int>(__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x());
    int y = static_cast<int>(__builtin_amdgcn_workgroup_id_y() * 4 + __builtin_amdgcn_workitem_id_y());
    if (x >= width || y >= height)
        return;
    float cx = left + scale * static_cast<float>(x), cy = top + scale * static_cast<float>(y);
    float zx = 0, zy = 0;
    int n = 0;
    while (n < limit && zx * zx + zy * zy < 4.0f) {
        float next = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = next;
        n++;
    }
    steps[y * width + x] = static_cast<unsigned char>(n);
}
