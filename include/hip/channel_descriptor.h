// SPDX-License-Identifier: MIT
// hipCreateChannelDesc(): the C function and the C++ form that derives the description from a type.
#ifndef HIP_INCLUDE_HIP_CHANNEL_DESCRIPTOR_H
#define HIP_INCLUDE_HIP_CHANNEL_DESCRIPTOR_H

#include <hip/driver_types.h>
#include <hip/hip_vector_types.h>

#ifdef __cplusplus
extern "C" {
#endif
hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind f);
#ifdef __cplusplus
}

static inline hipChannelFormatDesc hipCreateChannelDescHalf()
{
    return {16, 0, 0, 0, hipChannelFormatKindFloat};
}
static inline hipChannelFormatDesc hipCreateChannelDescHalf1()
{
    return {16, 0, 0, 0, hipChannelFormatKindFloat};
}
static inline hipChannelFormatDesc hipCreateChannelDescHalf2()
{
    return {16, 16, 0, 0, hipChannelFormatKindFloat};
}
static inline hipChannelFormatDesc hipCreateChannelDescHalf4()
{
    return {16, 16, 16, 16, hipChannelFormatKindFloat};
}

template <typename T> static inline hipChannelFormatDesc hipCreateChannelDesc()
{
    return {0, 0, 0, 0, hipChannelFormatKindNone};
}

#define __HIP_CHANNEL(type, channels, kind)                                                                  \
    template <> inline hipChannelFormatDesc hipCreateChannelDesc<type>()                                     \
    {                                                                                                        \
        const int bits = static_cast<int>(sizeof(type) / channels * 8);                                      \
        return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};      \
    }
#define __HIP_CHANNELS(type, vector, kind)                                                                   \
    __HIP_CHANNEL(type, 1, kind)                                                                             \
    __HIP_CHANNEL(vector##1, 1, kind)                                                                        \
    __HIP_CHANNEL(vector##2, 2, kind)                                                                        \
    __HIP_CHANNEL(vector##3, 3, kind)                                                                        \
    __HIP_CHANNEL(vector##4, 4, kind)

__HIP_CHANNELS(signed char, char, hipChannelFormatKindSigned)
__HIP_CHANNEL(char, 1, hipChannelFormatKindSigned)
__HIP_CHANNELS(unsigned char, uchar, hipChannelFormatKindUnsigned)
__HIP_CHANNELS(short, short, hipChannelFormatKindSigned)
__HIP_CHANNELS(unsigned short, ushort, hipChannelFormatKindUnsigned)
__HIP_CHANNELS(int, int, hipChannelFormatKindSigned)
__HIP_CHANNELS(unsigned int, uint, hipChannelFormatKindUnsigned)
__HIP_CHANNELS(long, long, hipChannelFormatKindSigned)
__HIP_CHANNELS(unsigned long, ulong, hipChannelFormatKindUnsigned)
__HIP_CHANNELS(float, float, hipChannelFormatKindFloat)

#undef __HIP_CHANNELS
#undef __HIP_CHANNEL
#endif

#endif
