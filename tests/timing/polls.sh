#!/bin/sh
# SPDX-License-Identifier: MIT
# polls.sh BUILD_ROOT SOURCE_ROOT: in timing mode time goes on for host programs that wait for the device by no call:
# on memory, on what a host function tells them, in a thread of theirs; and no matter what time of day it is.
. "$(dirname "$0")/common.sh"
limit=60
"$ehp" cc -O2 -Wall -Werror "$source/tests/timing/polls.hip" -o "$dir/polls" || exit 1
failed=0
polls() { # WHAT [OPTION...]
    what=$1
    shift
    simulate --mode timing --threads 2 "$@" "$dir/polls" "$what" >"$dir/out" && grep -q "^$what: 2" "$dir/out" ||
        { echo "failed: $what $* ${HSA_XNACK:+with XNACK}"; failed=1; }
}
for what in memory 'memory, asleep' function condition thread; do
    polls "$what"
done
# Who waits is seen to do so at once, also where threads of the simulator sleep and wake; who may compute is not.
took() { # WHAT: milliseconds
    begun=$(date +%s%N)
    polls "$1" --stats --memory --timeout 100 2>/dev/null
    echo $((($(date +%s%N) - begun) / 1000000))
}
waits=$(took condition) computes=$(took function)
[ "$waits" -lt $((computes / 2)) ] || { echo "a wait is seen after $waits ms, a loop after $computes ms"; failed=1; }
export HSA_XNACK=1
for what in memory condition; do
    polls "$what"
done
unset HSA_XNACK
# The address sanitizer looks at the clock before it can resolve a symbol.
[ -z "$preload" ] || exit $failed
# A time of day that is set back whenever somebody has looked at it: nobody may wait for one.
cat >"$dir/day.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
    int (*look)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = look(clock, t);
    if (clock == CLOCK_REALTIME && status == 0)
        t->tv_sec += 3600;
    return status;
}
C
cc -shared -fPIC "$dir/day.c" -o "$dir/day.so" || exit 1
preload="$preload $dir/day.so"
polls memory --timeout 100
exit $failed
