#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds a fuzzer of the code object loader or the instruction decoder with libFuzzer and sanitizers, and runs it
# from its seeds.
#   tests/fuzz/run.sh bundle|code|code_metadata|decode [SECONDS] [CORPUS]
# New inputs go to CORPUS (a directory, kept), a crash to the current directory.
set -eu
name=$1 seconds=${2:-600} llvm=${LLVM_SUFFIX:--22}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=${3:-$(mktemp -d)}
mkdir -p "$work"
libs="-lelf -lzstd -lz -lmsgpackc"
pkg-config --exists libdw && libs="$libs -ldw -DEHP_LIBDW=1"
case $name in
decode) set -- "$root"/src/isa/*.c ;;
*) set -- "$root"/src/hsa/bundle*.c "$root"/src/hsa/code*.c "$root/src/hsa/lines.c" "$root/src/hsa/metadata.c" ;;
esac
# shellcheck disable=SC2086
"clang$llvm" -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -std=gnu17 -D_GNU_SOURCE \
    -I"$root/include" -I"$root/src" -I"$root/isa" "$@" "$root/tests/fuzz/$name.c" -o "$work.fuzzer" $libs
ASAN_OPTIONS=allocator_may_return_null=1 exec "$work.fuzzer" -max_total_time="$seconds" -max_len=32768 -timeout=10 \
    -rss_limit_mb=3000 "$work" "$root/tests/fuzz/seeds/$name" "$root/tests/loader/data"
