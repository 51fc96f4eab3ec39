#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh BUILD_ROOT SOURCE_ROOT: the shipped designs run a program in both modes; `ehp compare` tells from what it
# measures which link, memory or unit binds; what it cannot do is one line.
. "$(dirname "$0")/../timing/common.sh"
limit=240 failed=0
expect() { # WHAT COMMAND...
    what=$1
    shift
    "$@" || {
        echo "failed: $what"
        failed=1
    }
}
says() { # TEXT ARGUMENTS...: a failure of `ehp compare` that says it in one line
    text=$1
    shift
    if timeout "$limit" "$ehp" compare "$@" >"$dir/out" 2>"$dir/said"; then
        echo "passed: compare $*"
        return 1
    fi
    grep -qe "$text" "$dir/said" || {
        cat "$dir/said"
        return 1
    }
}
for example in reduction matmul_mfma; do
    "$ehp" cc -O2 -std=c++17 "$source/examples/$example.hip" -o "$dir/$example" || exit 1
done
for chip in ehpv3 ehpv4 mi300-4-2 mi300-4-6; do
    expect "draw $chip" "$ehp" chips show "$chip" >"$dir/drawn"
    for mode in functional timing; do
        expect "reduction on $chip, $mode" simulate --chip $chip --mode $mode --no-progress "$dir/reduction" >"$dir/out"
    done
done
expect "matrices on ehpv4" simulate --chip ehpv4 --mode timing --no-progress "$dir/matmul_mfma" >"$dir/out"

# III.B and VI.A: the way to the HBM on the other side is what a kernel on both GPUs meets; the package does not slow
# matrices in registers.
for threads in 1 2; do
    expect "compare with $threads threads" timeout "$limit" "$ehp" compare --threads $threads --only far --only matrix \
        --only messages --only cpu-latency --json "$dir/$threads.json" ehpv4 mi300-4-2 >"$dir/table.$threads" 2>"$dir/said"
done
expect "nothing on stderr" test ! -s "$dir/said"
expect "the same with any number of threads" cmp "$dir/table.1" "$dir/table.2"
expect "the same in the file" cmp "$dir/1.json" "$dir/2.json"
python3 - "$dir" <<'END' || failed=1
import json, sys
rows = {r["program"]: {d["chip"]: d for d in r["designs"]} for r in json.load(open(sys.argv[1] + "/1.json"))}
assert list(rows) == ["far", "matrix", "messages", "cpu-latency"], list(rows)
table = open(sys.argv[1] + "/table.1").read()
assert max(map(len, table.splitlines())) <= 100, table
far, matrix, ways, loads = rows.values()
concept, other = far["ehpv4"], far["mi300-4-2"]
def busiest(design, kind):
    return max((p for p in design["parts"] if p["kind"] == kind), key=lambda p: p["busy"])
link = busiest(concept, "link")
assert (link["iod"], link["to"]) == (0, 2) and link["busy"] > 85, link
assert concept["value"] < 200 and busiest(concept, "hbm")["busy"] < 20, concept["value"]
assert "the link from A to C is full" in concept["why"], concept["why"]
assert other["as_fast"] > 4 and busiest(other, "link")["busy"] < 60 and "link from" not in other["why"], other["why"]
for d in matrix.values():
    assert "matrix cores are full" in d["why"] and busiest(d, "link")["busy"] < 2, d["why"]
assert 0.9 < matrix["mi300-4-2"]["as_fast"] < 1.15
assert ways["mi300-4-2"]["as_fast"] > 1.3
# Two hops from a CPU to HBM, of which one is a link between IODs: 30 ns each way.
reads = [p for p in loads["ehpv4"]["parts"] if p["kind"] == "ccd_in" and p["lines"] > 500]
assert len(reads) == 1 and abs(reads[0]["links_ns"] / reads[0]["lines"] - 60) < 0.1, reads
assert "60 over links" in loads["ehpv4"]["why"] and loads["mi300-4-2"]["as_fast"] > 1.5
END

# How busy the parts of one package are: in three forms, of the stretches that a program marks or of all of it.
cat >"$dir/marks.hip" <<'END'
#include <hip/hip_runtime.h>
#include <stdlib.h>
__global__ void set(float4 *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = float4{1, 2, 3, 4}; }
int main(int argc, char **argv)
{
    const size_t bytes = 4 << 20, rounds = 6;
    float4 *p;
    if (hipMalloc(&p, rounds * bytes))
        return 1;
    for (size_t i = 0; i < rounds; i++) {
        const bool marked = argc > 1 && argv[1][i] == 'x';
        if (marked && hipProfilerStart() != hipErrorNotSupported)
            return 2;
        set<<<bytes / 16 / 256, 256>>>(p + i * bytes / 16);
        if (hipDeviceSynchronize() || (marked && hipProfilerStop() != hipErrorNotSupported))
            return 3;
    }
    return 0;
}
END
"$ehp" cc -O2 "$dir/marks.hip" -o "$dir/marks" || exit 1
for marks in '' ...... x..... .xx.x.; do
    expect "fabric of $marks" simulate --chip ehpv4 --mode timing --no-progress --fabric="$dir/f$marks.json" "$dir/marks" $marks
