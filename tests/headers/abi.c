// SPDX-License-Identifier: MIT
// The host API seen from C: every prototype, enumerator and layout of the interface data, at compile time.
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>

#define FUNCTION(name, result, parameters)                                                                   \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&name), result(*) parameters),                    \
                   #name " has another type in ROCm 6.3");
#include "abi_functions.inc"

#define ENUMERATOR(name, value) _Static_assert((long long)name == value, #name " is " #value " in ROCm 6.3");
#include "abi_enums.inc"

#define RECORD(type, size, alignment)                                                                        \
    _Static_assert(sizeof(type) == size && _Alignof(type) == alignment, #type " has another size");
#define MEMBER(type, path, offset) _Static_assert(offsetof(type, path) == offset, #type "." #path " moved");
#define MEMBER_TYPE(type, path, member_type)                                                                 \
    _Static_assert(__builtin_types_compatible_p(__typeof__(((type *)0)->path), __typeof__ member_type),      \
                   #type "." #path " is " #member_type " in ROCm 6.3");
#define VECTOR(type, size, alignment) RECORD(type, size, alignment)
#include "abi_records.inc"

int main(void)
{
    return 0;
}
