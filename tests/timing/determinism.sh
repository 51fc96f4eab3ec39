#!/bin/sh
# SPDX-License-Identifier: MIT
# determinism.sh BUILD_ROOT SOURCE_ROOT: programs in timing mode print the same, with the same statistics and counters to
# the byte, with 1, 2 and 4 threads, with each engine, while the machine is busy, and when their host code is slow between
# its calls; and of waves that fault together they report the same.
. "$(dirname "$0")/common.sh"
busy=
trap 'kill $busy 2>/dev/null; rm -rf "$dir"' EXIT
"$ehp" cc -O2 -Wall -Werror "$source/tests/timing/program.hip" -o "$dir/program" &&
    "$ehp" cc -O2 -Wall -Werror "$source/tests/timing/say.hip" -o "$dir/say" &&
    "$ehp" cc -O2 "$source/examples/matmul_mfma.hip" -o "$dir/matmul" &&
    "$ehp" cc -O2 "$source/examples/cooperative.hip" -o "$dir/cooperative" &&
    "$ehp" cc -O2 -Wall -Werror "$source/tests/timing/semaphores.hip" -o "$dir/semaphores" || exit 1
failed=0
run() { # NAME THREADS PROGRAM [ARGUMENT]
    out=$1 threads=$2
    shift 2
    simulate --mode timing --threads "$threads" \
        --stats="$dir/$out.json" --counters all --counters-file "$dir/$out.counters.json" "$@" >"$dir/$out.out" ||
        { echo "failed: $*"; failed=1; }
}
differs() { # NAME NAME
    for part in out json counters.json; do
        cmp -s "$dir/$1.$part" "$dir/$2.$part" && continue
        echo "$1 and $2 differ:"
        diff "$dir/$1.$part" "$dir/$2.$part" | head -n 6 | cut -c1-200
        return 0
    done
    return 1
}
same() { # AS NAME THREADS PROGRAM [ARGUMENT]
    as=$1
    shift
    run "$@"
    ! differs "$as" "$1" || failed=1
}
run program 1 "$dir/program"
run matmul 1 "$dir/matmul"
for engine in interpreter compiled; do
    export EHP_ENGINE=$engine
    same program "engine $engine" 2 "$dir/program"
    same matmul "matmul, engine $engine" 2 "$dir/matmul"
done
unset EHP_ENGINE
for threads in 1 2 4; do
    same program "slow host, $threads threads" $threads "$dir/program" $threads
done
# Where nobody can tell what a host does between its calls, it has to be quiet for longer.
export HSA_XNACK=1
run xnack 1 "$dir/program"
for threads in 1 2; do
    same xnack "slow host with XNACK, $threads threads" $threads "$dir/program" $threads
done
unset HSA_XNACK
run say 1 "$dir/say"
# Threads of the simulator that take their time to begin, each longer than those before.
cat >"$dir/late.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct start { void *(*run)(void *); void *argument; unsigned delay; };
static void *begin(void *p)
{
    struct start s = *(struct start *)p;
    free(p);
    usleep(s.delay);
    return s.run(s.argument);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    static unsigned threads;
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    struct start *s = malloc(sizeof(*s));
    *s = (struct start){run, argument, 10000 * ++threads};
    return create(thread, attributes, begin, s);
}
C
cc -shared -fPIC "$dir/late.c" -o "$dir/late.so" || exit 1
soon=$preload preload="$preload $dir/late.so"
same say 'late threads' 2 "$dir/say"
preload=$soon
for i in 1 2; do # more than the machine has cores, with the simulation's own
    sh -c 'while :; do :; done' &
    busy="$busy $!"
done
for threads in 2 4; do
    same program "busy machine, $threads threads" $threads "$dir/program"
done
for threads in 1 2 4; do
    same matmul "matmul, $threads threads" $threads "$dir/matmul"
done
# Waves of all XCDs meet at barriers of the grid, and at semaphores.
for program in cooperative semaphores; do
    run $program 1 "$dir/$program"
    for threads in 1 2 4; do
        same $program "$program, $threads threads" $threads "$dir/$program"
    done
done
# Memory of the program's own, which the GPU faults on: its addresses are the same in every run, where that is allowed
# and no sanitizer allocates it.
if [ -z "$preload" ] && setarch -R true 2>/dev/null; then
    "$ehp" cc -O2 "$source/apps/nn.hip" -o "$dir/nn" || failed=1
    "$ehp" cc -O2 "$source/tests/timing/heap.hip" -o "$dir/heap" || failed=1
    run heap 1 "$dir/heap"
    for threads in 2 3 4; do
        same heap "heap, $threads threads" $threads "$dir/heap"
    done
    export HSA_XNACK=1
    run nn 1 "$dir/nn" --unified --size 16384
    for threads in 1 2; do
        same nn "nn, $threads threads" $threads "$dir/nn" --unified --size 16384
    done
    unset HSA_XNACK
fi
# Of many waves that fault together the same one is reported; where its code lies is the host's choice.
"$ehp" cc -O2 -Wall -Werror "$source/tests/timing/fault.hip" -o "$dir/fault" || failed=1
for threads in 1 2 4; do
    simulate --mode timing --threads $threads \
        "$dir/fault" 2>&1 | grep -A 1 'memory access fault' >"$dir/fault $threads.out"
    [ -s "$dir/fault $threads.out" ] && cmp "$dir/fault 1.out" "$dir/fault $threads.out" || failed=1
done
[ -s "$dir/matmul.counters.json" ] && grep -q 'with functions' "$dir/program.out" || failed=1
exit $failed
