# Everything runs in .venv, which is made on first use and again when pyproject.toml changes.

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow bench clean
.DELETE_ON_ERROR:

# The first of these that is Python 3.11 or newer; `make PYTHON=...` takes another one.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	then echo $$python; break; fi; done)
BIN := .venv/bin
READY := .venv/.ready
ARGS ?=

help: ## Show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## Explain a stream that drifts; leaves ipdp-demo/demo.png (ARGS=--quick for a short one)
	$(BIN)/python -m ipdp.demo $(ARGS)

test: $(READY) ## Lint, types, layers and tests (ARGS go to pytest)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest $(ARGS)

test-slow: $(READY) ## The tests that take minutes
	$(BIN)/python -m pytest -m slow $(ARGS)

bench: $(READY) ## Measure the own cost of explaining, and compare the estimators
	$(BIN)/python benchmarks/own_cost.py
	$(BIN)/python benchmarks/regrid.py

clean: ## Remove the environment, caches and whatever was built
	rm -rf .venv build dist ipdp-demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "ipdp needs Python 3.11 or newer, and none was found. Install one, or say where" \
			"it is: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Setting up .venv with $(PYTHON); this takes a minute or two and is done once."
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"  # the first that knows --group
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@
