# `make help` lists the targets. Everything happens inside $(VENV); nothing is installed twice.
PYTHON ?= python3
VERSION_OF := -c 'import sys; print("%d.%d" % sys.version_info[:2])'
VERSION := $(shell $(PYTHON) $(VERSION_OF))
# With `make test PYTHON=python3.13` an environment of its own: .venv-3.13.
VENV ?= .venv$(if $(findstring command,$(origin PYTHON)),-$(VERSION))
CONFIG ?= configs/linkage_az_quick.yaml
ARGS ?=
SEED ?= 0
GAME ?= linkage
DIST ?= dist
# Python compiles modules when it imports them; most of those of torch are never imported.
PIP_ARGS ?= --no-compile
PYTEST_ARGS ?= -n 2 --dist loadgroup --durations=20
# With SINCE=REVISION, the tests of wings run only where a change since then concerns them.
SINCE ?=
TESTS := -m pytest $(if $(SINCE),--changed-since=$(SINCE))
FRAMEWORKS ?= .venv-frameworks
AGILERL ?= .venv-agilerl
LLM ?= .venv-llm
CUDA ?= .venv-cuda
# The interpreter of `make test-ptx`, if it was made; another one may have torch for the GPU.
CUDA_PYTHON ?= $(or $(wildcard $(CUDA)/bin/python),$(PYTHON))
OUT ?= runs/gpu
LOWEST ?= .venv-lowest-$(VERSION)
NEWEST ?= .venv-newest-$(VERSION)
ENVS ?= .venv-envs-$(VERSION)
AARCH64 ?= .venv-aarch64
UV ?= .venv-uv
# Which torch `test-lowest` and `test-newest` take: with TORCH="-c constraints.txt" that of `make test`.
TORCH ?=
# The tests of `make test-envs`; modules that import torch are skipped.
ENVS_TESTS := $(addprefix tests/,common linkage love_links link_o love_formula outside)
# For `make lock`: the Pythons that have a lock, and the extras in it.
PYTHONS ?= 3.11 3.12 3.13 3.14
LOCKED := train web dev release docs browser cuda

