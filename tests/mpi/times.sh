#!/bin/sh
# SPDX-License-Identifier: MIT
# times.sh BUILD_ROOT SOURCE_ROOT: what MPI's calls take in timing mode, beside the node file's numbers and the chip's,
# and that every run has the same, on a host that is busy as well.
build=$1 source=$2 ehp=$1/tools/ehp
command -v mpicc >/dev/null 2>&1 && command -v mpirun >/dev/null 2>&1 || { echo "skipped: no Open MPI"; exit 77; }
[ -e "$build/src/mpi/libehp_mpi.so" ] || { echo "skipped: built without MPI"; exit 77; }
dir=$(mktemp -d) || exit 1
busy=
trap '[ -z "$busy" ] || kill $busy; rm -rf "$dir"' EXIT
echo 'int main() { return 0; }' >"$dir/empty.hip"
"$ehp" cc -c "$dir/empty.hip" -o "$dir/empty.o" >/dev/null 2>&1 || { echo "skipped: no compiler for gfx942"; exit 77; }
# shellcheck disable=SC2046
{
    "$ehp" cc -O2 $(mpicc --showme:compile) "$source/tests/mpi/times.hip" -o "$dir/times" $(mpicc --showme:link) &&
        "$ehp" cc --time-host -O2 $(mpicc --showme:compile) "$source/tests/mpi/clocks.hip" -o "$dir/clocks" \
            $(mpicc --showme:link) &&
        mpicc -Wall -O2 "$source/tests/mpi/windows.c" -o "$dir/windows" &&
        mpicc -Wall -O2 "$source/tests/mpi/neighbours.c" -o "$dir/neighbours" &&
        mpicc -Wall -O2 "$source/tests/mpi/files.c" -o "$dir/files"
} || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # of containers
mpirun="mpirun --oversubscribe --bind-to none"

# Two nodes of two packages, a rank each, and a port for both.
cat >"$dir/two.cfg" <<'NODE'
title = "Nodes of two MI300A";
chip = "mi300a";
packages = 2;
link: { rate = (64, "guess"); latency = (88, "guess"); header = (9, "guess"); };
links = ( { packages = (0, 1); iods = (3, 3); count = 2; } );
network: { latency = (1300, "guess"); rate = (12.5, "guess"); ports = (1, "guess"); ranks = (2, "guess"); };
NODE

wrong=0
# shellcheck disable=SC2086
for run in 1 2 3; do
    if [ $run = 2 ]; then # others want the host's cores
        for i in 1 2 3; do
            (while :; do :; done) &
            busy="$busy $!"
        done
    fi
    for what in times windows neighbours files; do
        timeout 250 $mpirun -np 4 "$ehp" run --mode timing --node "$dir/two.cfg" "$dir/$what" "$dir/disk" >"$dir/$what$run" \
            2>"$dir/said" || { cat "$dir/$what$run" "$dir/said"; exit 1; }
        cmp "$dir/${what}1" "$dir/$what$run" || { diff "$dir/${what}1" "$dir/$what$run"; wrong=1; }
    done
    [ -z "$busy" ] || kill $busy
    busy=
done

{ "$ehp" chips show mi300a; "$ehp" chips show "$dir/two.cfg"; } |
    awk '$1 ~ /^(mpi|link|network)\./ {print $1, $2 * ($3 == "KiB" ? 1024 : 1)}' >"$dir/numbers"
