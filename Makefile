# SPDX-License-Identifier: GPL-2.0-only
#
# Short names for the usual work; CMakeLists.txt and CMakePresets.json do it.
#   make demo          build, and report on a recorded trace (DEMO_TRACE=FILE for another)
#   make check         everything a change must pass
#   make bench         compare with other programs (BENCH_TRACE=FILE, made if it is not there)
#   make bench-scale   how time and memory grow with events and CPUs
#   make fuzz          run every fuzz target for FUZZ_SECONDS seconds
# SKIP_DEPS=1 leaves the installed packages alone.

DEMO_TRACE   ?= test/fixtures/x86_64-6.18-slab4-wl.dat
BENCH_TRACE  ?= /var/tmp/kmstat-bench.dat
BENCH_ARGS   ?=
FUZZ_SECONDS ?= 60
# Debian's own, which sees Debian's modules; another python3 may come first in PATH.
PYTHON       ?= /usr/bin/python3

c_files      := $(shell find src cmd test fuzz bench -name '*.[ch]' -not -path '*/fixtures/*')
man_pages    := $(wildcard man/*.[1-9])
shell_files  := .ci/run $(wildcard scripts/*.sh bench/*.sh)
install_deps := $(if $(SKIP_DEPS),@:,@scripts/install-deps.sh)

.PHONY: all build demo check lint format tidy coverage bench bench-scale fuzz install-deps clean

all: build

install-deps:
	$(install_deps) check

build:
	$(install_deps) build
	cmake --preset release
	cmake --build --preset release --target kmstat kmstat_completion

demo: build
	@test -n '$(DEMO_TRACE)' || { echo 'make demo: no trace in test/fixtures; give one with DEMO_TRACE=FILE' >&2; exit 1; }
	build/release/kmstat report '$(DEMO_TRACE)'

# One after the other, whatever -j says: two builds at once only make both slower, and the cheap step fails first.
check: install-deps
	+@$(MAKE) --no-print-directory lint
	cmake --preset check
	cmake --build --preset check
	ctest --preset check
	cmake --preset asan
	cmake --build --preset asan
	ctest --preset asan

lint:
	$(install_deps) check
	@clang-format --dry-run -Werror $(c_files)
	@# What manuals a machine has installed is no fault of these pages.
	@if [ -n '$(man_pages)' ]; then ! mandoc -T lint -W style $(man_pages) 2>&1 | grep -vE 'referenced manual not found|outdated mandoc.db'; fi
	@for file in $(shell_files); do bash -n "$$file" || exit 1; done
	@if command -v shellcheck >/dev/null; then shellcheck $(shell_files); fi
	@echo 'lint: clean'

format:
	$(install_deps) check
	clang-format -i $(c_files)

tidy:
	$(install_deps) tidy
	cmake --preset debug
	clang-tidy --quiet -p build/debug $(filter src/%.c cmd/%.c,$(c_files))

coverage:
	$(install_deps) coverage
	cmake --preset coverage
	cmake --build --preset coverage
	ctest --preset coverage
	gcovr --root . --filter src/ --filter cmd/ --print-summary build/coverage

# Records a trace where the machine allows it, else amplifies a small one.
bench: build
	$(install_deps) bench
	cmake --build --preset release --target kmstat_floor kmstat_amplify kmstat_micro
	@test -r '$(BENCH_TRACE)' || bench/record.sh -o '$(BENCH_TRACE)' || \
		build/release/kmstat_amplify -n 900 test/fixtures/x86_64-6.18-slab4-wl.dat '$(BENCH_TRACE)'
	$(PYTHON) bench/bench.py --build build/release $(BENCH_ARGS) '$(BENCH_TRACE)'
	build/release/kmstat_micro '$(BENCH_TRACE)'

# Takes some GB in /var/tmp and some minutes.
bench-scale: build
	$(install_deps) bench
	cmake --build --preset release --target kmstat_amplify
	build/release/kmstat_amplify -n 90 test/fixtures/x86_64-6.18-slab4-wl.dat build/release/scale-base.dat
	$(PYTHON) bench/scale.py --build build/release $(BENCH_ARGS) build/release/scale-base.dat \
		test/fixtures/x86_64-6.18-slab4-wl.dat

# New inputs go to build/fuzz/corpus; those in fuzz/corpus are only read.
fuzz:
	$(install_deps) check
	cmake --preset fuzz
	cmake --build --preset fuzz
	@set -e; targets=$$(find build/fuzz -type f -executable -name 'fuzz_*'); \
	test -n "$$targets" || { echo 'make fuzz: no fuzz target was built' >&2; exit 1; }; \
	for target in $$targets; do \
		name=$$(basename "$$target"); seeds=; words=; \
		if [ -d "fuzz/corpus/$$name" ]; then seeds=fuzz/corpus/$$name; fi; \
		if [ -f "fuzz/$$name.dict" ]; then words=-dict=fuzz/$$name.dict; fi; \
		mkdir -p "build/fuzz/corpus/$$name"; \
		echo "== $$name, $(FUZZ_SECONDS) s"; \
		"$$target" -max_total_time=$(FUZZ_SECONDS) $$words -artifact_prefix="build/fuzz/$$name-" -print_final_stats=1 \
			"build/fuzz/corpus/$$name" $$seeds; \
	done

clean:
	rm -rf build
