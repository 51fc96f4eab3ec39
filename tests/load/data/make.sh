#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles the code objects and bundles that the loader tests load.
#   make.sh SOURCE_DIR OUTPUT_DIR [LLVM_SUFFIX]
# Those in the repository were made by LLVM 22.1:  ./make.sh . . -22
set -eu
src=$(cd "$1" && pwd) out=$(cd "$2" && pwd) llvm=${3:--22}
hip="clang$llvm -x hip --cuda-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -O2 -fno-ident -fuse-cuid=none"
for v in 4 5 6; do
    $hip --offload-arch=gfx942 -mcode-object-version=$v "$src/kernels.hip" -o "$out/v$v.hsaco"
done
$hip --offload-arch=gfx9-4-generic -mcode-object-version=6 "$src/kernels.hip" -o "$out/generic.hsaco"
$hip --offload-arch=gfx942:sramecc+:xnack- -mcode-object-version=5 "$src/kernels.hip" -o "$out/exact.hsaco"
$hip --offload-arch=gfx942:xnack+ -mcode-object-version=5 "$src/kernels.hip" -o "$out/xnack.hsaco"
$hip --offload-arch=gfx90a -mcode-object-version=5 "$src/kernels.hip" -o "$out/gfx90a.hsaco"
$hip --offload-arch=gfx942 -mcode-object-version=5 -mllvm -amdgpu-kernarg-preload-count=16 "$src/kernels.hip" \
    -o "$out/preload.hsaco"
(cd "$src" && $hip -g -fdebug-compilation-dir=. --offload-arch=gfx942 -mcode-object-version=5 kernels.hip -o "$out/debug.hsaco")
clang$llvm -x assembler -target amdgcn-amd-amdhsa -mcpu=gfx942 -c "$src/external.s" -o "$out/external.o"
ld.lld$llvm -shared "$out/external.o" -o "$out/external.hsaco" 2>/dev/null ||
    "$(clang$llvm -print-prog-name=ld.lld)" -shared "$out/external.o" -o "$out/external.hsaco"
rm -f "$out/external.o"

host=$out/host.tmp
: >"$host"
bundle() { # version-or-plain output
    targets=host-x86_64-unknown-linux-gnu,hip-amdgcn-amd-amdhsa--gfx90a,hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-,hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack+
    compress=-compress
    [ "$1" = plain ] && compress=
    COMPRESSED_BUNDLE_FORMAT_VERSION=$1 clang-offload-bundler$llvm $compress -type=o -targets=$targets \
        -input="$host" -input="$out/gfx90a.hsaco" -input="$out/exact.hsaco" -input="$out/xnack.hsaco" -output="$2" \
        2>/dev/null
}
bundle plain "$out/plain.hipfb"
bundle 2 "$out/ccob2.hipfb"
bundle 3 "$out/ccob3.hipfb"
rm -f "$host"
