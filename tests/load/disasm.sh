#!/bin/sh
# SPDX-License-Identifier: MIT
# What `ehp disasm` says about code objects, bundles and host programs.
#   disasm.sh EHP DATA_DIRECTORY
set -u
ehp=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") data=$2 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset EHP_CHIP

# check WHAT PATTERN: the last output has a line that matches.
check() {
    grep -Eq -- "$2" "$work/out" || {
        echo "$1: no line matches: $2"
        failed=1
    }
}
run() { # STATUS arguments...
    want=$1
    shift
    "$ehp" disasm "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ $got -eq "$want" ] || {
        echo "ehp disasm $*: exit status $got, not $want"
        cat "$work/err"
        failed=1
    }
}
lines() { # WHAT COUNT PATTERN
    n=$(grep -Ec -- "$3" "$work/out")
    [ "$n" -eq "$2" ] || {
        echo "$1: $n lines match $3, not $2"
        failed=1
    }
}

run 0 "$data/v5.hsaco"
check "a code object" '^; kernel args$'
check "a code object" '^;   memory +384 bytes of LDS a workgroup, 0 of scratch a lane$'
check "a code object" '^ +24 +12  value|^; +24 +12  value'
check "a code object" '^<thrice>:$'
check "instructions" '^  00000  s_waitcnt .*// BF8C0000'
check "instructions" 'v_lshl_add_u32 v0, v0, 1, v0 +// D1FD0000 04010300'
check "instructions" 's_endpgm +// BF810000'
lines "a code object without debug information" 0 '^; .*kernels.hip:'
# An instruction that we cannot name would be data.
lines "code" 0 '\.long'

run 0 --kernel thrice "$data/v5.hsaco"
lines "one function" 1 '^<'
run 1 --kernel nothing "$data/v5.hsaco"
run 0 --list "$data/plain.hipfb"
lines "a list of a bundle" 3 '^; kernel '
lines "a list of a bundle" 0 '^<'
run 0 --list "$data/ccob2.hipfb"
lines "a list of a compressed bundle" 3 '^; kernel '
run 0 "$data/preload.hsaco" --list
check "preloaded arguments" 'kernarg bytes 0\.\.'
run 1 "$data/gfx90a.hsaco"
grep -q 'is for gfx90a; this machine is gfx942' "$work/err" || {
    echo "a foreign code object: $(cat "$work/err")"
    failed=1
}

# A host program with two bundles, one of them compressed, as a linker joins them.
{
    cat "$data/plain.hipfb"
    head -c $((4096 - $(wc -c <"$data/plain.hipfb") % 4096)) /dev/zero
    cat "$data/ccob3.hipfb"
} >"$work/fatbin"
if objcopy --add-section .hip_fatbin="$work/fatbin" "$(command -v true)" "$work/program" 2>/dev/null; then
    run 0 --list "$work/program"
    lines "a program with two bundles" 6 '^; kernel '
fi
# Names that would steer a terminal: in code objects, and of files.
escape=$(printf '\033')
LC_ALL=C sed "s/indirect/ind$escape[2Jt/g" "$data/v5.hsaco" >"$work/steering.hsaco"
run 0 "$work/steering.hsaco"
check "an escaped kernel name" '^; kernel ind\\x1b\[2Jt$'
check "an escaped function name" '^<ind\\x1b\[2Jt>:'
run 1 "$work/$escape[2Jabsent"
LC_ALL=C grep "$escape" "$work/out" "$work/err" && failed=1
head -c 5000 "$data/v5.hsaco" >"$work/cut.hsaco"
run 1 "$work/cut.hsaco"
: >"$work/empty"
run 1 "$work/empty"
run 1 "$work/absent"
run 1 "$data/kernels.hip"
run 2
run 2 --what "$data/v5.hsaco"

# With debug information, where the build has libdw.
if [ "${3:-}" = lines ]; then
    (cd "$data" && "$ehp" disasm --source --kernel thrice debug.hsaco) >"$work/out"
    check "lines" '^; .*kernels.hip:31$'
    check "source" '^;     return x \* 3;$'
fi
exit $failed
