#!/bin/sh
# SPDX-License-Identifier: MIT
# host_code.sh BUILD_ROOT SOURCE_ROOT: host code that was compiled with --time-host does in both modes what it does without,
# takes the same simulated time on every run, whatever the environment, and shares lines with kernels.
. "$(dirname "$0")/common.sh"
limit=100 failed=0
tests=$source/tests/timing
compile() { # ARGUMENT...
    "$ehp" cc --time-host -O2 -Wall -Werror "$@" || exit 1
}
compile -x c++ "$tests/host_code.cpp" -o "$dir/code"
compile -std=c++20 -x c++ "$tests/host_waits.cpp" -o "$dir/waits"
compile -fno-builtin -x c++ "$tests/host_calls.cpp" -o "$dir/calls"
compile -x c "$tests/host_c11.c" -o "$dir/c11"
compile "$tests/host_and_gpu.hip" -o "$dir/gpu"
compile "$tests/host_mixed.hip" -o "$dir/mixed"
compile "$tests/host_streams.hip" -o "$dir/streams"
compile -c "$tests/host_and_gpu.hip" -o "$dir/gpu.o" && compile "$dir/gpu.o" -o "$dir/gpu_again"
compile -x c "$tests/host_assembly.c" -o "$dir/assembly" 2>"$dir/said" || failed=1
if [ -s "$dir/said" ]; then
    head -5 "$dir/said"
    failed=1
fi
simulate "$dir/assembly" || failed=1
simulate --mode timing "$dir/assembly" || failed=1
echo 'const int table[] = {1, 2};' >"$dir/table.c"
compile -c "$dir/table.c" -o "$dir/table.o" 2>"$dir/said" || failed=1
if [ -s "$dir/said" ]; then # nothing in it costs any cycles
    cat "$dir/said"
    failed=1
fi
# What the program has of C++'s library is what LLVM's library calls, in threads of the simulator.
echo '#include <string>
std::string a("a string on the heap, for it is long"), b;
int main() { b = a; return b != a; }' >"$dir/string.cpp"
compile -std=c++20 -x c++ "$dir/string.cpp" -o "$dir/string"
simulate --mode timing "$dir/string" || failed=1
echo '#include <unistd.h>
int main(void) { return alarm(100) != 0 || alarm(0) == 0; }' >"$dir/timer.c"
compile -x c "$dir/timer.c" -o "$dir/timer"
simulate --mode timing "$dir/timer" 2>"$dir/said" || failed=1
[ "$(grep -c 'sends signals goes by the host' "$dir/said")" = 1 ] || failed=1
echo 'int main(void) { __asm__ volatile("ud2"); }' >"$dir/other.c"
compile -x c "$dir/other.c" -o "$dir/other"
simulate --mode timing "$dir/other" 2>"$dir/said" && failed=1
grep -q 'ehp: an instruction that this host does not have' "$dir/said" || failed=1
simulate "$dir/code" || failed=1
simulate "$dir/waits" || failed=1
simulate "$dir/c11" || failed=1
simulate "$dir/calls" || failed=1
simulate --mode timing "$dir/waits" pipe 2>"$dir/said" || failed=1
grep -q 'a call of the kernel.s that is not simulated' "$dir/said" || failed=1
for program in gpu gpu_again; do
    simulate "$dir/$program" || failed=1
done
for threads in 1 2; do
    simulate --mode timing --threads $threads "$dir/code" timing >"$dir/code$threads" 2>"$dir/said$threads" ||
        failed=1
    grep -q 'forked off takes no simulated time' "$dir/said$threads" || failed=1
    simulate --mode timing --threads $threads "$dir/waits" timing >"$dir/waits$threads" || failed=1
    simulate --mode timing --threads $threads "$dir/calls" timing >"$dir/calls$threads" || failed=1
    simulate --mode timing --threads $threads "$dir/c11" timing >"$dir/c11$threads" || failed=1
    simulate --mode timing --threads $threads "$dir/gpu" timing >"$dir/gpu$threads" || failed=1