# Half of a ping-pong's round, and what is done with a window, there and back, by hand; a message longer than mpi.eager asks, and gets leave, before.
awk '
function half(bytes, latency, rate) {
    return (bytes > n["mpi.eager"] ? 4 * o + 3 * latency : 2 * o + latency) + bytes / rate / 1000
}
function round(bytes, latency, rate) { return 2 * (o + latency) + bytes / rate / 1000 }
function check(what, is, least, most) {
    checks++
    if (is >= least - 2e-5 && is <= most + 2e-5) return
    printf "%s: %f us, and not %f .. %f\n", what, is, least, most
    wrong++
}
FNR == NR {
    n[$1] = $2
    o = n["mpi.overhead"] / 1000
    near = (n["mpi.latency"] + n["link.latency"]) / 1000
    near_rate = 2 * n["link.rate"] * 64 / (64 + n["link.header"])
    far = n["network.latency"] / 1000
    far_rate = n["network.rate"]
    next
}
$1 == "pingpong" && $3 == 1 { h = half($4, near, near_rate); check($0, $5, h, h) }
$1 == "pingpong" && $3 == 3 { h = half($4, far, far_rate); check($0, $5, h, h) }
# Both ways at once, begun within a look at the clock of each other, and no later for others who are late.
$1 == "around" { h = half($2, near, near_rate); check($0, $3, h, h + 2 * n["mpi.poll"] / 1000) }
$1 == "put" || $1 == "get" || $1 == "sum" {
    h = $2 == 1 ? round($3, near, near_rate) : round($3, far, far_rate)
    if ($1 == "sum") h += $3 / n["mpi.reduce"] / 1000
    check($0, $4, h, h)
}
# Twenty turns with the lock of rank 1, of three microseconds; a put at least comes and goes within each.
$1 == "locks" { check($0, $2, 20 * (3 + round(0, near, near_rate)), 20 * (3 + 4 * round(0, far, far_rate))) }
# A barrier: two rounds, of which one at least is between the two; two, with what goes to everybody before.
$1 == "fence" { check($0, $2, half(0, near, near_rate) + half(0, far, far_rate), 2 * half(0, far, far_rate) + 0.1) }
# A barrier from when the last has come, who has two messages to send and two to take.
$1 == "file" { check($0, $3, 4 * o, $4); check($0, $4, half(0, near, near_rate) + half(0, far, far_rate), 2 * half(0, far, far_rate) + 0.1) }
# Ranks 0, 1 and 2, 3 share a node.
$1 == "ring" { h = 2 * half(4, near, near_rate) + 2 * half(4, far, far_rate); check($0, $2, h, h) }
# Recursive doubling, once in the node and once between the two, whose port both share.
$1 == "allreduce" && $2 == 8 { h = half(8, near, near_rate) + half(8, far, far_rate); check($0, $3, h, h + 0.1) }
# A ring: six steps of a quarter each, of which three are added; the network is the slowest of its parts.
$1 == "allreduce" && $2 == 8000000 {
    h = 6 * half(2000000, far, far_rate) + 3 * 2000000 / n["mpi.reduce"] / 1000
        check($0, $3, h - 3 * 2000000 / n["mpi.reduce"] / 1000, h + 0.1)
}
$1 == "any" { order[anys++] = $2 $3 $4 }
# A message sent 50 us after the beginning is seen when it is there, looks being mpi.poll apart.
$1 == "poll" {
    h = 50 + 2 * o + near
    check($0, $4, h, h + 2 * o + 3 * n["mpi.poll"] / 1000 + 0.1)
    check("looks", $2, (h - o - 0.1) * 1000 / n["mpi.poll"], (h - o + 0.1) * 1000 / n["mpi.poll"] + 1)
}
# A word that another puts there 150 us after the beginning.
$1 == "looks" { check($0, $3, 150 + o + near, 150 + o + near + 2 * n["mpi.poll"] / 1000 + 0.2) }
$1 == "wrong" { ended++; wrong += $2 }
END {
    if (order[0] order[1] order[2] != "123123231") { print "MPI_ANY_SOURCE:", order[0], order[1], order[2]; wrong++ }
    if (ended != 4 || checks != 38) { printf "%d checks, and not 38\n", checks; wrong++ }
    exit wrong != 0
}' "$dir/numbers" "$dir/times1" "$dir/windows1" "$dir/neighbours1" "$dir/files1" ||
    { cat "$dir/times1" "$dir/windows1" "$dir/neighbours1" "$dir/files1"; wrong=1; }

# What takes no simulated time goes right, and says so once.
mpicc -Wall -O2 "$source/tests/mpi/outside.c" -o "$dir/outside" || exit 1
# shellcheck disable=SC2086
timeout 120 $mpirun -np 4 "$ehp" run --mode timing "$dir/outside" "$dir/file" >"$dir/said" 2>&1 ||
    { cat "$dir/said"; wrong=1; }
for what in one-sided 'between groups' MPI-IO; do
    [ "$(grep -c "^ehp: .*$what.*takes no simulated time" "$dir/said")" -ge 1 ] || { echo "$what: not said"; wrong=1; }
done

# Host code in simulated time; and mpirun behind ehp run.
# shellcheck disable=SC2086
{
    timeout 120 $mpirun -np 2 "$ehp" run --mode timing --node mi300a-x4 "$dir/clocks" 2>"$dir/said" |
        sort >"$dir/clocks1"
    timeout 120 "$ehp" run --mode timing --node mi300a-x4 $mpirun -np 2 "$dir/clocks" 2>>"$dir/said" |
        sort >"$dir/clocks2"
}
# What Open MPI has of the heap is the host's: addresses of the program's own, and so its page faults, may differ.
paste -d ' ' "$dir/clocks1" "$dir/clocks2" | awk '
{ for (i = 3; i < 8; i++) if ($i - $(i + 8) > 5 || $(i + 8) - $i > 5) wrong++ }
END { exit wrong || NR != 2 }' || { echo "clocks differ between runs"; cat "$dir/clocks1" "$dir/clocks2"; wrong=1; }
awk '
{ for (i = 3; i < 7; i += 2) if ($i - $(i + 1) > 0.1 || $(i + 1) - $i > 0.1) wrong++ }
{ computes[$2] = $3; waits[$2] = $5; end[$2] = $7; sum[$2] = $8 }
END { # twice the work, for which the other waits
    exit wrong || NR != 2 || computes[1] < 1.8 * computes[0] || waits[0] < computes[1] - computes[0] || waits[1] > 4 ||
        sum[0] != 360000 || sum[1] != 360000 || end[0] - end[1] > 2 || end[1] - end[0] > 2
}' "$dir/clocks1" || { echo "clocks differ"; cat "$dir/clocks1" "$dir/said"; wrong=1; }

[ $wrong = 0 ] && echo "three runs of four ranks each, two of two: the same times, and the node file's"
exit $wrong
