# Everything runs in .venv, which is made on first use and again when pyproject.toml changes.

.DEFAULT_GOAL := help
.PHONY: help demo test test-libraries test-slow bench clean
.DELETE_ON_ERROR:

# The first of these that is Python 3.11 or newer; `make PYTHON=...` takes another one.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	then echo $$python; break; fi; done)
BIN := .venv/bin
READY := .venv/.ready
LIBRARIES_READY := .venv-libraries/.ready
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

test-libraries: $(LIBRARIES_READY) ## The engines on LightGBM, XGBoost, CatBoost, torch and ONNX
	.venv-libraries/bin/python -m pytest tests_libraries $(ARGS)

test-slow: $(READY) ## The tests that take minutes
	$(BIN)/python -m pytest -m slow $(ARGS)

bench: $(READY) ## Measure the cost of explaining, and compare the estimators
	$(BIN)/python benchmarks/own_cost.py
	$(BIN)/python benchmarks/trees.py
	$(BIN)/python benchmarks/regrid.py

clean: ## Remove the environment, caches and whatever was built
	rm -rf .venv .venv-libraries build dist ipdp-demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY) $(LIBRARIES_READY): pyproject.toml
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "ipdp needs Python 3.11 or newer, and none was found. Install one, or say where" \
			"it is: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Setting up $(@D) with $(PYTHON); this takes some minutes and is done once."
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --upgrade "pip>=25.1"  # the first that knows --group
	$(@D)/bin/python -m pip install --quiet --editable . --group $(GROUP)
	@touch $@

$(READY): GROUP = dev
$(LIBRARIES_READY): GROUP = libraries