done
for turn in 1 2 3; do
    simulate --mode timing --threads $((turn % 2 + 1)) "$dir/streams" >"$dir/streams$turn" 2>"$dir/said" || failed=1
    cmp "$dir/streams1" "$dir/streams$turn" || failed=1
    cat "$dir/said"
    [ -s "$dir/said" ] && failed=1 # nobody waits for another but in simulated time
done
cat "$dir/streams1"
cat "$dir/calls1" "$dir/code1" "$dir/waits1" "$dir/c111" "$dir/gpu1"
cmp "$dir/code1" "$dir/code2" || failed=1
cmp "$dir/waits1" "$dir/waits2" || failed=1
cmp "$dir/calls1" "$dir/calls2" || failed=1
cmp "$dir/c111" "$dir/c112" || failed=1
cmp "$dir/gpu1" "$dir/gpu2" || failed=1
# Whatever the simulator is asked for besides, and has of its own in the program's process.
mixed() { # OPTION...
    simulate --mode timing "$@" "$dir/mixed" >"$dir/mixed2" || failed=1
    cmp "$dir/mixed1" "$dir/mixed2" || failed=1
}
simulate --mode timing "$dir/mixed" >"$dir/mixed1" || failed=1
cat "$dir/mixed1"
mixed --engine interpreter
mixed --engine compiled
mixed --threads 1
mixed --stats
EHP_CACHE_DIR="$dir/cache" mixed
EHP_CACHE_DIR="$dir/cache" mixed
EHP_CACHE_DIR='' mixed
if "$ehp" cc --time-host -O2 -fopenmp "$tests/host_openmp.c" -o "$dir/openmp" 2>/dev/null; then
    for threads in 1 2; do
        OMP_NUM_THREADS=6 simulate --mode timing --threads $threads "$dir/openmp" >"$dir/openmp$threads" || failed=1
    done
    cat "$dir/openmp1"
    cmp "$dir/openmp1" "$dir/openmp2" || failed=1
    compile -fopenmp -x c++ "$tests/host_order.cpp" -o "$dir/order"
    simulate "$dir/order" >/dev/null || failed=1
    for turn in 1 2 3 4; do
        LONGER=$(printf "%0${turn}99d" 0) simulate --mode timing --threads $((turn % 2 + 1)) "$dir/order" >"$dir/order$turn" || failed=1
        cmp "$dir/order1" "$dir/order$turn" || failed=1
    done
    # Found in PATH; other variables of the environment, and what a killed program of the same number has left of
    # LLVM's OpenMP.
    (PATH=$dir:$PATH && simulate --mode timing order) >"$dir/order5" || failed=1
    cmp "$dir/order1" "$dir/order5" || failed=1
    # shellcheck disable=SC2016
    EHP_THREADS=1 EHP_MODE=timing LD_PRELOAD=$preload ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS-}" sh -c '
        printf "0x7ffff7d4a5f0-cafe0a1b-libomp.so" >"/dev/shm/__KMP_REGISTERED_LIB_$$_$(id -u)"
        exec "$@"' sh "$ehp" run "$dir/order" >"$dir/order6" || failed=1
    cmp "$dir/order1" "$dir/order6" || failed=1
    cat "$dir/order1"
    compile -fopenmp -x c++ "$tests/host_tasks.cpp" -o "$dir/tasks"
    simulate "$dir/tasks" || failed=1
    for turn in 1 2 3 4; do
        LONGER=$(printf "%0${turn}99d" 0) simulate --mode timing --threads $((turn % 2 + 1)) "$dir/tasks" timing >"$dir/tasks$turn" 2>"$dir/said" || failed=1
        cmp "$dir/tasks1" "$dir/tasks$turn" || failed=1
        cat "$dir/said"
        [ -s "$dir/said" ] && failed=1 # nothing is untimed
    done
    cat "$dir/tasks1"
fi
exit $failed
