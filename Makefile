# Every target explains itself: make help
SHELL := /bin/bash
TAGS := netgo,osusergo,sqlite_omit_load_extension
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION) -linkmode external -extldflags "-static"
export CGO_ENABLED := 1

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: tools
tools:
	@command -v go >/dev/null || { echo "Go is missing: install Go 1.26 or newer from your system's packages or https://go.dev/dl/" >&2; exit 1; }
	@go version | awk '{split(substr($$3,3),v,"."); exit !(v[1]>1 || v[2]+0>=26)}' || { echo "Go is too old ($$(go version)): install Go 1.26 or newer from https://go.dev/dl/" >&2; exit 1; }
	@command -v $${CC:-gcc} >/dev/null || { echo "a C compiler is missing: install gcc with its C library's headers (Debian: apt-get install gcc libc6-dev)" >&2; exit 1; }

.PHONY: build
build: tools ## bin/autotune, one static file
	@mkdir -p bin
	go build -tags $(TAGS) -trimpath -ldflags '$(LDFLAGS)' -o bin/autotune ./cmd/autotune

.PHONY: test
test: tools ## every test that needs no GPU and no Python
	go test -tags $(TAGS) -timeout 20m ./...

.PHONY: check
check: tools ## formatting, vet, linter, and with the race detector the tests that have goroutines
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$unformatted" ] || { echo "not gofmt-ed: $$unformatted" >&2; exit 1; }
	go vet -tags $(TAGS) ./...
	go tool staticcheck -tags $(TAGS) -checks 'inherit,-ST1000' ./...
	go test -tags $(TAGS) -race -short -timeout 30m ./...

.PHONY: quickstart
quickstart: build ## a whole study on the built-in fake engine, then the best command
	@rm -rf quickstart.db quickstart.db-wal quickstart.db-shm quickstart.db.d
	bin/autotune run examples/quickstart/study.yaml --study quickstart.db
	bin/autotune export quickstart.db

.PHONY: bench
bench: build ## overhead of a trial, time of a suggestion, load generator against the fake's ledger: figures with their bars
	go test -tags $(TAGS),bench -run 'TestBench(Overhead|Suggest|Load)$$' -v -timeout 20m ./cmd/autotune

# Where guidellm is installed, once (2 GB): torch without its GPU libraries, and a tiny model's tokenizer.
GUIDELLM ?= $(HOME)/.cache/autotune/guidellm

