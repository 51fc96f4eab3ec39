#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds a fuzzer of the code object loader, the instruction decoder or of execution with libFuzzer and sanitizers, and
# runs it from its seeds.
#   tests/fuzz/run.sh bundle|code|code_metadata|decode|exec [SECONDS] [CORPUS]
# New inputs go to CORPUS (a directory, kept), a crash to the current directory.
set -eu
name=$1 seconds=${2:-600} llvm=${LLVM_SUFFIX:--22}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=${3:-$(mktemp -d)}
mkdir -p "$work"
libs="-lelf -lzstd -lz -lmsgpackc"
pkg-config --exists libdw && libs="$libs -ldw -DEHP_LIBDW=1"
flags="-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-sanitize=nonnull-attribute \
    -std=gnu17 -D_GNU_SOURCE -ffp-contract=off -I$root/include -I$root/src -I$root/isa"
case $name in
decode) set -- "$root"/src/isa/*.c ;;
exec)
    # One level of the handlers, under the names of all.
    mkdir -p "$work.objects"
    for file in "$root"/src/base/*.c "$root"/src/exec/*.c "$root"/src/isa/*.c "$root"/src/sem/*.c; do
        case ${file#"$root/src/"} in
        exec/prepare.c | sem/*) level="-DSEM_LEVEL=v2 -march=x86-64-v2" ;;
        *) level= ;;
        esac
        case $file in */mem_ops.c | */vmem_fault.c) level= ;; esac
        echo "$level $file -o $work.objects/$(basename "$file").o"
    done | xargs -P "$(nproc)" -L 1 "clang$llvm" $flags -fsanitize=fuzzer-no-link -c
    for table in sem_valu sem_packed sem_matrix sem_lds sem_vmem sem_fused; do
        libs="$libs -Wl,--defsym=${table}_v3=${table}_v2,--defsym=${table}_v4=${table}_v2"
    done
    set -- "$work.objects"/*.o
    ;;
*) set -- "$root"/src/hsa/bundle*.c "$root"/src/hsa/code*.c "$root/src/hsa/image.c" \
    "$root/src/hsa/lines.c" "$root/src/hsa/metadata.c" ;;
esac
# shellcheck disable=SC2086
"clang$llvm" $flags -fsanitize=fuzzer "$@" "$root/tests/fuzz/$name.c" -o "$work.fuzzer" $libs
seeds=$root/tests/fuzz/seeds/$name
case $name in exec | decode) ;; *) seeds="$seeds $root/tests/loader/data" ;; esac
# shellcheck disable=SC2086
ASAN_OPTIONS=allocator_may_return_null=1:handle_segv=0:allow_user_segv_handler=1 exec "$work.fuzzer" \
    -max_total_time="$seconds" -max_len=32768 -timeout=10 -rss_limit_mb=3000 -print_final_stats=1 "$work" $seeds
