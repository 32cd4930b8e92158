# `make help` lists the targets. Everything happens inside $(VENV); nothing is installed twice.
PYTHON ?= python3
VENV ?= .venv
CONFIG ?= configs/linkage_ppo_quick.yaml
ARGS ?=
GAME ?= linkage
PYTEST_ARGS ?= -n 2

BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help train test lint format types wheel bench docs clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

train: $(VENV)/.train ## install, then train (or go on) and evaluate Linkage (CONFIG=..., ARGS=...)
	$(BIN)/linkzoo train $(CONFIG) $(ARGS) --resume

test: $(VENV)/.dev ## install, then run the tests (PYTEST_ARGS=...)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.dev ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.dev ## ruff: repair what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.dev ## mypy, strictly, over everything
	$(BIN)/mypy

wheel: $(VENV)/.dev ## dist/: the sdist, and the wheel built from it
	$(BIN)/python -m build

bench: $(VENV)/.bench ## measure speed beside other packages (GAME=...)
	$(BIN)/python -m benchmarks.startup $(GAME)
	$(BIN)/python -m benchmarks.compare $(GAME)
	$(BIN)/python -m benchmarks.ppo $(GAME)_ppo

docs: $(VENV)/.docs ## site/: the documentation
	$(BIN)/zensical build --strict --clean

clean: ## remove what is built (not $(VENV), not runs/)
	rm -rf build dist site .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find envs training tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

# Stamps: an extra is installed again only when what it depends on changes.
$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.train: $(VENV)/.made pyproject.toml constraints.txt
	$(INSTALL) -e ".[train]"
	touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml constraints.txt
	$(INSTALL) -e ".[train,dev]"
	touch $@ $(VENV)/.train

$(VENV)/.bench: $(VENV)/.made pyproject.toml constraints.txt
	$(INSTALL) -e ".[train,bench]"
	touch $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml constraints.txt
	$(INSTALL) -e ".[docs]"
	touch $@