done
expect "fabric as CSV" simulate --chip ehpv4 --mode timing --fabric="$dir/f.csv" "$dir/marks"
expect "fabric as a table" simulate --chip ehpv4 --mode timing --no-progress --fabric "$dir/marks" 2>"$dir/table"
python3 - "$dir" <<'END' || failed=1
import csv, json, sys
d, ROUND = sys.argv[1], 4 << 20
def parts(name, kind):
    return [p for p in json.load(open(f"{d}/f{name}.json"))["parts"] if p["kind"] == kind]
def written(name):
    return sum(p["bytes"] for p in parts(name, "hbm") + parts(name, "cache"))
whole = written("")
assert written("......") == whole and whole > 6 * ROUND, whole
for name, rounds in (("x.....", 1), (".xx.x.", 3)):
    assert rounds * ROUND <= written(name) < (rounds + 0.6) * ROUND * whole / (6 * ROUND), (name, written(name), whole)
times = {name: json.load(open(f"{d}/f{name}.json"))["ns"] for name in ("", "x.....", ".xx.x.")}
assert 0 < times["x....."] < times[".xx.x."] < times[""], times
# Half of the lines are on the other side; a half of each that goes there is a packet of 80 bytes.
link, back = ([p for p in parts("", "link") if (p["iod"], p["to"]) == ends][0] for ends in ((0, 2), (2, 0)))
assert 0.9 < link["bytes"] / back["bytes"] < 1.1
assert 0.95 < link["bytes"] / (6 * ROUND / 4 / 64 * 80 * 1.2) < 1.1, link # and an acknowledgement of 16 each the other way
assert not any(p["busy_ns"] for p in parts("", "link") if 1 in (p["iod"], p["to"]) and p["bytes"] > 1e5)
rows = list(csv.DictReader(open(d + "/f.csv")))
assert rows[0]["kind"] == "time" and [r["kind"] for r in rows[1:]] == [p["kind"] for p in json.load(open(d + "/f.json"))["parts"]]
table = open(d + "/table").read()
assert max(map(len, table.splitlines())) <= 100 and "link A to C" in table and "HBM stack 7, IOD C" in table, table
END
if simulate --fabric "$dir/marks" 2>"$dir/said"; then
    echo "failed: --fabric in functional mode passed"
    failed=1
fi
expect "no fabric in functional mode" grep -q 'fabric: only timing mode' "$dir/said"

# What a package has not, it does not run.
expect "packages of one kind" timeout "$limit" "$ehp" compare -o cpu-latency -o matrix mi300c mi300x >"$dir/out"
expect "no CPU" grep -q '^  mi300x .*has no CPU cores' "$dir/out"
expect "no GPU" grep -q '^  mi300c .*has no XCDs' "$dir/out"

# One's own program, with its arguments; its failure is told.
cat >"$dir/own.hip" <<'END'
#include <hip/hip_runtime.h>
#include <string.h>
__global__ void add(int *p) { atomicAdd(p, 1); }
int main(int argc, char **argv)
{
    int *p, n = 0;
    if (argc != 3 || strcmp(argv[1], "--only"))
        return puts("these are not its arguments"), 3;
    if (hipMalloc(&p, sizeof *p) || hipMemset(p, 0, sizeof *p))
        return 1;
    add<<<64, 64>>>(p);
    return hipMemcpy(&n, p, sizeof n, hipMemcpyDeviceToHost) || n != 64 * 64;
}
END
"$ehp" cc -O2 "$dir/own.hip" -o "$dir/own" || exit 1
expect "own program" timeout "$limit" "$ehp" compare ehpv4 mi300a -- "$dir/own" --only x >"$dir/out"
expect "its time" grep -qE '^  mi300a +[0-9.]+ ms +x[0-9.]+ +kernels run for' "$dir/out"
expect "what it says when it fails" says 'these are not its arguments' ehpv4 mi300a -- "$dir/own"
expect "one that is not there" says 'none on ehpv4 failed' ehpv4 mi300a -- "$dir/none"
expect "one that is no HIP program" says 'made no HIP call' ehpv4 mi300a -- true
expect "one design" says 'which designs?' ehpv4
expect "unknown design" says 'no chip "ehpv5"; there are: ehpv3, ehpv4' ehpv4 ehpv5
expect "unknown program" says 'there is no program "fast"' --only fast ehpv4 mi300a
expect "programs of both" says 'with a program of one' --all ehpv4 mi300a -- "$dir/own"
expect "file" says 'json' --json "$dir/none/x" ehpv4 mi300a
printf 'base = "ehpv4";\nlinks = ( { iods = (0, 1); rate = (200, "guess"); latency = "usr.latency"; } );\n' >"$dir/cut.cfg"
expect "a design that is cut" says 'cut.cfg:2: links has no way from IOD 0 to IOD 2' ehpv4 "$dir/cut.cfg"
exit $failed
