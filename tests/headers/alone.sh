#!/bin/sh
# SPDX-License-Identifier: MIT
# alone.sh CLANG++ SOURCE_ROOT: each public header compiles by itself, as HIP for the device, as C++ and as C; and all
# of them together in any order, as HIP for both.
clang=$1 root=$2 failed=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
hip="$clang -x hip --offload-arch=gfx942 -nogpulib -nogpuinc -isystem $root/include -fsyntax-only"
cxx="${CXX:-c++} -D__HIP_PLATFORM_AMD__ -isystem $root/include -fsyntax-only -x c++"
cc="${CC:-cc} -D__HIP_PLATFORM_AMD__ -D_GNU_SOURCE -isystem $root/include -fsyntax-only -x c"

say() {
    echo "FAIL: $*"
    failed=1
}

echo 'int main() { return 0; }' | $hip - >/dev/null 2>&1 ||
    { echo "skipped: $clang does not compile for gfx942"; exit 77; }

cd "$root/include/hip" || exit 1
for header in *.h; do
    echo "#include <hip/$header>" >"$dir/one"
    $hip --cuda-device-only "$dir/one" || say "$header as HIP"
    $cxx -std=c++11 "$dir/one" || say "$header as C++11"
    $cc -std=c11 "$dir/one" || say "$header as C11"
done

# Orders that one header's needs do not survive by luck: as listed, backwards, and by names' last letters.
order() {
    sed 's|.*|#include <hip/&>|' >"$dir/all"
    shift
    $hip "$@" "$dir/all" || say "all headers, $*"
}
ls ./*.h | sed 's|./||' | sort | order forwards -std=c++14
ls ./*.h | sed 's|./||' | sort -r | order backwards -std=c++11
ls ./*.h | sed 's|./||' | rev | sort | rev | order "by last letters" -std=c++17
ls ./*.h | sed 's|./||' | rev | sort -r | rev | order "by last letters, backwards" -std=c++20
exit $failed
