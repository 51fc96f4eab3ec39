#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles random functions with clang for the host and for gfx942, runs both, and compares every bit.

  differential.py --runner RUNNER [--mode MODE] [--count N] [--seed S] [--first N] [--jobs N]

A function that differs is cut down and printed with what reproduces it.  Exit status 77: no compiler for gfx942.
"""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import generate
import shrink

HERE = pathlib.Path(__file__).resolve().parent
COMMON = ["-x", "c", "-std=gnu23", "-ffp-contract=off", "-fwrapv", "-fno-math-errno", "-fno-strict-aliasing", "-w",
          f"-I{HERE}"]
DEVICE = ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-nogpulib"]
HOST = ["-shared", "-fPIC", "-Xclang", "-ffloat16-excess-precision=none"]
# What the device's side is compiled with; every batch takes the next one.
LEVELS = [["-O2"], ["-O3"], ["-O1"], ["-O0"], ["-Os"], ["-O2", "-fno-slp-vectorize", "-fno-vectorize"],
          ["-O2", "-mllvm", "-amdgpu-sdwa-peephole=0"],
          ["-O2", "-fno-unroll-loops", "-mllvm", "-amdgpu-load-store-vectorizer=0"],
          ["-O2", "-mllvm", "-enable-misched=0"], ["-O1", "-mllvm", "-amdgpu-scalarize-global-loads=0"],
          ["-O2", "-g"]]
HOST_LEVELS = ["-O1", "-O2", "-O0"]


def find_clang():
    for name in ("clang-22", "clang"):
        path = shutil.which(name)
        if path:
            with tempfile.TemporaryDirectory() as work:
                probe = subprocess.run([path, *COMMON, *DEVICE, "-", "-o", f"{work}/probe"], input=b"int x;",
                                       capture_output=True, check=False)
            if probe.returncode == 0:
                return path
    return None


class Rig:
    def __init__(self, args, clang):
        self.args, self.clang = args, clang

    def compile(self, work, programs, level, host_level):
        source = work / "functions.c"
        source.write_text(generate.HEADER + "".join(p.print() for p in programs))
        outputs = []
        for what, options, name in (("host", [*HOST, host_level], "functions.so"),
                                    ("device", [*DEVICE, *level], "functions.hsaco")):
            output = work / name
            libraries = ["-lm"] if what == "host" else []
            done = subprocess.run([self.clang, *COMMON, *options, str(source), "-o", str(output), *libraries],
                                  capture_output=True, text=True, check=False)
            if done.returncode:
                return None, f"{what} compiler: {done.stderr[:2000]}"
            outputs.append(str(output))
        return outputs, None

    def run(self, programs, level, host_level, seed):
        """{number: what the runner said}, or text when nothing ran."""
        with tempfile.TemporaryDirectory(prefix="differential-") as name:
            outputs, error = self.compile(pathlib.Path(name), programs, level, host_level)
            if error:
                return error
            library, code = outputs
            try:
                done = subprocess.run([self.args.runner, self.args.mode, code, library, str(seed), str(self.args.lanes),
                                       *(str(p.number) for p in programs)], capture_output=True, text=True, check=False,
                                      timeout=60 + 10 * len(programs))
            except subprocess.TimeoutExpired:
                return "the runner does not end"
            said = {}
            for line in done.stdout.splitlines():
                number, rest = line.split(" ", 1)
                said[int(number)] = rest
            for p in programs:
                said.setdefault(p.number, f"the runner ended ({done.returncode}): {done.stderr[-600:]}")
            return said

    def batch(self, index):
        args = self.args
        first = args.first + index * args.batch
        numbers = range(first, min(first + args.batch, args.first + args.count))
        programs = [generate.generate(args.seed, n) for n in numbers]
        choice = first // args.batch
        level, host_level = LEVELS[choice % len(LEVELS)], HOST_LEVELS[choice % len(HOST_LEVELS)]
        said = self.run(programs, level, host_level, args.seed)
        if isinstance(said, str):  # find out whose fault it is, one by one
            said = {}
            for p in programs:
                alone = self.run([p], level, host_level, args.seed)
                said[p.number] = alone if isinstance(alone, str) else alone[p.number]
        for p in programs:
            if said[p.number].startswith("differs") and self.host_disagrees(p, level, host_level):
                said[p.number] = "host"
        return level, host_level, [(p, said[p.number]) for p in programs]

    def host_disagrees(self, program, level, host_level):
        """Whether the host's code, optimised otherwise, says what the device does: it is the host compiler's mistake."""
        for other in HOST_LEVELS:
            again = self.run([program], level, other, self.args.seed) if other != host_level else {program.number: ""}
            if not isinstance(again, str) and again[program.number] == "same":
                return True
        return False

    def report(self, program, said, level, host_level):
        args = self.args
        kind = said.split(" ")[0]

        def fails(trial):
            again = self.run([trial], level, host_level, args.seed)
            return not isinstance(again, str) and again[trial.number].split(" ")[0] == kind

        print(f"function {program.number} of seed {args.seed}, device {' '.join(level)}, host {host_level}: {said}")
        if kind in ("differs", "faults") and args.shrink:
            small = shrink.shrink(program, fails, args.shrink)
            again = self.run([small], level, host_level, args.seed)
            print(f"cut down: {again[small.number]}\n{small.print()}")
        print(f"again: {sys.argv[0]} --runner {args.runner} --mode {args.mode} --seed {args.seed} --first {program.number} --count 1 "
              f"--batch {args.batch}\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--mode", choices=["functional", "timing", "timing-compiled"], default="functional")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first function")
    parser.add_argument("--lanes", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=25, help="functions in a code object")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--shrink", type=float, default=120, metavar="SECONDS",
                        help="how long to cut a function down; 0: not at all")
    parser.add_argument("--compilers", default="", metavar="N,N",
                        help="functions whose difference was found in the compiler's output: docs/conformance.md")
    args = parser.parse_args()
    compilers = {int(n) for n in args.compilers.split(",") if n}
    clang = find_clang()
    if not clang:
        print("skipped: no compiler for gfx942")
        return 77
    rig = Rig(args, clang)
    start, bad, done, host, known = time.monotonic(), 0, 0, 0, 0
    batches = (args.count + args.batch - 1) // args.batch
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for level, host_level, results in pool.map(rig.batch, range(batches)):
            for program, said in results:
                done += 1
                if said == "host":
                    host += 1
                elif said.startswith("differs") and program.number in compilers:
                    known += 1
                elif said != "same":
                    bad += 1
                    if bad <= 10:
                        rig.report(program, said, level, host_level)
            if sys.stdout.isatty():
                print(f"\r{done} of {args.count}", end="", flush=True)
    print(f"{done} functions of seed {args.seed} on {args.lanes} lanes each: {done - bad - host - known} the same bit for "
          f"bit, {bad} not, {host} on which the host's levels of optimisation disagree, {known} that are known as the "
          f"compiler's, in {time.monotonic() - start:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
