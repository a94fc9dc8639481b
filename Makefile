# Every target sets up what it needs in .venv: a machine with Python (3.11 or newer) and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: artifacts test check-code bench lock clean help

artifacts: $(READY)  ## rebuild the paper's figures and tables into out/artifacts and compare them with expected/
	$(BIN)/python -m paper_artifacts --check

test: $(READY) check-code  ## style, types, import contract, then all tests
	$(BIN)/python -m pytest -n 2

check-code: $(READY)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)  ## speed against the plain simulator, as ratios of one run (about 12 minutes; QUICK=1: one)
	$(BIN)/python -m tests.bench $(if $(QUICK),--quick)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name it with: make PYTHON=python3.11 ..." >&2; exit 2; }
	@echo "Setting up $(VENV) (once; a minute or two)" >&2
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip==26.3
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

lock: $(READY)  ## write requirements.lock anew from pyproject.toml
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --upgrade pip==26.3
	.venv-lock/bin/python -m pip install --quiet hatchling editables '.[dev]'
	.venv-lock/bin/python -m pip freeze --exclude pdtheory > requirements.lock
	rm -rf .venv-lock

clean:  ## remove what was built here, but not .venv
	rm -rf out .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'
