#!/bin/bash
# SPDX-License-Identifier: MIT
# The code object that is kept in the repository comes from the source beside it: the command that the source names
# makes the same instructions again.
. "$(dirname "$0")/common.sh"
"$ehp" cc --version | grep -q 'clang version 22\.' || exit 77
disassembler=$(command -v llvm-objdump-22) || exit 77

cp "$source/examples/prebuilt/mandelbrot.hip" "$source/examples/prebuilt/mandelbrot.hsaco" .
command=$(sed -n 's|^// *\(ehp cc .*\)|\1|p' mandelbrot.hip)
mkdir new
cp mandelbrot.hip new
check "the source names its command" test -n "$command"
PATH=$build/tools:$PATH check "compile again" sh -c "cd new && $command"
disassemble() { "$disassembler" -d --no-addresses "$1/mandelbrot.hsaco" | tail -n +3; }
check "the same instructions" diff <(disassemble .) <(disassemble new)
finish
