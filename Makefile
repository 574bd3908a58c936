# Each target sets up what it needs; `make PYTHON=python3.13 VENV=.venv-3.13 test` picks another Python.
FIND_PYTHON = for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v $$p; break; }; done
PYTHON ?= $(shell $(FIND_PYTHON))
VENV ?= .venv
BIN = $(VENV)/bin
# Processes of tests for one run of all; tests wait about half of their time for services and
# kernels. What TESTS names needs none.
WORKERS ?= $(if $(TESTS),0,4)
PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal
# The versions to install; `make CONSTRAINTS= test` takes the newest releases.
CONSTRAINTS ?= constraints.txt
# Their files are verified by the hashes in hashes.txt; other constraints have none.
INSTALL = $(if $(filter constraints.txt,$(CONSTRAINTS)),install_verified,install_constrained)
# Tests start hundreds of processes: each would compile every module where a machine forbids keeping.
export PYTHONDONTWRITEBYTECODE =
# Groups and extras that come with another: no second round of pip for them.
WITHIN_bench = demo test
WITHIN_dev = demo docs test
WITHIN_docs = demo
WITHIN_test = demo docs
# Options of `make bench`: --rounds N, --only NAME ..., --with-scale, --markdown PATH.
OPTIONS ?=
# JupyterLab wants to be told that running as root, in a container for instance, is meant.
LAB_OPTIONS ?= $(if $(filter 0,$(shell id -u)),--allow-root)

# JupyterLab's extension as links into this checkout, so that an edit shows when the page is reloaded.
LINKED = build/jupyter/labextensions/svc-notebook
EXTENSION = $(addprefix widgets/,lab/package.json lab/install.json lab/schemas lab kit) notebooks

.DEFAULT_GOAL := help
.PHONY: help demo lab test test-all check bench docs generate format coverage constraints hashes clean
.PHONY: check-style check-types check-pages check-scripts

help:  ## Show what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.demo  ## From a CSV to ranked hits, with a picture and a page, in demo-out/
	$(BIN)/python notebooks/demo.py --out demo-out

lab: $(VENV)/.demo  ## Open JupyterLab on the tutorials
	mkdir -p $(LINKED)
	ln -sfn $(EXTENSION:%=$(CURDIR)/%) $(LINKED)
	JUPYTER_PATH=$(CURDIR)/build/jupyter $(BIN)/jupyter lab $(LAB_OPTIONS) notebooks/01-from-csv-to-search.ipynb

test: $(VENV)/.test  ## Run the tests without slow ones on all cores, or all tests that TESTS names
	$(PYTEST) $(or $(TESTS),--quick)

test-all: $(VENV)/.test  ## Run all tests, slow ones included
	$(PYTEST)

check: check-style check-types check-pages check-scripts  ## Lint, types, spelling, generated pages, links of the documentation

check-style: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

check-types: $(VENV)/.dev
	$(BIN)/mypy

check-pages: $(VENV)/.dev
	$(BIN)/python docs/generate.py --check
	$(BIN)/python docs/build.py --no-run --into build/check

check-scripts: $(VENV)/.dev
	npx --yes --package=typescript@5.9.3 -- tsc --project widgets
	npx --yes --package=typescript@5.9.3 -- tsc --project svc_notebook/service/crawl/extraction/script

bench: $(VENV)/.bench  ## Measure against peers and print one table; OPTIONS="--rounds 3 --markdown bench.md" passes options
	$(BIN)/python benchmarks/table.py $(OPTIONS)

generate: $(VENV)/.dev  ## Write the modules and pages that are derived from the code
	$(BIN)/python docs/generate.py

docs: $(VENV)/.docs  ## Build the site of the documentation in build/site, tutorials run; dead links fail
	$(BIN)/python docs/build.py

format: $(VENV)/.dev  ## Put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

coverage: $(VENV)/.test  ## Run all tests, or those that TESTS names, and report the branches not covered
	$(PYTEST) --timeout 300 --cov --cov-report=term:skip-covered $(if $(FLOOR),--cov-fail-under=$(FLOOR)) $(TESTS)

hashes:  ## After a new dependency: pin it, and write the hashes of all pinned versions
	$(PYTHON) .ci/versions.py hash

constraints:  ## Pin the newest releases of all dependencies, for each supported Python
	$(PYTHON) .ci/versions.py pin python3.11 python3.12 python3.13

clean:  ## Remove what the other targets made
	rm -rf .venv* demo-out build dist .coverage* .*_cache

PIP_INSTALL = -m pip install --quiet --disable-pip-version-check

# pip verifies nothing that is editable: the project comes after what it needs, with the verified
# backend. Packages without a wheel would run code that was not verified to be built.
define install_verified
$(BIN)/python .ci/versions.py select $* >$(VENV)/$*.txt
$(BIN)/python $(PIP_INSTALL) --require-hashes --no-deps --only-binary :all: --requirement $(VENV)/$*.txt
$(BIN)/python $(PIP_INSTALL) --no-deps --no-index --no-build-isolation --editable .
endef

define install_constrained
$(BIN)/python .ci/versions.py list $* >$(VENV)/$*.txt
PIP_CONSTRAINT="$(CONSTRAINTS)" $(BIN)/python $(PIP_INSTALL) --requirement $(VENV)/$*.txt --editable .
endef

$(VENV)/.%: pyproject.toml $(CONSTRAINTS) hashes.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed; make PYTHON=/path/to/python3.11 $*"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
		rm -rf $(VENV); echo "$(PYTHON) cannot make environments; on Debian: apt-get install python3-venv"; exit 1; }
	$($(INSTALL))
	@touch $@ $(WITHIN_$*:%=$(VENV)/.%)
