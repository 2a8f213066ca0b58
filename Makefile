# One command each: setup, demo, test, torture, lint, bench.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WARM := $(VENV)/.warm
FLINK := 2.3.0

.PHONY: help setup demo test matrix torture kills throughput comeback fuzz plans console lint bench flink clean

help:  ## what can be made
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*##/\t/'

setup: $(READY)  ## make .venv with all that is needed, and find Java

$(READY): requirements.txt requirements-places.txt pyproject.toml scripts/setup.sh
	@PYTHON="$(PYTHON)" VENV="$(VENV)" sh scripts/setup.sh
	@touch $@

$(WARM): $(READY)
	@echo "compiling what is compiled once on a machine (about two minutes) ..."
	@. scripts/java.sh && $(BIN)/windrow warm
	-@. scripts/java.sh && $(BIN)/python tests/quick_spark.py > /dev/null 2>&1
	-@$(ASSERTS) $(BIN)/python -m pytest -n 0 --collect-only > /dev/null 2>&1
	@touch $@

demo: $(READY)  ## run the main job live: a stream of stock ticks, several queries
	@. scripts/java.sh && $(BIN)/windrow demo

ASSERTS := PYTHONDONTWRITEBYTECODE=
# pytest compiles the asserts of tests, and keeps them where Python may write: else each process does so in each run

test: $(WARM)  ## run all tests; ORDER=7 draws another order and other random streams, EXAMPLES=100 all of them
	@$(BIN)/python -m compileall -q src tests benchmarks  # tests start many processes, also where Python may write none
	@. scripts/java.sh && $(ASSERTS) $(BIN)/python -m pytest $(if $(ORDER),--order=$(ORDER) --hypothesis-seed=$(ORDER)) $(if $(EXAMPLES),--examples=$(EXAMPLES))

matrix: $(WARM)  ## what takes minutes: more kills, longer streams, S3 and HDFS where Maven is to be had
	@$(BIN)/python scripts/fetch_jars.py
	@. scripts/java.sh && $(BIN)/python -m pytest -m slow

torture: $(WARM)  ## 100 times kill what jobs need on a small cluster, and compare their rows
	@. scripts/java.sh && PYTHONPATH=$(CURDIR)/src:$(CURDIR)/tests:$(CURDIR)/tests/cluster $(BIN)/python tests/cluster/torture.py $(TORTURE)

kills: $(WARM)  ## kill a job with Kafka, Delta and PostgreSQL 50 times, and count what is lost or twice; KILLS=8 for so many
	@. scripts/java.sh && KILLS=$(or $(KILLS),50) PYTHONPATH=$(CURDIR)/src $(BIN)/python -m pytest -n 0 -s -m slow tests/kafka/test_kafka_kill.py

throughput: $(WARM)  ## a cluster of two one-core workers beside local[2]: events in a second of the same job
	@. scripts/java.sh && PYTHONPATH=$(CURDIR)/src $(BIN)/python -m windrow.cli.main warm --quick > /dev/null  # a linked .venv has other paths
	@. scripts/java.sh && PYTHONPATH=$(CURDIR)/src:$(CURDIR):$(CURDIR)/tests:$(CURDIR)/tests/cluster $(BIN)/python tests/cluster/throughput.py $(THROUGHPUT)

comeback: $(WARM)  ## kill a live job, and tell when it answers again and where the time goes
	@. scripts/java.sh && PYTHONPATH=$(CURDIR)/src $(BIN)/python -m windrow.cli.main warm --quick > /dev/null  # a linked .venv has other paths
	@. scripts/java.sh && PYTHONPATH=$(CURDIR)/src:$(CURDIR):$(CURDIR)/tests:$(CURDIR)/tests/cluster $(BIN)/python tests/cluster/comes_back.py $(COMEBACK)

fuzz: $(WARM)  ## try 20,000 random statements; SEED=2 for others
	@cd tests && PYTHONPATH=. ../$(BIN)/python -W ignore -m fuzz.fuzz 20000 $(or $(SEED),1)

plans: $(WARM)  ## try 20,000 random plans beside DuckDB; SEED=2 for others, COUNT=100 for so many
	@cd tests && PYTHONPATH=. ../$(BIN)/python -W ignore -m fuzz.try_plans $(or $(COUNT),20000) $(or $(SEED),1)

console:  ## build the page of the console from console/ (needs Node)
	cd console && npm install --no-audit --no-fund --omit-lockfile-registry-resolved && npm run build
	-$(BIN)/pip install --quiet -r requirements-browser.txt  # to try it in a browser

lint: $(READY)  ## style, types and who may import whom
	$(BIN)/ruff check src lab tests benchmarks examples
	$(BIN)/ruff format --check src lab tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)  ## run the benchmark of sliding aggregates
	@. scripts/java.sh && $(BIN)/windrow bench sliding

flink:  ## install Flink into .venv-flink, for windrow bench peers
	$(PYTHON) -m venv .venv-flink && .venv-flink/bin/pip install --quiet apache-flink==$(FLINK)
	mvn -q dependency:copy -Dartifact=org.apache.flink:flink-sql-parquet:$(FLINK) -DoutputDirectory=.venv-flink/jars

clean:  ## remove what was made
	rm -rf $(VENV) build dist *.egg-info src/*.egg-info
