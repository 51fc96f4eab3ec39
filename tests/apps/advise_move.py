# SPDX-License-Identifier: MIT
"""What `ehp advise` estimates of the programs that advise_move.sh has built: each of them does the same on both sides."""
import json
import os
import subprocess
import sys

ehp, scratch = sys.argv[1:]


def advise(name, *arguments):
    done = subprocess.run([ehp, "advise", "--mode", "timing", "--json", f"{scratch}/{name}.json", f"{scratch}/{name}",
                           *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(f"{scratch}/{name}.json") as file:
        return json.load(file)["moves"], done.stdout, done.stderr


def kernel(moves, name):
    return next(m for m in moves if m["side"] == "gpu" and name in m["name"])


def host(moves, cores, chain=False):
    return next(m for m in moves if m["side"] == "cpu" and m["cores"] == cores and (m["chain"] > 0) == chain)


def near(estimate, simulated, part, what):
    assert abs(estimate / simulated - 1) <= part, f"{what}: {estimate} estimated, {simulated} simulated"


# 4 Mi words of each array: the GPU, by far; and the links of the CCDs bind.
moves, printed, said = advise("move", str(4 << 20))
took = json.loads(printed)
triad = kernel(moves, "triad")
one, all_cores = triad["there"]
assert (one["cores"], all_cores["cores"]) == (1, 24), triad
assert one["binds"] == all_cores["binds"] == "memory" and triad["ns"] * 5 < all_cores["ns"], triad
near(all_cores["ns"], took["cores_ns"], 0.1, "triad on all cores")
near(one["ns"], took["core_ns"], 0.1, "triad on a core")
assert triad["past_l2"] >= 3 * 4 * (4 << 20) * 0.95, triad
streams = host(moves, 24)
assert streams["ns"] == took["cores_ns"] and streams["there"][0]["binds"] == "memory", streams
near(streams["there"][0]["ns"], triad["ns"], 0.4, "triad as a kernel")
# 64 words: a launch takes longer than a core needs.
tiny = kernel(moves, "tiny")
assert tiny["times"] == 10 and tiny["there"][0]["ns"] * 2 < tiny["ns"], tiny
assert tiny["launch_ns"] + tiny["wait_ns"] > 0.5 * tiny["ns"], tiny
# Loads that follow one another: no GPU helps.
walk, chase = kernel(moves, "walk"), host(moves, 1, True)
assert walk["chain"] >= 200 and walk["there"][0]["binds"] == "chain" and len(walk["there"]) == 1, walk
assert chase["chain"] == 200 and chase["there"][0]["ns"] > 2 * chase["ns"], chase
for line in ("faster on 1 core: ", "faster where it is: ", "faster on the GPU: ", "; memory binds", "; chain binds"):
    assert line in said, said

# 96 Ki words: neither side is better by much, and both estimates say so.
moves, printed, said = advise("move", str(96 << 10))
took = json.loads(printed)
triad = kernel(moves, "triad")
near(triad["there"][1]["ns"], took["cores_ns"], 0.35, "a short triad on all cores")
assert 0.8 < triad["there"][1]["ns"] / triad["ns"] < 1.25, triad
assert "about the same on either side" in said, said

# Host code that was compiled for cores: a loop, and a walk through a list.
moves, printed, said = advise("loop")
(loop,) = moves
assert loop["name"] == "threads of host code" and loop["chain"] < 100 and loop["ns"] > 10 * loop["there"][0]["ns"], loop
assert loop["past_l2"] >= 4 * 16 * (1 << 20) * 0.9, loop
moves, printed, said = advise("loop", "list")
(walk,) = moves
assert walk["chain"] >= 20000 and walk["there"][0]["binds"] == "chain" and walk["ns"] < walk["there"][0]["ns"], walk

# Parallel regions, each by its line.
if os.path.exists(f"{scratch}/team"):
    os.environ["OMP_NUM_THREADS"] = "24"
    moves, printed, said = advise("team")
    loop, first = sorted((m for m in moves if m["name"].startswith("advise_loop.c:")), key=lambda m: -m["times"])
    assert (loop["times"], loop["cores"], first["times"], first["cores"]) == (4, 24, 1, 24), moves
    assert loop["accessed"] >= 4 * 16 * (1 << 20), loop
    assert first["there"][0]["ns"] < first["ns"] / 10, first # its pages are new
    # What OpenMP's runtime calls of the C library when it begins.
    assert sum(m["operations"] for m in moves if m not in (loop, first)) < 0.05 * loop["operations"], moves
