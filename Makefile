# A thin face: uv and maturin do the work, dev/*.sh hold the steps. `make help` lists the targets.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test test-long test-vm image test-image mutants bench bench-compare docs format bless reproduce man lock clean setup dev

VENV := .venv
# What the compiled extension is made of.
SOURCES := pyproject.toml Cargo.toml Cargo.lock $(shell find crates -path crates/faultfs -prune -o \( -path '*/src/*.rs' -o -name Cargo.toml \) -print)
# What `make run` looks at: a scratch file on this disk, unless a target is named (make run TARGET=/dev/sdX).
TARGET ?=

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

run: setup  ## say what this disk can do and what load it carries, and draw the report (about three minutes)
	$(VENV)/bin/plimsoll check $(TARGET)

test: setup  ## every check: formats, lints, types, tests of Rust, Python and the report in a browser
	dev/system.sh
	dev/test.sh

test-long: setup  ## what takes an hour or passes in real time: injected faults, kills, damage, unsafe targets, hostile clients; figures at the end
	dev/system.sh
	dev/test-long.sh

test-vm: setup  ## layouts on Debian's kernel in a virtual machine (root; the first time it makes the machine's system)
	dev/vm.sh

image: setup  ## the live image, .cache/image/plimsoll.iso (root or user namespaces; about six minutes the first time)
	dev/image.sh

test-image: image  ## boots the live image in a virtual machine: BIOS, UEFI, a run by itself, a power cut, the menu (twenty minutes)
	dev/test-image.sh

mutants: setup  ## plants bugs in a copy of the tree, one at a time, and says which test caught each (a few minutes)
	$(VENV)/bin/python dev/mutants.py

bench: setup  ## own cost per I/O beside fio (FIO=, or on the path) and t/io_uring (T_IO_URING=); writes docs/performance.md
	$(VENV)/bin/python dev/bench.py --page docs/performance.md

bench-compare: setup  ## what one I/O costs here and at another commit, by turns: make bench-compare BASE=commit
	$(VENV)/bin/python dev/compare.py $(BASE)

docs:  ## the documents as a site, .cache/docs/site; every link and anchor is checked
	@dev/docs.sh

format: setup  ## write Rust and Python in the house format
	cargo fmt --all
	$(VENV)/bin/ruff check --quiet --fix .
	$(VENV)/bin/ruff format --quiet .

bless: setup  ## write generated documents and snapshots anew; look at the difference afterwards
	PLIMSOLL_BLESS=1 cargo test --locked --quiet --package plimsoll-workload
	PLIMSOLL_BLESS=1 cargo test --locked --quiet --package plimsoll-mailstore --test documents
	PLIMSOLL_BLESS=1 cargo test --locked --quiet --package plimsoll-array --test documents --test messages
	PLIMSOLL_RENEW=1 $(VENV)/bin/pytest tests/unit/test_help.py tests/unit/test_experiment_reference.py tests/unit/test_layout_reference.py tests/unit/test_lab.py tests/unit/test_array_reference.py tests/unit/test_results_table.py tests/unit/test_decision_queries.py tests/unit/test_schemas.py tests/report/test_page_model.py

reproduce: setup  ## write docs/reproduce.md and docs/coverage.md anew: what was published, and what modelled arrays say (about three minutes)
	$(VENV)/bin/plimsoll reproduce --quiet --markdown > docs/reproduce.md.new
	mv docs/reproduce.md.new docs/reproduce.md
	$(VENV)/bin/plimsoll reproduce --products --quiet --markdown > docs/coverage.md.new
	mv docs/coverage.md.new docs/coverage.md

man: setup  ## write man pages of every command to target/man
	$(VENV)/bin/python dev/man.py target/man

lock:  ## take the newest versions that pyproject.toml allows into requirements.lock
	dev/lock.sh

clean:  ## remove everything that the other targets made, except results
	rm -rf $(VENV) target .cache .mypy_cache .pytest_cache .ruff_cache page/node_modules python/plimsoll/_core*.so
	find python tests dev -name __pycache__ -type d -prune -exec rm -rf {} +

setup: $(VENV)/.built  ## only set up: .venv with the tools, and the command .venv/bin/plimsoll

dev: $(VENV)/.synced  ## build the engine quickly after an edit, to try it: do not measure with it; every other target builds it again
	@rm -f $(VENV)/.built
	@dev/build.sh edit

# The stamp bears the instant before the build, so that an edit during it builds again.
$(VENV)/.built: $(VENV)/.synced $(SOURCES)
	@touch $@-begun
	@dev/build.sh
	@mv $@-begun $@

$(VENV)/.synced: requirements.lock
	@dev/venv.sh
	@touch $@
