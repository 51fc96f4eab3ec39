#!/bin/bash
# SPDX-License-Identifier: MIT
# Compiles one application and runs both variants: each checks its own result and prints its times.  Its host code takes
# simulated time where the chip has cores; what makes the input and checks the result does not.
set -uo pipefail
build=$1 source=$2 name=$3
ehp=$build/tools/ehp
"$ehp" config --check >/dev/null 2>&1 || exit 77
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$ehp" cc --time-host -O2 -std=c++17 -Wall -Wextra -Werror "$source/apps/$name.hip" -o "$scratch/app" || exit 1

case $name in
backprop) small=(--size 1000) ;;
nn) small=(--size 3000) ;;
heartwall*) small=(--size 80 --steps 3) ;;
dwt2d) small=(--size 101) ;; # odd in each level
*) small=(--size 50 --steps 3) ;;
esac
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
run() { # run CHIP MODE VARIANT: times are in the output, and the verdict
    local xnack=0 text
    case $name-$3 in nn-unified | srad_v1-unified) xnack=1 ;; esac
    text=$(HSA_XNACK=$xnack timeout 300 "$ehp" run --chip "$1" --mode "$2" --threads 1 "$scratch/app" "--$3" "${small[@]}" 2>&1) ||
        fail "$1 $2 $3: $text"
    grep -Eq "^$name $3 total [0-9.e+-]+ ms compute [0-9.e+-]+ ms memory [0-9]+ bytes\$" <<<"$text" || fail "$1 $2 $3: no times in: $text"
    grep -q '^PASSED  ' <<<"$text" || fail "$1 $2 $3: no verdict in: $text"
}
for variant in explicit unified; do
    run mi300a functional $variant
    run mi300a timing $variant
done
run mi300x functional explicit
run mi300x timing unified

# Simulated time does not depend on how long the host took.
if [ "$name" = hotspot ]; then
    for i in 1 2; do
        timeout 300 "$ehp" run --mode timing --threads 1 "$scratch/app" --unified --size 160 | head -n 1 >"$scratch/times.$i"
    done
    cmp "$scratch/times.1" "$scratch/times.2" || fail "two runs differ: $(cat "$scratch/times.1" "$scratch/times.2")"
fi

"$ehp" run "$scratch/app" --size none >"$scratch/out" 2>&1
[ $? = 2 ] && grep -q '^usage: ' "$scratch/out" || fail "a size that is none"
exit $((failures != 0))