BIN := $(VENV)/bin
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check $(PIP_ARGS)
comma := ,
LOCKS := $(wildcard locks/*.txt)
# $(call locked,ENVIRONMENT,REQUIREMENTS): installs the versions of the lock. The build backend comes
# first, and builds aren't isolated, because pip ignores constraints in isolated builds.
pip_locked = $(1)/bin/python $(PIP_INSTALL) -c locks/$$($(1)/bin/python $(VERSION_OF)).txt
locked = $(pip_locked) hatchling && $(pip_locked) --no-build-isolation $(2)
# A machine with a GPU may have no network: nothing is installed there.
ON_GPU := PYTHONPATH=envs:training:$(PYTHONPATH) $(CUDA_PYTHON)

.DEFAULT_GOAL := help
.PHONY: help train test test-slow test-all lint format types wheel bench strength docs clean fuzz test-web test-integrations test-versions test-pythons test-lowest test-newest test-envs test-aarch64 lock test-ptx test-nightly test-gpu gpu

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

train: $(VENV)/.train ## install, then train (or resume) and evaluate Linkage (CONFIG=..., ARGS=...)
	$(BIN)/linkzoo train $(CONFIG) $(ARGS) --resume

test: $(VENV)/.dev ## install, then run the tests but the slow ones (PYTEST_ARGS=..., SINCE=...)
	$(BIN)/python $(TESTS) -m "not slow" $(PYTEST_ARGS)

test-slow: $(VENV)/.dev ## install, then run the slow tests, those that `make test` leaves out
	$(BIN)/python $(TESTS) -m "slow and not nightly and not ptxas and not gpu" $(PYTEST_ARGS)

test-all: test test-slow test-ptx ## every test but those that take many minutes or a GPU

test-ptx: $(CUDA)/.made ## the kernels through CUDA's compilers (450 MB); no GPU is needed
	$(CUDA)/bin/python -m pytest tests/cuda -m "ptxas and not nightly"

test-nightly: $(VENV)/.dev $(CUDA)/.made $(FRAMEWORKS)/.made ## the tests that CI leaves out: variants, and what takes seconds to minutes
	$(BIN)/python -m pytest -m "nightly and not ptxas" $(PYTEST_ARGS)
	$(CUDA)/bin/python -m pytest tests/cuda -m "ptxas and nightly"
	$(FRAMEWORKS)/bin/python -m pytest tests_integrations/cluster -m nightly $(FRAMEWORK_TESTS)

test-gpu: ## what can only run on a GPU (CUDA_PYTHON=...)
	$(ON_GPU) -m pytest tests/gpu

gpu: MINUTES ?= 8
gpu: ## on a GPU: its tests, benchmarks and a minute of training (MINUTES=..., OUT=..., ARGS=..., CUDA_PYTHON=...)
	$(ON_GPU) -m lab.gpu --minutes $(MINUTES) --out $(OUT) $(ARGS)

fuzz: MINUTES ?= 1
fuzz: $(VENV)/.dev ## wrong and damaged input, until something breaks (MINUTES=..., SEED=..., ARGS=...)
	$(BIN)/python -m pytest tests/fuzz -n 2 --dist worksteal --minutes $(MINUTES) --hypothesis-seed $(SEED) $(ARGS)

test-web: $(VENV)/.browser ## the page of `linkzoo serve` in a real browser (apt-get install chromium; NIGHTLY=1: all)
	$(BIN)/python -m pytest tests_web -m "$(if $(NIGHTLY),,not nightly)" -n 2 --dist worksteal

test-integrations: $(FRAMEWORKS)/.made $(AGILERL)/.made $(LLM)/.made ## frameworks and their own programs on every game
	$(FRAMEWORKS)/bin/python -m pytest tests_integrations/frameworks $(FRAMEWORK_TESTS)
	$(FRAMEWORKS)/bin/python -m pytest tests_integrations/cluster -m "not nightly" $(FRAMEWORK_TESTS)
	$(FRAMEWORKS)/bin/python -m pytest tests_integrations/storage $(FRAMEWORK_TESTS)
	$(AGILERL)/bin/python -m pytest tests_integrations/agilerl $(FRAMEWORK_TESTS)
	$(LLM)/bin/python -m pytest tests_integrations/llm $(FRAMEWORK_TESTS)

test-versions: test-lowest test-newest ## the quick tests with the lowest and the newest packages (PYTHON=python3.13)

test-lowest: $(LOWEST)/.made ## the quick tests with the lowest versions of our dependencies (PYTHON=...)
	$(LOWEST)/bin/python -m pytest -m "not slow" $(LOWEST_TESTS) $(PYTEST_ARGS)

test-newest: $(NEWEST)/.made ## the quick tests with the newest version of everything; for every night (PYTHON=...)
	$(UV)/bin/uv pip compile --quiet --upgrade --no-annotate --python $(NEWEST)/bin/python \
		--extra train --extra web --extra dev $(TORCH) pyproject.toml -o $(NEWEST)/newest.txt
	$(UV)/bin/uv pip install --quiet --python $(NEWEST)/bin/python $(TORCH) -c $(NEWEST)/newest.txt -e ".[train,web,dev]"
	$(NEWEST)/bin/python -m pytest -m "not slow" $(PYTEST_ARGS)

test-pythons: ## both, with every Python of PYTHONS that is here or in pyenv; for every night
	@passed=; failed=; missing=; \
	for version in $(PYTHONS); do \
		found=; \
		for python in python$$version "$$(pyenv prefix $$version 2>/dev/null)/bin/python$$version"; do \
			if "$$python" -c "import ensurepip" 2>/dev/null; then found="$$python"; fi; \
		done; \
		if [ -z "$$found" ]; then missing="$$missing $$version"; continue; fi; \
		for packages in lowest newest; do \
			if $(MAKE) test-$$packages PYTHON="$$found"; then \
				passed="$$passed $$version-$$packages"; \
			else \
				failed="$$failed $$version-$$packages"; \
			fi; \
		done; \
	done; \
	echo "passed:$$passed"; \
	if [ -n "$$missing" ]; then \
		echo "LEFT OUT, neither on the path nor of pyenv, or without ensurepip: Python$$missing"; \
	fi; \
	if [ -n "$$failed" ]; then echo "FAILED:$$failed"; fi; \
	[ -n "$$passed" ] && [ -z "$$failed" ]

test-aarch64: $(VENV)/.dev ## the environments on an emulated aarch64, as root (ARGS=tests/...)
	PYTHON=$(BIN)/python scripts/aarch64.sh $(AARCH64) $(ARGS)

test-envs: $(ENVS)/.made ## the environments' quick tests, without torch (PYTHON=...)
	$(ENVS)/bin/python -m pytest -m "not slow" $(PYTEST_ARGS) $(ENVS_TESTS)

lock: $(UV)/.made ## locks/: the newest versions that fit together, for each Python
	for version in $(PYTHONS); do \
		$(UV)/bin/uv pip compile --quiet --upgrade --universal --python-version $$version \
			--no-annotate --custom-compile-command "make lock" -c constraints.txt \
			$(LOCKED:%=--extra %) pyproject.toml locks/tools.in -o locks/$$version.txt || exit 1; \
	done

lint: $(VENV)/.dev ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.dev ## ruff: repair what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.dev ## mypy, strictly, over everything
	$(BIN)/mypy

wheel: $(VENV)/.release ## dist/: sdists and wheels for a package index, built and checked
	$(BIN)/python -m scripts.distributions --out $(DIST)

bench: $(VENV)/.bench ## measure speed beside other packages (GAME=...)
	$(BIN)/python -m lab.startup $(GAME)
	$(BIN)/python -m lab.compare $(GAME)
	$(BIN)/python -m lab.ppo $(GAME)_ppo

strength: $(VENV)/.train ## play the README's matches again (ARGS=--all: those of every card)
	$(BIN)/python -m lab.strength --check $(ARGS)

docs: $(VENV)/.docs ## site/: the documentation
	$(BIN)/zensical build --strict --clean

clean: ## remove what is built (not $(VENV), not runs/)
	rm -rf build dist site .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find envs training tests tests_integrations examples lab -name __pycache__ -prune -exec rm -rf {} +

# Old packages use names that newer ones below them deprecate.
LOWEST_TESTS := -W default::DeprecationWarning

# The frameworks warn of much that isn't ours to change.
FRAMEWORK_TESTS := -W default

# One environment for all frameworks (RLlib pins gymnasium), one for AgileRL, which needs older
# packages, and one for language models, whose extras are installed one after the other.
$(FRAMEWORKS)/.made: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(FRAMEWORKS)
	$(FRAMEWORKS)/bin/python $(PIP_INSTALL) -c constraints.txt -e ".[train,dev,ray,storage,parquet,rllib,torchrl,tianshou,sb3,openspiel]" supersuit jax s3fs "moto[server]"
	touch $@

$(AGILERL)/.made: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(AGILERL)
	$(AGILERL)/bin/python $(PIP_INSTALL) -c constraints.txt -e ".[train,dev]" agilerl peft
	touch $@

$(LLM)/.made: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(LLM)
	for extras in train,dev openenv textarena verifiers trl mcp kaggle; do \
		$(LLM)/bin/python $(PIP_INSTALL) -c constraints.txt -e ".[$$extras]" || exit 1; \
	done
	$(LLM)/bin/python $(PIP_INSTALL) mistral-common
	touch $@

# CUDA's compilers are large: here, and not for every developer.
$(CUDA)/.made: pyproject.toml $(LOCKS)
	$(PYTHON) -m venv $(CUDA)
	$(call locked,$(CUDA),-e ".[train$(comma)dev$(comma)cuda]" nvidia-cuda-nvcc)
	touch $@

# Lowest: of what pyproject.toml asks for by name, where there is a wheel for this Python. uv installs
# these environments, because it links their gigabytes to one copy in its cache.
$(LOWEST)/.made: pyproject.toml constraints.txt $(UV)/.made
	$(PYTHON) -m venv --clear $(LOWEST)
	$(UV)/bin/uv pip compile --quiet --resolution lowest-direct --only-binary :all: --no-annotate \
		--python $(LOWEST)/bin/python --extra train --extra web $(TORCH) pyproject.toml -o $(LOWEST)/lowest.txt
	$(UV)/bin/uv pip install --quiet --python $(LOWEST)/bin/python $(TORCH) -c $(LOWEST)/lowest.txt -e ".[train,web,dev]"
	touch $@

# `make test-newest` looks for newer releases each time. Compiled first, because `uv pip install --upgrade` fetches what
# its cache has.
$(NEWEST)/.made: $(UV)/.made
	$(PYTHON) -m venv --clear $(NEWEST)
	touch $@

$(ENVS)/.made: pyproject.toml $(LOCKS)
	$(PYTHON) -m venv --clear $(ENVS)
	$(call locked,$(ENVS),-e . hypothesis pytest pytest-xdist)
	touch $@

$(UV)/.made:
	$(PYTHON) -m venv $(UV)
	$(UV)/bin/python $(PIP_INSTALL) "uv>=0.13,<0.14"
	touch $@

# Stamps: an extra is installed again only when what it depends on changes.
$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.train: $(VENV)/.made pyproject.toml $(LOCKS)
	$(call locked,$(VENV),-e ".[train]")
	touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml $(LOCKS)
	$(call locked,$(VENV),-e ".[train$(comma)web$(comma)dev]")
	touch $@ $(VENV)/.train

$(VENV)/.release: $(VENV)/.made pyproject.toml $(LOCKS)
	$(call locked,$(VENV),-e ".[release]")
	touch $@

$(VENV)/.browser: $(VENV)/.dev
	$(call locked,$(VENV),-e ".[train$(comma)web$(comma)dev$(comma)browser]")
	touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml constraints.txt
	$(BIN)/python $(PIP_INSTALL) -c constraints.txt -e ".[train,bench]"
	touch $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml $(LOCKS)
	$(call locked,$(VENV),-e ".[docs]")
	touch $@
