#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""natures.py SOURCE EHP: published.csv names dials that exist, mistakes in it are errors, the headline has the errors of
predictions apart from those of fits and echoes, and what is known to be off counts there and in no limit."""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "validate"))
import chipfile  # noqa: E402
import validate  # noqa: E402

keys = chipfile.read_keys(sys.argv[2])
assert {"vl1.result", "sdma.clock"} <= keys, keys
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


def row(chip, nature, error, kind="seed", what="it", known=""):
    return {"on": chip, "nature": nature, "error": error, "kind": kind, "what": what, "known": known, "dials": []}


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
assert validate.nature_text({"nature": "fit", "dials": ["a.b", "c.d"], "known": ""}) == "fit: a.b c.d"
assert validate.nature_text({"nature": "prediction", "dials": [], "known": "why"}) == "prediction: known to be off, why"
assert validate.nature_text({"nature": "fit", "dials": ["a.b"], "known": "why"}) == "fit: a.b; known to be off, why"

# What is known to be off is the worst of all, and fails nothing; the same is a failure where nobody knows why.
off = row("a", "prediction", -40.0, what="the worst", known="why"), row("a", "prediction", 1.0, "order", known="why")
lines, good = validate.summary([row("a", "prediction", 2.0), row("a", "prediction", 0.0, "order"), *off])
assert good and "worst 40.0 % (the worst)" in lines[0] and lines[-1].split()[:2] == ["known:", "2"], lines
assert "of which 0 would keep it" in lines[-1] and "1 statements, 0 do not hold" in lines[-2], lines
for wrong in off:
    assert not validate.summary([row("a", "prediction", 2.0), dict(wrong, known="")])[1]
lines, good = validate.summary([row("a", "prediction", 2.0), row("a", "prediction", 3.0, known="why")])
assert good and "of which 1 would keep it" in lines[-1], lines

# Numbers of a chip file, and products of them.
numbers = chipfile.read_numbers(sys.argv[2], "mi300a")
assert numbers["xcd.count"] == 6 and numbers["l2.size"] == 4 << 20 and numbers["cp.wave"] == 1.083, numbers
assert "chip.title" not in numbers
assert chipfile.evaluate("2*xcd.count*l2.size/1048576", numbers) == 48 and chipfile.evaluate("1e6/xcd.count", numbers) == 1e6 / 6
try:
    chipfile.evaluate("xcd.count*no.such", numbers)
    raise AssertionError
except RuntimeError as error:
    assert "no number no.such" in str(error)


def printed(*options):
    done = subprocess.run([sys.argv[2], "chips", *options], capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if line.startswith("  ") and "." in line.split()[0]]


# Guesses first: the same numbers, and no guess behind one that is none.
plain, sorted_out = printed("show", "mi300a"), printed("show", "--guesses", "mi300a")
guesses = [re.search(r" (documented|measured|guess)\b", line)[1] == "guess" for line in sorted_out]
assert sorted(plain) == sorted(sorted_out) and plain != sorted_out and len(plain) > 100
assert 10 < sum(guesses) < len(guesses) and all(guesses[: sum(guesses)]), guesses
for wrong in ["--guesses"], ["--guesses", "keys"]:
    assert subprocess.run([sys.argv[2], "chips", *wrong], capture_output=True).returncode == 2
print("natures: passed")
