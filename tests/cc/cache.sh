#!/bin/bash
# SPDX-License-Identifier: MIT
# cache.sh BUILD_ROOT SOURCE_ROOT: the user's cache of device libraries, where the installation has none: made for
# the user alone, and refused where others could put code into it, or a link in its place.
. "$(dirname "$0")/common.sh"

# The command with a tree that has no libraries and cannot get any.
mkdir -p tree/tools tree/rocm tree/src
cp "$ehp" tree/tools/
cp -a "$build"/libehp.so* tree/
ln -s "$build/src/hip" tree/src/hip
for entry in "$build"/rocm/*; do
    [ "${entry##*/}" = amdgcn ] || ln -s "$entry" tree/rocm/
done
echo 'int main() { return 0; }' >empty.hip
mkdir cache other
export XDG_CACHE_HOME=$scratch/cache
compile=("$scratch/tree/tools/ehp" cc -c empty.hip -o empty.o)

check "a cache that is made" "${compile[@]}"
check "it is the user's alone" test "$(stat -c %a cache/ehp cache/ehp/bitcode | tr '\n' ' ')" = "700 700 "
check "a cache that is there" "${compile[@]}"
chmod 777 cache/ehp/bitcode
refuse "others can write to it" "can be written to by others" "${compile[@]}"
chmod 700 cache/ehp/bitcode
chmod 775 cache/ehp
refuse "others can write beside it" "can be written to by others" "${compile[@]}"
rm -r cache/ehp
touch cache/ehp
refuse "a file in its place" "is not a directory" "${compile[@]}"
rm cache/ehp
ln -s /usr cache/ehp
[ "$(stat -Lc %u cache/ehp)" = "$(id -u)" ] || refuse "a link in its place" "belongs to another user" "${compile[@]}"
rm cache/ehp
if [ "$(id -u)" = 0 ]; then
    mkdir -p other/bitcode
    chown -R 12345 other
    ln -s "$scratch/other" cache/ehp
    refuse "a link to another user's" "belongs to another user" "${compile[@]}"
    check "nothing is written there" test -z "$(ls other/bitcode)"
fi
finish
