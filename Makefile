# make run    environment, build, and the main job: a picture to look at
# make test   environment, build, and every check
# See CONTRIBUTING.md for the others.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt pyproject.toml $(shell find cpp -name '*.?pp')
CPP := $(shell find cpp benchmarks -name '*.?pp')
CODE := src tests benchmarks
# Compiled code warns about nothing here; users' compilers may be newer, so for them a warning stays one.
BUILD := $(BIN)/pip install --quiet --no-build-isolation --editable . --config-settings=cmake.define.VICINAL_WERROR=ON

.PHONY: run test lint unit isa emulate serial sanitize format bench clean

run: $(VENV)/built
	$(BIN)/vicinal demo
	$(BIN)/vicinal run drum --output drum-results --overwrite
	$(BIN)/vicinal render drum-results/particles.vtkhdf --output drum-results/drum.png

test: lint unit isa serial emulate
	@echo "every check passed"

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
	VICINAL_HYPOTHESIS=short $(BIN)/python -m pytest -q

# The contract under every lower instruction set; `unit` ran the best one. Structures only propose, so two are enough.
isa: $(VENV)/built
	VICINAL_HYPOTHESIS=short VICINAL_ISA=baseline $(BIN)/python -m pytest -q tests/index/test_contract.py tests/test_isa.py -k "Exhaustive or CellSorting or isa"
	VICINAL_HYPOTHESIS=short VICINAL_NUM_THREADS=1 $(BIN)/python -m pytest -q tests/test_pairs.py tests/test_neighbors.py

# Other builds of the extension live beside the installed one and are found through PYTHONPATH (tools/other_build.sh).
serial: $(VENV)/built
	tools/other_build.sh serial "-DVICINAL_OPENMP=OFF -DVICINAL_DISPATCH=OFF" tests/test_pairs.py tests/test_threads.py

emulate: $(VENV)/built
	@if ! echo '#include <simde/x86/avx512.h>' | $(CXX) -E -x c++ - >/dev/null 2>&1; then \
	  echo "SKIPPED: AVX-512 is not emulated, because SIMDe (Debian: libsimde-dev) is not installed"; else \
	tools/other_build.sh emulate "-DVICINAL_EMULATE_AVX512=ON" tests/test_isa.py tests/test_pairs.py; fi

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
