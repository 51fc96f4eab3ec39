#!/bin/bash
# SPDX-License-Identifier: MIT
# Projects whose makefiles and CMake files know nothing of EHP.
. "$(dirname "$0")/common.sh"
root=$("$ehp" config --rocmpath)
cp -r "$here/project" .

# A makefile that calls hipcc, and one that goes by ROCM_PATH.
check "make HIPCC" make -C project -f Makefile.hipcc HIPCC="$root/bin/hipcc" && check "run" project/saxpy
make -s -C project -f Makefile.hipcc clean
PATH=$root/bin:$PATH check "make, hipcc in PATH" make -C project -f Makefile.hipcc && check "run" project/saxpy
make -s -C project -f Makefile.hipcc clean
check "make ROCM_PATH" make -C project -f Makefile.rocm ROCM_PATH="$root" && check "run" project/saxpy

if command -v cmake >/dev/null; then
    generator=(-G "Unix Makefiles")
    command -v ninja >/dev/null && generator=(-G Ninja)
    configure() { cmake "${generator[@]}" -S project/"$1" -B "$2" "${@:3}"; }

    PATH=$root/bin:$PATH check "HIP language" configure language b1 && check "build" cmake --build b1 &&
        check "run" b1/saxpy
    check "HIP language, named compiler" configure language b2 -DCMAKE_HIP_COMPILER="$root/llvm/bin/clang++" \
        -DCMAKE_PREFIX_PATH="$root" && check "build" cmake --build b2 && check "run" b2/saxpy
    check "hipcc as C++ compiler" configure package b3 -DCMAKE_CXX_COMPILER="$root/bin/hipcc" \
        -DCMAKE_PREFIX_PATH="$root" && check "build" cmake --build b3 && check "run" b3/saxpy
    check "run a C++ program that only calls the runtime" b3/devices
    check "clang as C++ compiler" configure package b4 -DCMAKE_CXX_COMPILER="$root/llvm/bin/clang++" \
        -DCMAKE_PREFIX_PATH="$root" && check "build" cmake --build b4 && check "run" b4/saxpy
    check "g++ as C++ compiler" configure package b6 -DCMAKE_CXX_COMPILER=g++ -DCMAKE_PREFIX_PATH="$root" &&
        says "what it cannot do" 'CMAKE_CXX_COMPILER=.*/hipcc' &&
        check "build" cmake --build b6 --target devices calls && check "run" b6/calls
    check "macros" configure macros b5 -DCMAKE_MODULE_PATH="$root/lib/cmake/hip" && check "build" cmake --build b5 &&
        check "run" b5/saxpy
fi
finish
