# Waybill. `make` alone prints what there is.

PYTHON ?= python3
PORT ?= 8000
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/runtime-$(firstword $(shell cksum requirements.txt)).stamp
TESTS := $(VENV)/tests-$(firstword $(shell cksum tests/requirements.txt)).stamp
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --require-hashes

# A frame over the chat's own 16 KiB gets a clear error before the server cuts the socket.
UVICORN := --loop uvloop --http httptools --ws websockets-sansio --ws-max-size 65536 \
  --ws-per-message-deflate false --lifespan on --timeout-graceful-shutdown 5 --no-server-header

# What uses the stores in these rooms runs a second time, on PostgreSQL and Redis; which
# tests those are, and which come first, is said in tests/conftest.py.
ROOMS_WITH_TABLES := $(wildcard tests/chat tests/evals tests/tools tests/workflow)
PYTEST ?= --numprocesses 2 --dist loadfile --no-loadscope-reorder

export PORT

.DEFAULT_GOAL := help
.PHONY: help run stack install test assurance bench check audit lock format

help: ## Print this help
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(RUNTIME) ## Start the assistant with its demo shop on http://127.0.0.1:8000 (PORT=8123 for another)
	@$(BIN)/python manage.py bootstrap
	@exec $(BIN)/uvicorn chatbot.asgi:application --host 127.0.0.1 --port $(PORT) $(UVICORN)

stack: $(RUNTIME) ## Start web, worker, beat, PostgreSQL and Redis on this machine, until Ctrl-C
	@exec $(BIN)/python -m tests.servers.stack

install: $(RUNTIME) $(TESTS) ## Make .venv with all that running, testing and checking need

test: $(TESTS) ## Run the whole suite, bringing the servers and the browser that it needs
	@$(BIN)/python -m tests.parts
	$(BIN)/python -m tests.suite $(PYTEST)
	$(BIN)/python -m tests.servers.stores $(BIN)/python -m tests.suite $(PYTEST) --stores $(ROOMS_WITH_TABLES)

assurance: $(TESTS) ## Kill, flood and cut off a whole deployment; writes docs/assurance/report.json
	@$(BIN)/python -m tests.parts
	$(BIN)/python -m tests.assurance

bench: $(TESTS) ## Measure speed beside the bare loop (PEERS=1: beside the peers too; BENCH="--rounds 3")
	@$(if $(PEERS),test -x var/peers/bin/uvicorn || { $(PYTHON) -m venv var/peers && \
	  var/peers/bin/python -m pip install --quiet -r benchmarks/peers.txt; })
	$(BIN)/python -m benchmarks $(if $(PEERS),--peers var/peers/bin/python) $(BENCH)

check: $(TESTS) ## Check layout, types, import rules, deployment settings and migrations
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo
	env $$(grep -v '^#' tests/production.env) $(BIN)/python -W error manage.py check --deploy --fail-level WARNING
	$(BIN)/python manage.py makemigrations --check --dry-run

audit: ## Write var/sbom.json; look for weaknesses in code and pinned packages (asks the package index)
	@test -x var/audit/bin/pip-audit || { $(PYTHON) -m venv var/audit && \
	  var/audit/bin/python -m pip install --quiet -r deploy/audit.txt; }
	@mkdir -p var
	var/audit/bin/cyclonedx-py requirements requirements.txt --pyproject pyproject.toml --output-file var/sbom.json
	var/audit/bin/bandit --quiet --recursive --severity-level high chatbot tools
	var/audit/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements.txt

lock: $(TESTS) ## Pin and hash anew what pyproject.toml names
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes \
	  --custom-compile-command "make lock" pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes \
	  --custom-compile-command "make lock" -c requirements.txt --all-extras \
	  pyproject.toml -o tests/requirements.txt

format: $(TESTS) ## Let ruff lay out the code
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format --quiet .

# The stamps are named after the checksum of what was installed: a changed lock installs
# again, an unchanged one costs nothing, whatever the files' times.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Waybill needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	@$(PYTHON) -m venv $(VENV)

$(RUNTIME): | $(VENV)/bin/python
	@echo "Installing the runtime packages into $(VENV) ..."
	@$(PIP) -r requirements.txt
	@rm -f $(VENV)/runtime-*.stamp && touch $@

$(TESTS): | $(VENV)/bin/python
	@echo "Installing what tests and checks need into $(VENV) ..."
	@$(PIP) -r tests/requirements.txt
	@rm -f $(VENV)/tests-*.stamp && touch $@
