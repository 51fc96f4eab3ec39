# SPDX-License-Identifier: MIT
# The short way in; Meson does the work. `make demo` and `make check` install what is missing on Debian first.
BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
SECONDS ?= 60
JOBS    ?= $(shell nproc 2>/dev/null || echo 1)

MESON_SETUP = meson setup --prefix=$(abspath $(PREFIX)) --libdir=lib

.PHONY: all product demo check check-long asan tsan fuzz debug bench validate examples format lint install clean help
all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) -j $(JOBS)

product: $(BUILD)/build.ninja ## build the command and the libraries, without tests
	@ninja -C $(BUILD) -j $(JOBS) product

$(BUILD)/build.ninja:
	@command -v meson >/dev/null && command -v ninja >/dev/null || { scripts/bootstrap --list build; exit 1; }
	@$(MESON_SETUP) --buildtype=release $(BUILD)

demo:           ## build, run a prebuilt code object, then compile and run the examples
	@BUILD=$(BUILD) JOBS=$(JOBS) scripts/demo

check:          ## build, run every test, lint, run the README's commands
	@BUILD=$(BUILD) JOBS=$(JOBS) scripts/check

check-long:     ## the tests that take long as well, those of asan and tsan, and each fuzzer for a moment
	@BUILD=$(BUILD) JOBS=$(JOBS) scripts/check --long

examples: product   ## compile and run the examples
	@BUILD=$(BUILD) scripts/run-examples

asan:           ## run the tests under the address and undefined behaviour sanitizers, but for the compiler driver's
	@scripts/bootstrap build
	@[ -f $(BUILD)-asan/build.ninja ] || $(MESON_SETUP) --buildtype=debugoptimized \
	    -Db_sanitize=address,undefined -Db_lundef=false $(BUILD)-asan
	@ninja -C $(BUILD)-asan -j $(JOBS)
	@LSAN_OPTIONS=print_suppressions=0:suppressions=$(CURDIR)/tests/leaks.supp meson test -C $(BUILD)-asan \
	    --print-errorlogs --no-rebuild -t 6 --no-suite cc --no-suite long

# Programs of several threads.
TSAN_TESTS = hip_stress_functional hip_stress_timing hip_captures_functional hip_captures_timing \
    hip_graph_execs_functional hip_graph_execs_timing hip_streams_mi300a hip_streams_timing hip_device_mi300a

tsan:           ## run timing mode's parts, HIP calls of many threads, and the examples under the thread sanitizer
	@scripts/bootstrap build compile
	@[ -f $(BUILD)-tsan/build.ninja ] || $(MESON_SETUP) --buildtype=debugoptimized \
	    -Db_sanitize=thread -Db_lundef=false -Dc_args=-Wno-tsan $(BUILD)-tsan
	@ninja -C $(BUILD)-tsan -j $(JOBS)
	@meson test -C $(BUILD)-tsan --print-errorlogs --no-rebuild -t 10 --suite mem --suite cu
	@meson test -C $(BUILD)-tsan --print-errorlogs --no-rebuild -t 10 $(TSAN_TESTS)
	@BUILD=$(BUILD)-tsan EHP_MODE=timing EHP_THREADS=3 EHP_EXAMPLE_TIMEOUT=600 EHP_EXAMPLE_PRELOAD=$$($(CC) -print-file-name=libtsan.so) \
	    scripts/run-examples

debug:          ## build for a debugger in $(BUILD)-debug
	@[ -f $(BUILD)-debug/build.ninja ] || $(MESON_SETUP) --buildtype=debug $(BUILD)-debug
	@ninja -C $(BUILD)-debug -j $(JOBS)

fuzz: product   ## every fuzzer for SECONDS (60) each, with a summary; see tests/fuzz/run.sh
	@BUILD=$(BUILD) tests/fuzz/run.sh all $(SECONDS)

bench: all      ## measure speed and memory
	@meson test -C $(BUILD) --benchmark --verbose --no-rebuild

validate: product ## compare with published measurements, which takes minutes, and renew docs/validation.md
	@$(BUILD)/tools/ehp validate --markdown docs/validation.md --markdown README.md

format:         ## lay out every C file as .clang-format says
	@scripts/lint --fix

lint:
	@BUILD=$(BUILD) JOBS=$(JOBS) scripts/lint

install: $(BUILD)/build.ninja ## install below PREFIX; HIPCC=1 also links hipcc and hipconfig to the command
	@meson configure $(BUILD) --prefix=$(abspath $(PREFIX))
	@ninja -C $(BUILD) -j $(JOBS) product
	@DESTDIR=$(DESTDIR) EHP_INSTALL_HIPCC=$(filter 1 yes,$(HIPCC)) meson install -C $(BUILD) --no-rebuild

clean:
	@rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-debug

help:
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20
