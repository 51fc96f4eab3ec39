#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares published measurements with what the simulated chips do: the script behind `ehp validate`.

Each .hip file here is a small program that prints lines of `quantity at value`.  published.csv has the published
numbers: a quantity, where on its curve (`at`), the range it lies in, and where it comes from.  A row's kind says how
it counts: `seed` and `calibration` by their errors, `order` must lie in its range, `contradicts` is only shown, for
another source is followed.
"""
import argparse
import concurrent.futures
import csv
import html
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CLOCK_GHZ = 2.1
LIMITS = {"seed": (5.0, 15.0, 100), "calibration": (10.0, 30.0, 95)}  # median, and the worst or this percentile
GROUPS = {
    "latency": ["latency_vector", "latency_scalar", "latency_lds"],
    "rates": ["rate_"],
    "launch": ["launch_"],
    "fence": ["fence_", "storm_", "message_", "ping_pong_"],
    "atomics": ["atomics_"],
    "bandwidth": ["l2_read", "triad"],
    "litmus": ["litmus_"],
}


def group_of(quantity):
    return next(g for g, starts in GROUPS.items() if any(quantity.startswith(s) for s in starts))


def read_published():
    with open(HERE / "published.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for key in ("at", "low", "high"):
            row[key] = float(row[key])
    return rows


def run(ehp, group, chip, work):
    """Builds and runs a group's program on a chip; {(quantity, at): value}."""
    program = work / group
    command = [ehp, "run", "--mode", "timing", "--threads", "1", "--chip", chip, str(program)]
    if not program.exists():
        built = subprocess.run([ehp, "cc", "-O2", "-std=c++17", "-munsafe-fp-atomics", str(HERE / f"{group}.hip"), "-o",
                                f"{program}.{chip}"], capture_output=True, text=True)
        if built.returncode:
            raise RuntimeError(f"{group}.hip does not compile:\n{built.stderr}")
        os.replace(f"{program}.{chip}", program)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{group} on {chip} failed:\n{done.stderr}")
    values = {}
    for line in done.stdout.splitlines():
        quantity, at, value = line.split()
        values[quantity, float(at)] = float(value)
    return values


def in_unit(quantity, value, unit):
    return value / CLOCK_GHZ if unit == "ns" and quantity.startswith("latency") else value


def error_of(row, value):
    """Per cent from the range; of shares, in points."""
    if row["low"] <= value <= row["high"]:
        return 0.0
    nearest = row["low"] if value < row["low"] else row["high"]
    return value - nearest if row["unit"] == "%" else 100 * (value - nearest) / nearest if nearest else 100.0


