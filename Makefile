# `make help` lists the targets. Everything happens inside $(VENV); nothing is installed twice.
PYTHON ?= python3
VENV ?= .venv
CONFIG ?= configs/linkage_ppo_quick.yaml
ARGS ?=
MINUTES ?= 1
SEED ?= 0
GAME ?= linkage
PYTEST_ARGS ?= -n 2 --dist loadscope
FRAMEWORKS ?= .venv-frameworks
AGILERL ?= .venv-agilerl
CUDA ?= .venv-cuda
CUDA_PYTHON ?= $(CUDA)/bin/python
LOWEST ?= .venv-lowest
NEWEST ?= .venv-newest

BIN := $(VENV)/bin
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check -c constraints.txt
INSTALL := $(BIN)/python $(PIP_INSTALL)
# A machine with a GPU may have an interpreter with all that is needed: then nothing is installed.
CUDA_MADE := $(if $(filter $(CUDA)/%,$(CUDA_PYTHON)),$(CUDA)/.made)
ON_GPU := PYTHONPATH=envs:training:$(PYTHONPATH) $(CUDA_PYTHON)

.DEFAULT_GOAL := help
.PHONY: help train test test-slow test-all lint format types wheel bench strength docs clean fuzz test-web test-integrations test-versions test-ptx test-nightly test-gpu gpu

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

train: $(VENV)/.train ## install, then train (or resume) and evaluate Linkage (CONFIG=..., ARGS=...)
	$(BIN)/linkzoo train $(CONFIG) $(ARGS) --resume

test: $(VENV)/.dev ## install, then run the tests but the slow ones (PYTEST_ARGS=...)
	$(BIN)/python -m pytest -m "not slow" $(PYTEST_ARGS)

test-slow: $(VENV)/.dev ## install, then run the slow tests, those that `make test` leaves out
	$(BIN)/python -m pytest -m "slow and not ptxas and not gpu" $(PYTEST_ARGS)

test-all: test test-slow test-ptx ## every test but those that take many minutes or a GPU

test-ptx: $(CUDA)/.made ## the kernels through CUDA's compilers (450 MB); no GPU is needed
	$(CUDA)/bin/python -m pytest tests/cuda -m "ptxas and not nightly"

test-nightly: $(CUDA)/.made ## those of them that take minutes
	$(CUDA)/bin/python -m pytest tests/cuda -m "ptxas and nightly"

test-gpu: $(CUDA_MADE) ## what can only run on a GPU (CUDA_PYTHON=...)
	$(ON_GPU) -m pytest tests/gpu

gpu: $(CUDA_MADE) ## on a GPU: its tests, benchmarks and training, with a report (ARGS=..., CUDA_PYTHON=...)
	$(ON_GPU) -m benchmarks.gpu $(ARGS)

fuzz: $(VENV)/.dev ## wrong and damaged input, until something breaks (MINUTES=..., SEED=..., ARGS=...)
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED) $(ARGS)

test-web: $(VENV)/.browser ## the page of `linkzoo serve` in a real browser (apt-get install chromium)
	$(BIN)/python -m pytest tests_web

test-integrations: $(FRAMEWORKS)/.made $(AGILERL)/.made ## frameworks and their own programs on every game
	$(FRAMEWORKS)/bin/python -m pytest tests_integrations/frameworks $(FRAMEWORK_TESTS)
	$(AGILERL)/bin/python -m pytest tests_integrations/agilerl $(FRAMEWORK_TESTS)

test-versions: $(LOWEST)/.made $(NEWEST)/.made ## the tests with the lowest and the newest numba, numpy, pettingzoo and gymnasium
	$(LOWEST)/bin/python -m pytest -m "not ptxas and not gpu" $(PYTEST_ARGS)
	$(NEWEST)/bin/python -m pytest -m "not ptxas and not gpu" $(PYTEST_ARGS)

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

strength: $(VENV)/.train ## play the README's matches again (ARGS=--all: those of every card)
	$(BIN)/python -m benchmarks.strength --check $(ARGS)

docs: $(VENV)/.docs ## site/: the documentation
	$(BIN)/zensical build --strict --clean

clean: ## remove what is built (not $(VENV), not runs/)
	rm -rf build dist site .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find envs training tests tests_integrations examples benchmarks -name __pycache__ -prune -exec rm -rf {} +

# The frameworks warn of much that isn't ours to change.
FRAMEWORK_TESTS := -W default

# One environment for all frameworks (RLlib pins gymnasium), and one for AgileRL, which needs older
# packages.
$(FRAMEWORKS)/.made: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(FRAMEWORKS)
	$(FRAMEWORKS)/bin/python $(PIP_INSTALL) -e ".[train,dev,ray,rllib,torchrl,tianshou,sb3,openspiel]" supersuit
	touch $@

$(AGILERL)/.made: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(AGILERL)
	$(AGILERL)/bin/python $(PIP_INSTALL) -e ".[train,dev]" agilerl peft
	touch $@

# CUDA's compilers are large: here, and not for every developer.
$(CUDA)/.made: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(CUDA)
	$(CUDA)/bin/python $(PIP_INSTALL) -e ".[train,dev,cuda]" "nvidia-cuda-nvcc==13.*"
	touch $@

$(LOWEST)/.made: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python $(PIP_INSTALL) -e ".[train,web,dev]" \
		gymnasium==1.1.0 numba==0.61.0 "numpy==2.0.*" pettingzoo==1.25.0
	touch $@

$(NEWEST)/.made: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/python $(PIP_INSTALL) --upgrade -e ".[train,web,dev]" gymnasium numba numpy pettingzoo
	touch $@

# Stamps: an extra is installed again only when what it depends on changes.
$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.train: $(VENV)/.made pyproject.toml constraints.txt
	$(INSTALL) -e ".[train]"
	touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml constraints.txt
	$(INSTALL) -e ".[train,web,dev]"
	touch $@ $(VENV)/.train

$(VENV)/.browser: $(VENV)/.dev
	$(INSTALL) -e ".[train,web,dev,browser]"
	touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml constraints.txt
	$(INSTALL) -e ".[train,bench]"
	touch $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml constraints.txt
	$(INSTALL) -e ".[docs]"
	touch $@
