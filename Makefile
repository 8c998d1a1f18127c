# Two commands set a fresh machine up: `make demo` and `make test`. Both build .venv when it is missing or old.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check check-all browser sandbox fuzz audit bench accuracy data clean
.DEFAULT_GOAL := test

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "leakdown needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(VENV)/.ready ## sample data, service, a printed address; DEMO_ARGS=--once checks it all and ends
	$(BIN)/leakdown demo $(DEMO_ARGS)

test: $(VENV)/.ready browser sandbox ## every test but the slow ones
	$(BIN)/python -m pytest -n auto

browser: $(VENV)/.ready
	@$(BIN)/python -m tests.browser.chromium

sandbox: $(VENV)/.ready
	@$(BIN)/python -m tests.analysis.candidates.bubblewrap

check: $(VENV)/.ready browser sandbox ## what a change must pass: style, types, contracts, tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto

check-all: check ## the slow tests as well, and every property on examples drawn anew
	$(BIN)/python -m pytest -n auto -m slow
	HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -n auto

audit: $(VENV)/.ready ## known weaknesses of the pinned packages; asks the package index, and fails where it cannot tell
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[audit]'
	$(BIN)/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

fuzz: $(VENV)/.ready ## every target for a minute, guided by coverage where atheris is installed; FUZZ_ARGS="--seconds 600 grammars"
	$(BIN)/python -m tests.fuzz $(or $(FUZZ_ARGS),--seconds 60)

bench: $(VENV)/.ready ## the performance targets; needs rg on the PATH; BENCH_ARGS="--generations 10000000" for pages at full size
	$(BIN)/python -m tests.bench $(BENCH_ARGS)

accuracy: $(VENV)/.ready ## every detector against the corpus; ACCURACY_ARGS=--write puts the tables into the docs
	$(BIN)/python -m data.accuracy $(ACCURACY_ARGS)

data: $(VENV)/.ready ## write the sample runs anew, from their fixed seed
	$(BIN)/python -m data.generate

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
