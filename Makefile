# Everything runs in .venv, which is made on first use and again when pyproject.toml changes.

.DEFAULT_GOAL := help
.PHONY: help demo test browser images test-libraries test-minimum test-older-river test-spark test-notebooks java test-slow chaos sbom docs dist test-wheel bench paper clean
.DELETE_ON_ERROR:

# The first of these that is Python 3.11 or newer; `make PYTHON=...` takes another one.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	then echo $$python; break; fi; done)
BIN := .venv/bin
READY := .venv/.ready
LIBRARIES_READY := .venv-libraries/.ready
MINIMUM_READY := .venv-minimum/.ready
SPARK_READY := .venv-spark/.ready
NOTEBOOKS_READY := .venv-notebooks/.ready
DIST_READY := .venv-dist/.ready
OLDER_RIVERS := 0.22.0 0.24.2
ARGS ?=

help: ## Show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## Explain a stream that drifts; leaves a picture and a report in ipdp-demo (ARGS=--quick)
	$(BIN)/ipdp demo $(ARGS)

test: $(READY) browser ## Lint, types, layers and tests (ARGS go to pytest)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto --dist loadfile $(ARGS)

# The page's tests want a Chromium; without one they are skipped, and say so.
browser:
	@command -v chromium >/dev/null || { \
		echo "Installing Chromium for the tests of the live page."; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	} 2>/dev/null || echo "No Chromium, and apt cannot install it here: the tests in a browser are skipped."

test-libraries: $(LIBRARIES_READY) ## The engines on LightGBM, XGBoost, CatBoost, torch and ONNX
	.venv-libraries/bin/python -m pytest tests_libraries $(ARGS)

images: $(READY) browser ## The pictures of README and docs, drawn anew
	for name in make hides link segments reading page; do $(BIN)/python docs/images/$$name.py || exit 1; done

# The site needs nothing from outside, and a warning ends the build. Its examples run, the tutorial in a kernel.
docs: $(LIBRARIES_READY) ## The site, with every example run; leaves site/index.html
	rm -rf site docs/examples docs/reference/generated
	.venv-libraries/bin/python -m sphinx -q -W --keep-going -b html docs site
	.venv-libraries/bin/python docs/site/links.py site
	.venv-libraries/bin/python docs/site/tutorial.py site/tutorial.ipynb

# The lowest versions are those for Python 3.11. `make PYTHON=... test-minimum` says of a newer
# Python which of them have no wheel for it. Warnings are no errors here: old libraries warn of new ones.
test-minimum: $(MINIMUM_READY) ## Every dependency at the lowest version that is declared
	.venv-minimum/bin/python -m pytest -o filterwarnings=default tests_minimum $(ARGS)

test-older-river: $(OLDER_RIVERS:%=.river/%/.ready) ## The parts of models on older releases of river
	for version in $(OLDER_RIVERS); do \
		PYTHONPATH=.river/$$version $(BIN)/python -c \
			"import river; print('river', river.__version__); assert river.__version__ == '$$version'" && \
		PYTHONPATH=.river/$$version $(BIN)/python -m pytest -n auto tests/models/trees tests/models/river $(ARGS) || exit 1; done

test-notebooks: $(NOTEBOOKS_READY) ## The README's first lines in a kernel of Jupyter, with nothing else installed
	.venv-notebooks/bin/python -m pytest tests_notebooks $(ARGS)

# Without Java there is no Spark; then these tests are skipped, which is said.
test-spark: java $(SPARK_READY) ## Tables, histories, streams and fleets on Apache Spark
	@if command -v java >/dev/null; then .venv-spark/bin/python -m pytest tests_spark $(ARGS); \
		else echo "No Java here: the tests of Spark are skipped."; fi

java:
	@command -v java >/dev/null || { \
		echo "Installing Java for the tests of Spark."; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq default-jre-headless >/dev/null; \
	} 2>/dev/null || echo "No Java, and apt cannot install it here."

# Beside the other packages of .venv, which suit these releases as well.
.river/%/.ready: $(READY)
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target $(@D) "river==$*"
	@touch $@

test-slow: $(READY) ## The tests that take minutes
	$(BIN)/python -m pytest -m slow -n auto $(ARGS)

