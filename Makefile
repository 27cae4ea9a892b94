# Two commands: `make demo` runs the product, `make test` proves it.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON := .venv/bin/python
export PATH := $(CURDIR)/.venv/bin:$(PATH)

# Parallel targets show their output when they are done.
TOGETHER := @$(MAKE) --no-print-directory --jobs 2 --output-sync=target
# A file of tests at a time for each process, and all that shares Spark's session for one of them;
# in the same order each time (`make nightly` draws orders and examples anew).
SPREAD := --randomly-seed=1 -n logical --maxprocesses 4 --dist loadgroup
# Where tests of the core lie, and files with tests that rest on the database.
CORE := $(addprefix tests/, algebra federation golden ingest live log overlog provenance results runtime sensors_sim streamsql views)
DATABASE = $(shell grep -rlE --include='test_*.py' 'mark\.database' tests)

.PHONY: help demo test quick lint types contracts python postgres frontend browser bench nightly mutants lock clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

demo: ## set everything up and run the product on http://127.0.0.1:8000, with BUILDING=path on any building
	@docker/setup.sh run
	@exec $(PYTHON) manage.py demo $(if $(BUILDING),--building "$(BUILDING)")

test: ## set everything up and pass all tests
	@docker/setup.sh test
	$(TOGETHER) lint types contracts frontend
	@$(MAKE) --no-print-directory python
	@$(MAKE) --no-print-directory browser
	@$(MAKE) --no-print-directory postgres
	@echo "all green"

quick: ## lint, types, contracts and the fast tests of the core: the way there, in three minutes
	$(TOGETHER) lint types contracts
	@echo "── quick"; $(PYTHON) -m pytest $(SPREAD) -q -m "not slow and not spark and not browser and not nightly" $(CORE)

lint: ## ruff, formatting, migrations, the API's description
	@echo "── lint"; ruff check . && ruff format --check .
	@$(PYTHON) manage.py makemigrations --check --dry-run
	@$(PYTHON) manage.py spectacular --fail-on-warn --file /dev/null
	@cd frontend && npm run --silent lint

types: ## mypy, strict where the engine lives
	@echo "── types"; mypy

contracts: ## who may import whom
	@echo "── import contracts"; lint-imports

frontend: ## svelte-check and vitest
	@echo "── front end"; cd frontend && npm run --silent check && npm run --silent test

python: ## everything but the browser
	@echo "── python"; $(PYTHON) -m pytest $(SPREAD) -m "not browser and not nightly"

postgres: ## what depends on the database, on PostgreSQL
	@echo "── postgres"; docker/with-postgres.sh $(PYTHON) -m pytest $(SPREAD) -m "database and not nightly" $(DATABASE)

browser: ## the whole story in headless Chromium
	@echo "── browser"; $(PYTHON) -m pytest -m "browser and not nightly" -p no:randomly

nightly: ## long property runs, on top of `make test`
	@docker/setup.sh test
	$(PYTHON) -m pytest --run-nightly

mutants: ## change the core wrongly, 400 times at random, and see that tests fail
	@docker/setup.sh test
	@docker/setup.sh mutants
	.venv-mutants/bin/python tests/mutants/campaign.py --sample 400 --report var/mutants

bench: ## every figure of the README, as JSON under var/bench
	@docker/setup.sh test
	@docker/setup.sh peers || echo "going on without Pathway"
	@mkdir -p var/bench
	@for name in latency recovery seeds orders slope strategies peers motes federation tenants scale; do \
	  echo "── bench $$name"; $(PYTHON) manage.py bench $$name --json | tee var/bench/$$name.json; done

lock: ## refresh the lock files from pyproject.toml and package.json
	uv pip compile pyproject.toml --extra test --universal --generate-hashes --no-header \
	  --no-emit-index-url --no-annotate --python-version 3.11 --upgrade -o requirements-test.lock --quiet
	uv pip compile pyproject.toml --constraints requirements-test.lock --universal --generate-hashes \
	  --no-header --no-emit-index-url --no-annotate --python-version 3.11 --upgrade -o requirements.lock --quiet
	uv pip compile --group pyproject.toml:peers --universal --generate-hashes --no-header \
	  --no-emit-index-url --no-annotate --python-version 3.11 --upgrade -o requirements-peers.lock --quiet
	uv pip compile --group pyproject.toml:mutants --universal --generate-hashes --no-header \
	  --no-emit-index-url --no-annotate --python-version 3.11 --upgrade -o requirements-mutants.lock --quiet
	cd frontend && npm update --package-lock-only

clean: ## remove what set-up and runs made
	rm -rf .venv .venv-peers .venv-mutants frontend/node_modules frontend/dist var
