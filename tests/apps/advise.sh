#!/bin/bash
# SPDX-License-Identifier: MIT
# `ehp advise` on applications whose unified variant is known: it finds what that variant leaves out, and nothing in it.
set -uo pipefail
build=$1 source=$2
ehp=$build/tools/ehp
"$ehp" config --check >/dev/null 2>&1 || exit 77
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for name in backprop heartwall_v1 nn srad_v1; do
    "$ehp" cc -O2 -g -std=c++17 "$source/apps/$name.hip" -o "$scratch/$name" || exit 1
done
cat >"$scratch/mixed.hip" <<'EOF'
#include <hip/hip_runtime.h>
__global__ void add(int *a, int *b) { a[threadIdx.x] += b[threadIdx.x]; }
int main()
{
    int *managed, *device;
    (void)hipMallocManaged((void **)&managed, 256);
    for (int i = 0; i < 5; i++) {
        (void)hipMalloc((void **)&device, 256);
        (void)hipMemset(device, 0, 256);
        add<<<1, 64>>>(managed, device);
        (void)hipFree(device);
    }
    return 0;
}
EOF
"$ehp" cc -O2 "$scratch/mixed.hip" -o "$scratch/mixed" || exit 1
HSA_XNACK=1 python3 "$source/tests/apps/advise.py" "$ehp" "$scratch" "$source" || exit 1
"$ehp" advise >"$scratch/out" 2>&1 && exit 1
grep -q 'which program' "$scratch/out"
