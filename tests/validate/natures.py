#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""natures.py SOURCE EHP: published.csv names dials that exist, mistakes in it are errors, and the headline has the errors of
predictions apart from those of fits and echoes."""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "validate"))
import validate  # noqa: E402

keys = validate.read_keys(sys.argv[2])
assert {"vl1.result", "sdma.bandwidth"} <= keys, keys
validate.check_natures(validate.read_published(), keys)


def refused(nature, dials):
    row = {"quantity": "q", "at": 1.0, "nature": nature, "dials": dials}
    try:
        validate.check_natures([row], keys)
    except RuntimeError as error:
        return str(error)
    return None


assert refused("fit", ["vl1.result"]) is None and refused("prediction", []) is None
assert refused("fit", ["vl1.result", "vl1.no_such"]) == "published.csv: q at 1: no chip file has a dial 'vl1.no_such'"
assert "names its dials" in refused("echo", []) and "names its dials" in refused("prediction", ["vl1.result"])
assert "'guess' is none of" in refused("guess", [])


def row(chip, nature, error, kind="seed", what="it"):
    return {"on": chip, "nature": nature, "error": error, "kind": kind, "what": what}


lines = validate.headline([
    row("a", "prediction", -1.0), row("a", "prediction", 2.0), row("a", "prediction", -40.0, what="the worst"),
    row("a", "prediction", 3.0, kind="counter", what="a count"),
    row("a", "prediction", 1.5, kind="counter", what="SQ_BUSY_CYCLES"), row("a", "prediction", 99.0, kind="contradicts"),
    row("a", "fit", 0.5), row("a", "echo", 0.0), row("b", "prediction", 7.0, what="alone"), row("b", "prediction", 0, "order"),
])
assert [line.split() for line in lines] == [line.split() for line in (
    "a predictions: 4 numbers, median error 1.8 %, worst 40.0 % (the worst)",
    "a predicted counts: 1 numbers, median error 3.0 %, worst 3.0 % (a count)",
    "a fits: 1 numbers, median error 0.5 %, worst 0.5 %",
    "a echoes: 1 numbers, median error 0.0 %, worst 0.0 %",
    "b predictions: 1 numbers, median error 7.0 %, worst 7.0 % (alone)")], lines
assert validate.nature_text({"nature": "fit", "dials": ["a.b", "c.d"]}) == "fit: a.b c.d"


def numbers(*options):
    done = subprocess.run([sys.argv[2], "chips", *options], capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if line.startswith("  ") and "." in line.split()[0]]


# Guesses first: the same numbers, and no guess behind one that is none.
plain, sorted_out = numbers("show", "mi300a"), numbers("show", "--guesses", "mi300a")
guesses = [re.search(r" (documented|measured|guess)\b", line)[1] == "guess" for line in sorted_out]
assert sorted(plain) == sorted(sorted_out) and plain != sorted_out and len(plain) > 100
assert 10 < sum(guesses) < len(guesses) and all(guesses[: sum(guesses)]), guesses
for wrong in ["--guesses"], ["--guesses", "keys"]:
    assert subprocess.run([sys.argv[2], "chips", *wrong], capture_output=True).returncode == 2
print("natures: passed")
