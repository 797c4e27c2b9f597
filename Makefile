# `make` lists the targets. PRESET chooses one of CMakePresets.json (default, ci, package, asan, tsan).
PRESET ?= default
JOBS ?= $(shell nproc)
VENV := build/venv

.DEFAULT_GOAL := help
.PHONY: help run build test bench format check-format gpu-bundle venv venv-deploy configure

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## Build, start a server, reduce a real file through it, show its metrics, stop
	@deploy/run-demo.sh

build: configure ## Install what is missing and build everything into build/release/bin
	@cmake --build --preset $(PRESET) --parallel $(JOBS)

test: build venv $(if $(filter 1,$(REDUCTION_REQUIRE_DEPLOY)),venv-deploy) ## Build, then run all tests (the GPU's skip themselves where there is none)
	@ctest --preset $(PRESET) --no-tests=error --parallel $(JOBS)

bench: build ## Build, then run the benchmarks of tests/bench
	@deploy/run-benchmarks.sh

format: ## Format all C++ and CUDA files in place
	@deploy/install-dependencies.sh --tools
	@deploy/clang-format.sh -i

check-format: ## Fail where `make format` would change a file
	@deploy/install-dependencies.sh --tools
	@deploy/clang-format.sh --dry-run -Werror

gpu-bundle: build ## Collect programs, tests and libraries for a machine with a GPU into build/gpu-bundle
	@deploy/install-dependencies.sh --tools
	@deploy/gpu-bundle.sh

configure:
	@deploy/install-dependencies.sh
	@cmake --preset $(PRESET)

# A second Python gRPC client, newer than the distribution's, for the tests of tests/service.
venv: $(VENV)/.complete
$(VENV)/.complete: tests/service/requirements.txt deploy/make-venv.sh
	@deploy/make-venv.sh $(VENV) $<

venv-deploy: $(VENV)-deploy/.complete ## Install the Python packages that only the tests of deploy/ need
$(VENV)-deploy/.complete: tests/deploy/requirements.txt deploy/make-venv.sh
	@deploy/make-venv.sh $(VENV)-deploy $<
