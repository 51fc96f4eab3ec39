#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ends.py EHP PROGRAM HSACO MODE: however a program ends, what was asked for about it is there, and whole."""
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

ehp, program, hsaco, mode = sys.argv[1:]
failed = False
ENDS = {"exit": 7, "_exit": 7, "quick_exit": 7, "exec": 7, "fork": 7, "abort": -signal.SIGABRT, "crash": -signal.SIGSEGV,
        "term": -signal.SIGTERM, "int": -signal.SIGINT, "kill": -signal.SIGKILL, "hup": -signal.SIGHUP}


def check(ok, *what):
    global failed
    if not ok:
        print(*what)
        failed = True


def read_json(path):
    with open(path) as file:
        return json.load(file)


def read_killed(path):
    """Linux may stop the write of a process that is killed where a page ends: then the last dispatch is cut off."""
    with open(path) as file:
        text = file.read()
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        check(len(text) % 4096 == 0, path, "is cut off, but not where a page ends:", len(text))
        return json.loads(text[:text.rindex(",\n  {")] + "]")


def read_csv(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    check(rows and all(None not in row and None not in row.values() for row in rows), path, "is not whole:", rows[-1:])
    return rows


def dispatches(rows):
    return sum(int(row["dispatches"]) for row in rows if row["kernel"] == "store")


def check_advice(path, *what):
    advice = read_json(path)
    check(advice["saved"]["copied"] == 256 and len(advice["pairs"]) == 1, *what, "leaves the advice:", advice)


def command(*options, end):
    return [ehp, "run", "--mode", mode, *options, program, hsaco, end]


signal.signal(signal.SIGHUP, signal.SIG_DFL)  # a test run of nohup's hands on that it is ignored
with tempfile.TemporaryDirectory() as folder:
    os.environ["TMPDIR"] = os.path.join(folder, "tables")
    os.mkdir(os.environ["TMPDIR"])
    names = ("s.json", "s.csv", "m.csv", "c.json", "a.json")
    stats, table, memory, counters, advice = (os.path.join(folder, name) for name in names)
    counting = ["--counters", "all", "--counters-file", counters] if mode == "timing" else []

    for end, want in ENDS.items():
        ran = subprocess.run(command("--stats", "--memory", end=end), stderr=subprocess.PIPE, text=True)
        check(ran.returncode == want, end, "ends with", ran.returncode)
        check(ran.stderr.count("  3 launches of 1x1x1") == 1 and ran.stderr.count("memory in use:") == 1,
              end, "has said:", ran.stderr)
        ran = subprocess.run(command(f"--stats={stats}", f"--memory={memory}", *counting, end=end),
                             stderr=subprocess.PIPE, text=True)
        check(ran.returncode == want, end, "ends with", ran.returncode, "when files are written")
        check(dispatches(read_json(stats)) == 3, end, "has left", stats)
        read_csv(memory)
        if counting:
            check([row["dispatch"] for row in read_json(counters)] == [1, 2, 3], end, "has left", counters)
        ran = subprocess.run([ehp, "advise", f"--json={advice}", program, hsaco, end], stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "EHP_MODE": mode})
        check(ran.returncode == want, end, "ends with", ran.returncode, "when advice is asked for")
        check(ran.stderr.count("1 copies of 256 B between CPU and GPU") == 1, end, "is advised:", ran.stderr)
        check_advice(advice, end)
        os.unlink(advice)
    subprocess.run(command(f"--stats={table}", end="_exit"))
    check(dispatches(read_csv(table)) == 3, "_exit has left", table)

    for _ in range(10):
        ran = subprocess.run(command(end="hot"), env={**os.environ, "EHP_CACHE_DIR": ""}, timeout=60)
        check(ran.returncode == 7, "with functions that are compiled ends with", ran.returncode)

    # Ended from outside, in the middle: the program, or what looks after it.
    for how in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        for end in ("busy", "idle"):
            for options in (["--stats"], [f"--stats={stats}", f"--memory={memory}", *counting]):
                with subprocess.Popen(command(*options, end=end), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      text=True) as process:
                    process.stdout.readline()
                    time.sleep(0.05)
                    process.send_signal(how)
                    said = process.stderr.read()
                check(process.returncode == -how, end, "ends with", process.returncode)
                if len(options) == 1:
                    check("launches of 1x1x1" in said, end, how, "has said:", said)
                else:
                    check(dispatches(read_json(stats)) >= 3, end, how, "has left", stats)
                    read_csv(memory)
                    if counting:
                        check(len(read_killed(counters)) >= 3, end, how, "has left", counters)
                for name in os.listdir(folder):  # of a write that was going on; nobody is left who knew of it
                    if name.endswith("~"):
                        os.unlink(os.path.join(folder, name))

    # Who stops goes on; a pipe gets all at the end.
    with subprocess.Popen(command("--stats", end="stop"), stderr=subprocess.PIPE, text=True) as process:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        check(os.WIFSTOPPED(status), "does not stop with the program:", status)
        process.send_signal(signal.SIGCONT)
        check("  3 launches" in process.stderr.read() and process.wait() == 7, "is not continued")
    ran = subprocess.run(command("--stats=/dev/stdout", end="exit"), stdout=subprocess.PIPE, text=True)
    check(dispatches(json.loads(ran.stdout)) == 3, "a pipe gets", ran.stdout)

    # Nothing else is left: no half files, no tables.
    left = os.listdir(folder) + os.listdir(os.environ["TMPDIR"])
    check(set(left) <= {"tables", *names}, "is left:", left)
    # A link stays one, and the file its mode.
    os.chmod(stats, 0o600)
    os.symlink("s.json", os.path.join(folder, "link"))
    subprocess.run(command(f"--stats={folder}/link", end="_exit"))
    check(os.path.islink(os.path.join(folder, "link")) and os.stat(stats).st_mode & 0o777 == 0o600, "a link is lost")
    check(dispatches(read_json(stats)) == 3, "_exit has left", stats)
sys.exit(failed)
