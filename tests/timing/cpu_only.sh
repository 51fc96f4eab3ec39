#!/bin/sh
# SPDX-License-Identifier: MIT
# cpu_only.sh BUILD_ROOT SOURCE_ROOT: a package of CCDs alone runs host code on all its cores and has no device; one of
# XCDs alone says that host code takes no time; one with other shares of both has both.  A program that measures by the
# host's clock is told so in timing mode, unless its code is on cores.
. "$(dirname "$0")/common.sh"
limit=120 failed=0
expect() { # WHAT COMMAND...
    what=$1
    shift
    "$@" || {
        echo "failed: $what"
        failed=1
    }
}
cat >"$dir/device.hip" <<'END'
#include <hip/hip_runtime.h>
#include <stdio.h>
__global__ void one(int *p) { *p = 1; }
int main()
{
    int count = -1, *p = nullptr;
    printf("%s", hipGetErrorName(hipGetDeviceCount(&count)));
    printf(" %d %s", count, hipGetErrorName(hipSetDevice(0)));
    printf(" %s\n", hipGetErrorName(hipMalloc((void **)&p, sizeof *p)));
    if (!count)
        return 0;
    one<<<1, 1>>>(p);
    return hipDeviceSynchronize() != hipSuccess || *p != 1;
}
END
cat >"$dir/cores.hip" <<'END'
#include <hip/ehp_host.h>
#include <stdio.h>
int main()
{
    static char room[3 << 20];
    for (unsigned cores = 1; cores <= 96; cores += cores == 1 ? 11 : 84) {
        struct ehp_cpu_work work = EHP_CPU_WORK_INIT;
        work.operation = EHP_CPU_STREAM;
        work.cores = cores;
        work.passes = work.ranges = 1;
        work.base[0] = room;
        work.bytes[0] = sizeof room;
        if (ehp_host_run(&work) != EHP_OK)
            return cores;
        printf("%u: %llu ns\n", cores, (unsigned long long)work.ns);
    }
    return 0;
}
END
cat >"$dir/shares.cfg" <<'END'
base = "mi300a";
xcd: { count = (4, "guess: ISCA'24, V.B, two XCDs or three CCDs on an IOD"); };
ccd: { count = (6, "guess: the same"); };
partitions = ( ("spx", 1), ("dpx", 2) );
iods = ( { xcds = 2; hbm = 2; }, { xcds = 2; hbm = 2; }, { ccds = 3; hbm = 2; }, { ccds = 3; hbm = 2; } );
END
"$ehp" cc -O2 "$dir/device.hip" -o "$dir/device" || exit 1
"$ehp" cc -O2 "$dir/cores.hip" -o "$dir/cores" || exit 1
"$ehp" cc --time-host -O2 "$dir/cores.hip" -o "$dir/timed_cores" || exit 1
for mode in functional timing; do
    expect "no device, $mode" test "$(simulate --chip mi300c --mode $mode "$dir/device")" = \
        "hipErrorNoDevice 0 hipErrorNoDevice hipErrorNoDevice"
    expect "a device, $mode" test "$(simulate --chip "$dir/shares.cfg" --mode $mode "$dir/device")" = \
        "hipSuccess 1 hipSuccess hipSuccess"
done
simulate --chip mi300c --mode timing "$dir/cores" >"$dir/said" || failed=1
cat "$dir/said"
expect "96 cores" grep -q '^96: ' "$dir/said"
simulate --chip mi300c --partition spx "$dir/device" 2>"$dir/said" && failed=1
expect "partition" grep -q 'mi300c has no XCDs that partition mode "spx" could divide' "$dir/said"
"$ehp" info --chip mi300c >"$dir/said" || failed=1
expect "info" grep -q 'CPU cores in the package *96' "$dir/said"
"$ehp" chips show mi300c >"$dir/said" || failed=1
expect "chips" grep -q '0 XCDs, 0 CUs; 12 CCDs, 96 cores' "$dir/said"
"$ehp" validate --chip mi300c --only rates 2>"$dir/said" && failed=1
expect "validate" grep -q 'mi300c has no XCDs' "$dir/said"
for program in cores timed_cores; do
    simulate --chip mi300x --mode timing "$dir/$program" 2>"$dir/said" && failed=1
    expect "no cores, once" test "$(grep -c 'MI300X has no CPU cores in its package' "$dir/said")" = 1
done
if "$ehp" cc --time-host -O2 -fopenmp "$source/tests/timing/host_openmp.c" -o "$dir/openmp" 2>/dev/null; then
    for threads in 1 2; do
        OMP_NUM_THREADS=96 simulate --chip mi300c --mode timing --threads $threads --stats "$dir/openmp" \
            >"$dir/openmp$threads" 2>"$dir/said$threads" || failed=1
    done
    cat "$dir/openmp1"
    expect "the same times" cmp "$dir/openmp1" "$dir/openmp2"
    expect "the same counters" cmp "$dir/said1" "$dir/said2"
    expect "96 cores at work" test "$(grep -c '^ *[0-9]*\.[0-9]* ' "$dir/said1")" = 96
fi
cat >"$dir/clock.hip" <<'END'
#include <chrono>
#include <hip/hip_runtime.h>
int main() { return hipFree(nullptr) != hipSuccess || std::chrono::steady_clock::now().time_since_epoch().count() < 0; }
END
"$ehp" cc -O2 "$dir/clock.hip" -o "$dir/clock" && "$ehp" cc --time-host -O2 "$dir/clock.hip" -o "$dir/timed_clock" || exit 1
told() { # LINES PROGRAM OPTION...: of its clock, and how to be on cores where there are some
    lines=$1 program=$2
    shift 2
    simulate "$@" "$dir/$program" 2>"$dir/said" || failed=1
    expect "clock of $program $*" test "$(grep -c "std::chrono::steady_clock.*the host's time" "$dir/said")" = "$lines"
}
told 0 clock
told 0 timed_clock --mode timing
told 0 device --mode timing
told 1 clock --mode timing
expect "cores" grep -q -e --time-host "$dir/said"
told 1 clock --mode timing --chip mi300x
expect "no cores" test "$(grep -c -e --time-host "$dir/said")" = 0
exit $failed
