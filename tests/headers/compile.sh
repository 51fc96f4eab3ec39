#!/bin/sh
# SPDX-License-Identifier: MIT
# compile.sh CLANG++ SOURCE_ROOT [PROGRAM...]: compiles HIP programs, all of tests/hip unless named, to gfx942 assembly
# and for the host, with and without clang's implicit wrapper header, and device code alone as hipRTC does. No device
# library is needed for this. What must not compile is checked not to.
clang=$1 root=$2 failed=0
shift 2
[ $# -gt 0 ] || set -- "$root"/tests/hip/*.hip
flags="-x hip --offload-arch=gfx942 -nogpulib -nogpuinc -isystem $root/include -Werror -Wall -o /dev/null"

say() {
    echo "FAIL: $*"
    failed=1
}

# A clang that does not know gfx942 cannot say anything about these headers.
echo 'int main() { return 0; }' | "$clang" $flags --cuda-device-only -S - >/dev/null 2>&1 ||
    { echo "skipped: $clang does not compile for gfx942"; exit 77; }

for file; do
    "$clang" $flags -O1 --cuda-device-only -S "$file" || say "$file for the device"
    "$clang" $flags -include __clang_hip_runtime_wrapper.h --cuda-host-only -fsyntax-only "$file" ||
        say "$file for the host"
done
for std in c++11 c++14 c++20; do
    "$clang" $flags -std=$std --cuda-device-only -fsyntax-only -include hip/hip_runtime.h -xhip /dev/null ||
        say "hip_runtime.h as $std"
done
"$clang" $flags -D__HIPCC_RTC__ -nostdinc++ --cuda-device-only -S "$root/tests/headers/rtc.h" || say "rtc.h"

# Texture reads have no hardware: the message must say so.
text=$("$clang" $flags --cuda-device-only -fsyntax-only "$root/tests/headers/texture.h" 2>&1) &&
    say "a texture read compiled for a device without images"
case $text in
*"no image hardware"*) ;;
*) say "the error for a texture read does not say why: $text" ;;
esac
exit $failed
