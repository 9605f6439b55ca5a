# The only command interface: every target sets up what it needs, in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check -q
# A second environment, with nothing of the checkout in it, in which the built wheel is tested.
WHEEL := $(VENV)/wheel
PROCESSES ?= 2

.PHONY: demo test lint unit wheel-test bench docs lock clean

demo: $(VENV)/.run ## the main job, on the logs of examples/
	@BIN=$(BIN) sh examples/demo.sh

test: lint unit wheel-test ## style, types, floors, all tests, and the tests against the wheel

lint: $(VENV)/.test ## style, types, the floors of the house, generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/python grammar/compile.py --check
	$(BIN)/python tools/compile_names.py --check

# What runs only in worker processes is not seen by the coverage, so the core is held to all of it.
unit: $(VENV)/.test ## all tests, with the branch coverage of the package
	$(BIN)/python -m pytest -n $(PROCESSES) --cov --cov-report=
	$(BIN)/python -m coverage report
	$(BIN)/python -m coverage report --fail-under=100 --omit="sessionref/api.py,sessionref/native/*"

wheel-test: $(VENV)/.test ## the tests again, against the wheel as it would be installed
	rm -rf dist $(WHEEL)
	$(BIN)/python -m build --wheel --no-isolation -o dist . >/dev/null
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/pip --disable-pip-version-check -q install --require-hashes -r requirements/test.txt
	$(WHEEL)/bin/pip --disable-pip-version-check -q install --no-deps dist/*.whl
	cd tests && ../$(WHEEL)/bin/python -P -m pytest -c ../pyproject.toml --rootdir .. -n $(PROCESSES) -q -m "not slow"

bench: $(VENV)/.bench ## every figure of bench/results.md, measured here
	$(BIN)/python -m bench

docs: $(VENV)/.test ## the parts of docs/ and README.md that are printed by the command
	$(BIN)/python tools/docs.py

lock: ## requirements/*.txt from pyproject.toml and requirements/*.in
	$(PYTHON) tools/lock.py

clean:
	rm -rf $(VENV) dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.%: requirements/%.txt pyproject.toml | $(BIN)/python
	$(PIP) install --require-hashes -r requirements/$*.txt
	$(PIP) install --no-deps -e .
	touch $@
