# make run    environment, build, and three simulations with pictures
# make test   environment, build, and the checks
# See CONTRIBUTING.md for the others.

SHELL := bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt pyproject.toml $(shell find cpp -name '*.?pp')
CPP := $(shell find cpp benchmarks tests/cpp -name '*.?pp')
CODE := src tests benchmarks tools
# Compiler warnings are errors here, but not for users, whose compilers may be newer. Ninja fails if it sees the
# jobserver of make in MAKEFLAGS.
BUILD := env -u MAKEFLAGS $(BIN)/pip install --quiet --no-build-isolation --editable . --config-settings=cmake.define.VICINAL_WERROR=ON

# Tests start many processes, and pytest rewrites every file with tests: the compiled files are kept.
unexport PYTHONDONTWRITEBYTECODE

# Two workers, because a test uses several threads for a small part of its time. Tests are independent of each other.
PYTEST := VICINAL_HYPOTHESIS=short $(BIN)/python -m pytest -q --numprocesses 2 --dist worksteal

# The steps of `make test` and of `make builds`, in this order; each prints its time.
CHECKS := environment build static unit isa
BUILDS := emulate neon serial clang

.PHONY: run test builds $(CHECKS) lint cpp $(BUILDS) aarch64 aarch64-python sanitize mutations format bench clean

run: $(VENV)/built
	$(BIN)/vicinal demo
	$(BIN)/vicinal run drum --output drum-results --overwrite
	$(BIN)/vicinal render drum-results/particles.vtkhdf --output drum-results/drum.png
	$(BIN)/vicinal run dam_break --output dam-break-results --overwrite
	$(BIN)/vicinal render dam-break-results --style surface --output dam-break-results/dam-break.png

test: steps := $(CHECKS)
# What concerns other compilers and processors; CI runs it after `make test`.
builds: steps := $(BUILDS)
test builds:
	@for step in $(steps); do \
	  TIMEFORMAT="make $$step: %0lR, %0U CPU s"; \
	  time $(MAKE) --no-print-directory -j2 $$step || exit 1; \
	done
	@echo "make $@: every check passed"

environment: $(VENV)/ready

build: $(VENV)/built

# The environment: build tools and everything the checks need. Made once. uv installs several times as fast as pip, but
# does not read the settings of pip: where these name another index, pip installs.
INSTALL = { $(BIN)/pip install --quiet uv && $(BIN)/uv pip install --quiet --python $(BIN)/python -r $(1); } || \
  $(BIN)/pip install --quiet -r $(1)
$(VENV)/ready: pyproject.toml requirements-dev.txt requirements-peers.txt
	$(PYTHON) -m venv $(VENV)
	$(call INSTALL,requirements-dev.txt)
	$(call INSTALL,requirements-peers.txt) || \
	  echo "SKIPPED: adapters are not tested beside the packages of requirements-peers.txt, which cannot be installed"
	touch $@

$(VENV)/built: $(VENV)/ready $(NATIVE)
	$(BUILD)
	touch $@

# Side by side: one uses one processor.
static: lint cpp

lint: $(VENV)/built
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/mypy

# Few examples of each property, so that every change can be checked; VICINAL_HYPOTHESIS=ci or long tries more.
unit: $(VENV)/built
	$(PYTEST)

