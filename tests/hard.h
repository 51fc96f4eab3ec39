/* SPDX-License-Identifier: MIT */
/*
 * Values that break arithmetic: zeros, denormals, infinities, quiet and
 * signalling NaNs, where formats and integers end and where rounding changes;
 * and, as often, random ones near them or anywhere.  The arguments are random
 * bits.
 */
#ifndef EHP_TESTS_HARD_H
#define EHP_TESTS_HARD_H

#include <stdint.h>

#define HARD_PICK(values, r) (values)[(r) % (sizeof(values) / sizeof(values)[0])]

static inline uint32_t hard_u32(uint64_t r)
{
    static const uint32_t values[] = {0,          1,          2,          31,         32,         33,
                                      63,         64,         127,        128,        255,        256,
                                      32767,      32768,      65535,      65536,      0x7fffff,   0x800000,
                                      0xffffff,   0x1000000,  0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe,
                                      0xffffffff, 0xffff0000, 0xff00ff00, 0x80808080, 0x7f7f7f7f, 0x0c0b0a09,
                                      3,          15,         16};
    const unsigned how = r & 7;
    return how < 4 ? HARD_PICK(values, r >> 32) : how == 4 ? (uint32_t)(r >> 8) & 31 : (uint32_t)(r >> 8);
}

static inline uint64_t hard_u64(uint64_t r, uint64_t more)
{
    return (r & 7) < 3 ? hard_u32(r) | (uint64_t)hard_u32(more) << 32 : more;
}

static inline uint32_t hard_u16(uint64_t r)
{
    return hard_u32(r) & 0xffff;
}

static inline uint32_t hard_f32(uint64_t r)
{
    static const uint32_t values[] = {
        0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
        0x3f800000, 0xbf800000, 0x3f000000, 0xbf000000, 0x3effffff, 0x3f7fffff, 0x3f800001, 0x40000000,
        0x4b000000, 0x4b7fffff, 0x4b800000, 0xcb000001, 0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001,
        0x4f7fffff, 0x4f800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
        0x7fc12345, 0x7f800001, 0xff812345, 0x33800000, 0x477fe000, 0x477ff000, 0x477fefff, 0x38800000,
        0x387fffff, 0x33000000, 0x33000001, 0x437f0000, 0x43700000, 0x43780000, 0x47600000, 0x40400000,
        0x40490fdb, 0x47700000};
    const unsigned how = r & 7;
    return how < 4    ? HARD_PICK(values, r >> 32)
           : how == 4 ? HARD_PICK(values, r >> 32) ^ ((uint32_t)(r >> 8) & 0x80000003)
           : how < 7  ? ((uint32_t)(r >> 8) & 0x807fffff) | (uint32_t)(0x70 + (r >> 40 & 31)) << 23
                      : (uint32_t)(r >> 8);
}

static inline uint64_t hard_f64(uint64_t r, uint64_t more)
{
    static const uint64_t values[] = {0,
                                      1,
                                      0x000fffffffffffff,
                                      0x0010000000000000,
                                      0x3ff0000000000000,
                                      0x3ff0000000000001,
                                      0x3fefffffffffffff,
                                      0x3fe0000000000000,
                                      0x4000000000000000,
                                      0x4008000000000000,
                                      0x41dfffffffc00000,
                                      0x41e0000000000000,
                                      0x41efffffffe00000,
                                      0x41f0000000000000,
                                      0x4330000000000000,
                                      0x4330000000000001,
                                      0x433fffffffffffff,
                                      0x4340000000000000,
                                      0x7fefffffffffffff,
                                      0x7ff0000000000000,
                                      0x7ff8000000000000,
                                      0x7ff8000000012345,
                                      0x7ff0000000000001,
                                      0x7ff0000100000000,
                                      0x36a0000000000000,
                                      0x3690000000000001,
                                      0x47efffffe0000000,
                                      0x47efffffefffffff,
                                      0x47effffff0000000,
                                      0x380fffffffffffff,
                                      0x400921fb54442d18};
    const unsigned how = r & 7;
    return (how < 4    ? HARD_PICK(values, r >> 32)
            : how == 4 ? HARD_PICK(values, r >> 32) ^ (r >> 8 & 3)
            : how < 7  ? (more & 0x000fffffffffffff) | (0x3f0 + (r >> 8 & 31)) << 52
                       : more) ^
           (r >> 16 & 1) << 63;
}

static inline uint32_t hard_f16(uint64_t r)
{
    static const uint16_t values[] = {0,      0x8000, 1,      0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400,
                                      0x3c00, 0xbc00, 0x3bff, 0x3c01, 0x3800, 0x4000, 0x4248, 0x6400,
                                      0x67ff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7e12,
                                      0x7c01, 0xfd23, 0x0200, 0x1400, 0x7800};
    return (r & 7) < 5 ? HARD_PICK(values, r >> 32) : (uint32_t)(r >> 8) & 0xffff;
}

#endif
