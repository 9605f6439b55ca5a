# The only command interface: every target sets up what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CONSTRAINTS := constraints.txt
# A second, clean environment in which the built wheel is tested.
WHEEL_VENV := $(VENV)/wheel

.PHONY: demo test lint bench docs wheel-test clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml $(CONSTRAINTS) | $(BIN)/python
	$(BIN)/pip install -q --disable-pip-version-check -c $(CONSTRAINTS) -e .
	touch $@

$(VENV)/.test: pyproject.toml $(CONSTRAINTS) requirements/test.txt | $(BIN)/python
	$(BIN)/pip install -q --disable-pip-version-check -c $(CONSTRAINTS) -e . -r requirements/test.txt
	touch $@ $(VENV)/.run

## demo: references parsed, made canonical and resolved inside the logs of examples/
demo: $(VENV)/.run
	@BIN=$(BIN) sh examples/demo.sh

## test: lint, types, all tests, and the tests again against the installed wheel
test: $(VENV)/.test lint
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term --cov-fail-under=100
	$(MAKE) wheel-test

## lint: style, types, and the floors of the house
lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/python grammar/compile.py --check
	$(BIN)/python tools/compile_names.py --check

## wheel-test: build the wheel, install it alone, run the tests that need no checkout
wheel-test: $(VENV)/.test
	rm -rf dist $(WHEEL_VENV)
	$(BIN)/python -m build --wheel -o dist .
	$(PYTHON) -m venv $(WHEEL_VENV)
	$(WHEEL_VENV)/bin/pip install -q --disable-pip-version-check -c $(CONSTRAINTS) dist/*.whl -r requirements/test.txt
	cd tests && ../$(WHEEL_VENV)/bin/python -P -m pytest -n 2 -p no:cacheprovider -q --rootdir . -c ../pyproject.toml

bench: $(VENV)/.test
	$(BIN)/pip install -q --disable-pip-version-check -r requirements/bench.txt
	$(BIN)/python -m bench

docs: $(VENV)/.test
	$(BIN)/python tools/docs.py

clean:
	rm -rf $(VENV) dist .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
