# SPDX-License-Identifier: MIT
"""What `ehp advise` reports of the programs that advise.sh has built."""
import json
import re
import subprocess
import sys

ehp, scratch, source = sys.argv[1:]


def advise(name, *arguments):
    done = subprocess.run([ehp, "advise", "--json", f"{scratch}/{name}.json", f"{scratch}/{name}", *arguments],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(f"{scratch}/{name}.json") as file:
        return json.load(file), done.stderr


def source_line(at):
    file, number = at.split(":")
    with open(f"{source}/apps/{file}") as text:
        return text.read().splitlines()[int(number) - 1].strip()


n, hidden = 1600, 16
report, text = advise("backprop", "--size", str(n))
weights = (n + 1) * (hidden + 1) * 4
assert report["saved"]["bytes"] == 2 * weights + (n + 1) * 4 + n * 4 + (hidden + 1) * 4, report["saved"]
assert report["saved"]["copies"] == 8 and len(report["copies"]) == 8, report["copies"]
for copy in report["copies"]:
    assert f"copy_to_{copy['to']}(" in source_line(copy["at"]), copy
for pair in report["pairs"]:
    assert "gpu_alloc" in source_line(pair["gpu"]["at"]), pair
    assert pair["gpu"]["bytes"] == pair["cpu"]["bytes"] and pair["gpu"]["launches"] in (1, 2), pair
# The momentum is zeros, and new memory is zeros; and the weights go there twice.
again = [source_line(c["at"]) for c in report["copies"] if c["known"] == c["bytes"]]
assert again == ["copy_to_gpu(d_change, change, all);", "copy_to_gpu(d_weights, weights, all);"], again
assert [p["instead"] for p in report["pairs"]].count("one hipMalloc") == 4, report["pairs"]
assert [p["cpu"]["kind"] for p in report["pairs"]].count("stack") == 1, report["pairs"]
assert re.search(r"^Saved: .* 8 copies", text, re.M), text

report, text = advise("heartwall_v1", "--size", "80", "--steps", "5")
points = next(p for p in report["pairs"] if p["gpu"].get("name") == "d_points")
assert points["instead"] == "hipMalloc" and points["cpu"]["kind"] == "static variable", points
frames = next(p for p in report["pairs"] if p["to_gpu"] == 5 * 80 * 80 * 4)
assert frames["instead"] == "two, swapped", frames
assert "managed variable m_points" in text, text

report, text = advise("nn", "--size", "3000")
assert "hipMemGetInfo" in source_line(report["asks_for_free_memory"]), report["asks_for_free_memory"]
assert report["saved"]["bytes"] == 3000 * 12, report["saved"]

report, text = advise("srad_v1", "--size", "50", "--steps", "2")
assert sum(c["partial"] and c["calls"] == 4 for c in report["copies"]) == 2, report["copies"]
assert {p["instead"] for p in report["pairs"]} == {"one hipMalloc", "read in place", "hipMalloc or stack"}, report

for name in "backprop", "nn", "srad_v1":
    report, text = advise(name, "--unified", "--size", "64")
    assert not report["pairs"] and not report["copies"] and report["saved"]["bytes"] == 0, report
    assert "no buffer is on both sides" in text, text

report, text = advise("mixed")
assert [a["buffer"]["kind"] for a in report["allocators"]] == ["managed"], report
assert [r["times"] for r in report["repeated"]] == [5], report
assert re.match(r"main\+0x", report["repeated"][0]["buffer"]["at"]), report # without debug information
