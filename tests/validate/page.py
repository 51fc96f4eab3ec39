#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page.py SOURCE: docs/validation.md has the rows of published.csv, and the README its summary."""
import csv
import pathlib
import sys

SOURCE = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "validate"))
import validate  # noqa: E402

page = (SOURCE / "docs/validation.md").read_text()
rows = {tuple(cell.strip() for cell in line.strip("|\n").split("|")) for line in page.splitlines() if line.startswith("| mi300")}
shown = {(cells[0], cells[1], cells[2], cells[6], cells[7]) for cells in rows}
wanted = set()
with open(SOURCE / "validate/published.csv", newline="") as file:
    for row in csv.DictReader(file):
        row.update(low=float(row["low"]), high=float(row["high"]))
        kind = "contradicted" if row["kind"] == "contradicts" else row["kind"]
        row["dials"] = row["dials"].split()
        for chip in [row["chip"]] if row["chip"] else validate.CHIPS:
            wanted.add((chip, row["what"], validate.published_text(row), validate.nature_text(row), f"{row['source']} ({kind})"))
for row in sorted(wanted ^ shown):
    print("only in", "published.csv:" if row in wanted else "docs/validation.md:", *row)
summary = [line for line in page.splitlines() if line.startswith("    ")]
readme = (SOURCE / "README.md").read_text()
between = readme.split(validate.MARKS[0])[1].split(validate.MARKS[1])[0].splitlines()
if between != summary:
    print("README.md has another summary than docs/validation.md")
if wanted != shown or between != summary:
    sys.exit("make validate renews both")
