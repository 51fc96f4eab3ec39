// SPDX-License-Identifier: MIT
// The host API seen from C++: the same claims as abi.c, with the overloads and templates in the way.
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>

#include <cstddef>
#include <type_traits>

#define FUNCTION(name, result, parameters)                                                                   \
    static_assert(                                                                                           \
        std::is_same<decltype(static_cast<result(*) parameters>(&name)), result(*) parameters>::value,       \
        #name);
#include "abi_functions.inc"

#define ENUMERATOR(name, value) static_assert(static_cast<long long>(name) == value, #name);
#include "abi_enums.inc"

#define RECORD(type, size, alignment)                                                                        \
    static_assert(sizeof(type) == size && alignof(type) == alignment, #type);
#define MEMBER(type, path, offset) static_assert(offsetof(type, path) == offset, #type "." #path);
#define MEMBER_TYPE(type, path, member_type)
// C++ vector types carry the alignment of the hardware's vector loads.
#define VECTOR(type, size, alignment)                                                                        \
    static_assert(sizeof(type) == size && alignof(type) == (size / alignment % 2 ? alignment : size), #type);
#include "abi_records.inc"

static_assert(std::is_trivially_copyable<float4>::value, "a vector is passed to kernels as bytes");
static_assert(std::is_trivially_default_constructible<float4>::value,
              "a vector may be a __shared__ variable");
static_assert(sizeof(hipDeviceProp_tR0000) == 792, "ROCm 5 programs hand over 792 bytes");

namespace constants
{
// Constant expressions, and each way of making and combining vectors.
constexpr float4 four = make_float4(1, 2, 3, 4);
static_assert((four + four).z == 6 && (2 * four - 1).w == 7 && (-four).x == -1 && four / 2 != four,
              "arithmetic");
constexpr int3 three(7, 8, 9);
static_assert((three % 4).x == 3 && (three << 1).y == 16 && (three & 1).z == 1 && (~three).x == -8 &&
                  three == three,
              "integers");
static_assert(static_cast<int2>(make_double2(1.9, -1.9)).y == -1, "conversion truncates");
constexpr uchar1 one(static_cast<unsigned char>(250));
static_assert((one + 10).x == 4, "elements wrap in their own width");
} // namespace constants

int main()
{
    float4 v{};
    v += constants::four;
    v *= 2.0f;
    v++;
    int4 i = {1, 2, 3, 4};
    i <<= 2;
    i ^= 5;
    dim3 d(3);
    return v == make_float4(3, 5, 7, 9) && i == make_int4(1, 13, 9, 21) && d.x == 3 && d.y == 1 && d.z == 1
               ? 0
               : 1;
}
