#!/bin/sh
# SPDX-License-Identifier: MIT
# full.sh EHP PROGRAM HSACO: output that does not arrive is said in a line, and is not success.
ehp=$1 program=$2 hsaco=$3 failed=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
[ -w /dev/full ] || exit 77
unset PYTHONUNBUFFERED EHP_CHIP

# lost COMMAND...: prints into a full disk.
lost() {
    "$ehp" "$@" >/dev/full 2>"$dir/err"
    status=$?
    [ $status -ne 0 ] && [ "$(grep -c . "$dir/err")" -eq 1 ] && grep -q 'No space left on device' "$dir/err" && return
    echo "ehp $* into a full disk: status $status, and:"
    cat "$dir/err"
    failed=1
}
lost --help
lost --version
lost run --help
lost info
lost chips
lost chips show mi300a
lost chips keys
lost isa
lost isa --coverage
lost counters
lost counters --markdown
lost disasm "$hsaco"
lost config --version
lost validate --help

# What a program's run writes, and a program that fails by itself keeps its status.
run_lost() { # STATUS TEXT COMMAND...
    want=$1 text=$2
    shift 2
    "$@" >"$dir/out" 2>"$dir/err"
    status=$?
    [ $status -eq "$want" ] && grep -q -- "$text" "$dir/err" && return
    echo "$*: status $status, not $want, and no: $text"
    tail -n 5 "$dir/err"
    failed=1
}
run_lost 1 'EHP_STATS=/dev/full: cannot write there: No space' "$ehp" run --stats=/dev/full "$program" "$hsaco"
run_lost 1 'EHP_MEMORY=/dev/full: cannot write there: No space' "$ehp" run --memory=/dev/full "$program" "$hsaco"
run_lost 1 'EHP_ADVISE=/dev/full: cannot write there: No space' "$ehp" advise --json=/dev/full "$program" "$hsaco"
run_lost 1 'EHP_COUNTERS_FILE=/dev/full: cannot write there' "$ehp" run --mode timing --counters SQ_WAVES \
    --counters-file /dev/full "$program" "$hsaco"
run_lost 1 'cannot write there: No such file' env EHP_STATS="$dir/none/x" "$program" "$hsaco"
"$ehp" run --stats "$program" "$hsaco" >"$dir/out" 2>/dev/full && { echo "a lost table is success"; failed=1; }
run_lost 0 '' "$ehp" run --stats="$dir/stats" "$program" "$hsaco"
for setting in EHP_THREADS=0.5 EHP_NPS=1.5 EHP_XCC_CHUNK=2.5 EHP_SAMPLE=0.5 HSA_XNACK=0.1 EHP_THREADS=two; do
    env "$setting" "$program" "$hsaco" >"$dir/out" 2>"$dir/err"
    grep -q "^ehp: $setting: expected a .*number from" "$dir/err" ||
        { echo "$setting is accepted"; failed=1; }
done

# Whoever does not want the output closes it, or reads only the beginning.
"$ehp" chips >&- 2>"$dir/err" && { echo "closed output is success"; failed=1; }
"$ehp" isa 2>"$dir/err" | head -n 1 >/dev/null
[ -s "$dir/err" ] && { echo "a reader that has enough:"; cat "$dir/err"; failed=1; }
for option in --json --html --markdown; do
    "$ehp" validate $option "$dir/none/x" >/dev/null 2>"$dir/err" && failed=1
    grep -q '^ehp validate: .*: cannot write there$' "$dir/err" || { cat "$dir/err"; failed=1; }
done

# Whatever a terminal would obey in a name is shown, not sent.
esc=$(printf 'x\033[31m')
shown() { # TEXT COMMAND...
    text=$1
    shift
    "$@" >"$dir/out" 2>"$dir/err"
    if grep -q "$(printf '\033')" "$dir/err" || ! grep -qF -- "$text" "$dir/err"; then
        echo "$* sends what a terminal obeys, or does not say: $text"
        cat -v "$dir/err"
        failed=1
    fi
}
shown 'no command "x\x1b[31m"' "$ehp" "$esc"
shown 'ehp run: x\x1b[31m: No such file' "$ehp" run "$esc"
shown '--stats=x\x1b[31m/x: cannot write there' "$ehp" run "--stats=$esc/x" "$program"
shown 'no mode "x\x1b[31m"' "$ehp" run --mode "$esc" "$program"
shown 'no counter "x\x1b[31m"' "$ehp" run --mode timing --counters "$esc" "$program"
shown 'not "x\x1b[31m"' "$ehp" run --threads "$esc" "$program"
shown 'ehp advise: x\x1b[31m: No such file' "$ehp" advise "$esc"
shown 'x\x1b[31m' "$ehp" info --chip "$esc"
shown 'x\x1b[31m' "$ehp" chips show "$esc"
shown 'no counter "x\x1b[31m"' "$ehp" counters "$esc"
shown 'no option "-x\x1b[31m"' "$ehp" isa "-$esc"
for command in run advise info cache chips counters; do
    shown "ehp $command: there is no option \"--x\\x1b[31m\"" "$ehp" "$command" "--$esc"
done
shown 'there is no option "-x\x1b[31m=3"' "$ehp" run -t 1 "-$esc=3" "$program"
shown 'not "-x\x1b[31m"' "$ehp" run -t "-$esc" "$program" # a value
shown 'not "-x\x1b[31m"' "$ehp" run --threads "-$esc" "$program"
shown 'ehp disasm: x\x1b[31m: No such file' "$ehp" disasm "$esc"
shown 'no kernel or function x\x1b[31m' "$ehp" disasm "$hsaco" --kernel "$esc"
shown 'unknown option -x\x1b[31m' "$ehp" config "-$esc"
shown '--rocm-path=x\x1b[31m is not a directory' "$ehp" cc "--rocm-path=$esc" x.hip
shown 'EHP_CLANG=x\x1b[31m is not a program' env EHP_CLANG="$esc" "$ehp" cc x.hip
shown 'hipcc-cmd: ' env HIPCC_VERBOSE=1 "$ehp" cc "$esc.hip"
shown 'validate: x\x1b[31m/x: cannot write there' "$ehp" validate --json "$esc/x"
shown 'EHP_THREADS=x\x1b[31m: expected' env EHP_THREADS="$esc" "$program" "$hsaco"
shown 'EHP_MODE=x\x1b[31m: the modes' env EHP_MODE="$esc" "$program" "$hsaco"
shown 'EHP_STATS=x\x1b[31m/x: cannot write there' env EHP_STATS="$esc/x" "$program" "$hsaco"
exit $failed
