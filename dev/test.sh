#!/bin/bash
# Every check, the quick ones first; ends with pytest, whose summary is the last line.
# The page is checked from pytest too (tests/report): its types, its own tests, its bundle, and the report in a browser.
# `dev/test.sh build` only builds the tests of Rust.
set -euo pipefail
cd "$(dirname "$0")/.."
export PYO3_PYTHON="$PWD/.venv/bin/python"
bin=.venv/bin
# What reads our exports, where dev/consumers.sh has put it.
export PATH="$PWD/.cache/consumers/bin:$PATH"

if [[ ${CI:-} == true ]]; then
    # Nothing is built a second time, so nothing is kept for it.
    export CARGO_INCREMENTAL=0
fi

# What only dev/test-long.sh needs.
without=(--exclude plimsoll-faultfs)
if [[ ${1:-} == build ]]; then
    exec cargo test --workspace "${without[@]}" --locked --quiet --no-run
fi

step() {
    echo "== after $SECONDS s: $*"
    "$@"
}

step cargo fmt --all --check
step $bin/ruff check --quiet .
step $bin/ruff format --quiet --check .
step $bin/mypy
step cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
step dev/limited.sh cargo test --workspace "${without[@]}" --locked --quiet
# A process for each processor; tests/conftest.py says what runs alone in one of them.
step dev/limited.sh $bin/pytest -rs --numprocesses auto --dist loadgroup
