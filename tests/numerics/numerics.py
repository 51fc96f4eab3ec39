#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures with numerics.hip, and compares with what docs/numerics.md says.

  numerics.py --ehp EHP [--points N] [--write] DOCUMENT

Points are numbered, so a shorter run never finds a larger error than the run that wrote the document.  Exit status
77: no compiler for gfx942.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TYPES = ["f16", "f32", "f64"]
TEXT = """# Numerics

What the transcendental instructions and the compiled math library (`__ocml_*` of the ROCm device libraries that are
installed) return, measured on the simulated chip against the host's `long double` functions. Errors are the largest
found, in units of the last place of the exact result. `tests/numerics/numerics.py --write` makes this file of
{points} points for each function and type, all 65,536 arguments for f16; `make check` measures fewer of the same
points again. `-`: there is no such instruction, or nothing to measure.

## Instructions

Bounds are those of the instruction descriptions in "AMD Instinct MI300 Instruction Set Architecture". The manual
gives none for sine and cosine; 1 is EHP's own. f32 instructions neither take nor give denormals, and such points do
not count.

{instructions}

## Math library

`sin` of f16 is missing because ROCm 5's library answers NaN for every finite argument, on a chip as well. Gamma and
Bessel functions are measured away from their zeros; `tests/numerics/functions.h` has the domains.

{library}

## Correct rounding

Compiled division and square roots of any bits, compared bit for bit with the host's.

{rounded}
"""


def measure(ehp, points):
    with tempfile.TemporaryDirectory(prefix="numerics-") as work:
        probe = subprocess.run([ehp, "cc", "-x", "hip", "-c", "-", "-o", f"{work}/probe.o"], input=b"int x;",
                               capture_output=True, check=False)
        if probe.returncode:
            print("skipped: no compiler for gfx942")
            sys.exit(77)
        subprocess.run([ehp, "cc", "-O2", "-Wall", "-Werror", str(HERE / "numerics.hip"), "-o", f"{work}/numerics"],
                       check=True)
        return subprocess.run([ehp, "run", f"{work}/numerics", str(points)], stdout=subprocess.PIPE, text=True,
                              check=False)


def parse(text):
    """{(kind, name, type): (figure, bound)} and {(name, type): (count, wrong)}"""
    errors, rounded = {}, {}
    for line in text.splitlines():
        words = line.split()
        if words and words[0] in ("instruction", "library"):
            errors[tuple(words[:3])] = float(words[3]), float(words[4])
        elif words and words[0] == "rounded":
            rounded[tuple(words[1:3])] = int(words[3]), int(words[4])
    return errors, rounded


def bound_text(bound):
    return "2^29" if bound == 2 ** 29 else f"{bound:g}"


def table(kind, errors):
    lines = ["| | " + " | ".join(TYPES) + " | bound " + " | bound ".join(TYPES) + " |", "|---" * 7 + "|"]
    for name in dict.fromkeys(n for k, n, _ in errors if k == kind):
        row = [errors.get((kind, name, t)) for t in TYPES]
        cells = [f"{r[0]:.3f}" if r else "-" for r in row] + [bound_text(r[1]) if r else "-" for r in row]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def document(errors, rounded, points):
    lines = ["| | type | arguments | wrong |", "|---|---|---|---|"]
    lines += [f"| {name} | {t} | {count:,} | {wrong} |" for (name, t), (count, wrong) in rounded.items()]
    return TEXT.format(points=f"{points:,}", instructions=table("instruction", errors),
                       library=table("library", errors), rounded="\n".join(lines))


def stated(text):
    """{(kind, name, type): figure} of a document."""
    figures, kind = {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            kind = {"## Instructions": "instruction", "## Math library": "library"}.get(line)
        row = re.match(r"\| `(\w+)` \| (.*) \|$", line)
        if row and kind:
            for t, cell in zip(TYPES, row[2].split(" | ")):
                if cell != "-":
                    figures[kind, row[1], t] = float(cell)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--ehp", required=True)
    parser.add_argument("--points", type=int, default=2048)
    parser.add_argument("--write", action="store_true", help="write the document instead of comparing with it")
    args = parser.parse_args()
    done = measure(args.ehp, args.points)
    errors, rounded = parse(done.stdout)
    print(done.stdout)
    if done.returncode:
        return 1
    if args.write:
        args.document.write_text(document(errors, rounded, args.points))
        return 0
    figures, bad = stated(args.document.read_text()), 0
    if figures.keys() != errors.keys():
        print(f"{args.document} has other rows: {sorted(figures.keys() ^ errors.keys())}")
        return 1
    for key, (figure, _) in errors.items():
        if figure > figures[key] + 0.002:  # another host's long double
            print(f"{' '.join(key)}: measured {figure}, {args.document} says {figures[key]}")
            bad += 1
    print(f"{len(errors)} functions measured on {args.points} points, {bad} worse than {args.document} says")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
