#!/bin/sh
# SPDX-License-Identifier: MIT
# copies.sh BUILD_ROOT SOURCE_ROOT: copies and fills leave the right bytes in both modes, by SDMA engines and by kernels,
# and in simulated time others notice; the kernels' code is that of their source.
. "$(dirname "$0")/common.sh"
"$ehp" cc -O2 -Wall -Werror "$source/tests/timing/copies.hip" -o "$dir/copies" || exit 1
failed=0
run() { # OPTIONS
    simulate "$@" ||
        { echo "failed: $*"; failed=1; }
}
run "$dir/copies"
run --mode timing "$dir/copies"
run --mode timing --no-sdma "$dir/copies"
run --mode timing --xnack "$dir/copies"
run --mode timing "$dir/copies" effects
run --mode timing --node mi300a-x4 "$dir/copies" peers
run --mode timing --threads 1 "$dir/copies" long >"$dir/long1"
run --mode timing --threads 2 --node mi300a-x4 "$dir/copies" long >"$dir/long2"
cat "$dir/long1"
cmp "$dir/long1" "$dir/long2" || failed=1 # whoever moves the bytes, and on the last device of a node
if command -v clang-22 >/dev/null; then
    flags=$(sed -n 's|^// *clang-22 \(.*\) blit.cl -o blit.hsaco$|\1|p' "$source/src/hip/memory/blit.cl")
    # shellcheck disable=SC2086 # words
    (cd "$source/src/hip/memory" && clang-22 $flags blit.cl -o "$dir/blit.hsaco") || exit 1
    for file in "$dir/blit.hsaco" "$source/src/hip/memory/blit.hsaco"; do
        "$ehp" disasm "$file" >"$dir/$(dirname "$file" | tr / _).s"
    done
    cmp "$dir"/*.s || failed=1
fi
exit $failed
