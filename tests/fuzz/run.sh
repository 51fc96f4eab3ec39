#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds a fuzzer with libFuzzer and sanitizers and runs it from its seeds: of what reads files (bundle, chip, code,
# code_metadata, image, object), of the instruction decoder, of execution, or of the HIP runtime's calls (in both modes).
#   tests/fuzz/run.sh NAME|all [SECONDS] [CORPUS]
# New inputs go to CORPUS (a directory, kept; of all: a directory for each), crashes to CORPUS.crashes. `all` takes one
# after the other, and ends with a summary; it fails if one found something.
# BUILD is a build directory (build), for the parts that are linked as they are.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
all="bundle calls calls_timing chip code code_metadata decode exec image object"
name=$1 seconds=${2:-600} llvm=${LLVM_SUFFIX:--22} build=$(realpath -m "${BUILD:-$root/build}")
work=${3:-$(mktemp -d)}
if [ "$name" = all ]; then
    summary='' passed=0 failed=0
    for each in $all; do
        mkdir -p "$work/$each"
        if "$0" "$each" "$seconds" "$work/$each" >"$work/$each.log" 2>&1; then
            result=ok passed=$((passed + 1))
        else
            result=FAILED failed=$((failed + 1))
        fi
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$each.log")
        found=$(find "$work/$each.crashes" -type f 2>/dev/null | wc -l)
        line=$(printf '%-14s %-7s %10s inputs, %d found  %s' "$each" "$result" "${runs:-?}" "$found" "$work/$each.log")
        echo "$line"
        summary="$summary$line
"
    done
    printf '\n%s' "$summary"
    echo "fuzz: $passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
fi
case " $all " in *" $name "*) ;; *) echo "run.sh: no fuzzer $name; there are: $all" && exit 2 ;; esac
mkdir -p "$work" "$work.crashes" "$work.objects"
libs="-lelf -lzstd -lz -lmsgpackc"
pkg-config --exists libdw && libs="$libs -ldw -DEHP_LIBDW=1"
flags="-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-sanitize=nonnull-attribute \
    -std=gnu17 -D_GNU_SOURCE -ffp-contract=off -I$root/include -I$root/src -I$root/isa"
need_library() {
    [ -f "$build/libehp.so.0" ] || { echo "run.sh: $build has no libehp.so.0; build first, or set BUILD" && exit 2; }
    libs="$libs -L$build -l:libehp.so.0 -Wl,-rpath,$build"
}
objects() { # of lines of flags and a file
    while read -r line; do
        echo "$line -o $work.objects/$(basename "${line##* }").o"
    done | xargs -P "$(nproc)" -L 1 "clang$llvm" $flags -fsanitize=fuzzer-no-link -c
}
# shellcheck disable=SC2086
case $name in
decode) set -- "$root"/src/isa/*.c ;;
exec)
    # One level of the handlers, under the names of all.
    for file in "$root"/src/base/*.c "$root"/src/isa/*.c "$root"/src/wave/*.c "$root"/src/sem/*/*.c \
        "$root"/src/exec/*.c; do
        case ${file#"$root/src/"} in
        sem/vector/slice*.c | sem/scalar/bodies.c) continue ;; # of the compiled engine
        sem/*) level="-DSEM_LEVEL=v2 -march=x86-64-v2" ;;
        *) level= ;;
        esac
        case $file in */memop.c | */memop_halves.c | */smem.c | */vmem_fault.c | */salu.c | */exceptions.c) level= ;; esac
        echo "$level $file"
    done | objects
    for table in sem_valu sem_packed sem_matrix sem_lds sem_vmem sem_fused; do
        libs="$libs -Wl,--defsym=${table}_v3=${table}_v2,--defsym=${table}_v4=${table}_v2"
    done
    set -- "$work.objects"/*.o
    ;;
calls | calls_timing)
    need_library
    for file in "$root"/src/hip/*/*.c "$build/src/hip/hip_stubs.c"; do
        echo "-DHIP_ABI_MAJOR=6 $file"
    done | objects
    libs="$libs -lpthread -ldl -lm"
    set -- "$work.objects"/*.o "$build/src/hip/libhip_blit.a" # of assembly
    ;;
chip)
    need_library
    libs="$libs -lconfig -lm"
    set -- "$root/src/chip/chip.c" "$root/src/base/printable.c"
    ;;
object) set -- "$root"/src/jit/object*.c "$root"/src/base/must.c "$root"/src/base/printable.c ;;
*)
    need_library
    set -- "$root"/src/load/bundle*.c "$root"/src/load/code*.c "$root/src/load/image.c" "$root/src/load/lines.c" \
        "$root/src/load/metadata.c" "$root/src/base/printable.c" "$root/src/base/guarded.c" "$root"/src/isa/*.c
    ;;
esac
# shellcheck disable=SC2086
"clang$llvm" $flags -fsanitize=fuzzer "$@" "$root/tests/fuzz/${name%_timing}.c" -o "$work.fuzzer" $libs
seeds=$root/tests/fuzz/seeds/${name%_timing}
case $name in bundle | code | code_metadata | image) seeds="$seeds $root/tests/load/data" ;; chip) seeds="$seeds $root/chips" ;; esac
case $name in *_timing) export EHP_MODE=timing ;; calls) export EHP_MODE=functional ;; esac
export EHP_CHIPS="$root/chips" EHP_FUZZ_KERNELS="$root/tests/hip_api/kernels.hsaco"
# A runtime stays, and copies at the program's wild addresses, ready for the fault; libconfig leaks where it finds a
# mistake.
leaks=1 intrinsics=1
case $name in calls*) leaks=0 intrinsics=0 ;; chip) leaks=0 ;; esac
options=replace_intrin=$intrinsics:allocator_may_return_null=1:handle_segv=0:handle_sigbus=0:allow_user_segv_handler=1:detect_leaks=$leaks
# shellcheck disable=SC2086
ASAN_OPTIONS=$options exec "$work.fuzzer" \
    -max_total_time="$seconds" -max_len=32768 -timeout=60 -rss_limit_mb=3000 -print_final_stats=1 \
    -artifact_prefix="$work.crashes/" "$work" $seeds
