#!/bin/sh
# SPDX-License-Identifier: MIT
# many_faults.sh BUILD_ROOT SOURCE_ROOT PAGES: so many minor page faults of one kernel take less than 2 GiB of the host's
# memory, and come at the published rate.  Prints the seconds of the host's processor that each part took.
. "$(dirname "$0")/common.sh"
pages=$3
"$ehp" cc -O2 "$source/validate/upm.hip" -o "$dir/upm" || exit 1
HSA_XNACK=1 "$ehp" run --mode timing --threads 1 "$dir/upm" "$pages" >"$dir/out" || exit 1
cat "$dir/out"
awk -v pages="$pages" '
    $2 == pages { value[$1] = $3 }
    END {
        rate = value["fault_rate_minor"]
        mib = value["host_mib"]
        exit !(rate > 8.5 && rate < 9.5 && mib > 0 && mib < 2048)
    }' "$dir/out"
