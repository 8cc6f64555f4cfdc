#!/bin/bash
# Every check; ends with pytest, whose summary is the last line unless something of Rust failed.
# The page is checked from pytest too (tests/report): its types, its own tests, its bundle, and the report in a browser.
# `dev/test.sh build` does what these checks find done from then on: tests of Rust are built, those of Python compiled, and lints and types know
# the tree.
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
lints=(cargo clippy --workspace --all-targets --locked --quiet -- -D warnings)
if [[ ${1:-} == build ]]; then
    cargo test --workspace "${without[@]}" --locked --quiet --no-run
    "${lints[@]}"
    $bin/mypy
    # Every process that tests reads the same 340 files, which pytest compiles anew where they are not compiled yet: once, before there are many.
    unset PYTHONDONTWRITEBYTECODE
    # The engine may not be there yet; they are compiled all the same.
    $bin/pytest --collect-only --quiet >/dev/null 2>&1 || true
    exit
fi

step() {
    echo "== after $SECONDS s: $*"
    "$@"
}

rust() {
    step "${lints[@]}"
    step dev/limited.sh cargo test --workspace "${without[@]}" --locked --quiet
    echo "== after $SECONDS s: Rust is done"
}

step cargo fmt --all --check
step $bin/ruff check --quiet .
step $bin/ruff format --quiet --check .
# Beside the tests of Python: the lints have one processor only for much of their time, and the tests wait for the disk. In a process group of
# its own, which Ctrl-C ends as well; what it says is shown together.
said=$(mktemp)
set -m
rust >"$said" 2>&1 &
beside=$!
set +m
trap 'kill -- -"$beside" 2>/dev/null || true; rm -f "$said"' EXIT
failed=0
unset PYTHONDONTWRITEBYTECODE
step $bin/mypy || failed=1
# Two processes for every processor, since many tests wait; tests/conftest.py says what one of them does alone.
step dev/limited.sh $bin/pytest -rs --numprocesses $(($(nproc) * 2)) || failed=1
if ! wait "$beside"; then
    cat "$said"
    failed=1
fi
exit $failed
