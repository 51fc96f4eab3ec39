#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""help.py EHP SOURCE: that --help, the manual and the completions tell all that there is: the environment variables
that the sources read, the commands and their options; and what the options set."""
import os
import pathlib
import re
import subprocess
import sys

EHP, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
failures = 0
for name in [n for n in os.environ if re.match(r"(EHP_(?!CHIPS)|HSA_|HIP_|ROCM_|GPU_)", n)]:
    del os.environ[name]


def check(what, wrong):
    global failures
    if wrong:
        print(f"FAILED: {what}: {wrong if wrong is True else ' '.join(sorted(map(str, wrong)))}")
        failures += 1


def text_of(*arguments):
    done = subprocess.run([EHP, *arguments], capture_output=True, text=True)
    check(f"status of {arguments}", done.returncode != 0)
    return done.stdout


# A variable's name is a string of its own wherever it is read, also where a helper or a condition chooses it.  The rest
# that looks so: counters, what is written into a file's table, and what is found in hip_version.h.
NAME = r"(?:EHP|HSA|HIP|HIPCC|HCC|GPU|ROCR|ROCM|AMD|CUDA|NVIDIA|LLVM|OMP)_[A-Z0-9_]+"
files = [f for room in ("src", "tools") for f in (SOURCE / room).rglob("*.[ch]") if f.name != "environment.c"]
code = "\n".join(f.read_text() for f in files)
others = set(re.findall(NAME, text_of("counters"))) | {n for n in re.findall(NAME, code) if n.startswith("HIP_VERSION_")}
read = set(re.findall(f'"({NAME})"', code)) - others
system = {"PATH", "HOME", "TERM", "LD_LIBRARY_PATH", "LD_PRELOAD", "MALLOC_ARENA_MAX"}
read |= set(re.findall(r'getenv\("(\w+)"\)', code)) - system
check("the sources read fewer variables than they did", len(read) < 30)


def listed(text):
    """The first words of the lines below "Environment"."""
    return set(re.findall(r"^  ([A-Z][A-Z0-9_]+)  ", text[text.index("\nEnvironment"):], re.M))


of_programs, of_compiler = listed(text_of("run", "--help")), listed(text_of("cc", "--help"))
check("read, and not in ehp run --help or ehp cc --help", read - of_programs - of_compiler)
check("in --help, and nobody reads it", (of_programs | of_compiler) - read)
main = text_of("--help")
check("not in ehp --help", {n for n in read if not re.search(rf"\b{n}\b", main)})
manual = (SOURCE / "man/ehp.1").read_text().replace("\\-", "-")
environment = manual[manual.index(".SH ENVIRONMENT"):manual.index(".SH FILES")]
named = set(re.findall(r"\b(?:[A-Z]+_[A-Z0-9_]+|TMPDIR)\b", environment))
check("the manual's variables are others", named ^ read)
check("lines too long for a terminal", {line for line in main.splitlines() + text_of("run", "--help").splitlines() if len(line) > 80})


def completed(*words):
    """What bash offers after those words."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ehp; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, "bash", SOURCE / "completions/ehp.bash", "ehp", *words],
                          capture_output=True, text=True)
    return set(done.stdout.split())


zsh = (SOURCE / "completions/_ehp").read_text()
commands = set(re.findall(r"^  ([a-z]+)  +\w", main[:main.index("Environment")], re.M))
check("too few commands in ehp --help", len(commands) < 10)
check("bash's commands are others", completed("") ^ commands ^ {"help"})
check("zsh's commands are others", set(re.findall(r"^        '([a-z]+):", zsh, re.M)) ^ commands ^ {"help"})
check("commands without a line in the manual", {c for c in commands if f"\n.TP\n.B {c}\n" not in manual})
machine = set(re.findall(r"--[a-z-]+", re.search(r"machine=\((.*?)\n    \)", zsh, re.S)[1]))
for command in sorted(commands - {"cc", "chips"}):
    options = set(re.findall(r"(?<![\w`-])--[a-z][a-z_-]+", re.sub(r"`[^`]*`", "", text_of(command, "--help"))))
    options -= {"--usage", "--help"}
    check(f"options of ehp {command} that bash does not complete", options - completed(command, "--"))
    block = re.search(rf"\n    {command}\)(.*?);;", zsh, re.S)[1]
    known = set(re.findall(r"--[a-z][a-z_-]*[a-z]", block)) | (machine if "$machine" in block else set())
    check(f"options of ehp {command} that zsh does not complete", options - known)
    if command == "run":
        check("too few options", len(options) < 15)
        check("options of ehp run that the manual has not", {o for o in options if f" {o}" not in manual})
    if command == "validate":
        groups = set(re.search(r"one of ([^;]*);", re.sub(r"\s+", " ", text_of(command, "--help")))[1].split(", "))
        check("groups that bash does not complete", groups - completed(command, ""))
        check("groups that zsh does not complete", groups - set(re.search(r"group:\(([^)]*)\)", block)[1].split()))


# What options set, over what the environment says.
def printed(*options, **environment):
    done = subprocess.run([EHP, "run", *options, "printenv", "HSA_XNACK", "HSA_ENABLE_SDMA", "EHP_ENGINE"], capture_output=True,
                          text=True, env={**os.environ, **environment})
    return done.stdout.split()


check("--xnack", printed("--xnack") != ["1"])
check("--xnack over HSA_XNACK=0", printed("--xnack", HSA_XNACK="0") != ["1"])
check("--no-sdma", printed("--no-sdma") != ["0"])
check("--no-sdma over HSA_ENABLE_SDMA=1", printed("--no-sdma", HSA_ENABLE_SDMA="1") != ["0"])
check("--engine", printed("--engine", "interpreter") != ["interpreter"])
check("--engine over EHP_ENGINE", printed("--engine", "auto", EHP_ENGINE="compiled") != ["auto"])
check("neither", printed() != [])
check("--engine in timing mode", printed("--mode=timing", "--engine=compiled") != ["compiled"])
check("XNACK in ehp info", [text_of("info").count(":xnack-"), text_of("info", "--xnack").count(":xnack+")] != [1, 1])
for option, value, names in (("mode", "fast", "functional, timing"), ("engine", "jit", "auto, interpreter, compiled"),
                             ("bounds", "on", "warn, fault, off")):
    refused = subprocess.run([EHP, "run", f"--{option}={value}", "true"], capture_output=True, text=True)
    check(f"--{option}={value}", refused.returncode != 2 or f'"{value}"; there are: {names}' not in refused.stderr)
# A name that is nearly one of these, and only such.
said = subprocess.run([EHP, "run", "true"], capture_output=True, text=True,
                      env={**os.environ, "EHP_MOD": "1", "EHP_TIMOUTT": "1", "EHP_MINE": "1", "EHP_CHIP": "mi300x"})
check("misspelt names", sorted(said.stderr.splitlines()) != ["ehp run: EHP_MOD is ignored; is EHP_MODE meant?",
                                                            "ehp run: EHP_TIMOUTT is ignored; is EHP_TIMEOUT meant?"])
refused = subprocess.run([EHP, "run", "--xnack", "--isolate", "true"], capture_output=True, text=True)
check("--xnack with --isolate", refused.returncode != 2 or "--xnack (HSA_XNACK=1)" not in refused.stderr)
sys.exit(failures != 0)
