#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""links.py SOURCE: what pages link to is there, headings included, and so is every page that any file names."""
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1])
failures = 0


def check(good, what):
    global failures
    if not good:
        print(f"FAILED: {what}")
        failures += 1


def anchors(text):
    """Of the headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    heads = re.findall(r"^#+ +(.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                        capture_output=True, text=True)
if listed.returncode:
    sys.exit(77)  # not a repository
files = [SOURCE / name for name in listed.stdout.split("\0") if name and (SOURCE / name).is_file()]
pages = [file for file in files if file.suffix == ".md"]
links = 0
for page in pages:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        to = page.parent / name if name else page
        links += 1
        check(to.exists(), f"{page.relative_to(SOURCE)}: no {target}")
        if anchor and to.exists():
            check(anchor in anchors(to.read_text()), f"{page.relative_to(SOURCE)}: no heading {target}")
check(links > 30, f"only {links} links")
# Pages named in comments, messages and the manual.
for file in files:
    try:
        text = file.read_text()
    except UnicodeDecodeError:
        continue
    for name in set(re.findall(r"\bdocs/[\w-]+\.md\b", text)):
        check((SOURCE / name).exists(), f"{file.relative_to(SOURCE)} names {name}")
# What pages name of the tree, but for placeholders.
ROOMS = r"(?:src|include|tools|tests|validate|scripts|chips|isa|bench|examples|apps|docs)"
for page in pages:
    for name in set(re.findall(rf"`({ROOMS}/[\w./-]+)`", page.read_text())):
        check((SOURCE / name).exists() or "TARGET" in name, f"{page.relative_to(SOURCE)} names {name}")
# A page that nobody links to is not found.
linked = " ".join(page.read_text() for page in pages)
for page in pages:
    check(page.name in linked or page.name == "README.md", f"nothing links to {page.relative_to(SOURCE)}")
sys.exit(failures != 0)