chaos: $(READY) build/checked/.ready ## Kills, faults, damaged states, bad input, many requests; prints the counts (30 minutes; ARGS=--whole until all are reached)
	tar -C src -c --exclude='*.so' --exclude=__pycache__ ipdp | tar -C build/checked -x
	$(BIN)/python -m tests.chaos $(ARGS)

sbom: $(READY) ## What is installed with ipdp, with licences, as CycloneDX; leaves sbom.json
	$(BIN)/python tools/sbom.py sbom.json

# The compiled wheel is built from the sdist, as an installer would; the pure one for where none fits.
dist: $(DIST_READY) ## An sdist and two wheels, checked and installed; leaves dist
	rm -rf dist build
	.venv-dist/bin/python -m build --outdir dist
	IPDP_PURE=1 .venv-dist/bin/python -m build --wheel --outdir dist
	.venv-dist/bin/twine check --strict dist/*
	.venv-dist/bin/check-wheel-contents dist/*.whl
	.venv-dist/bin/auditwheel show dist/ipdp-*-linux_*.whl
	PATH=$(CURDIR)/.venv-dist/bin:$$PATH .venv-dist/bin/auditwheel repair --wheel-dir dist dist/ipdp-*-linux_*.whl
	rm dist/ipdp-*-linux_*.whl
	$(PYTHON) tools/try_wheel.py dist/ipdp-*-none-any.whl pure
	$(PYTHON) tools/try_wheel.py dist/ipdp-*-manylinux*.whl compiled

test-wheel: dist ## The test suite on each wheel of `make dist`, installed and not from here (20 minutes)
	$(PYTHON) tools/try_wheel.py dist/ipdp-*-none-any.whl pure --tests
	$(PYTHON) tools/try_wheel.py dist/ipdp-*-manylinux*.whl compiled --tests

bench: $(READY) ## Speed and memory as one table; leaves docs/notes/bench.json and bench.png
	$(BIN)/python benchmarks/bench.py $(ARGS)

paper: $(READY) ## The paper's experiments and figures; leaves ipdp-paper
	$(BIN)/ipdp paper all $(ARGS)

clean: ## Remove the environment, caches and whatever was built
	rm -rf .venv .venv-libraries .venv-minimum .venv-spark .venv-notebooks .venv-dist .river build dist site docs/examples docs/reference/generated docs/*.ipynb ipdp-demo ipdp-paper sbom.json .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	rm -f src/ipdp/core/kernels/*.so src/ipdp/models/*/kernels/*.so
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

# What is compiled where there is a compiler.
KERNELS := $(addprefix core/kernels/,loop sums bins storages spread nearest moves differences news) $(addprefix models/trees/kernels/,walk leaves voting aggregation compact) $(addprefix models/river/kernels/,linear bayes) $(addprefix models/forests/kernels/,ice masks)
COMPILED := setup.py $(KERNELS:%=src/ipdp/%.py) $(wildcard src/ipdp/*/kernels/_*.pxd src/ipdp/*/*/kernels/_*.pxd)

# Beside the compiled loops of every day, those that check each index of an array.
build/checked/.ready: $(READY) $(COMPILED)
	rm -rf $(@D)
	IPDP_CHECKED=1 $(BIN)/python setup.py -q build_ext --build-lib $(@D) --build-temp $(@D)/temp
	@touch $@

$(READY) $(LIBRARIES_READY) $(MINIMUM_READY) $(SPARK_READY) $(NOTEBOOKS_READY): pyproject.toml $(COMPILED)
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "ipdp needs Python 3.11 or newer, and none was found. Install one, or say where" \
			"it is: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Setting up $(@D) with $(PYTHON); this takes some minutes and is done once."
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --upgrade "pip>=25.1"  # the first that knows --group
	$(if $(LOWEST),$(@D)/bin/python tests_minimum/requirements.py >$(LOWEST))
	$(@D)/bin/python -m pip install --quiet --editable . --group $(GROUP) \
		$(LOWEST:%=--only-binary :all: --constraint %)
	@touch $@

$(READY): GROUP = dev
$(LIBRARIES_READY): GROUP = libraries
$(MINIMUM_READY): GROUP = minimum
$(SPARK_READY): GROUP = spark
$(NOTEBOOKS_READY): GROUP = notebooks
$(MINIMUM_READY): LOWEST = $(@D)/lowest.txt
$(MINIMUM_READY): tests_minimum/requirements.py

$(DIST_READY): pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(@D)/bin/python -m pip install --quiet --group dist
	@touch $@
