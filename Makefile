# Two commands need nothing but Python 3.11 and the network: `make run` and `make test`.
# ARGS is passed on: make test ARGS="tests/events -x". PYTHON names the interpreter to start from.

BIN := .venv/bin
CODE := $(foreach folder,src tests tools bench,$(if $(wildcard $(folder)/*.py $(folder)/*/*.py),$(folder)))
JAVA := JAVA_HOME=$$($(BIN)/python -m tools.java) && export JAVA_HOME

.DEFAULT_GOAL := help
.PHONY: help install run test quick check format bench conformance soak lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

install: ## make .venv with the locked packages; instant when nothing changed
	@python=$$(PYTHON='$(PYTHON)' sh tools/python.sh) && "$$python" -m tools.install

run: install ## start Penstock (PENSTOCK_PORT, PENSTOCK_DATA ... are its settings)
	@$(JAVA) && exec $(BIN)/penstock up $(ARGS)

test: install ## run all tests, except the soak tests
	@$(JAVA) && exec $(BIN)/python -m pytest $(ARGS)

quick: install ## run the tests that need no Java and no servers
	@exec $(BIN)/python -m pytest -m 'not (spark or network or soak)' $(ARGS)

check: install ## format, lint and types
	@status=0; \
	$(BIN)/ruff format --check $(CODE) || status=1; \
	$(BIN)/ruff check $(CODE) || status=1; \
	$(BIN)/mypy $(CODE) || status=1; \
	exit $$status

format: install ## let ruff rewrite what it can
	@$(BIN)/ruff check --fix-only $(CODE) && $(BIN)/ruff format $(CODE)

bench: install ## measure, and keep the result in bench/results
	@$(BIN)/python -m tools.packages nginx wrk
	@$(JAVA) && exec $(BIN)/python -m bench $(ARGS)

conformance: install ## which requirements of docs/conformance the tests show
	@$(JAVA) && exec $(BIN)/python -m tools.conformance $(ARGS)

soak: install ## the long tests under load
	@$(JAVA) && exec $(BIN)/python -m pytest -m soak --timeout 0 $(ARGS)

lock: ## refresh requirements.lock (ARGS=--upgrade for newer versions)
	@python=$$(PYTHON='$(PYTHON)' sh tools/python.sh) && "$$python" -m tools.lock $(ARGS)

clean: ## remove what make made; penstock-data is yours and stays
	@rm -rf .venv .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
	@find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +
