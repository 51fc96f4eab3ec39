#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh BUILD_ROOT SOURCE_ROOT CLANG [NAME...]: compiles the pairs with ehp cc and CLANG, and runs them on one thread.
# Skipped where there is no compiler for gfx942.
build=$1 source=$2/bench/compiled clang=$3
shift 3
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
ehp=$build/tools/ehp
echo 'int main() { return 0; }' >"$dir/empty.hip"
"$ehp" cc -c "$dir/empty.hip" -o "$dir/empty.o" >/dev/null 2>&1 || { echo "skipped: no compiler for gfx942"; exit 77; }

# Divisions and roots in full, as kernels have them; sums in any order, which vectors need.
for name in compute memory; do
    "$clang" -O3 -march=native -mrecip=none -fassociative-math -fno-signed-zeros -fno-trapping-math -fno-math-errno \
        -Wall -Werror -c "$source/host_$name.c" -o "$dir/host_$name.o" || exit 1
done
for name in compute memory groups main; do
    "$ehp" cc -O3 -Wall -Werror -c "$source/$name.hip" -o "$dir/$name.o" || exit 1
done
"$ehp" cc "$dir"/host_*.o "$dir/compute.o" "$dir/memory.o" "$dir/groups.o" "$dir/main.o" -lm -o "$dir/pairs" || exit 1

export EHP_ENGINE=compiled EHP_CACHE_DIR= EHP_THREADS=1
"$ehp" run --chip mi300a "$dir/pairs" "$@" || exit 1
[ $# -eq 0 ] || exit 0

# What the engine says of itself, of one kernel of many instructions.
for size in 1000 20000; do
    option=
    [ $size -eq 1000 ] || option=-DLARGE
    "$ehp" cc -O1 $option "$source/large.hip" -o "$dir/large$size" || exit 1
    "$ehp" run --chip mi300a --stats "$dir/large$size" 2>"$dir/stats" || exit 1
    printf '%s\n' "kernel of $size instructions, nothing kept: $(grep ^Compiled: "$dir/stats")"
    for turn in first second; do
        EHP_CACHE_DIR=$dir/kept "$ehp" run --chip mi300a --stats "$dir/large$size" 2>"$dir/stats" || exit 1
    done
    printf '%s\n' "kernel of $size instructions, from the cache: $(grep ^Compiled: "$dir/stats")"
done
