// SPDX-License-Identifier: MIT
// Kernels of the runtime's: copies and fills of rows of bytes in timing mode.  Built with
//   clang-22 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -O3 blit.cl -o blit.hsaco
// and checked in, so that the library builds without a compiler for gfx942; tests/timing/copies.sh compares.
//
// A lane has 16 bytes at a time, whatever their alignment, and the workgroups go round: as AMD's own (ROCclr,
// shaderCopyBuffer: 512 work-items of 16 bytes).  The kernels for one row have what most copies need and no more;
// struct ehp_blit_arguments (include/ehp/aql.h) are their arguments.
typedef uint quad __attribute__((ext_vector_type(4), aligned(1)));

static ulong first_of_row(void)
{
    return ((ulong)__builtin_amdgcn_workgroup_id_x() * 512 + __builtin_amdgcn_workitem_id_x()) * 16;
}

__attribute__((reqd_work_group_size(512, 1, 1))) kernel void ehp_blit_copy(global uchar *to, global const uchar *from,
                                                                          ulong bytes, ulong step)
{
    ulong first = first_of_row(), whole = bytes & ~15ul;
    for (ulong at = first; at < whole; at += step)
        *(global quad *)(to + at) = *(global const quad *)(from + at);
    if (bytes & 15 && first / 16 < (bytes & 15))
        to[whole + first / 16] = from[whole + first / 16];
}

// A pattern's length divides 8.
__attribute__((reqd_work_group_size(512, 1, 1))) kernel void ehp_blit_fill(global uchar *to, ulong pattern, ulong bytes,
                                                                          ulong step)
{
    ulong first = first_of_row(), whole = bytes & ~15ul;
    const quad value = {(uint)pattern, (uint)(pattern >> 32), (uint)pattern, (uint)(pattern >> 32)};
    for (ulong at = first; at < whole; at += step)
        *(global quad *)(to + at) = value;
    if (bytes & 15 && first / 16 < (bytes & 15))
        to[whole + first / 16] = (uchar)(pattern >> (first / 16) % 8 * 8);
}

// ---- rows: narrow ones are below each other in a workgroup, of which 1 << `shift` work-items have one

struct rows {
    ulong width; // bytes
    uint height, shift;
    ulong step; // what the workgroups of a row have at a time
};

static ulong first_byte(const struct rows *rows, uint *y)
{
    uint item = __builtin_amdgcn_workitem_id_x(), lanes = 1u << rows->shift;
    *y = __builtin_amdgcn_workgroup_id_y() * (512u >> rows->shift) + (item >> rows->shift);
    return ((ulong)__builtin_amdgcn_workgroup_id_x() * lanes + (item & (lanes - 1))) * 16;
}

__attribute__((reqd_work_group_size(512, 1, 1))) kernel void ehp_blit_copy_rows(global uchar *to, global const uchar *from,
                                                                          struct rows rows, ulong to_pitch,
                                                                          ulong to_slice, ulong from_pitch,
                                                                          ulong from_slice)
{
    uint y, z = __builtin_amdgcn_workgroup_id_z();
    ulong at = first_byte(&rows, &y), whole = rows.width & ~15ul, rest = whole + at / 16;
    if (y >= rows.height)
        return;
    to += z * to_slice + y * to_pitch;
    from += z * from_slice + y * from_pitch;
    for (; at < whole; at += rows.step)
        *(global quad *)(to + at) = *(global const quad *)(from + at);
    if (rest < rows.width)
        to[rest] = from[rest];
}

// The pattern begins anew in each row.
__attribute__((reqd_work_group_size(512, 1, 1))) kernel void ehp_blit_fill_rows(global uchar *to, struct rows rows,
                                                                          ulong pitch, ulong slice, ulong pattern)
{
    uint y, z = __builtin_amdgcn_workgroup_id_z();
    ulong at = first_byte(&rows, &y), whole = rows.width & ~15ul, rest = whole + at / 16;
    if (y >= rows.height)
        return;
    to += z * slice + y * pitch;
    const quad value = {(uint)pattern, (uint)(pattern >> 32), (uint)pattern, (uint)(pattern >> 32)};
    for (; at < whole; at += rows.step)
        *(global quad *)(to + at) = value;
    if (rest < rows.width)
        to[rest] = (uchar)(pattern >> rest % 8 * 8);
}
