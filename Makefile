# The only command interface: every target sets up what it needs, in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check -q
# A second environment, with nothing of the checkout in it, in which the built wheel is tested.
WHEEL := $(VENV)/wheel
# Another one for pip-tools, which pins all the rest.
LOCK := $(VENV)/lock
PEERS := $(VENV)/peers
PROCESSES ?= 2
TIMED := MAKE="$(MAKE)" sh tools/timed.sh
# The tests of the command and of what the library exports.
SURFACE := api cli reference registry

.PHONY: demo test lint unit wheel-test test-floors test-pythons test-python test-peers properties mutate \
	bench docs lock clean

demo: $(VENV)/.run ## the main job, on the logs of examples/
	@BIN=$(BIN) sh examples/demo.sh

test: ## style, types, all tests with their coverage, and the tests of the built wheel
	@$(TIMED) lint unit wheel-test

lint: $(VENV)/.test ## style, types, the layers of the house, generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/python grammar/compile.py --check
	$(BIN)/python tools/compile_names.py --check
	$(BIN)/python tools/floors.py --check

# The coverage does not see what runs only in worker processes, so the core is held to 100 percent.
unit: $(VENV)/.test ## all tests, with the branch coverage of the package
	$(BIN)/python -m pytest -n $(PROCESSES) --cov --cov-report=
	$(BIN)/python -m coverage report
	$(BIN)/python -m coverage report --fail-under=100 --omit="sessionref/api.py,sessionref/native/*"

# Once as it is, and once with each variable that people set: none may change what the tests see.
wheel-test: $(VENV)/.test ## the tests of the command and the library, against the wheel as it would be installed
	rm -rf dist $(WHEEL)
	$(BIN)/python -m build --wheel --no-isolation -o dist . >/dev/null
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/pip --disable-pip-version-check -q install --require-hashes -r requirements/test.txt
	$(WHEEL)/bin/pip --disable-pip-version-check -q install --no-deps dist/*.whl
	cd tests && for set in SESSIONREF_REGISTRY= SESSIONREF_REGISTRY=$(CURDIR)/tests/overlay.toml FORCE_COLOR=1 NO_COLOR=1 \
	"LC_ALL=C PYTHONUTF8=0"; do \
		echo "$$set"; \
		env $$set ../$(WHEEL)/bin/python -P -m pytest -c ../pyproject.toml --rootdir .. -n $(PROCESSES) -q -m "not slow" \
			$(SURFACE) || exit 1; \
	done

FLOOR_PYTHON ?= $(PYTHON)
test-floors: ## all but the slow tests, with the minimum versions that pyproject.toml declares, on the oldest Python
	@$(FLOOR_PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
		{ echo "the minimum versions are tested on Python 3.11: name it as FLOOR_PYTHON=..."; exit 2; }
	sh tools/tests_in.sh $(VENV)/floors $(FLOOR_PYTHON) requirements/floors.txt -n $(PROCESSES) -q -m "not slow"

PYTHONS ?=
test-pythons: ## all but the slow tests on other Pythons: PYTHONS="python3.12 /opt/python3.13/bin/python3"
	@test -n "$(PYTHONS)" || { echo 'name the Pythons: make test-pythons PYTHONS="python3.12 python3.13"'; exit 2; }
	@for python in $(PYTHONS); do \
		version=$$("$$python" -c 'import sys; print(*sys.version_info[:3], sep=".")') || exit 1; \
		sh tools/tests_in.sh $(VENV)/python-$$version "$$python" - -n $(PROCESSES) -q -m "not slow" || exit 1; \
	done

test-peers: $(VENV)/.test ## beside the programs of other people: ccusage, Mermaid (with npm), Graphviz where it is
	mkdir -p $(PEERS) && cp tests/peers/package.json $(PEERS)
	npm install --no-audit --no-fund --silent --no-package-lock --prefix $(PEERS)
	SESSIONREF_PEERS=$(PEERS) $(BIN)/python -m pytest tests/peers tests/grammar/test_conformance_suite.py

MINUTES ?= 30
properties: $(VENV)/.test ## the property tests with random seeds, for MINUTES=30
	$(BIN)/python tools/properties.py --minutes $(MINUTES) --processes $(PROCESSES)
	$(BIN)/python tests/world_runs.py $(MINUTES)

PACKAGE ?= scope
SAMPLE ?= 400
SEED ?= 1
mutate: $(VENV)/.test ## breaks the code of PACKAGE=scope in SAMPLE=400 small ways chosen by SEED=1; 95 % must be noticed
	$(BIN)/python tools/mutate.py --package sessionref.$(PACKAGE) --sample $(SAMPLE) --seed $(SEED) --least 95

bench: $(VENV)/.bench ## every figure of bench/results.md, measured here
	$(BIN)/python -m bench

docs: $(VENV)/.test ## docs/api.md, and the parts of docs/ and README.md that are printed by the command
	$(BIN)/python tools/api.py
	$(BIN)/python tools/docs.py

lock: $(LOCK)/.ready ## requirements/*.txt from pyproject.toml
	$(LOCK)/bin/python tools/lock.py
	$(PYTHON) tools/floors.py

clean:
	rm -rf $(VENV) dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.%: requirements/%.txt pyproject.toml | $(BIN)/python
	$(PIP) install --require-hashes -r requirements/$*.txt
	$(PIP) install --no-deps -e .
	touch $@

$(LOCK)/.ready: requirements/lock.txt
	$(PYTHON) -m venv $(LOCK)
	$(LOCK)/bin/pip --disable-pip-version-check -q install --require-hashes -r requirements/lock.txt
	touch $@
