#!/bin/sh
# SPDX-License-Identifier: MIT
# host_affinity.sh BUILD_ROOT SOURCE_ROOT: threads on the CPUs that they ask for, and OpenMP's places.
. "$(dirname "$0")/common.sh"
limit=60 failed=0
program=$source/tests/timing/host_affinity.c
"$ehp" cc --time-host -O2 -Wall -Werror "$program" -o "$dir/affinity" || exit 1
for threads in 1 2; do
    simulate --mode timing --threads $threads "$dir/affinity" >"$dir/out$threads" || failed=1
done
cat "$dir/out1"
cmp "$dir/out1" "$dir/out2" || failed=1
limit=30 # threads of a node begin at once: they took a second each to come to a turn that nobody gave them
simulate --node mi300a-x4 --mode timing "$dir/affinity" 96 || failed=1
limit=60
if "$ehp" cc --time-host -O2 -fopenmp "$program" -o "$dir/places" 2>/dev/null; then
    team() { # CPUS VARIABLE...: where six threads are
        cpus=$1
        shift
        found=$(for v in "$@"; do export "${v?}"; done; simulate --mode timing "$dir/places" 2>"$dir/said" | tail -n 1)
        [ "$found" = "a team's CPUs: $cpus" ] || { echo "$*: $found"; failed=1; }
    }
    team "0 8 16 1 9 17" OMP_PLACES=
    team "0 1 2 3 4 5" OMP_PLACES=cores
    team "0 1 8 9 16 17" OMP_PLACES=ll_caches OMP_PROC_BIND=spread
    team "0 1 8 9 16 17" "OMP_PLACES={0:8}:3:8"
    team "0 4 8 12 16 20" OMP_PROC_BIND=spread
    team "23 3 4 5 6 7" "OMP_PLACES={23},{3},{4}:4"
    team "0 8 16 1 9 17" OMP_PLACES=bogus
    grep -q 'OMP_PLACES=bogus: expected threads, cores' "$dir/said" || { echo "bogus places"; failed=1; }
    # In functional mode its threads are the host's, of a node's CPUs too.
    cat >"$dir/threads.cpp" <<'END'
#include <cstdio>
int main()
{
    int threads = 0;
#pragma omp parallel num_threads(6)
#pragma omp atomic
    threads++;
    printf("%d threads\n", threads);
}
END
    "$ehp" cc -O2 -fopenmp "$dir/threads.cpp" -o "$dir/threads" || failed=1
    for node in mi300a-x4 mi300x-x8; do
        [ "$(simulate --node $node "$dir/threads")" = "6 threads" ] || { echo "OpenMP on $node"; failed=1; }
    done
fi
exit $failed
