#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""engines.py EHP SOURCE: kernels count the same in the interpreter and in compiled code, and --stats says which of the
two it was.  Skipped where nothing is compiled, for the GPU or for the host."""
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

EHP, SOURCE = sys.argv[1], sys.argv[2]
failures = 0
directory = tempfile.TemporaryDirectory()
there = pathlib.Path(directory.name)
for name in ("EHP_ENGINE", "EHP_MODE", "EHP_CACHE_SIZE", "EHP_STATS"):
    os.environ.pop(name, None)
os.environ.update(EHP_CACHE_DIR=str(there / "cache"), EHP_THREADS="1")


def check(what, right):
    global failures
    if not right:
        print(f"FAILED: {what}")
        failures += 1


def run(*arguments, **environment):
    done = subprocess.run(arguments, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


REFUSED = ("_Z5largePj", "_Z7branchyPj", "_Z7choppedPj")


def rows(engine):
    out = run(EHP, "run", "--engine", engine, f"--stats={there}/s.csv", there / "engines").stdout
    return out, list(csv.DictReader((there / "s.csv").open()))


compiler = subprocess.run([EHP, "cc", "-O2", SOURCE, "-o", there / "engines"], capture_output=True, text=True)
if compiler.returncode or not re.search("^  Engine +compiled", run(EHP, "info").stdout, re.M):
    print("skipped: no compiler for gfx942, or none for this host\n" + compiler.stderr)
    sys.exit(77)

(said, interpreted), (said_too, compiled) = rows("interpreter"), rows("compiled")
check("results are the same", said == said_too and len(said) == 17 + 6)
check("six kernels", len(interpreted) == len(compiled) == 6)
for one, other in zip(interpreted, compiled):
    for column in one.keys() - {"compiled", "seconds"}:
        check(f"{one['kernel']}: {column} is {one[column]}, compiled {other[column]}", one[column] == other[column])
    share = int(other["compiled"]) / int(other["instructions"])
    check(f"{one['kernel']}: interpreted, and compiled {one['compiled']}", one["compiled"] == "0")
    check(f"{one['kernel']}: compiled {share:.1%}", share == 0 if one["kernel"] in REFUSED else 0.9 < share <= 1)

table = run(EHP, "run", "--engine", "compiled", "--stats", there / "engines").stderr.splitlines()
check("\n".join(["what was compiled, from where:", *table[-4:]]),
      re.fullmatch(r"Compiled: \d\d\.\d % of instructions, 3 functions in [\d.]+ ms, 3 from the cache", table[-4]) and
      re.fullmatch(r"Interpreted: _Z5largePj: it has 200\d\d instructions, more than 20000", table[-3]) and
      re.fullmatch(r"Interpreted: _Z7branchyPj: it has 42\d\d basic blocks, more than 4000", table[-2]) and
      re.fullmatch(r"Interpreted: _Z7choppedPj: LLVM would take long for its 90\d\d instructions", table[-1]))
table = run(EHP, "run", "--engine", "compiled", "--stats", there / "engines", EHP_CACHE_DIR="").stderr.splitlines()
check("nothing is from a cache that is off: " + table[-4], re.fullmatch(r"Compiled: .* in [\d.]+ ms", table[-4]))
for cache in (str(there / "cache"), ""):
    table = run(EHP, "run", "--engine", "auto", "--stats", there / "engines", "30", EHP_CACHE_DIR=cache).stderr
    check("large code is told of, once, before it would be compiled: " + table,
          len(re.findall("^Interpreted: _Z5largePj: it has 200", table, re.M)) == 1 and "for long" not in table)
run(EHP, "run", "--engine", "compiled", f"--stats={there}/s.json", there / "engines")
check("compiled in JSON", [k["compiled"] for k in json.load((there / "s.json").open())] ==
      [int(k["compiled"]) for k in compiled])
table = run(EHP, "run", "--mode", "timing", "--engine", "compiled", "--stats", there / "engines").stderr.splitlines()
check("what timing mode compiled: " + table[-3], re.fullmatch(r"Compiled: \d+ functions? in [\d.]+ ms.*", table[-3]))
for options in (["--engine", "interpreter"], ["--mode", "timing", "--engine", "interpreter"]):
    table = run(EHP, "run", *options, "--stats", there / "engines").stderr
    check(f"{options} and compiled code", "large" in table and "ompiled" not in table and "nterpreted" not in table)
sys.exit(failures != 0)
