#!/bin/sh
# SPDX-License-Identifier: MIT
# full.sh EHP HSACO: output that does not arrive is said in a line, and is not success.
ehp=$1 hsaco=$2 failed=0
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

# Whoever does not want the output closes it, or reads only the beginning.
"$ehp" chips >&- 2>"$dir/err" && { echo "closed output is success"; failed=1; }
"$ehp" isa 2>"$dir/err" | head -n 1 >/dev/null
[ -s "$dir/err" ] && { echo "a reader that has enough:"; cat "$dir/err"; failed=1; }
for option in --json --html --markdown; do
    "$ehp" validate $option "$dir/none/x" >/dev/null 2>"$dir/err" && failed=1
    grep -q '^ehp validate: .*: cannot write there$' "$dir/err" || { cat "$dir/err"; failed=1; }
done
exit $failed
