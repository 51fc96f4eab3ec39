#!/bin/bash
# SPDX-License-Identifier: MIT
# ehp cc as hipcc: which files are HIP, options, several files, device linking, environment, mistakes.
. "$(dirname "$0")/common.sh"

cat >app.hip <<'X'
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
extern "C" int from_c(int);
__global__ void kernel(float *p) { p[threadIdx.x] = sqrtf(sinf(float(threadIdx.x)) + 2.0f); }
int main()
{
    float *p, host[64];
    if (hipMalloc(&p, sizeof host) != hipSuccess) return 1;
    kernel<<<1, 64>>>(p);
    if (hipMemcpy(host, p, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 2;
    for (int i = 0; i < 64; i++)
        if (std::fabs(host[i] - std::sqrt(std::sin(float(i)) + 2.0f)) > 1e-5f) return 3;
    return from_c(1) - 2;
}
X
echo 'int from_c(int class) { return class + 1; }' >part.c # class: no C++ compiler takes this
cat >plain.hip <<'X'
__attribute__((global)) void k(int *p) { *p = 1; }
X

has_device_code() { # by the section that clang puts the fat binary in
    readelf -SW "$1" | grep -q '\.hip_fatbin'
}
no_device_code() {
    ! has_device_code "$1"
}

check "version" "$ehp" cc --version
says "version" '^HIP version: 6\.'
says "clang's version" 'clang version'
check "short version" "$ehp" cc --short-version
says "short version" '^6\.[0-9]*\.[0-9]*$'

# What each suffix means.
for suffix in hip cu cpp cc cxx C; do
    cp plain.hip "file.$suffix"
    sed -i '1i #include <hip/hip_runtime.h>' "file.$suffix"
    check ".$suffix" "$ehp" cc -c "file.$suffix" -o "$suffix.o" && check ".$suffix is HIP" has_device_code "$suffix.o"
done
check ".c" "$ehp" cc -c part.c -o part.o && check ".c is C" no_device_code part.o
cp file.hip as.c
check "-x hip" "$ehp" cc -x hip -c as.c -o as.o && check "-x hip makes .c HIP" has_device_code as.o
check "-xhip" "$ehp" cc -xhip -c as.c -o as.o && check "-xhip makes .c HIP" has_device_code as.o
echo 'int f() { return sizeof(char); }' >host.cpp
check "-x c++" "$ehp" cc -x c++ -c host.cpp -o host.o && check "-x c++ is not HIP" no_device_code host.o
HIP_COMPILE_CXX_AS_HIP=0 check "C++ on request" "$ehp" cc -c host.cpp -o host.o &&
    check "HIP_COMPILE_CXX_AS_HIP=0" no_device_code host.o

# One step and several, objects of another compiler, -x before objects.
check "one step" "$ehp" cc -O2 app.hip part.c -o app && check "run" ./app
gcc -c part.c -o gcc.o
check "gcc's object" "$ehp" cc -g app.hip gcc.o -o app2 && check "run with gcc's object" ./app2
check "objects" "$ehp" cc -c app.hip part.c && check "link" "$ehp" cc app.o part.o -o app3 && check "run linked" ./app3
check "-x, then -x none" "$ehp" cc -x hip app.hip -x none gcc.o -o app4
ar rcs libpart.a gcc.o
check "-l -L" "$ehp" cc app.hip -L. -lpart -o app5 && check "run with archive" ./app5
check "shared" "$ehp" cc -shared -fPIC file.hip -o libfile.so && check "shared has code" has_device_code libfile.so
check "no -o" "$ehp" cc app.hip part.c && check "a.out" ./a.out
for std in c++14 c++17 c++20; do
    check "-std=$std" "$ehp" cc -std=$std -c app.hip -o std.o
done
check "-Wl" "$ehp" cc app.hip part.o -Wl,--as-needed -pthread -o app6

# How device code is scheduled: LLVM takes the option once, so the user's own counts alone.
compiles_with() { # WHAT COUNT TEXT COMMAND...: the commands that clang would run have TEXT in COUNT words
    local what=$1 count=$2 text=$3
    shift 3
    checks=$((checks + 1))
    local n
    n=$("$ehp" cc "$@" -### 2>&1 | tr ' ' '\n' | grep -c -- "$text")
    [ "$n" = "$count" ] || fail "$what: $n words with $text instead of $count"
}
if "$ehp" cc --version | grep -q 'clang version 2[2-9]'; then
    compiles_with "loads together" 3 '-amdgpu-sched-strategy=max-memory-clause' -c app.hip
    compiles_with "no C" 0 '-amdgpu-sched-strategy' -c part.c
    for own in '-mllvm -amdgpu-sched-strategy=max-ilp' '-mllvm=-amdgpu-sched-strategy=max-ilp'; do
        # shellcheck disable=SC2086
        check "$own" "$ehp" cc $own -c app.hip -o own.o
        # shellcheck disable=SC2086
        compiles_with "$own alone" 0 'max-memory-clause' $own -c app.hip
    done
    HIPCC_COMPILE_FLAGS_APPEND='-mllvm -amdgpu-sched-strategy=max-ilp' \
        check "another strategy from the environment" "$ehp" cc -c app.hip -o own.o
    check "device linking with it" "$ehp" cc -fgpu-rdc app.hip part.o -o app_rdc && check "run" ./app_rdc
fi

# One -std= for HIP, C++ and C: each takes its own language's only.
echo 'int second(void); int second(void) { int new = 1; return new; }' >second.c
for std in c++17 gnu11; do
    check "C with -std=$std" "$ehp" cc -std=$std part.c app.hip second.c -o mixed
    check "no complaints" test ! -s "$scratch/out"
    check "run" ./mixed
done
mkdir objects
check "objects with -std=" sh -c "cd objects && '$ehp' cc -std=c++20 -c ../app.hip ../part.c" &&
    check "link" "$ehp" cc objects/app.o objects/part.o -o mixed2 && check "run" ./mixed2
check "C alone with -std=c++17" "$ehp" cc -std=c++17 -c part.c -o part17.o
echo 'int f(void) { return undeclared; }' >bad.c
refuse "wrong C" 'undeclared' "$ehp" cc -std=c++17 app.hip bad.c

# OpenMP on the host.
cat >threads.hip <<'X'
#include <hip/hip_runtime.h>
#include <omp.h>
__global__ void kernel(int *p) { *p = 1; }
int main()
{
    int sum = 0;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
    for (int i = 0; i < 6; i++) {
        int *p, result = 0;
        if (hipMalloc(&p, 4) == hipSuccess) {
            kernel<<<1, 1>>>(p);
            if (hipMemcpy(&result, p, 4, hipMemcpyDeviceToHost) == hipSuccess)
                sum += result * omp_get_num_threads();
        }
    }
    return sum != 18;
}
X
if "$ehp" cc -fopenmp threads.hip -o threads >out.txt 2>&1; then
    check "OpenMP" ./threads
    check "an architecture without HIP" "$ehp" cc -fopenmp --offload-arch=gfx942 -x c++ -fsyntax-only host.cpp &&
        says "an architecture without HIP" 'target regions run on the host'
    check "none" "$ehp" cc -fopenmp -x c++ -fsyntax-only host.cpp && check "no note" test ! -s "$scratch/out"
else
    check "what OpenMP lacks" grep -q 'libomp-.*-dev' out.txt
fi
"$ehp" cc -fopenmp -fopenmp-targets=amdgcn-amd-amdhsa threads.hip -o threads >out.txt 2>&1 &&
    fail "offloading: accepted"
check "offloading" grep -q 'target regions run on the host' out.txt

# Other kinds of output.
check "genco" "$ehp" cc --genco file.hip -o file.hsaco && check "bundle" grep -q __CLANG_OFFLOAD_BUNDLE__ file.hsaco
check "raw code object" "$ehp" cc --genco --no-gpu-bundle-output file.hip -o raw.hsaco
check "for gfx942" sh -c "readelf -h raw.hsaco | grep -q 'Machine:.*AMD GPU\|Machine:.*0xe0'"
check "-S" "$ehp" cc -S file.hip -o - && says "-S" 'amdgcn-amd-amdhsa--gfx942'
check "-E" "$ehp" cc -E part.c && says "-E" 'int from_c'
check "-M" "$ehp" cc -M part.c && says "-M" 'part.o: part.c'
check "-MD -MF" "$ehp" cc -MD -MF deps -c app.hip && check "dependencies" grep -q hip_runtime.h deps
check "-fsyntax-only" "$ehp" cc -fsyntax-only app.hip
check "-###" "$ehp" cc app.hip '-###' && says "device libraries" 'oclc_isa_version_942.bc'
says "link" 'amdhip64'

# Code object versions, with device library functions in them.
for version in 4 5 6; do
    check "code object v$version" "$ehp" cc -mcode-object-version=$version app.hip part.c -o v$version &&
        check "run code object v$version" ./v$version
done

# Processors.
check "other processor" "$ehp" cc -c --offload-arch=gfx90a file.hip && says "note" 'only; MI300A'
check "several processors" "$ehp" cc --offload-arch=gfx90a --offload-arch=gfx942:xnack- --offload-arch=gfx950 app.hip \
    part.c -o multi && check "run the one of several" ./multi
check "native" "$ehp" cc -S --offload-arch=native file.hip -o - && says "native" 'gfx942'
check "--amdgpu-target" "$ehp" cc -S --amdgpu-target=gfx90a file.hip -o - && says "--amdgpu-target" 'hsa--gfx90a'
HCC_AMDGPU_TARGET=gfx90a check "HCC_AMDGPU_TARGET" "$ehp" cc -S file.hip -o - && says "HCC_AMDGPU_TARGET" 'hsa--gfx90a'

# Device code in several files.
cat >main.hip <<'X'
#include <hip/hip_runtime.h>
__device__ int other(int);
extern __device__ int table[4];
__global__ void kernel(int *p) { *p = other(20) + table[2]; }
int main()
{
    int *p, result = 0;
    if (hipMalloc(&p, 4) != hipSuccess) return 1;
    kernel<<<1, 1>>>(p);
    if (hipMemcpy(&result, p, 4, hipMemcpyDeviceToHost) != hipSuccess) return 2;
    return result == 42 ? 0 : 3;
}
X
cat >other.hip <<'X'
#include <hip/hip_runtime.h>
__device__ int table[4] = {0, 1, 2, 3};
__device__ int other(int x) { return 2 * x; }
X
check "rdc compile" "$ehp" cc -fgpu-rdc -c main.hip other.hip && check "rdc link" "$ehp" cc -fgpu-rdc main.o other.o -o rdc &&
    check "rdc run" ./rdc
check "rdc in one step" "$ehp" cc -fgpu-rdc main.hip other.hip -o rdc2 && check "rdc run" ./rdc2
ar rcs libother.a other.o
check "rdc archive" "$ehp" cc -fgpu-rdc main.o libother.a -o rdc3 && check "run with rdc archive" ./rdc3
check "rdc -l" "$ehp" cc -fgpu-rdc main.o -L. -lother -o rdc4 && check "run with rdc -l" ./rdc4

# Response files and the environment.
mkdir 'a dir'
echo '#define VALUE 7' >'a dir/value.h'
echo '#include "value.h"
int v = VALUE; const char *s = TEXT;' >value.cpp
printf -- '-c value.cpp "-Ia dir" -DTEXT=\\"a\\ b\\" -o value.o\n' >inner
echo '@inner' >outer
check "response file" "$ehp" cc @outer && check "text from the response file" grep -q 'a b' value.o
HIPCC_COMPILE_FLAGS_APPEND='-DTEXT="\"x\"" -I"a dir"' check "compile flags" "$ehp" cc -c value.cpp
HIPCC_LINK_FLAGS_APPEND='-L. -lpart' check "link flags" "$ehp" cc app.hip -o app7
check "options of AMD's clang" "$ehp" cc -parallel-jobs=4 -famd-opt -c part.c
HIPCC_VERBOSE=1 check "verbose" "$ehp" cc -c part.c && says "verbose" '^hipcc-cmd: '

# The other names.
ln -s "$ehp" hipcc
ln -s "$ehp" hipconfig
check "hipcc" ./hipcc app.hip part.c -o app8 && check "run hipcc's" ./app8
check "hipconfig" ./hipconfig --version && says "hipconfig" '^6\.'
check "platform" ./hipconfig --platform && says "platform" '^amd$'
check "rocm path" ./hipconfig -R
root=$(./hipconfig --rocmpath)
check "tree" test -f "$root/include/hip/hip_runtime.h" -a -x "$root/bin/hipcc" -a -f "$root/amdgcn/bitcode/ocml.bc"
check "cpp config" ./hipconfig --cpp_config && says "cpp config" "-I$root/include"
# shellcheck disable=SC2046
check "preprocessor options" g++ $(./hipconfig --cpp_config) -x c++ -fsyntax-only - <<<'#include <hip/hip_runtime_api.h>'
check "clang path" test -x "$(./hipconfig --hipclangpath)/clang++"
check "clang++" "$root/llvm/bin/clang++" -x hip app.hip -x none part.o --hip-link -o app9 && check "run clang++'s" ./app9
check "amdclang++" "$root/bin/amdclang++" -c host.cpp
# Another HIP among the system's headers, as Debian's libamdhip64-dev puts one in /usr/include, is not taken.
mkdir -p other/hip && echo '#error "another HIP"' >other/hip/hip_runtime.h
check "another HIP's headers" env CPLUS_INCLUDE_PATH="$scratch/other" "$root/llvm/bin/clang++" -I"$root/include" \
    -x hip -c app.hip -o other.o
check "another HIP's headers, hipcc" env CPLUS_INCLUDE_PATH="$scratch/other" ./hipcc -I"$root/include" -c app.hip -o other.o
printf '#include <hip/hip_version.h>\nmajor HIP_VERSION_MAJOR\n' >version.h
for cpp in "$root/llvm/bin/clang-cpp" "$root/bin/amdclang-cpp"; do
    check "${cpp##*/}" sh -c "'$cpp' -I'$root/include' version.h | grep -qx 'major [0-9]*'"
done
check "clang's tools" "$root/llvm/bin/clang-offload-bundler" --version
check "enumerator" "$root/bin/rocm_agent_enumerator" && says "enumerator" gfx942
check "cxxflags" "$ehp" cc --cxxflags && says "cxxflags" include

# An installed ROCm: its compiler, headers and device libraries; our runtime.
mkdir -p rocm/llvm/bin rocm/share/hip
ln -s "$(readlink -f "$root/include/hip")/.." rocm/include
ln -s "$root/amdgcn" rocm/amdgcn
cp "$root/share/hip/version" rocm/share/hip/
printf '#!/bin/sh\necho "this is ROCm'"'"'s compiler" >&2\nexec %s "$@"\n' \
    "$(HIPCC_VERBOSE=1 "$ehp" cc -c part.c 2>&1 | sed -n 's/^hipcc-cmd: \([^ ]*\).*/\1/p')" >rocm/llvm/bin/clang
chmod +x rocm/llvm/bin/clang
check "--rocm-path" "$ehp" cc --rocm-path="$scratch/rocm" app.hip part.c -o app10 && says "its compiler" "ROCm's compiler"
check "our runtime" sh -c "ldd app10 | grep libamdhip64 | grep -q '$build'"
ROCM_PATH=$scratch/rocm check "ROCM_PATH" "$ehp" cc -c app.hip && says "its compiler" "ROCm's compiler"
ROCM_PATH=/nowhere check "ROCM_PATH that is not there" "$ehp" cc -c app.hip
ROCM_PATH=$root check "ROCM_PATH that is ours" "$ehp" cc -c app.hip

# The device libraries' missing modules.
check "device libraries" "$ehp" cc --make-device-libs made
check "processor" sh -c 'strings -n1 made/oclc_isa_version_942.bc >/dev/null; [ -s made/oclc_isa_version_942.bc ]'
disassembler=$(command -v llvm-dis-22 || true)
if [ -n "$disassembler" ]; then
    check "disassemble" "$disassembler" -o - made/oclc_isa_version_942.bc && says "9402" 'i32 9402'
    check "disassemble" "$disassembler" -o - made/oclc_abi_version_600.bc && says "600" 'i32 600'
fi

# Modules that another version made are made again.
cp -rL made stale
echo other >stale/made-by
: >stale/oclc_isa_version_942.bc
check "make again" "$ehp" cc --make-device-libs stale && check "made again" test -s stale/oclc_isa_version_942.bc

# Mistakes.
refuse "no file" 'no input' "$ehp" cc
refuse "missing file" 'no such file' "$ehp" cc -c missing.hip
refuse "missing value" 'needs a value' "$ehp" cc -c app.hip -o
refuse "other platform" 'only amd' env HIP_PLATFORM=nvidia "$ehp" cc -c app.hip
refuse "missing clang" 'is not a program' env EHP_CLANG=/nowhere/clang "$ehp" cc -c app.hip
refuse "missing ROCm" 'not a directory' "$ehp" cc --rocm-path=/nowhere -c app.hip
refuse "unknown processor" 'gfx9999' "$ehp" cc --offload-arch=gfx9999 -c app.hip
echo '__global__ void k() { undeclared(); }' >wrong.hip
refuse "wrong program" 'undeclared' "$ehp" cc -c wrong.hip
refuse "unknown option" 'unknown option' "$ehp" config --nonsense
finish
