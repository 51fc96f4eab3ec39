#!/bin/sh
# SPDX-License-Identifier: MIT
# A compiler's waits are enough and none is superfluous: as compiled there is no hazard, and with every s_nop one
# state shorter there is one for each.
#   hazards.sh EHP CLANG SOURCE.hip
set -eu
ehp=$1 clang=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
assemble() {
    "$clang" -target amdgcn-amd-amdhsa -mcpu=gfx942 -o "$work/$1.hsaco" "$work/$1.s"
}
"$clang" -x hip --offload-arch=gfx942 --cuda-device-only -nogpulib -nogpuinc -O3 -S "$source" -o "$work/whole.s"
assemble whole
if ! "$ehp" disasm --hazards "$work/whole.hsaco" >"$work/out"; then
    echo "hazards in compiled code:"
    cat "$work/out"
    exit 1
fi
awk '/^[ \t]*s_nop/ { if ($2 > 0) print "\ts_nop", $2 - 1; next } { print }' "$work/whole.s" >"$work/short.s"
assemble short
if "$ehp" disasm --hazards "$work/short.hsaco" >"$work/out"; then
    echo "no hazards without the compiler's waits"
    exit 1
fi
waits=$(grep -c '^[[:space:]]*s_nop' "$work/whole.s")
found=$(grep -c 'wait states, ' "$work/out")
echo "$waits waits, $found hazards without them"
[ "$waits" -gt 20 ] && [ "$found" -ge "$waits" ]
