#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh EHP PROGRAM ARGUMENT...: what ehp run --stats and --counters print and write for a program with kernels.
ehp=$1
shift
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0
check() { # NAME COMMAND...
    name=$1
    shift
    "$@" >"$dir/said" 2>&1 || { echo "failed: $name"; head -n 5 "$dir/said"; failed=1; }
}
fails_with() { # TEXT COMMAND...
    text=$1
    shift
    "$@" >"$dir/error" 2>&1 && return 1
    grep -q -- "$text" "$dir/error"
}
timing="$ehp run --mode timing"
check 'CSV' $timing --counters SQ_WAVES,VALUBusy --counters-file "$dir/c.csv" --stats="$dir/s.csv" "$@"
check 'JSON' $timing --counters all --counters-file "$dir/c.json" --stats="$dir/s.json" "$@"
check 'table' sh -c '"$@" 2>"$0/table"' "$dir" $timing --counters TCC_HIT_sum --stats "$@"
check 'files' python3 - "$dir" <<'P'
import csv, json, sys
d = sys.argv[1]
rows = list(csv.DictReader(open(d + "/c.csv")))
assert list(rows[0]) == ["Dispatch_Id", "Agent_Id", "Kernel_Name", "Grid_Size", "Workgroup_Size", "Counter_Name", "Counter_Value",
                         "Start_Timestamp", "End_Timestamp"], rows[0]
assert [r["Counter_Name"] for r in rows[:2]] == ["SQ_WAVES", "VALUBusy"]
for r in rows:
    assert int(r["End_Timestamp"]) > int(r["Start_Timestamp"]), r
    if r["Counter_Name"] == "SQ_WAVES":
        groups = -(-int(r["Grid_Size"]) // int(r["Workgroup_Size"]))
        assert int(r["Counter_Value"]) >= groups, r
all_of = json.load(open(d + "/c.json"))
assert len(all_of) == len(rows) // 2, (len(all_of), len(rows))
kernels = json.load(open(d + "/s.json"))
assert sum(k["dispatches"] for k in kernels) == len(all_of)
for k in kernels:
    mine = [o["counters"] for o in all_of if o["kernel"] == k["kernel"]]
    assert sum(c["SQ_INSTS"] for c in mine) == k["instructions"] == k["counters"]["SQ_INSTS"], k["kernel"]
    assert k["seconds"] > 0 and k["waves"] == k["counters"]["SQ_WAVES"]
lines = list(csv.DictReader(open(d + "/s.csv")))
assert [(r["kernel"], int(r["instructions"]), int(r["SQ_INSTS"])) for r in lines] == \
       [(k["kernel"], k["instructions"], k["instructions"]) for k in kernels]
table = open(d + "/table").read().splitlines()
assert max(map(len, table)) <= 100, max(table, key=len)
assert any(l.startswith("  waves:") for l in table) and any("TCC_HIT_sum" in l for l in table)
P
check 'wrong name' fails_with 'near it: SQ_WAVES' $timing --counters SQ_WAVE "$@"
check 'functional mode' fails_with 'timing' "$ehp" run --counters SQ_WAVES "$@"
check 'no such directory' fails_with 'cannot write there' $timing --stats="$dir/none/x" false
printf 'base = "mi300a";\nl2: { ways = (7, "guess: test"); };\n' >"$dir/odd.cfg"
check 'a chip that cannot be' fails_with 'ehp run: .*odd.cfg:2: l2.ways = 7' $timing --chip "$dir/odd.cfg" true
# Packages of other shapes: one IOD and one XCD; four rows of two IODs; two rows of four, an XCD on most.
one='{ xcds = 1; hbm = 1; }'
shape() { # FILE COLUMNS IODS XCDS MODES LIST
    printf 'base = "mi300a";\niod: { columns = (%d, "guess"); count = (%d, "guess"); };\nxcd: { count = (%d, "guess"); };\nccd: { count = (0, "guess"); };\npartitions = ( %s );\niods = ( %s );\n' \
        "$2" "$3" "$4" "$5" "$6" >"$dir/$1.cfg"
    # Neighbours, those along rows first; every other row is listed from its right end.
    awk -v columns="$2" -v iods="$3" 'BEGIN {
        printf "links = ("
        for (along = 0; along < 2; along++)
            for (a = 0; a < iods; a++) {
                row = int(a / columns)
                b = along ? (row + 1) * columns + columns - 1 - a % columns : a + 1
                if (b >= iods || (!along && b % columns == 0)) continue
                printf "%s { iods = (%d, %d); rate = \"usr.%s\"; latency = \"usr.latency\"; }", any++ ? "," : "",
                    a, b, along ? "vertical" : "horizontal"
            }
        print " );"
    }' >>"$dir/$1.cfg"
}
shape one 1 1 1 '("spx", 1)' '{ xcds = 1; hbm = 8; }'
shape tall 2 8 8 '("spx", 1), ("cpx", 8)' "$one, $one, $one, $one, $one, $one, $one, $one"
shape wide 4 8 7 '("spx", 1)' "$one, $one, $one, $one, $one, $one, $one, { hbm = 1; }"
for shape in one:1 tall:8 wide:8; do
    chip=$dir/${shape%:*}.cfg
    check "shape $shape" "$ehp" run --chip "$chip" "$@"
    check "shape $shape in simulated time" $timing --chip "$chip" --nps "${shape#*:}" "$@"
    check "shape $shape is drawn" "$ehp" chips show "$chip"
done
check 'as many devices as XCDs' "$ehp" run --chip "$dir/tall.cfg" --partition cpx "$@"
check 'memory domains' fails_with 'one for each IOD with memory (nps 8), not 4' "$ehp" run --chip "$dir/tall.cfg" --nps 4 true
check 'no names' fails_with 'counters-file' $timing --counters-file "$dir/x" "$@"
# An empty value is a shell variable that is not set, not the default.
check 'no counters' fails_with '--counters=: which? NAME' $timing --counters= true
check 'no counters in a file' fails_with '--counters=: which? NAME' $timing --counters= --counters-file "$dir/x" true
check 'no file of counters' fails_with '--counters-file=: which file' $timing --counters all --counters-file= true
for option in stats memory; do
    check "no file of $option" fails_with "^ehp run: --$option=: which file" "$ehp" run --$option= true
done
check 'no file of advice' fails_with '^ehp advise: --json=: which file' "$ehp" advise --json= true
check 'no directory of advice' fails_with 'json=.*cannot write there' "$ehp" advise --json="$dir/none/x" true
for option in chip partition nps xcc-chunk threads timeout; do
    check "no $option" fails_with "^ehp: --$option takes .*, not \"\"\$" "$ehp" run --$option= true
done
check 'no chip to read for' fails_with '--chip takes a name' "$ehp" disasm --chip= "$ehp"
check 'no mode' fails_with 'no mode ""; there are' "$ehp" run --mode= true
exit $failed
