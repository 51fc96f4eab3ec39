#!/bin/sh
# SPDX-License-Identifier: MIT
# node.sh BUILD_ROOT SOURCE_ROOT: devices of several packages in both modes; in simulated time the same on every run
# with any number of threads, and a missing fence shows.
. "$(dirname "$0")/common.sh"
limit=100
"$ehp" cc -O2 -Wall -Werror "$source/tests/timing/node.hip" -o "$dir/node" || exit 1
fail() { echo "$1"; cat "$dir/out"; exit 1; }
for node in mi300a-x4 mi300x-x8; do
    simulate --node $node "$dir/node" >"$dir/out" 2>&1 || fail "failed on $node in functional mode"
done
simulate --node mi300a-x4 --partition cpx "$dir/node" >"$dir/out" 2>&1 || fail "failed in CPX mode"
grep -q '^24 devices$' "$dir/out" || fail "four times six devices in CPX mode"
HIP_VISIBLE_DEVICES=3,0 simulate --node mi300a-x4 "$dir/node" >"$dir/out" 2>&1 || fail "failed with two of its devices"
grep -q '^2 devices$' "$dir/out" || fail "HIP_VISIBLE_DEVICES=3,0"
for threads in 1 2 3; do
    simulate --node mi300a-x4 --mode timing --threads $threads "$dir/node" stale >"$dir/out" 2>&1 ||
        fail "failed in simulated time on $threads threads"
    [ $threads = 1 ] && cp "$dir/out" "$dir/first"
    cmp -s "$dir/first" "$dir/out" || { diff "$dir/first" "$dir/out"; exit 1; }
done
simulate --node mi300x-x8 --mode timing "$dir/node" stale >"$dir/out" 2>&1 || fail "failed on mi300x-x8 in simulated time"
# What cannot be is said in a line.
! simulate --node mi300a-x4 --chip mi300x "$dir/node" 2>"$dir/out" || fail "a node of another chip"
grep -q 'node mi300a-x4 is of chip mi300a' "$dir/out" || fail "a node of another chip"
! simulate --node nosuch "$dir/node" 2>"$dir/out" || fail "no such node"
grep -q 'there are: mi300a-cluster, mi300a-x4, mi300x-x8' "$dir/out" || fail "no such node"
cat "$dir/first"
