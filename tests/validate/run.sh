#!/bin/bash
# SPDX-License-Identifier: MIT
# `ehp validate` on the groups that take a second: the numbers hold, JSON and page are written, mistakes are named.
set -uo pipefail
build=$1
ehp=$build/tools/ehp
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$ehp" config --check >/dev/null 2>&1 || exit 77
failures=0
check() {
    local what=$1
    shift
    "$@" || {
        echo "FAILED: $what"
        failures=$((failures + 1))
    }
}
check "rates, launches, copies" "$ehp" validate --only rates --only launch --only copies --only litmus --only lds \
    --json "$scratch/rows.json" --html "$scratch/page.html"
check "JSON" python3 - "$scratch/rows.json" <<'EOF'
import json, sys
rows = json.load(open(sys.argv[1]))
assert sum(row["quantity"].startswith("litmus") for row in rows) == 31 and len(rows) > 50, len(rows)
assert sum(row["quantity"].startswith("copy") for row in rows) == 3
assert all(abs(row["error"]) < 15 for row in rows if row["kind"] != "contradicts"), rows
EOF
check "page" grep -q '<td>matrix FP8' "$scratch/page.html"
check "curves" python3 - "$scratch/page.html" <<'EOF'
import re, sys
import xml.etree.ElementTree as xml
pictures = [xml.fromstring(text) for text in re.findall(r"<svg.*?</svg>", open(sys.argv[1]).read(), re.S)]
assert [picture.get("aria-label") for picture in pictures] == ["LDS reads"]
assert len(pictures[0].findall("{*}polyline")) == 2  # of an MI300A and an MI300X
EOF
"$ehp" validate --only nothing >"$scratch/out" 2>&1
check "a wrong group" grep -q "invalid choice: 'nothing'" "$scratch/out"
"$ehp" validate --only launch --chip nothing >"$scratch/out" 2>&1
check "a wrong chip" grep -q "nothing" "$scratch/out"
exit $((failures != 0))