def number(value):
    if abs(value) >= 1e5:
        return f"{value:.3g}"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def published_text(row):
    if row["kind"] == "order" and row["high"] >= 1000:
        return "some" if row["unit"] == "" else "more"
    return number(row["low"]) if row["low"] == row["high"] else f"{number(row['low'])}-{number(row['high'])}"


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, max(0, -(-len(values) * p // 100) - 1))]


def summary(rows):
    """Lines of text, and whether all limits hold."""
    lines, good = [], True
    for kind, (middle, end, p) in LIMITS.items():
        errors = [abs(r["error"]) for r in rows if r["kind"] == kind]
        if not errors:
            continue
        median, worst = statistics.median(errors), percentile(errors, p)
        ok = median <= middle and worst <= end
        good &= ok
        name = "worst" if p == 100 else f"{p}th percentile"
        lines.append(f"{kind + ':':13}{len(errors):3} numbers, median error {median:.1f} % (limit {middle:.0f} %), "
                     f"{name} {worst:.1f} % (limit {end:.0f} %){'' if ok else '  FAILED'}")
    orders = [r for r in rows if r["kind"] == "order"]
    if orders:
        wrong = [r for r in orders if r["error"]]
        good &= not wrong
        lines.append(f"{'order:':13}{len(orders):3} statements, {len(wrong)} do not hold{'  FAILED' if wrong else ''}")
    return lines, good


def print_table(rows):
    width = shutil.get_terminal_size((110, 0)).columns
    what = max(len(r["what"]) for r in rows)
    print(f"  {'chip':7} {'quantity':{what}} {'published':>11} {'simulated':>10} {'unit':7} {'error':>8}  source")
    for r in rows:
        unit = "points" if r["unit"] == "%" else "%"
        error = ("holds" if not r["error"] else "WRONG") if r["kind"] == "order" else f"{r['error']:+.1f} {unit[0]}"
        line = (f"  {r['on']:7} {r['what']:{what}} {published_text(r):>11} {number(r['simulated']):>10} {r['unit']:7} "
                f"{error:>8}  {r['source']}{' (contradicted)' if r['kind'] == 'contradicts' else ''}")
        print(line if len(line) <= width else line[: width - 1])


def curves(values, published):
    """SVG pictures of the quantities that have more than one point, by gnuplot."""
    if not shutil.which("gnuplot"):
        return "<p>Curves are drawn when gnuplot is installed (Debian: gnuplot-nox).</p>"
    pictures = []
    names = sorted({q for points in values.values() for q, at in points if at})
    for name in names:
        points = [(r["at"], (r["low"] + r["high"]) / 2) for r in published
                  if r["quantity"] == name and r["unit"] != "ns" and r["kind"] != "order"]
        blocks, plots = [], []
        for chip, table in values.items():
            line = sorted((at, v) for (q, at), v in table.items() if q == name)
            if line:
                blocks.append("\n".join(f"{a} {v}" for a, v in line))
                plots.append(f"'-' with linespoints lw 2 title 'simulated, {chip}'")
        if points:
            blocks.append("\n".join(f"{a} {v}" for a, v in sorted(points)))
            plots.append("'-' with points pt 7 ps 0.7 title 'published'")
        script = (f"set terminal svg size 640,400 background '#ffffff'\nset logscale x 2\nset key left top\n"
                  f"set title '{name.replace('_', ' ')}'\nset grid\nplot {', '.join(plots)}\n"
                  + "".join(block + "\ne\n" for block in blocks))
        picture = subprocess.run(["gnuplot"], input=script, capture_output=True, text=True)
        start = picture.stdout.find("<svg")
        pictures.append(picture.stdout[start:] if start >= 0 else f"<pre>{html.escape(picture.stderr)}</pre>")
    return "\n".join(pictures)


def write_html(path, rows, lines, values, published):
    cells = []
    for r in rows:
        texts = [r["on"], r["what"], published_text(r), number(r["simulated"]), r["unit"],
                 "" if r["kind"] == "order" else f"{r['error']:+.1f}", r["kind"], r["source"]]
        bad = r["kind"] == "order" and r["error"] or r["kind"] == "seed" and abs(r["error"]) > 15
        cells.append(f"<tr{' class=bad' if bad else ''}>" + "".join(f"<td>{html.escape(t)}</td>" for t in texts) + "</tr>")
    path.write_text(f"""<!doctype html><meta charset=utf-8><title>EHP: published and simulated</title>
<style>body{{font:15px sans-serif;max-width:70em;margin:2em auto}}td,th{{padding:2px 9px;text-align:left}}
tr:nth-child(even){{background:#f2f2f2}}.bad{{color:#b00}}svg{{margin:1em}}</style>
<h1>Published and simulated</h1><pre>{html.escape(chr(10).join(lines))}</pre>
<table><tr><th>chip<th>quantity<th>published<th>simulated<th>unit<th>error, %<th>kind<th>source</tr>
{chr(10).join(cells)}</table>
{curves(values, published)}
""")


def main():
    parser = argparse.ArgumentParser(prog="ehp validate", description="Runs small programs on the simulated chips and "
                                     "prints published numbers beside the simulated ones.")
    parser.add_argument("--only", metavar="GROUP", action="append", choices=GROUPS,
                        help="one of " + ", ".join(GROUPS) + "; may be repeated")
    parser.add_argument("--chip", action="append", help="mi300a or mi300x, or a chip file: all numbers on that chip "
                        "(each on the chip that it was measured on)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the rows as JSON")
    parser.add_argument("--html", type=pathlib.Path, metavar="FILE", help="write a page with the curves")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time (all cores)")
    args = parser.parse_args(sys.argv[2:])
    ehp = sys.argv[1]

    published = [r for r in read_published() if not args.only or group_of(r["quantity"]) in args.only]
    rows = []
    for r in published:
        for chip in args.chip or [r["chip"] or "mi300a"]:
            rows.append(dict(r, on=chip))
    wanted = sorted({(group_of(r["quantity"]), r["on"]) for r in rows}, key=lambda w: list(GROUPS).index(w[0]))
    # The longest first.
    wanted.sort(key=lambda w: w[0] not in ("latency", "bandwidth", "atomics"))
    values, failed = {}, []
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = {pool.submit(run, ehp, group, chip, pathlib.Path(work)): (group, chip) for group, chip in wanted}
        for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
            group, chip = jobs[job]
            if sys.stderr.isatty():
                print(f"\r{done} of {len(jobs)} programs run", end="", file=sys.stderr)
            try:
                values.setdefault(chip, {}).update(job.result())
            except RuntimeError as error:
                failed.append(str(error))
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    shown = []
    for r in rows:
        value = values.get(r["on"], {}).get((r["quantity"], r["at"]))
        if value is None:
            if not failed:
                failed.append(f"no program printed {r['quantity']} at {r['at']:g}")
            continue
        value = in_unit(r["quantity"], value, r["unit"])
        shown.append(dict(r, simulated=value, error=error_of(r, value)))
    if shown:
        print_table(shown)
    lines, good = summary(shown)
    print("\n".join([""] + lines))
    for text in failed:
        print(f"ehp validate: {text}", file=sys.stderr)
    if args.json:
        args.json.write_text(json.dumps(shown, indent=1) + "\n")
    if args.html:
        write_html(args.html, shown, lines, values, published)
    sys.exit(0 if good and not failed else 1)


if __name__ == "__main__":
    main()
