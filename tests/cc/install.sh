#!/bin/bash
# SPDX-License-Identifier: MIT
# What `make install` lays down works where it is put, also after being moved.
. "$(dirname "$0")/common.sh"

DESTDIR=$scratch/dest EHP_INSTALL_HIPCC=1 check "install" meson install -C "$build" --no-rebuild
prefix=$(find dest -type f -path '*/bin/ehp')
prefix=${prefix%/bin/ehp}
mv "$prefix" moved
for file in bin/ehp bin/hipcc lib/libehp.so lib/libamdhip64.so lib/libamdhip64.so.5 lib/libamdhip64.so.6 \
    lib/libamdhip64.so.7 lib/libhiprtc.so include/ehp/ehp.h include/hip/hip_runtime.h lib/pkgconfig/ehp.pc \
    share/ehp/chips share/man/man1/ehp.1 share/bash-completion/completions/ehp share/zsh/site-functions/_ehp \
    lib/cmake/hip/hip-config.cmake lib/ehp/rocm/bin/hipcc; do
    check "$file" test -e "moved/$file"
done
cp -r "$here/project" .
check "installed hipcc" moved/bin/hipcc -O2 project/saxpy.hip -o app && check "run" ./app
ROCM_PATH=$scratch/moved check "ROCM_PATH that is ours" moved/bin/hipcc -c project/saxpy.hip -o app.o
check "--rocm-path that is ours" moved/bin/hipcc --rocm-path="$scratch/moved" -c project/saxpy.hip -o app.o
check "installed library is used" sh -c "ldd app | grep libamdhip64 | grep -q '$scratch/moved'"
check "host program" gcc -D__HIP_PLATFORM_AMD__ -Imoved/include project/devices.c -Lmoved/lib -lamdhip64 -o devices
LD_LIBRARY_PATH=$scratch/moved/lib check "run host program" ./devices
check "bash completion" bash -n moved/share/bash-completion/completions/ehp
if command -v cmake >/dev/null; then
    PATH=$scratch/moved/bin:$PATH check "find_package" cmake -S project/package -B b -DCMAKE_CXX_COMPILER=hipcc &&
        check "build" cmake --build b && check "run" b/saxpy
fi
finish
