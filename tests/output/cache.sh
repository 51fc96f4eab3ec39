#!/bin/sh
# SPDX-License-Identifier: MIT
# cache.sh EHP: `ehp cache` counts what is kept on disk, removes it and nothing else, and leaves alone what others can
# write to.
ehp=$1 failed=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
umask 022
unset EHP_CACHE_DIR EHP_CACHE_SIZE
export XDG_CACHE_HOME="$dir/home"
compiled=$dir/home/ehp/compiled libraries=$dir/home/ehp/bitcode

# said STATUS PATTERN... -- COMMAND...: a line of what it prints has each pattern.
said() {
    wanted=$1
    shift
    patterns=
    while [ "$1" != -- ]; do
        patterns="$patterns$1
"
        shift
    done
    shift
    "$@" >"$dir/out" 2>&1
    status=$?
    printf %s "$patterns" | while read -r pattern; do
        grep -q -- "$pattern" "$dir/out" || { echo "no \"$pattern\"" && exit 1; }
    done && [ $status -eq "$wanted" ] && return
    echo "$*: status $status, and:"
    cat "$dir/out"
    failed=1
}
has() { # NUMBER of compiled, of libraries
    said 0 "^compiled code  *$1 file.* of 256 MiB *$compiled$" "^device libraries  *$2 file.*$libraries$" -- "$ehp" cache
}

has 0 0
[ ! -e "$dir/home" ] || { echo "a look makes folders" && failed=1; }
mkdir -p "$compiled" "$libraries"
name=0123456789abcdef0123456789abcdef
head -c 3145728 /dev/zero >"$compiled/$name.code"
echo x >"$compiled/$name.code.mine"
echo x >"$compiled/of mine"
echo x >"$libraries/ocml.bc"
ln -s /nowhere "$libraries/ockl.bc"
echo x >"$libraries/made-by"
echo x >"$libraries/of mine"
has 1 3
said 0 '^compiled code .* 3\.0 MiB' -- "$ehp" cache
said 0 'EHP_CACHE_DIR is empty' '^device libraries  *3 ' -- env EHP_CACHE_DIR= "$ehp" cache
said 0 '^compiled code  *1 .* of 7 MiB' -- env EHP_CACHE_SIZE=7 "$ehp" cache
said 0 'EHP_CACHE_SIZE=seven: expected MiB' -- env EHP_CACHE_SIZE=seven "$ehp" cache
chmod g+w "$compiled" "$libraries"
said 1 "not used: $compiled can be written to by others" 'not used: it can be written to by others' \
    "not all of $compiled could be removed" "not all of $libraries could be removed" -- "$ehp" cache --clear
chmod g-w "$compiled" "$libraries"
has 1 3
said 0 '^removed' '^compiled code  *1 ' '^device libraries  *3 ' -- "$ehp" cache --clear
has 0 0
for file in "$compiled/$name.code.mine" "$compiled/of mine" "$libraries/of mine"; do
    [ -e "$file" ] || { echo "$file is gone" && failed=1; }
done
exit $failed