$(GUIDELLM)/ready: cmd/autotune/testdata/guidellm/requirements.txt
	python3 -m venv $(GUIDELLM)
	$(GUIDELLM)/bin/pip --disable-pip-version-check install --quiet --no-deps -r $<
	$(GUIDELLM)/bin/python examples/cpu-vllm/make_cuda_stubs.py $$($(GUIDELLM)/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
	$(GUIDELLM)/bin/python examples/cpu-vllm/make_tiny_model.py $(GUIDELLM)/tiny
	$(GUIDELLM)/bin/guidellm --version
	@touch $@

.PHONY: bench-load
bench-load: tools $(GUIDELLM)/ready ## load generator: 2,000 streams, most events/s, side by side with guidellm; figures with their bars, and bin/bench-load.json
	@mkdir -p bin && rm -f bin/bench-load.json
	AUTOTUNE_GUIDELLM=$(GUIDELLM) go test -tags $(TAGS),bench -run 'TestBench(Load|Streams|Events|Guidellm)$$' -v -timeout 60m ./cmd/autotune

.PHONY: bench-rehearse
bench-rehearse: build ## how close a search of 60 trials comes to the law's best, over ten seeds
	go test -tags $(TAGS),bench -run 'TestBench(Rehearse|Binary|Quickstart)$$' -v -timeout 30m ./cmd/autotune

.PHONY: bench-search
bench-search: tools ## samplers on surfaces whose truth is known: a short table over development seeds, and bin/bench-search.json
	@mkdir -p bin && rm -f bin/bench-search.csv
	go build -tags $(TAGS) -o bin/searchbench ./search/searchbench/cmd/searchbench
	bin/searchbench run -methods gp,rf,tpe,one-at-a-time,random -surfaces six -seeds 0-9 -noise 0.05 -trials 60 -jobs 2 -out bin/bench-search.csv
	bin/searchbench table -json bin/bench-search.json bin/bench-search.csv

# Where Optuna is installed, once; seeds and file of the whole table. What is in the file is not run again.
PEERS ?= $(HOME)/.cache/autotune/peers
SEARCH_SEEDS ?= 2000-2019
SEARCH_ROWS ?= bin/bench-search-full.csv

$(PEERS)/bin/python: search/searchbench/peers/requirements.txt
	python3 -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet -r $<
	@touch $@

.PHONY: bench-search-full
bench-search-full: tools $(PEERS)/bin/python ## the whole table with every sampler, Optuna's too, over held-out seeds: hours
	@mkdir -p bin
	go build -tags $(TAGS) -o bin/searchbench ./search/searchbench/cmd/searchbench
	bin/searchbench run -methods gp,gp+stop,rf,tpe,one-at-a-time,goptuna-tpe,sobol,random -surfaces all -seeds $(SEARCH_SEEDS) -noise 0.05 -jobs 2 -out $(SEARCH_ROWS)
	bin/searchbench run -methods gp,one-at-a-time -surfaces six -seeds $(SEARCH_SEEDS) -noise 0.03,0.1 -jobs 2 -out $(SEARCH_ROWS)
	$(PEERS)/bin/python search/searchbench/peers/optuna.py --searchbench bin/searchbench --surfaces all --seeds $(SEARCH_SEEDS) --out $(SEARCH_ROWS)
	@if $(PEERS)/bin/python -c 'import torch' 2>/dev/null; then $(PEERS)/bin/python search/searchbench/peers/optuna.py --searchbench bin/searchbench --methods optuna-gp --trials 40 --surfaces six --seeds $(SEARCH_SEEDS) --out $(SEARCH_ROWS); fi
	$(PEERS)/bin/pip freeze | grep -i '^optuna=\|^torch=\|^numpy='
	@all=gp,gp+stop,rf,tpe,one-at-a-time,goptuna-tpe,sobol,random,optuna-tpe,optuna-tpe-constraints,optuna-tpe-group; for noise in 0.05 0.03 0.1; do echo; echo "The six, noise $$noise:"; echo; bin/searchbench table -methods $$all -surfaces six -noise $$noise $(SEARCH_ROWS); done
	@echo; echo "Runs of 40 trials that optuna-gp has, too:"; echo; bin/searchbench table -same -methods gp,rf,one-at-a-time,optuna-tpe-constraints,optuna-gp -surfaces six -noise 0.05 $(SEARCH_ROWS)
	@echo; echo "combo and rugged:"; echo; bin/searchbench table -surfaces combo,rugged $(SEARCH_ROWS)

.PHONY: bench-stop
bench-stop: build ## how often a trial that would have ended best is cut short, over random configurations and whole studies, and what that saves
	go test -tags $(TAGS),bench -run 'TestBenchStop' -v -timeout 60m ./cmd/autotune

.PHONY: e2e
e2e: e2e-study e2e-bench ## a study on a real vLLM (CPU), and the benchmark tools beside the truth: installs all of it once into a cache folder, half an hour

.PHONY: e2e-study
e2e-study: build ## a study on a real vLLM (CPU): installs it once into a cache folder, several minutes
	examples/cpu-vllm/e2e.sh bin/autotune

.PHONY: e2e-bench
e2e-bench: build ## the benchmark tools that people quote on the fake engine and on a real vLLM (CPU), beside the built-in load generator and the truth: installs them once (9 GB)
	examples/cpu-vllm/e2e-bench.sh bin/autotune

.PHONY: e2e-workloads
e2e-workloads: build ## the published workloads by every benchmark tool that can send them, small, on the fake engine: half an hour; the tools as for e2e-bench
	examples/bench-tools/e2e-workloads.sh bin/autotune

# Where SGLang's Python code is installed, once for what is asked of it, with torch and without a GPU's libraries.
SGLANG_ARGS_FROM := examples/sglang-args/install.sh examples/sglang-args/requirements.txt examples/cpu-vllm/make_cuda_stubs.py
SGLANG_ARGS ?= $(HOME)/.cache/autotune/sglang-args-$(shell cat $(SGLANG_ARGS_FROM) | sha256sum | cut -c1-12)

.PHONY: e2e-sglang-args
e2e-sglang-args: tools ## our rules for SGLang against its own argument parser on pretended GPUs: installs it once, then some minutes
	examples/sglang-args/install.sh $(SGLANG_ARGS)
	AUTOTUNE_SGLANG_PYTHON=$(SGLANG_ARGS)/bin/python go test -tags $(TAGS),e2e -count=1 -timeout 30m -run 'TestSGLangArgs' -v ./cmd/autotune

.PHONY: clean
clean: ## what the targets above made in this folder
	rm -rf bin quickstart.db quickstart.db-wal quickstart.db-shm quickstart.db.d
