# Every target sets up what it needs in .venv, from nothing but Python 3.11+, make and the package registry.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
SPARK := $(if $(shell command -v java 2>/dev/null),.venv/spark)

.PHONY: help demo test coverage lint bench clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /	/' | expand -t 10

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("flou needs Python 3.11 or newer: make PYTHON=python3.11 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

.venv/spark: $(READY) # half a gigabyte, for tests alone, and of no use without Java
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[spark]'
	@touch $@

demo: $(READY) ## private statistics of a made-up table, beside the truth
	$(BIN)/flou demo

test: $(READY) $(SPARK) ## all tests, those of Spark where Java is installed
	$(BIN)/python -m pytest --numprocesses=auto

coverage: $(READY) $(SPARK) ## which lines of src no test runs; make coverage TESTS=tests/domain for a part
	$(BIN)/python -m pytest --numprocesses=auto --cov --cov-report=term $(TESTS)

lint: $(READY) ## style, types, and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY) ## flou side by side with its peers, each in an environment of its own
	$(BIN)/python benchmarks/noise.py
	$(BIN)/python benchmarks/central.py
	$(BIN)/python benchmarks/quantiles.py
	$(BIN)/python benchmarks/local.py
	$(BIN)/python benchmarks/joint.py

clean: ## remove the environments and caches
	rm -rf .venv .venv-* benchmarks/.data .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.*
