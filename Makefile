# make run    environment, build, and the main job: a picture to look at
# make test   environment, build, and every check
# See CONTRIBUTING.md for the others.

SHELL := bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt pyproject.toml $(shell find cpp -name '*.?pp')
CPP := $(shell find cpp benchmarks tests/cpp -name '*.?pp')
CODE := src tests benchmarks
# Compiled code warns about nothing here; users' compilers may be newer, so for them a warning stays one.
BUILD := $(BIN)/pip install --quiet --no-build-isolation --editable . --config-settings=cmake.define.VICINAL_WERROR=ON

# Two workers, because a test uses several threads for a small part of its time. Tests wait for no other test.
PYTEST := VICINAL_HYPOTHESIS=short $(BIN)/python -m pytest -q --numprocesses 2 --dist worksteal

# What `make test` does, in this order; each prints its time.
CHECKS := environment build lint cpp unit isa serial emulate

.PHONY: run test $(CHECKS) sanitize format bench clean

run: $(VENV)/built
	$(BIN)/vicinal demo
	$(BIN)/vicinal run drum --output drum-results --overwrite
	$(BIN)/vicinal render drum-results/particles.vtkhdf --output drum-results/drum.png

test:
	@for check in $(CHECKS); do \
	  TIMEFORMAT="make $$check: %0lR, %0U s of the processor"; \
	  time $(MAKE) --no-print-directory -j2 $$check || exit 1; \
	done
	@echo "every check passed"

environment: $(VENV)/ready

build: $(VENV)/built

# The environment: build tools and everything the checks need. Made once.
$(VENV)/ready: pyproject.toml requirements-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet -r requirements-dev.txt
	touch $@

$(VENV)/built: $(VENV)/ready $(NATIVE)
	$(BUILD)
	touch $@

lint: $(VENV)/built
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/mypy

# Few examples of each property, so that every change can be checked; VICINAL_HYPOTHESIS=ci or long tries more.
unit: $(VENV)/built
	$(PYTEST)

# Parts of the core that Python cannot reach, in a program of their own under the sanitizers: a few seconds to compile.
CPP_TESTS := $(wildcard tests/cpp/*.cpp cpp/exec/*.cpp)
CPP_FLAGS := -std=c++20 -O1 -Icpp -Wall -Wextra -Wconversion -Werror -ffp-contract=off -fopenmp \
  -fsanitize=address,undefined -fno-sanitize-recover=undefined

cpp: $(CPP_TESTS:%.cpp=build/cpp/%.o)
	$(CXX) $(CPP_FLAGS) $^ -o build/cpp/run
	build/cpp/run

build/cpp/%.o: %.cpp $(wildcard tests/cpp/*.hpp) $(shell find cpp -name '*.hpp')
	@mkdir -p $(@D)
	$(CXX) $(CPP_FLAGS) -c $< -o $@

# The contract under every lower instruction set; `unit` ran the best one. Structures only propose, so two are enough.
isa: $(VENV)/built
	VICINAL_ISA=baseline $(PYTEST) tests/index/test_contract.py tests/test_isa.py -k "Exhaustive or CellSorting or isa"
	VICINAL_NUM_THREADS=1 $(PYTEST) tests/test_pairs.py tests/test_neighbors.py

# Other builds of the extension live beside the installed one and are found through PYTHONPATH (tools/other_build.sh).
serial: $(VENV)/built
	tools/other_build.sh serial "-DVICINAL_OPENMP=OFF -DVICINAL_DISPATCH=OFF" tests/test_pairs.py tests/test_threads.py

emulate: $(VENV)/built
	@if ! echo '#include <simde/x86/avx512.h>' | $(CXX) -E -x c++ - >/dev/null 2>&1; then \
	  echo "SKIPPED: AVX-512 is not emulated, because SIMDe (Debian: libsimde-dev) is not installed"; else \
	tools/other_build.sh emulate "-DVICINAL_EMULATE_AVX512=ON" tests/test_isa.py tests/test_pairs.py tests/dem/test_grain_isa.py; fi

# Not part of `test`: the contract takes a quarter of an hour this way.
sanitize: $(VENV)/built
	tools/other_build.sh sanitize "-DVICINAL_SANITIZE=ON" tests/index tests/test_pairs.py tests/test_neighbors.py tests/test_count.py

format: $(VENV)/ready
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)
	$(BIN)/clang-format -i $(CPP)

bench: $(VENV)/built
	$(BIN)/pip install --quiet -r benchmarks/requirements.txt
	$(BIN)/python benchmarks/harness.py

clean:
	rm -rf $(VENV) build dist
