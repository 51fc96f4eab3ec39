#!/bin/sh
# SPDX-License-Identifier: MIT
# domains.sh BUILD_ROOT SOURCE_ROOT: with a NUMA domain for each IOD the memory of a partition lies in its own IOD's
# stacks: a load takes less long, as long for all, and two partitions have what one domain has.
. "$(dirname "$0")/common.sh"
limit=100
"$ehp" cc -O2 -Wall -Werror "$source/tests/timing/domains.hip" -o "$dir/domains" || exit 1
for nps in 1 4; do
    simulate --mode timing --chip mi300x --partition cpx --nps $nps "$dir/domains" >"$dir/nps$nps" || exit 1
done
cat "$dir/nps1" "$dir/nps4"
awk 'FNR == NR { far += $2 / 8; next }
     $4 != 48 || $3 < 12 || $3 > 40 || $2 > far - 20 || (most && $2 > most + 2) { bad = 1 }
     { most = $2 }
     END { exit bad || FNR != 8 }' "$dir/nps1" "$dir/nps4" || { echo 'not each in its own'; exit 1; }
