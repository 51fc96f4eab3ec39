# SPDX-License-Identifier: MIT
"""`ehp validate --sensitivity`: which published rows move by how much when a dial of the chip file is moved by a tenth.  A
row that moves as much as one dial is an echo of it."""
import pathlib
import shutil
import subprocess
import sys
import time

import chipfile

LEAST = 0.5  # per cent: less than this is not shown


def move_dial(ehp, chip, dial, work):
    """A chip file with the dial moved by a tenth, a whole number by one at least; its path and by how many per cent."""
    old = chipfile.read_numbers(ehp, chip).get(dial)
    if not old:
        raise RuntimeError(f"{chip} has no number {dial} that a tenth moves")
    new = max(round(old * 1.1), old + 1) if old == int(old) else old * 1.1
    room, key = dial.split(".")
    path = work / f"{chip}-{dial}.cfg"
    path.write_text(f'base = "{chip}";\n{room}: {{ {key} = ({new:.12g}, "guess: moved by a tenth"); }};\n')
    known = subprocess.run([ehp, "chips", "show", str(path)], capture_output=True, text=True)
    if known.returncode:
        raise RuntimeError(known.stderr.strip().removeprefix("ehp: ").replace(f"{work}/", ""))
    return str(path), 100 * (new / old - 1)


def print_moves(chip, dial, share, rows, before, after):
    """The rows that moved, those that moved most first."""
    moves = []
    for row in rows:
        old, new = (table.get((row["quantity"], row["at"])) for table in (before, after))
        if old and new is not None and abs(new / old - 1) * 100 >= LEAST:
            moves.append((100 * (new / old - 1), row["what"]))
    width = shutil.get_terminal_size((110, 0)).columns
    print(f"{chip}, {dial} {share:+.1f} %:" + ("" if moves else " moves no row"))
    for move, what in sorted(moves, key=lambda m: -abs(m[0])):
        print(f"  {move:+7.1f} %  {what}"[: width - 1])
    sys.stdout.flush()


def tell(ehp, dials, rows, measure, work, seconds):
    """Moves each dial on each chip of the rows.  `measure(chip, of)` gives {(quantity, at): value} of the chip file `chip` for
    what is compared on `of`.  What does not begin within `seconds` is named; whether all was done."""
    began, left = time.monotonic(), []
    for chip in dict.fromkeys(row["on"] for row in rows):
        before = measure(chip, chip)
        for index, dial in enumerate(dials):
            if time.monotonic() - began > seconds:
                left.append(f"{dial} on {chip}")
                continue
            print(f"{chip}: dial {index + 1} of {len(dials)}, {dial}", file=sys.stderr, flush=True)
            try:
                path, share = move_dial(ehp, chip, dial, pathlib.Path(work))
                print_moves(chip, dial, share, [row for row in rows if row["on"] == chip], before, measure(path, chip))
            except RuntimeError as error:
                print(f"{chip}, {dial}: {error}")
    if left:
        print(f"ehp validate: after {seconds} s these were left: {', '.join(left)}", file=sys.stderr)
    return not left
