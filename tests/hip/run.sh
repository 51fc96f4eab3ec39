#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh BUILD_ROOT SOURCE_ROOT NAME [CHIP-OR-NODE [OPTION...]]: (a node also by its path in the sources) compiles tests/hip/NAME.hip with ehp cc and runs it. The
# program checks itself and says PASSED.
build=$1 source=$2 name=$3 chip=${4-mi300a}
[ $# -gt 4 ] && shift 4 || set -- -O2
machine=--chip
[ ! -e "$source/nodes/$chip.cfg" ] || machine=--node
case $chip in */*) machine=--node chip=$source/$chip ;; esac
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
echo 'int main() { return 0; }' >"$dir/empty.hip"
"$build/tools/ehp" cc -c "$dir/empty.hip" -o "$dir/empty.o" >/dev/null 2>&1 ||
    { echo "skipped: no compiler for gfx942"; exit 77; }
"$build/tools/ehp" cc "$@" -Wall -Werror "$source/tests/hip/$name.hip" -o "$dir/$name" || exit 1
# A program of another compiler does not begin with the sanitizers' libraries that a sanitized build needs.
preload=
if nm -D "$build/libehp.so" 2>/dev/null | grep -q __asan_init; then
    preload="$(cc -print-file-name=libasan.so) $(cc -print-file-name=libubsan.so)"
fi
said=$(LD_PRELOAD=$preload ASAN_OPTIONS="detect_leaks=0:alloc_dealloc_mismatch=0:${ASAN_OPTIONS-}" "$build/tools/ehp" run $machine "$chip" \
    "$dir/$name" 2>"$dir/errors")
status=$?
printf '%s\n' "$said"
cat "$dir/errors" >&2
[ $status -eq 0 ] && [ "${said##*
}" = PASSED ]
