#!/bin/bash
# SPDX-License-Identifier: MIT
# What `ehp advise` says that work would take on the other side, beside what it takes there in simulated time.
set -uo pipefail
build=$1 source=$2
ehp=$build/tools/ehp
"$ehp" config --check >/dev/null 2>&1 || exit 77
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$ehp" cc -O2 -g "$source/tests/apps/advise_move.hip" -o "$scratch/move" || exit 1
"$ehp" cc --time-host -O2 -g "$source/tests/apps/advise_loop.c" -o "$scratch/loop" || exit 1
"$ehp" cc --time-host -O2 -g -fopenmp "$source/tests/apps/advise_loop.c" -o "$scratch/team" 2>/dev/null
python3 "$source/tests/apps/advise_move.py" "$ehp" "$scratch" || exit 1
"$ehp" advise --mode slow "$scratch/move" >"$scratch/out" 2>&1 && exit 1
grep -q 'no mode "slow"; there are: functional, timing' "$scratch/out" || exit 1
# Functional mode has no time to compare.
"$ehp" advise "$scratch/loop" >"$scratch/out" 2>&1 || exit 1
! grep -q 'other side' "$scratch/out"