# Parts of the core that Python cannot reach, in a separate program under the sanitizers. It runs for seconds: without
# optimisation it takes half the time to compile.
CPP_TESTS := $(wildcard tests/cpp/*.cpp) $(addprefix cpp/,exec/available_memory.cpp exec/isa.cpp exec/memory.cpp exec/threads.cpp geometry/box.cpp \
  geometry/wrap_kernel.cpp geometry/wrap_kernel_baseline.cpp pairs/kernels.cpp pairs/kernels_baseline.cpp rows/row_kernels.cpp rows/row_kernels_baseline.cpp)
CPP_OBJECTS := $(CPP_TESTS:%.cpp=build/cpp/%.o)
CPP_FLAGS := -std=c++20 -Icpp -Wall -Wextra -Wconversion -Werror -ffp-contract=off -fopenmp -MMD -MP
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined

cpp: $(CPP_OBJECTS)
	$(CXX) $(CPP_FLAGS) $(SANITIZERS) $(CPP_OBJECTS) -o build/cpp/run
	build/cpp/run

build/cpp/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(CPP_FLAGS) -O0 $(SANITIZERS) -c $< -o $@

# The same tests for aarch64, with the vector code of the search, in an emulator.
AARCH64_CXX := $(shell command -v aarch64-linux-gnu-g++ aarch64-linux-gnu-g++-12 | head -1)
AARCH64 := $(shell command -v qemu-aarch64-static qemu-aarch64 | head -1)
AARCH64_MISSING := $(if $(AARCH64_CXX),,g++-aarch64-linux-gnu) $(if $(AARCH64),,qemu-user-static)
NEON_OBJECTS := $(patsubst %.cpp,build/neon/%.o,$(CPP_TESTS) cpp/pairs/kernels_neon.cpp cpp/rows/row_kernels_neon.cpp)

neon: $(if $(strip $(AARCH64_MISSING)),,build/neon/run)
	@if [ -n "$(strip $(AARCH64_MISSING))" ]; then \
	  echo "SKIPPED: nothing is tested for aarch64, because these packages (Debian) are not installed:$(AARCH64_MISSING)"; \
	else $(AARCH64) -L /usr/aarch64-linux-gnu build/neon/run; fi

build/neon/run: $(NEON_OBJECTS)
	$(AARCH64_CXX) $(CPP_FLAGS) $(NEON_OBJECTS) -o $@

build/neon/%.o: %.cpp
	@mkdir -p $(@D)
	$(AARCH64_CXX) $(CPP_FLAGS) -O1 -DVICINAL_NEON -c $< -o $@

-include $(CPP_OBJECTS:.o=.d) $(NEON_OBJECTS:.o=.d)

# The contract under the lowest instruction set; `unit` uses the best one. Structures only propose candidates, so two
# are enough; all of them answer the drawn problems (any).
isa: $(VENV)/built
	VICINAL_ISA=baseline $(PYTEST) tests/index/test_contract.py tests/test_isa.py -k "Exhaustive or CellSorting or any_ or isa"
	VICINAL_NUM_THREADS=1 $(PYTEST) tests/test_pairs.py tests/test_neighbors.py

# Variants of the installed extension: only the files that differ are compiled again (CMakeLists.txt).
serial: $(VENV)/built
	tools/variant.sh serial tests/test_pairs.py tests/test_threads.py

emulate: $(VENV)/built
	@if ! echo '#include <simde/x86/avx512.h>' | $(CXX) -E -x c++ - >/dev/null 2>&1; then \
	  echo "SKIPPED: AVX-512 is not emulated, because SIMDe (Debian: libsimde-dev) is not installed"; else \
	tools/variant.sh emulated tests/test_isa.py tests/test_pairs.py tests/dem/test_grain_isa.py; fi

# Other builds of the extension are in build/ (tools/other_build.sh). Builds for tests only are compiled with little
# optimisation: that saves more time than the tests lose. This one has no precompiled headers, so that it fails if a file
# does not include what it uses.
clang: $(VENV)/built
	@if ! command -v clang++ >/dev/null; then \
	  echo "SKIPPED: no build with clang, because clang++ (Debian: clang, libomp-dev) is not installed"; else \
	tools/other_build.sh clang "-DCMAKE_CXX_COMPILER=clang++ -DVICINAL_WERROR=ON -DVICINAL_OPTIMIZE=1 -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON" \
	  tests/test_pairs.py tests/test_neighbors.py tests/test_isa.py tests/dem/test_collisions.py; fi

# Not part of `builds`: it takes long. The extension for aarch64, with all vector code, and some of the tests in an
# emulator: 24 minutes beside other work. Left out are tests expected to take longest there: drawn problems, hard cases,
# comparisons of all structures; and the limit of address space, which concerns the system.
SLOW_IN_EMULATOR := any_problem or any_size or hard_case or clouds_of_every_kind or address_space \
  or candidates_and_pairs or an_index_finds
aarch64: neon $(VENV)/built
	@if [ -n "$(strip $(AARCH64_MISSING))" ]; then exit 1; fi
	@if [ ! -x build/aarch64-python/python ]; then \
	  echo "There is no Python for aarch64: 'make aarch64-python' unpacks one to build/ (Debian's packages and wheels)"; exit 1; fi
	tools/other_build.sh aarch64 "-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=$(AARCH64_CXX) -DVICINAL_WERROR=ON -DVICINAL_OPTIMIZE=1"
	diff <($(BIN)/python tools/bits.py) <(PYTHONPATH=build/aarch64/package build/aarch64-python/python tools/bits.py)
	@echo "aarch64 and this processor give the same bits"
	tools/with_core.sh aarch64 build/aarch64/_core.*.so \
	  tests/test_isa.py tests/test_pairs.py tests/test_sorted_rows.py tests/test_nearest.py tests/dem/test_grain_isa.py tests/sph/test_bits.py \
	  -k "not ($(strip $(SLOW_IN_EMULATOR)))"

aarch64-python: $(VENV)/ready
	tools/aarch64_python.sh

# Not part of `test`: the contract takes a quarter of an hour this way.
sanitize: $(VENV)/built
	tools/other_build.sh sanitize "-DVICINAL_SANITIZE=ON -DVICINAL_OPTIMIZE=1" \
	  tests/index tests/test_pairs.py tests/test_neighbors.py tests/test_count.py

# Not part of `test`: checks that the tests detect faults in the core.
mutations: $(VENV)/built
	$(BIN)/python tools/mutations.py

format: $(VENV)/ready
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)
	$(BIN)/clang-format -i $(CPP)

bench: $(VENV)/built
	$(BIN)/pip install --quiet -r benchmarks/requirements.txt
	$(BIN)/python benchmarks/harness.py

clean:
	rm -rf $(VENV) build dist
