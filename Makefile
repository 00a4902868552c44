# Two commands matter: `make demo` shows the program on a bundled export, `make test` runs every check.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
SUPPLY := .venv-supply
DEMO := fixtures/demo/vertex-restart-then-failed.json

.PHONY: help demo test lint docs lock audit system-packages cluster-packages clean

help:
	@echo 'make demo   diagnose a bundled export and write demo-report.html'
	@echo 'make test   every check: ruff, mypy, the rules, the tests'
	@echo 'make lint   ruff, mypy and the rules alone'
	@echo 'make docs   the documentation as a site, in site/'
	@echo 'make lock   renew the locked versions in .ci/lock'
	@echo 'make audit  ask for known vulnerabilities of what is locked'
	@echo 'make clean  remove what these have made'

demo: $(VENV)/.program
	$(BIN)/diagnose --logs $(DEMO)
	@$(BIN)/diagnose --logs $(DEMO) --format html --output demo-report.html
	@echo
	@echo 'The same as a page: $(CURDIR)/demo-report.html'

test: system-packages lint cluster-packages
	$(BIN)/pytest -ra

lint: $(VENV)/.checks
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/diagnose rules check

docs: $(VENV)/.checks
	$(BIN)/python -m mkdocs build --strict --site-dir site
	@echo 'Built: $(CURDIR)/site/index.html. With search: $(BIN)/python -m http.server --directory site 8000'

# Versions for all systems and Pythons, with hashes and without the name of an index. Commit what it changes.
LOCK := $(SUPPLY)/bin/uv pip compile pyproject.toml --quiet --upgrade --universal --generate-hashes \
	--custom-compile-command 'make lock'

lock: $(SUPPLY)/.supply
	$(LOCK) --group test --group lint --group browser --group docs --output-file .ci/lock/checks.txt
	$(LOCK) --extra parquet --extra spark --constraints .ci/lock/checks.txt --output-file .ci/lock/cluster.txt

audit: $(SUPPLY)/.supply
	@$(SUPPLY)/bin/python .ci/audit

# Chromium draws the HTML report for its tests. They look for it themselves and leave themselves out without it.
system-packages:
	@.ci/system-packages

# A real Spark with two workers runs one test, where there is a Java.
cluster-packages: $(VENV)/.checks
	@.ci/cluster-packages $(BIN)/python

# What a user gets: the newest versions that pyproject.toml allows.
$(VENV)/.program: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# What the checks run with: the locked versions of everything; where an index lacks some, the newest that it has.
$(VENV)/.checks: pyproject.toml .ci/lock/checks.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --require-hashes --requirement .ci/lock/checks.txt || { \
		echo 'The locked versions are not all to be had; the newest ones are taken instead.'; \
		$(BIN)/python -m pip install --quiet --group test --group lint --group browser; }
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(VENV)/.program $@

# The tools of `lock` and `audit` stand apart, so that they change no version of what is checked.
$(SUPPLY)/.supply: pyproject.toml | $(VENV)/bin/python
	@test -x $(SUPPLY)/bin/python || $(BIN)/python -m venv $(SUPPLY)
	$(SUPPLY)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(SUPPLY)/bin/python -m pip install --quiet --group supply
	@touch $@

# Dependency groups need pip 25.1, hence the upgrade.
$(VENV)/bin/python:
	@test -n '$(PYTHON)' || { echo 'No Python 3.11 or newer was found; name one: make PYTHON=/path/to/python3'; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo 'venv failed; on Debian and Ubuntu: apt-get install python3-venv'; exit 1; }
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

clean:
	rm -rf $(VENV) $(SUPPLY) build dist site demo-report.html .mypy_cache .ruff_cache .pytest_cache .hypothesis
