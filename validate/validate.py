#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares published measurements with what the simulated chips do: the script behind `ehp validate`.

Each .hip file here is a small program that prints lines of `quantity at value`.  published.csv has the published
numbers: a quantity, where on its curve (`at`), the range it lies in, and where it comes from.  A row's kind says how
it counts: `seed`, `calibration`, `counter` and `upm` by their errors, `order` must lie in its range, `contradicts` is only
shown, for another source is followed.  Its nature says what agreement is worth: an `echo` is a figure of the chip file
that comes straight back, for a `fit` a dial of it was set by this number or by another measurement of the same, and a
`prediction` comes out of mechanisms.  An echo or a fit names its dials, keys of chips/*.cfg or isa/facts.def.  Where it
is known why a number is off, `known` says so: then it counts in the headline and in no limit.
"""
import argparse
import concurrent.futures
import csv
import html
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # an installed directory is not ours
import chipfile  # noqa: E402
import sensitivity  # noqa: E402
import svg  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CLOCK_GHZ = 2.1
LIMITS = {  # of errors: their median, and the worst or this percentile
    "seed": (5.0, 15.0, 100),
    "calibration": (10.0, 30.0, 95),
    "counter": (10.0, 30.0, 95),
    "upm": (10.0, 25.0, 100),
}
NATURES = ["prediction", "fit", "echo"]
ECHO_LIMIT = 10  # per cent; a stored figure comes back but for what surrounds it
CHIPS = ["mi300a", "mi300x"]  # on which a row that names none is compared
FACTS = "isa/facts.def"  # stands for a dial: how many passes an instruction takes


class Run:
    """One run of a program: its arguments, what else `ehp run` is told, and what it prints or counts."""

    def __init__(self, program, *arguments, near=False, sample=False, environment=None, counters=None, application=None,
                 node=None):
        self.program, self.arguments, self.environment = program, arguments, environment or {}
        # Variant, size and steps of one of apps/, which says how long it took and how much memory it had.
        self.application = application
        self.near = near  # on the XCDs of one IOD, with memory of its own
        self.node = node  # of several such chips
        self.sample = sample
        self.counters = counters  # what to call a counter: which dispatch it is of, and how many times it counts

    def options(self, chip):
        options = ["--sample"] if self.sample else []
        return options + (["--nps", "4", "--partition", "tpx" if "mi300a" in chip else "qpx"] if self.near else [])


class Application:
    """Both variants of one of apps/, at one or two sizes and numbers of steps.  `like` is the problem of which these
    tell time and memory: each is a sum of a start, what a step, what an item, and what an item in a step takes."""

    def __init__(self, name, sizes, steps=None, like=None, area=True, xnack=False):
        self.name, self.area, self.like = name, area, like or (sizes[-1], steps[-1] if steps else None)
        # The unified variant of some lets the GPU read what no allocator of HIP's has made.
        environment = {"HSA_XNACK": "1"} if xnack else None
        self.runs = []
        for size in sizes:
            for step in steps or [None]:
                arguments = ["--size", str(size)] + (["--steps", str(step)] if step else [])
                for variant in "explicit", "unified":
                    self.runs.append(Run(name, f"--{variant}", *arguments, application=(variant, size, step),
                                         environment=environment if variant == "unified" else None))

    def tell(self, points):
        """What {(size, steps): value} say of the problem."""
        def line(at, values):
            if len(values) == 1:
                return next(iter(values.values()))
            (x0, y0), (x1, y1) = sorted(values.items())
            return y0 + (y1 - y0) * (at - x0) / (x1 - x0)

        power = 2 if self.area else 1
        by_size = {}
        for (size, step), value in points.items():
            by_size.setdefault(size**power, {})[step] = value
        return line(self.like[0] ** power, {items: line(self.like[1], steps) for items, steps in by_size.items()})


def upm_stream(name, xnack=False):
    """The last dispatch has 18 of 512 MiB of each array."""
    return Run("upm_stream", f"stream_{name}", environment={"HSA_XNACK": "1"} if xnack else None,
               counters={f"stream_{name}/%s": (-1, 512 / 18)})


# Sizes, and what they stand for: see docs/applications.md.
APPLICATIONS = [
    Application("dwt2d", (840, 1008), like=(16384, None)),
    Application("hotspot", (512,)),
    Application("backprop", (65536,), area=False),
    Application("srad_v1", (256, 512), (2, 6), like=(16384, 100), xnack=True),
    Application("nn", (393216, 1048576), like=(600_000_000, None), area=False, xnack=True),
    Application("heartwall_v1", (609,), (2, 3), like=(609, 104)),
    Application("heartwall_v2", (609,), (2, 3), like=(609, 104)),
]

TIMED = {"host", "faults", *(a.name for a in APPLICATIONS)}  # programs whose host code takes simulated time

# What each group runs, and what its rows begin with.  Those that take longest come first.
GROUPS = {
    "occupancy": ([Run("occupancy", sample=True)], ["stream_stencil"]),
    "memory": ([Run("stream", "triad"), Run("stream", "memory_read"), Run("stream", "memory_write")], ["triad", "memory_"]),
    "infinity_cache": ([Run("infinity_cache", "infinity_cache_read", "1"), Run("infinity_cache", "infinity_cache_write", "1"),
                        Run("infinity_cache", "infinity_cache_peak", "4", near=True)], ["infinity_cache_"]),
    "fence": ([Run("fence")], ["fence_", "storm_", "message_", "ping_pong_"]),
    "l2": ([Run("l2", name) for name in ("l2_write", "l2_read", "l2_more_read", "l2_launch", "l2_wide_read", "l2_wide_write")],
           ["l2_"]),
    "atomics": ([Run("atomics", "atomics_"), Run("pingpong", "atomic_ping_pong")], ["atomics_", "atomic_"]),
    "latency": ([Run("latency"), Run("latency", "latency_between")],
                ["latency_", "reach_", "tlb_", "miss_", "size_", "line_"]),
    "vl1": ([Run("vl1")], ["vl1_", "sl1_"]),
    "litmus": ([Run("litmus")], ["litmus_"]),
    "host": ([Run("host"), Run("histogram")],
             ["core_to_core", "cpu_to_gpu", "loaded_", "host_", "overlap_", "histogram_"]),
    "node": ([Run("node", node="mi300a-x4")], ["node_"]),  # of chip files by themselves there are no nodes
    "upm-apps": ([run for a in APPLICATIONS for run in a.runs], ["app_"]),
    "counters": ([Run("counters", counters={"%s/copy": (0, 1), "%s/copy_2": (1, 1), "%s/copy_3": (2, 1), "%s/triad": (3, 32),
                                            "%s/set": (4, 32), "%s/copy_stream": (5, 32), "%s/scale": (6, 32),
                                            "%s/add": (7, 32)})], ["SQ", "TC", "EHP_READ", "EHP_WRITE"]),
    "rates": ([Run("rates"), Run("matrix")], ["rate_", "matrix_"]),
    "lds": ([Run("lds")], ["lds_"]),
    "launch": ([Run("launch")], ["launch_"]),
    "upm": ([Run("upm"), Run("faults"), Run("upm", environment={"HSA_XNACK": "1"}),
             *[upm_stream(name) for name in ("host", "managed", "registered", "static")],
             *[upm_stream(name, xnack=True) for name in ("malloc_cpu", "malloc_gpu", "managed_demand")]],
            ["alloc_", "free_", "fault_", "cpu_", "stream_"]),
    "copies": ([Run("copies", "copy_sdma", "copy_device"),
                Run("copies", "copy_kernel", environment={"HSA_ENABLE_SDMA": "0"})], ["copy_"]),
    "chip": ([Run("device"), Run("device", "device_partitions", near=True)],
             ["device_", "chip:"]),  # of the chip file alone: what stands behind the colon
}

# What is told of two others.
DIFFERENCES = {
    "miss_vl1": (("latency_vector", 256), ("latency_vector", 16)),
    "miss_l2": (("latency_vector", 16384), ("latency_vector", 1024)),
    "miss_sl1": (("latency_scalar", 256), ("latency_scalar", 4)),
}


def group_of(quantity):
    return next(g for g, (_, starts) in GROUPS.items() if any(quantity.startswith(s) for s in starts))


def runs_for(quantities, group):
    """Of a group, the runs that those quantities need."""
    for run in GROUPS[group][0]:
        if run.application:
            wanted = any(quantity.endswith(f"/{run.program}") for quantity in quantities)
        else:
            names = [a for a in run.arguments if not a.isdigit()]
            wanted = not names or any(q.startswith(name) for name in names for q in quantities)
        if wanted:
            yield run


def read_published():
    with open(HERE / "published.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for key in ("at", "low", "high"):
            row[key] = float(row[key])
        row["dials"] = row["dials"].split()
    return rows


def check_natures(rows, keys):
    """Raises what is wrong with what rows say that they hang on."""
    for row in rows:
        name = f"published.csv: {row['quantity']} at {row['at']:g}"
        if row["nature"] not in NATURES:
            raise RuntimeError(f"{name}: '{row['nature']}' is none of {', '.join(NATURES)}")
        if (row["nature"] == "prediction") != (not row["dials"]):
            raise RuntimeError(f"{name}: an echo or a fit names its dials, and a prediction has none")
        for dial in row["dials"]:
            if dial not in keys and dial != FACTS:
                raise RuntimeError(f"{name}: no chip file has a dial '{dial}'")


def build(ehp, program, work):
    places = [HERE / f"{program}.hip", HERE.parent / "apps" / f"{program}.hip"]
    source = next((p for p in places if p.exists()), places[0])
    built = subprocess.run([ehp, "cc", "-O2", "-std=c++17", "-munsafe-fp-atomics",
                            *(["--time-host"] if program in TIMED else []), str(source), "-o", str(work / program)],
                           capture_output=True, text=True)
    if built.returncode:
        raise RuntimeError(f"{program}.hip does not compile:\n{built.stderr}")


def execute(ehp, run, chip, work):
    """Runs a program on a chip; {(quantity, at): value}, and the seconds it took."""
    counts = work / f"{run.program}.{'.'.join(run.arguments)}.{pathlib.Path(chip).name}.json"
    command = [ehp, "run", "--mode", "timing", "--threads", "1", *(["--node", run.node] if run.node else ["--chip", chip]),
               *run.options(chip)]
    if run.counters:
        command += ["--counters=all", f"--counters-file={counts}"]
    began = time.monotonic()
    done = subprocess.run([*command, str(work / run.program), *run.arguments], capture_output=True, text=True,
                          env={**os.environ, **run.environment})
    seconds = time.monotonic() - began
    if done.returncode:
        raise RuntimeError(f"{run.program} on {chip} failed:\n{done.stderr}")
    values = {}
    if run.application:
        words = done.stdout.split("\n")[0].split()  # name variant total T ms compute C ms memory M bytes
        for what, value in zip(words[2::3], words[3::3]):
            values[f"app_{what}/{run.program}", run.application] = float(value)
        return values, seconds
    for line in done.stdout.splitlines():
        quantity, at, value = line.split()
        values[quantity, float(at)] = float(value)
    if run.counters:
        dispatches = json.loads(counts.read_text())
        for what, (index, times) in run.counters.items():
            for name, value in dispatches[index]["counters"].items():
                values[what % name, 0.0] = value * times / 1e3
    return values, seconds


def compare_variants(table):
    """Adds how much more or less the unified variant of an application takes than the explicit one, in per cent."""
    for app in APPLICATIONS:
        for what in "memory", "total", "compute":
            quantity = f"app_{what}/{app.name}"
            told = {}
            for variant in "explicit", "unified":
                points = {run.application[1:]: table.pop((quantity, run.application), None)
                          for run in app.runs if run.application[0] == variant}
                if None not in points.values():
                    told[variant] = app.tell(points)
            if len(told) == 2:
                table[quantity, 0.0] = 100 * (told["unified"] / told["explicit"] - 1)


def compare_allocators(table):
    """Adds how much longer a core's load takes from malloc's memory than from hipMalloc's, in per cent."""
    for (quantity, at), device in list(table.items()):
        if quantity == "cpu_chase_device" and ("cpu_chase", at) in table:
            table["cpu_chase_more", at] = 100 * (table["cpu_chase", at] / device - 1)


def complete(table, ehp, chip, quantities):
    """Adds to what programs printed what is worked out from it, or from the chip file."""
    compare_variants(table)
    compare_allocators(table)
    for quantity, (more, less) in DIFFERENCES.items():
        if more in table and less in table:
            table[quantity, 0.0] = table[more] - table[less]
    products = [quantity for quantity in quantities if quantity.startswith("chip:")]
    if products:
        numbers = chipfile.read_numbers(ehp, chip)
        for quantity in products:
            table[quantity, 0.0] = chipfile.evaluate(quantity.removeprefix("chip:"), numbers)


def in_unit(quantity, value, unit):
    if quantity.startswith("atomics"):
        return value / 1e6
    return value / CLOCK_GHZ if unit == "ns" and quantity.startswith(("latency", "tlb")) else value


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


def headline(rows):
    """Lines of text: per chip how far off predictions are, the worst by name, and apart from them fits and echoes.  Counts
    of instructions and requests are exact where the program is the same, unlike cycles: they stand by themselves."""
    parts = [("predictions", "prediction", False), ("predicted counts", "prediction", True), ("fits", "fit", None),
             ("echoes", "echo", None)]
    lines = []
    for chip in dict.fromkeys(r["on"] for r in rows):
        for title, nature, counts in parts:
            of = [r for r in rows if r["on"] == chip and r["nature"] == nature and r["kind"] in LIMITS
                  and counts in (None, r["kind"] == "counter" and not re.search("CYCLES|STALL", r["what"]))]
            if of:
                worst = max(of, key=lambda r: abs(r["error"]))
                middle = statistics.median(abs(r["error"]) for r in of)
                named = f" ({worst['what']})" if nature == "prediction" else ""
                lines.append(f"{pathlib.Path(chip).stem} {title + ':':17}{len(of):4} numbers, median error {middle:.1f} %, "
                             f"worst {abs(worst['error']):.1f} %{named}")
    return lines


def why_text(row):
    """The dials that a row hangs on, and why it is known to be off."""
    return "; ".join(filter(None, [" ".join(row["dials"]), row["known"] and f"known to be off, {row['known']}"]))


def nature_text(row):
    """What a row is, and why."""
    return ": ".join(filter(None, [row["nature"], why_text(row)]))


def passes(row):
    """Whether a row by itself keeps its limit."""
    if row["kind"] == "order":
        return not row["error"]
    return abs(row["error"]) <= (ECHO_LIMIT if row["nature"] == "echo" else LIMITS[row["kind"]][1])


def summary(rows):
    """Lines of text, and whether all limits hold: of each source's numbers but echoes, which would thin them out, and those
    that are known to be off."""
    lines, good = headline(rows), True
    known = [r for r in rows if r["known"] and r["kind"] != "contradicts"]
    rows = [r for r in rows if not r["known"]]
    echoes = [abs(r["error"]) for r in rows if r["kind"] in LIMITS and r["nature"] == "echo"]
    if echoes:
        ok = max(echoes) <= ECHO_LIMIT
        good &= ok
        lines.append(f"{'echoes:':13}{len(echoes):3} numbers, worst {max(echoes):.1f} % (limit {ECHO_LIMIT:.0f} %)"
                     f"{'' if ok else '  FAILED'}")
    for kind, (middle, end, p) in LIMITS.items():
        errors = [abs(r["error"]) for r in rows if r["kind"] == kind and r["nature"] != "echo"]
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
    if known:
        lines.append(f"{'known:':13}{len(known):3} known to be off and in no limit, of which {sum(map(passes, known))} would keep "
                     "it")
    return lines, good


def error_text(row):
    if row["kind"] == "order":
        return "WRONG" if row["error"] else "holds"
    return f"{row['error']:+.1f} {'p' if row['unit'] == '%' else '%'}"


def print_table(rows):
    """Figures first: a terminal that is too narrow loses sources, then dials."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    texts = [[r["on"], published_text(r), number(r["simulated"]), r["unit"], error_text(r), r["nature"], r["what"],
              why_text(r), r["source"] + (" (contradicted)" if r["kind"] == "contradicts" else "")] for r in rows]
    titles = ["chip", "published", "simulated", "unit", "error", "nature", "quantity", "dials, and why it is off", "source"]
    wide = [max(map(len, column)) for column in zip(titles, *texts)]
    for row in [titles, *texts]:
        cells = [f"{text:>{n}}" if title in ("published", "simulated", "error") else f"{text:{n}}"
                 for title, text, n in zip(titles, row, wide)]
        print(f"  {'  '.join(cells)}".rstrip()[:width])


class Progress:
    """On stderr: a line that is drawn over on a terminal, else one for each run."""

    def __init__(self, runs):
        self.runs, self.count, self.draws = runs, 0, sys.stderr.isatty()

    def done(self, run, chip, seconds):
        self.count += 1
        text = f"{self.count} of {self.runs} runs done: {run.program} on {chip}, {seconds:.0f} s"
        print(f"\r\033[K{text}" if self.draws else text, end="" if self.draws else "\n", file=sys.stderr, flush=True)

    def over(self):
        if self.draws:
            print("\r\033[K", end="", file=sys.stderr)


# What a curve is drawn over, by what its quantity begins with: title, axes.
CURVES = {
    "latency_vector": ("Vector loads", svg.Axis("footprint", log=2, binary=True), svg.Axis("cycles")),
    "latency_scalar": ("Scalar loads", svg.Axis("footprint", log=2, binary=True), svg.Axis("cycles")),
    "lds_read": ("LDS reads", svg.Axis("stride, dwords", log=2), svg.Axis("bytes a cycle")),
    "atomics_": ("Atomics on {1} elements, {0}", svg.Axis("work-items", log=10), svg.Axis("million a second", log=10)),
    "l2_read": ("L2 reads", svg.Axis("waves of those that fit, %"), svg.Axis("GB/s")),
    "l2_write": ("L2 writes", svg.Axis("footprint", log=2, binary=True), svg.Axis("GB/s")),
    "cpu_chase": ("Loads of a CPU core", svg.Axis("footprint", log=2, binary=True), svg.Axis("ns")),
}


def curve_points(name, chip, published, kinds):
    """The published points of a curve, in its unit; of a range, both ends."""
    points = set()
    for r in published:
        if r["quantity"] == name and r["chip"] in ("", chip) and r["kind"] in kinds:
            unit = CLOCK_GHZ if r["unit"] == "ns" and name.startswith("latency") else 1
            points |= {(r["at"], r["low"] * unit), (r["at"], r["high"] * unit)}
    return sorted(points)


def curves(values, published):
    """Pictures of the quantities that have three points and more."""
    pictures = []
    for name in sorted({q for points in values.values() for q, at in points if at}):
        begin = next((b for b in CURVES if name.startswith(b)), None)
        lines = {chip: sorted((at, in_unit(q, v, "")) for (q, at), v in table.items() if q == name)
                 for chip, table in sorted(values.items())}
        if not begin or max(map(len, lines.values())) < 3:
            continue
        title, x, y = CURVES[begin]
        series = []
        for colour, (chip, points) in enumerate(lines.items()):
            chip = pathlib.Path(chip).stem
            if points:
                series.append(svg.Series(f"{chip}, simulated", points, colour))
            for what, mark, kinds in (("published", "ring", LIMITS), ("contradicted", "cross", ["contradicts"])):
                points = curve_points(name, chip, published, kinds)
                if points:
                    series.append(svg.Series(f"{chip}, {what}", points, colour, mark, joined=False))
        pictures.append(svg.chart(title.format(*name.removeprefix(begin).split("_")), x, y, series))
    return "\n".join(pictures)


def write_html(path, rows, lines, values, published):
    cells = []
    for r in rows:
        texts = [r["on"], r["what"], published_text(r), number(r["simulated"]), r["unit"],
                 "" if r["kind"] == "order" else f"{r['error']:+.1f}", r["kind"], nature_text(r), r["source"]]
        bad = r["kind"] == "order" and r["error"] or r["kind"] == "seed" and abs(r["error"]) > 15
        cells.append(f"<tr{' class=bad' if bad else ''}>" + "".join(f"<td>{html.escape(t)}</td>" for t in texts) + "</tr>")
    path.write_text(f"""<!doctype html><html lang=en><meta charset=utf-8><title>EHP: published and simulated</title>
<meta name=viewport content="width=device-width"><style>:root{{color-scheme:light dark}}
body{{font:15px sans-serif;max-width:84em;margin:2em auto;padding:0 1em}}td,th{{padding:2px 9px;text-align:left}}
tr:nth-child(even){{background:#8882}}.bad{{color:#d33}}svg{{max-width:100%;height:auto;margin:.5em}}</style>
<h1>Published and simulated</h1><pre>{html.escape(chr(10).join(lines))}</pre>
{curves(values, published)}
<table><tr><th>chip<th>quantity<th>published<th>simulated<th>unit<th>error, %<th>kind<th>nature<th>source</tr>
{chr(10).join(cells)}</table>
""")


MARKS = ("<!-- begin: ehp validate --markdown -->\n", "<!-- end -->\n")
PAGE = """<!-- Generated by `{command} --markdown FILE`, and all of it by `make validate`: what is written by hand is lost. -->
# Published and simulated

What `{command}` found: each published number, the one that a program in `validate/` measured on the simulated chip,
in simulated time, and where the published one comes from. An error is the distance from the published range, in points
where shares are compared. `ehp validate --only NAME` measures a part again, by its heading's name.
[accuracy.md](accuracy.md) says what is known to be off, and why.

What agreement is worth is the nature of a row, and the headline's errors are of predictions:

- *echo*: a figure of the chip file that comes straight back, in another unit or times a count of units; rates of
  arithmetic are also the passes of `isa/facts.def`. It shows that nothing is in the figure's way.
- *fit*: a dial of the chip file was set by this number, or by another measurement of the same quantity. It names the dials,
  whose sources `ehp chips show` prints.
- *prediction*: comes out of mechanisms; no dial was set by it. Counters of other things than cycles
  (instructions, waves, requests) are apart, as most follow from the program and none tells whether times are right.
  All errors count, the worst by its name.

Where it is known why a number is off, it says so. Such numbers count in the headline's errors like all others, but in none
of the limits below, which would then say nothing of the rest.

`ehp validate --sensitivity --only NAME [DIAL...]` moves dials by a tenth and prints which rows move by how much: a row that
moves as much as one dial is an echo of it.

Where the numbers come from, each with limits that must hold, but for echoes, which have their own:

- *seed*: from the sources that the model follows first;
- *calibration*: from the others; *counter*: what rocprofv3 would count; *upm*: unified memory's prices;
- *order*: a statement that must hold; *contradicted*: another source says otherwise, and is followed.

"""


def write_markdown(path, rows, lines, command):
    """A page of all rows; into a file that has the marks, only the summary between them."""
    text = "".join(f"    {line}\n" for line in lines)
    if path.exists() and all(mark in path.read_text() for mark in MARKS):
        before, rest = path.read_text().split(MARKS[0], 1)
        path.write_text(before + MARKS[0] + text + MARKS[1] + rest.split(MARKS[1], 1)[1])
        return
    parts = {}
    for r in rows:
        unit = " points" if r["unit"] == "%" else " %"
        error = ("holds" if not r["error"] else "does not hold") if r["kind"] == "order" else f"{r['error']:+.1f}{unit}"
        kind = "contradicted" if r["kind"] == "contradicts" else r["kind"]
        parts.setdefault(group_of(r["quantity"]), []).append(
            f"| {r['on']} | {r['what']} | {published_text(r)} | {number(r['simulated'])} | {r['unit']} | {error} | "
            f"{nature_text(r)} | {r['source']} ({kind}) |\n")
    head = "| chip | quantity | published | simulated | | error | nature | source |\n"
    head += "|---|---|---:|---:|---|---:|---|---|\n"
    tables = "".join(f"\n## {group}\n\n{head}{''.join(part)}" for group, part in parts.items())
    path.write_text(PAGE.format(command=command) + text + tables)


def move_dials(ehp, args, rows):
    """What `--sensitivity` does; whether all dials were moved."""
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        work, built = pathlib.Path(scratch), set()

        def measure(chip, of):
            quantities = {r["quantity"] for r in rows if r["on"] == of}
            runs = [run for group in dict.fromkeys(map(group_of, sorted(quantities))) for run in runs_for(quantities, group)]
            for program in {run.program for run in runs} - built:
                build(ehp, program, work)
                built.add(program)
            table = {}
            for values, _ in pool.map(lambda run: execute(ehp, run, chip, work), runs):
                table.update(values)
            complete(table, ehp, chip, quantities)
            return table

        dials = args.dials or list(dict.fromkeys(dial for r in rows for dial in r["dials"] if dial != FACTS))
        return sensitivity.tell(ehp, dials, rows, measure, work, args.seconds)


def main():
    parser = argparse.ArgumentParser(prog="ehp validate", description="Runs small programs on the simulated chips and "
                                     "prints published numbers beside the simulated ones.",
                                     epilog="Each row has a nature: an echo is a figure of the chip file that comes "
                                     "straight back, a fit has set a dial of it, a prediction comes out of mechanisms. An "
                                     "echo or a fit names its dials, whose sources `ehp chips show` prints. The headline "
                                     "has the errors of each chip's predictions first, the worst by its name.")
    parser.add_argument("--only", metavar="GROUP", action="append", choices=GROUPS,
                        help="one of " + ", ".join(GROUPS) + "; may be repeated")
    parser.add_argument("--chip", action="append", help="mi300a or mi300x, or a chip file: all numbers on that chip "
                        "(each on the chip that it was measured on)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the rows as JSON")
    parser.add_argument("--html", type=pathlib.Path, metavar="FILE", help="write a page with the rows and curves")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE", action="append", default=[],
                        help="write a page of the rows; into a file that has the marks of the README, the summary between "
                        "them; may be repeated")
    parser.add_argument("--sensitivity", action="store_true", help="move each DIAL by a tenth (those that the rows name), and "
                        "print which rows move by how much")
    parser.add_argument("--seconds", type=int, default=600, help="begin no other dial after that many (600)")
    parser.add_argument("dials", metavar="DIAL", nargs="*", help="with --sensitivity: a key of `ehp chips keys`")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time (all cores)")
    args = parser.parse_args(sys.argv[2:])
    ehp = sys.argv[1]
    for path in filter(None, (args.json, *args.markdown, args.html)):  # rather than when it has run for an hour
        if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
            shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(path))
            sys.exit(f"ehp validate: {shown}: cannot write there")

    for chip in args.chip or []:
        known = subprocess.run([ehp, "chips", "show", chip], capture_output=True, text=True)
        if known.returncode:
            sys.exit("ehp validate: " + known.stderr.strip().removeprefix("ehp: "))
        if re.search(r"^ *0 XCDs,", known.stdout, re.M):
            sys.exit(f"ehp validate: {chip} has no XCDs: what was published is of GPUs, or measured beside one")

    published = read_published()
    if args.dials and not args.sensitivity:
        parser.error("a DIAL needs --sensitivity")
    try:
        keys = chipfile.read_keys(ehp)
        check_natures(published, keys)
        for dial in args.dials:
            if dial not in keys:
                raise RuntimeError(f"no chip file has a dial '{dial}'; `ehp chips keys` lists them")
    except RuntimeError as error:
        sys.exit(f"ehp validate: {error}")
    published = [r for r in published if not args.only or group_of(r["quantity"]) in args.only]
    rows = []
    for r in published:
        for chip in args.chip or ([r["chip"]] if r["chip"] else CHIPS):
            if group_of(r["quantity"]) != "node" or chip == r["chip"]:
                rows.append(dict(r, on=chip))
    if args.sensitivity:
        sys.exit(0 if move_dials(ehp, args, rows) else 1)
    jobs = []
    for group in GROUPS:
        for chip in dict.fromkeys(r["on"] for r in rows if group_of(r["quantity"]) == group):
            needed = {r["quantity"] for r in rows if r["on"] == chip}
            jobs += [(run, chip) for run in runs_for(needed, group)]
    values, failed, began = {}, [], time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        work = pathlib.Path(scratch)
        progress = Progress(len(jobs))
        built = {program: pool.submit(build, ehp, program, work) for program in dict.fromkeys(r.program for r, _ in jobs)}
        for job in built.values():
            try:
                job.result()
            except RuntimeError as error:
                failed.append(str(error))
        running = {pool.submit(execute, ehp, run, chip, work): (run, chip) for run, chip in jobs if not failed}
        for job in concurrent.futures.as_completed(running):
            run, chip = running[job]
            try:
                printed, seconds = job.result()
                values.setdefault(chip, {}).update(printed)
                progress.done(run, chip, seconds)
            except RuntimeError as error:
                failed.append(str(error))
    for chip in dict.fromkeys(r["on"] for r in rows):
        try:
            complete(values.setdefault(chip, {}), ehp, chip, {r["quantity"] for r in rows if r["on"] == chip})
        except RuntimeError as error:
            failed.append(str(error))
    progress.over()
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
    print("\n".join([""] + lines + [f"{len(jobs)} runs in {time.monotonic() - began:.0f} s"]))
    for text in failed:
        print(f"ehp validate: {text}", file=sys.stderr)
    if args.json:
        args.json.write_text(json.dumps(shown, indent=1) + "\n")
    command = " ".join(["ehp validate", *(f"--only {g}" for g in args.only or []), *(f"--chip {c}" for c in args.chip or [])])
    for path in args.markdown:
        write_markdown(path, shown, lines, command)
    if args.html:
        write_html(args.html, shown, lines, values, published)
    sys.exit(0 if good and not failed else 1)


if __name__ == "__main__":
    try:
        try:
            main()
        finally:
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is left of the output
        sys.exit(f"ehp validate: cannot write {error.filename or 'the output'}: {error.strerror}")
