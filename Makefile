# Verbs, no logic. Everything happens in .venv, which `setup` makes from constraints.txt, and in build/.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PEERS := .venv/.peers
ENGINE := CMakeLists.txt $(wildcard $(foreach room,nes screen pool fish bindings fish_bindings,native/$(room) native/$(room)/*.h native/$(room)/*.cpp))
NATIVE := $(wildcard native/*/*.h native/*/*.cpp)

INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# Without isolation the build's tools are those of constraints.txt and stay where they are, so that only what changed is built.
PACKAGE := $(INSTALL) --no-build-isolation --config-settings=build-dir=build/{wheel_tag} --editable
CMAKE := $(BIN)/cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja

.PHONY: setup peers demo test test-native test-slow check check-native compatibility format bench clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt $(ENGINE)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "respawn needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make setup PYTHON=python3.12")'
	@$(PYTHON) tools/check_compiler.py
	$(PYTHON) -m venv .venv
	@echo 'Installing the tools of the build into .venv'
	$(INSTALL) scikit-build-core nanobind cmake ninja
	@echo 'Installing torch and the rest into .venv (about 1.5 GB, more with CUDA), building the NES engine: some minutes'
	$(PACKAGE) '.[dev]'
	# Only for the data files of its ROMs: without what it depends on, its code cannot even be imported, and never is.
	$(INSTALL) --no-deps gym-super-mario-bros
	touch $(READY)

# What the engine is compared with, in benchmarks and in tests.
peers: $(PEERS)

$(PEERS): $(READY)
	$(INSTALL) setuptools wheel
	$(PACKAGE) '.[dev,peers]'
	touch $(PEERS)

demo: setup
	$(BIN)/respawn demo

test: test-native peers
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not slow and not gpu'

test-native: setup
	$(CMAKE) -S . -B build/native-tests -DRESPAWN_PYTHON=OFF -DRESPAWN_NATIVE_TESTS=ON
	$(BIN)/cmake --build build/native-tests
	$(BIN)/ctest --test-dir build/native-tests --output-on-failure

test-slow: peers
	$(BIN)/python -m pytest -m 'slow and not gpu'

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run -Werror $(NATIVE)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_metrics.py
	$(BIN)/python tools/check_size.py

# The other compiler, every warning an error, the tests under AddressSanitizer and UBSan, the fuzzer built; needs clang++.
check-native: setup
	$(CMAKE) -S . -B build/clang -DCMAKE_CXX_COMPILER=clang++ -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -DRESPAWN_NATIVE_TESTS=ON -DRESPAWN_SANITIZE=ON -DRESPAWN_FUZZ=ON
	$(BIN)/cmake --build build/clang
	$(BIN)/ctest --test-dir build/clang --output-on-failure

# Other versions of torch, Gymnasium, NumPy and Python: hours, and gigabytes for each torch.
compatibility: setup
	$(BIN)/nox

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(NATIVE)

bench: setup
	$(BIN)/python benchmarks/cartpole_learning.py
	$(BIN)/respawn bench overlap
	$(BIN)/respawn bench engine

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
