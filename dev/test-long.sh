#!/bin/bash
# What takes minutes or real time: faults injected under runs, kills, damage, unsafe targets, hostile clients (tests/long).
# PLIMSOLL_LONG_SEED repeats a session, PLIMSOLL_LONG_SCALE=0.05 tries a twentieth of it; arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
export PYO3_PYTHON="$PWD/.venv/bin/python"
# Commands by the hundred start from what is compiled.
unset PYTHONDONTWRITEBYTECODE

# The file system that the faults come from, and its own tests; both as `cargo test` builds everything else.
dev/limited.sh cargo test --package plimsoll-faultfs --locked --quiet
cargo build --package plimsoll-faultfs --locked --quiet --profile test

exec dev/limited.sh .venv/bin/pytest tests/long -rs --durations=25 --durations-min=5 "$@"
