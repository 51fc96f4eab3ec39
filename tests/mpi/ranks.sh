#!/bin/sh
# SPDX-License-Identifier: MIT
# ranks.sh BUILD_ROOT SOURCE_ROOT: HIP and MPI under plain mpirun, a rank a device of a node.
build=$1 source=$2 ehp=$1/tools/ehp
command -v mpicc >/dev/null 2>&1 && command -v mpirun >/dev/null 2>&1 || { echo "skipped: no Open MPI"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
echo 'int main() { return 0; }' >"$dir/empty.hip"
"$ehp" cc -c "$dir/empty.hip" -o "$dir/empty.o" >/dev/null 2>&1 || { echo "skipped: no compiler for gfx942"; exit 77; }
# shellcheck disable=SC2046
"$ehp" cc -O2 $(mpicc --showme:compile) "$source/tests/mpi/ranks.hip" -o "$dir/mpi" $(mpicc --showme:link) || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # of containers
ranks() { # RANKS WORD COMMAND...: as many lines with the word
    count=$1 word=$2
    shift 2
    timeout 120 "$@" >"$dir/out" 2>"$dir/said" && [ "$(grep -c "$word" "$dir/out")" = "$count" ] ||
        { echo "$*"; cat "$dir/out" "$dir/said"; exit 1; }
}
mpirun="mpirun --oversubscribe --bind-to none"
# shellcheck disable=SC2086
{
    ranks 4 'of 4: 0 wrong' $mpirun -np 4 "$ehp" run --node mi300a-x4 "$dir/mpi"
    ranks 3 'of 8: 0 wrong' "$ehp" run --node mi300x-x8 $mpirun -np 3 "$dir/mpi"
    ranks 2 'of 1: 0 wrong' $mpirun -np 2 "$ehp" run --mode timing "$dir/mpi"
}
echo "three runs of ranks: nothing wrong"
