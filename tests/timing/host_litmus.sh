#!/bin/sh
# SPDX-License-Identifier: MIT
# host_litmus.sh BUILD_ROOT SOURCE_ROOT: litmus tests among threads of the host and kernels show nothing that their memory
# models forbid, in both modes, and in timing mode the same on every run; messages without their fences are lost there.
. "$(dirname "$0")/common.sh"
limit=100 failed=0
"$ehp" cc --time-host -std=c++20 -O2 -Wall -Werror "$source/tests/timing/host_litmus.hip" -o "$dir/litmus" || exit 1
simulate "$dir/litmus" functional 3 >"$dir/out" || failed=1
grep failed "$dir/out"
for threads in 1 2 3; do
    simulate --mode timing --threads $threads "$dir/litmus" timing 6 >"$dir/out$threads" || failed=1
    grep failed "$dir/out$threads"
    cmp "$dir/out1" "$dir/out$threads" || failed=1
done
cat "$dir/out1"
exit $failed
