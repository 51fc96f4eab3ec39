#!/bin/sh
# SPDX-License-Identifier: MIT
# forms.sh BUILD_ROOT SOURCE_ROOT: rare forms of memory instructions leave the same in functional mode and in simulated
# time.
build=$1 source=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
ehp=$build/tools/ehp
echo 'int main() { return 0; }' >"$dir/empty.hip"
"$ehp" cc -c "$dir/empty.hip" -o "$dir/empty.o" >/dev/null 2>&1 ||
    { echo "skipped: no compiler for gfx942"; exit 77; }
"$ehp" cc -O1 -Wall -Werror "$source/tests/timing/forms.hip" -o "$dir/forms" || exit 1
preload= # see determinism.sh
if nm -D "$build/libehp.so" 2>/dev/null | grep -q __asan_init; then
    preload="$(cc -print-file-name=libasan.so) $(cc -print-file-name=libubsan.so)"
fi
for mode in functional timing; do
    LD_PRELOAD="$preload" ASAN_OPTIONS="detect_leaks=0:alloc_dealloc_mismatch=0:${ASAN_OPTIONS-}" "$ehp" run --mode $mode "$dir/forms" \
        >"$dir/$mode" || { echo "failed in $mode mode"; tail -n 3 "$dir/$mode"; exit 1; }
done
diff "$dir/functional" "$dir/timing" | head -n 10
[ "$(sort -u -k5 "$dir/timing" | wc -l)" -gt 200 ] && cmp -s "$dir/functional" "$dir/timing"
