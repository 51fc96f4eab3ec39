# SPDX-License-Identifier: MIT
# For the scripts here: a scratch directory, and checks that say what was expected.
set -uo pipefail
build=$1 source=$2
ehp=$build/tools/ehp
here=$source/tests/cc
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0 checks=0
unset ROCM_PATH HIP_PATH HIP_PLATFORM HIPCC_COMPILE_FLAGS_APPEND HIPCC_LINK_FLAGS_APPEND HIP_CLANG_PATH \
    HCC_AMDGPU_TARGET HIP_COMPILE_CXX_AS_HIP EHP_CLANG EHP_DEVICE_LIBS HIPCC HIPCXX CXX CC CMAKE_PREFIX_PATH
cd "$scratch" || exit 1

"$ehp" config --check >/dev/null 2>&1 || {
    "$ehp" config --check
    echo "no compiler for gfx942 here"
    exit 77
}

fail() {
    failures=$((failures + 1))
    echo "FAILED: $*"
}
# check WHAT COMMAND...: the command succeeds; its output is in $scratch/out.
check() {
    local what=$1
    shift
    checks=$((checks + 1))
    if ! "$@" >"$scratch/out" 2>&1; then
        fail "$what: $*"
        tail -n 15 "$scratch/out" | sed 's/^/    /'
        return 1
    fi
}
# refuse WHAT PATTERN COMMAND...: the command fails and its output matches the pattern.
refuse() {
    local what=$1 pattern=$2
    shift 2
    checks=$((checks + 1))
    if "$@" >"$scratch/out" 2>&1; then
        fail "$what: should have failed: $*"
    elif ! grep -q -- "$pattern" "$scratch/out"; then
        fail "$what: no \"$pattern\" in:"
        tail -n 15 "$scratch/out" | sed 's/^/    /'
    fi
}
# says WHAT PATTERN: the last command's output matches.
says() {
    checks=$((checks + 1))
    grep -q -- "$2" "$scratch/out" || {
        fail "$1: no \"$2\" in:"
        tail -n 15 "$scratch/out" | sed 's/^/    /'
    }
}
finish() {
    echo "$checks checks, $failures failed"
    [ "$failures" = 0 ]
    exit
}
