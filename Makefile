# Two commands matter: `make demo` shows the program on a bundled export, `make test` runs every check.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
DEMO := fixtures/demo/vertex-restart-then-failed.json

.PHONY: help demo test lint system-packages cluster-packages clean

help:
	@echo 'make demo   diagnose a bundled export and write demo-report.html'
	@echo 'make test   every check: ruff, mypy, the rules, the tests'
	@echo 'make lint   ruff, mypy and the rules alone'
	@echo 'make clean  remove what these have made'

demo: $(VENV)/.program
	$(BIN)/diagnose --logs $(DEMO)
	@$(BIN)/diagnose --logs $(DEMO) --format html --output demo-report.html
	@echo
	@echo 'The same as a page: $(CURDIR)/demo-report.html'

test: system-packages lint $(VENV)/.browser cluster-packages
	$(BIN)/pytest -ra

lint: $(VENV)/.checks
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/diagnose rules check

# Chromium draws the HTML report for its tests. They look for it themselves and leave themselves out without it.
system-packages:
	@.ci/system-packages

# A real Spark with two workers runs one test, where there is a Java.
cluster-packages: $(VENV)/.checks
	@.ci/cluster-packages $(BIN)/python

$(VENV)/.program: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.checks: pyproject.toml $(VENV)/.program
	$(BIN)/python -m pip install --quiet --group test --group lint
	@touch $@

# What drives the browser is large, so only the tests get it.
$(VENV)/.browser: pyproject.toml $(VENV)/.checks
	$(BIN)/python -m pip install --quiet --group browser
	@touch $@

# Dependency groups need pip 25.1, hence the upgrade.
$(VENV)/bin/python:
	@test -n '$(PYTHON)' || { echo 'No Python 3.11 or newer was found; name one: make PYTHON=/path/to/python3'; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo 'venv failed; on Debian and Ubuntu: apt-get install python3-venv'; exit 1; }
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

clean:
	rm -rf $(VENV) build dist demo-report.html .mypy_cache .ruff_cache .pytest_cache .hypothesis
