# Every command of a day's work; `make help` lists them. CARGO_TARGET_DIR is honoured.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.DEFAULT_GOAL := help

VENV ?= .venv
PY := $(VENV)/bin/python
PYTEST_ARGS ?=
BENCH_ARGS ?=
MINUTES ?= 5
SOAK_ARGS ?=
# Clippy and maturin must see one interpreter, or the binding is compiled anew each time.
export PYO3_PYTHON := $(abspath $(PY))

##@ The two commands of the README

demo: ## Build the wheel, install it in .venv and train on MNIST with it
	scripts/venv.sh $(VENV) maturin numpy
	scripts/wheel.sh $(VENV)
	$(PY) examples/mnist.py

test: lint test-rust models test-python types example ## Everything that CI runs

##@ While working

dev: tools ## Compile quickly, unoptimised, and use python/ in place
	VIRTUAL_ENV=$(abspath $(VENV)) $(VENV)/bin/maturin develop --locked

release: tools ## The same, optimised
	VIRTUAL_ENV=$(abspath $(VENV)) $(VENV)/bin/maturin develop --locked --release

test-rust: ## The core's tests and its documentation's examples; needs no Python
	cargo test --locked --package headrace

models: ## Play what runs at once in the engine in thousands of orders (HEADRACE_MODELS=10: more)
	cargo test --locked --package headrace --lib --features shuttle engine::models

test-python: wheel ## Build and install the wheel, then run the Python tests (PYTEST_ARGS=...)
	$(PY) -m pytest $(PYTEST_ARGS)

types: wheel ## mypy, and the binding's stub against the binding
	$(VENV)/bin/mypy python examples $(wildcard tests/typing)
	$(VENV)/bin/stubtest headrace._headrace

example: wheel ## Run the example that `make demo` shows
	$(PY) examples/mnist.py

lint: tools ## Formatting, ruff, clippy and links in the docs; changes nothing
	cargo fmt --all --check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/ruff check
	cargo clippy --locked --package headrace --all-targets -- -D warnings
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --no-deps --document-private-items --package headrace

fmt: tools ## Format everything and apply ruff's safe fixes
	cargo fmt --all
	$(VENV)/bin/ruff check --fix
	$(VENV)/bin/ruff format

soak: wheel ## Use random pipelines in random ways for MINUTES (5): nothing may pile up or hang
	$(PY) tests/soak.py --minutes $(MINUTES) $(SOAK_ARGS)

bench: wheel ## Measure against the peers (BENCH_ARGS=..., see benches/README.md)
	$(PY) benches/run.py $(BENCH_ARGS)

##@ To give away

wheel: tools ## Build the release wheel into dist/ and install it in .venv
	scripts/wheel.sh $(VENV)

sdist-check: tools ## Build the source distribution and install from it
	scripts/sdist_check.sh $(VENV)

tools: ## Make .venv with the pinned development tools
	scripts/venv.sh $(VENV) -r requirements-dev.txt

help: ## This list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo test dev release test-rust models test-python types example lint fmt bench soak wheel sdist-check tools help
