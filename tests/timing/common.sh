# SPDX-License-Identifier: MIT
# For the scripts here, called with BUILD_ROOT SOURCE_ROOT ...: a scratch directory, and skipped without a compiler.
# shellcheck disable=SC2034
build=$1 source=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
ehp=$build/tools/ehp limit=0
echo 'int main() { return 0; }' >"$dir/empty.hip"
"$ehp" cc -c "$dir/empty.hip" -o "$dir/empty.o" >/dev/null 2>&1 ||
    { echo "skipped: no compiler for gfx942"; exit 77; }
# A program of another compiler does not begin with the sanitizers' libraries that a sanitized build needs.
preload=
if nm -D "$build/libehp.so" 2>/dev/null | grep -q __asan_init; then
    preload="$(cc -print-file-name=libasan.so) $(cc -print-file-name=libubsan.so)"
fi
simulate() { # OPTIONS PROGRAM [ARGUMENT...]: ehp run, for $limit seconds at most
    LD_PRELOAD="$preload" ASAN_OPTIONS="detect_leaks=0:alloc_dealloc_mismatch=0:${ASAN_OPTIONS-}" timeout "$limit" \
        "$ehp" run "$@"
    set -- $? "$*"
    [ "$1" != 124 ] || echo "longer than $limit s: $2" >&2
    return "$1"
}
