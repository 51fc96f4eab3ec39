#!/bin/sh
# SPDX-License-Identifier: MIT
# engine.sh EHP REFUSE_EXEC PROGRAM HSACO: which engine there is, or why there is no other; a program runs all the same.
ehp=$1 refuse=$2 program=$3 hsaco=$4 failed=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
unset EHP_ENGINE EHP_CACHE_SIZE
export EHP_CACHE_DIR="$dir/cache"

# says PATTERN COMMAND...: succeeds, and a line has the pattern.
says() {
    pattern=$1
    shift
    "$@" >"$dir/out" 2>&1
    status=$?
    [ $status -eq 0 ] && grep -qE -- "$pattern" "$dir/out" && return
    echo "$*: status $status, no \"$pattern\" in:"
    head -n 12 "$dir/out"
    failed=1
}
says '^  Engine  +(compiled, LLVM 22\.[0-9.]+, AVX(2 \(8|-512 \(16) lanes\)|interpreter, .*: .)' "$ehp" info
says ' 0 failed' "$ehp" run --engine interpreter "$program" "$hsaco"
says ' 0 failed' "$ehp" run --engine compiled "$program" "$hsaco"
grep -q 'Engine  *compiled' <<X || exit $((failed ? 1 : 77))
$("$ehp" info)
X
says "^  Compiled code on disk  +[0-9.]+ of 256 MiB in $dir/cache\$" "$ehp" info
says '^  Compiled code on disk  +none: EHP_CACHE_DIR is empty' env EHP_CACHE_DIR= "$ehp" info

# Where there is no LLVM: these are found first, and are no libraries.
mkdir "$dir/none"
for name in libLLVM.so.22.1 libLLVM-22.so libLLVM.so.22; do
    : >"$dir/none/$name"
done
without="env LD_LIBRARY_PATH=$dir/none:${LD_LIBRARY_PATH-}"
why='libLLVM\.so\.22\.1 is not installed'
says "^  Engine  +interpreter, AVX[^:]*: $why" $without "$ehp" info
says "^ehp: EHP_ENGINE=compiled: kernels are interpreted: $why" $without "$ehp" run --engine compiled "$program" "$hsaco"

# Where memory cannot become executable.
"$refuse" true
[ $? -eq 77 ] && exit $failed
why='this host does not let memory become executable: Operation not permitted'
says "^  Engine  +interpreter, AVX[^:]*: $why" "$refuse" "$ehp" info
says "^ehp: EHP_ENGINE=compiled: kernels are interpreted: $why" "$refuse" "$ehp" run --engine compiled "$program" "$hsaco"
exit $failed
