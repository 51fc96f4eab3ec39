#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""first.py EHP SOURCE: of a kernel in which many workgroups fault, on several threads, the first one's fault is told
each time, and the report is the same.  Skipped where nothing is compiled for the GPU."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

EHP, SOURCE = sys.argv[1], sys.argv[2]
RUNS = {"0": 20, "1": 20, "2": 2}  # where those before it end, wait, compute
directory = tempfile.TemporaryDirectory()
program = pathlib.Path(directory.name) / "first"
os.environ.update(EHP_CACHE_DIR="", EHP_THREADS="4", EHP_MODE="functional")

compiler = subprocess.run([EHP, "cc", "-O2", SOURCE, "-o", program], capture_output=True, text=True)
if compiler.returncode:
    print("skipped: no compiler for gfx942\n" + compiler.stderr)
    sys.exit(77)

failures = 0
for how, runs in RUNS.items():
    for _ in range(runs):
        done = subprocess.run([EHP, "run", program, how], capture_output=True, text=True, timeout=60)
        told = re.findall(r"workgroup \(.*", done.stderr)
        if done.returncode or told != ["workgroup (37, 0, 0), wave 0, lane 37 on XCD 1"]:
            print(f"FAILED: case {how}: status {done.returncode}\n{done.stderr}")
            failures += 1

# On which CU it is means something in timing mode.
done = subprocess.run([EHP, "run", program, "0"], capture_output=True, text=True, timeout=60,
                      env=os.environ | {"EHP_MODE": "timing"})
if not re.search(r"workgroup \(.* on XCD \d, SE \d, CU \d", done.stderr):
    print(f"FAILED: timing mode: status {done.returncode}\n{done.stderr}")
    failures += 1
sys.exit(failures != 0)
