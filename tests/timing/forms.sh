#!/bin/sh
# SPDX-License-Identifier: MIT
# forms.sh BUILD_ROOT SOURCE_ROOT: rare forms of memory instructions leave the same in functional mode and in simulated
# time.
. "$(dirname "$0")/common.sh"
"$ehp" cc -O1 -Wall -Werror "$source/tests/timing/forms.hip" -o "$dir/forms" || exit 1
for mode in functional timing; do
    simulate --mode $mode "$dir/forms" \
        >"$dir/$mode" || { echo "failed in $mode mode"; tail -n 3 "$dir/$mode"; exit 1; }
done
diff "$dir/functional" "$dir/timing" | head -n 10
[ "$(sort -u -k5 "$dir/timing" | wc -l)" -gt 200 ] && cmp -s "$dir/functional" "$dir/timing"
