# The two commands of the README are `make demo` and `make test`; `make help` lists the rest.
PYTHON ?= python3
VENV ?= .venv
SPARK_VENV ?= .venv-spark
BIN := $(VENV)/bin
PYTEST_ARGS ?= -n 2

.PHONY: help demo test test-spark coverage lint format bench bench-compare reproduce reproduce-full clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c "import sys; sys.exit(0 if sys.version_info >= (3, 11) else 'bayesieve needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[plot,cli,dask]" --group test --group lint
	touch $@

$(SPARK_VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(SPARK_VENV)
	$(SPARK_VENV)/bin/python -m pip install --quiet --upgrade pip
	$(SPARK_VENV)/bin/python -m pip install --quiet --editable ".[spark]" pytest hypothesis
	touch $@

demo: $(VENV)/.ready ## choose the words that tell two kinds of documents apart, in a minute, with a report
	$(BIN)/bayesieve demo

test: $(VENV)/.ready ## run the tests (set BAYESIEVE_DATA to include those on real data)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

test-spark: $(SPARK_VENV)/.ready ## run the tests on Spark, in an environment of its own (it needs Java 17 or 21)
	$(SPARK_VENV)/bin/python -m pytest -q tests/engines

coverage: $(VENV)/.ready ## run the tests with uncompiled kernels and measure what they reach (95 % is the floor)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(PYTEST_ARGS) --cov --cov-report=term

lint: $(VENV)/.ready ## check style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.ready ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.ready ## measure speed against peers (set BAYESIEVE_DATA to include real data)
	$(BIN)/python benchmarks/run.py

bench-compare: $(VENV)/.ready ## compare speed with an earlier revision: make bench-compare BASE=v0.1.0
	$(BIN)/python benchmarks/compare.py $(BASE)

reproduce: $(VENV)/.ready ## rerun the papers' experiments in their quick form (BAYESIEVE_DATA names the data folder)
	$(BIN)/python experiments/run.py

reproduce-full: $(VENV)/.ready ## rerun them with all data and the papers' number of splits: hours
	$(BIN)/python experiments/run.py --full

clean: ## remove the environment and all caches
	rm -rf $(VENV) .venv-* .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
