#!/bin/bash
# What takes minutes or real time: faults injected under runs, kills, damage, unsafe targets, hostile clients (tests/long).
# PLIMSOLL_LONG_SEED repeats a session, PLIMSOLL_LONG_SCALE=0.05 tries a twentieth of it. Arguments go to pytest, which then runs the tests one
# after the other; without any they run side by side as in dev/test.sh, but for those that hold response times against a clock.
set -euo pipefail
cd "$(dirname "$0")/.."
export PYO3_PYTHON="$PWD/.venv/bin/python"
# Commands by the hundred start from what is compiled.
unset PYTHONDONTWRITEBYTECODE

# The file system that the faults come from, and its own tests; both as `cargo test` builds everything else.
dev/limited.sh cargo test --package plimsoll-faultfs --locked --quiet
cargo build --package plimsoll-faultfs --locked --quiet --profile test

pytest=(dev/limited.sh .venv/bin/pytest -rs --durations=25 --durations-min=5)
if (($#)); then
    exec "${pytest[@]}" tests/long "$@"
fi
export PLIMSOLL_LONG_SEED=${PLIMSOLL_LONG_SEED:-$((RANDOM << 15 | RANDOM))}
alone=(tests/long/test_fio_times.py tests/long/test_served_distribution.py)
failed=0
"${pytest[@]}" "${alone[@]}" || failed=1
"${pytest[@]}" tests/long "${alone[@]/#/--ignore=}" --numprocesses $(($(nproc) * 2)) || failed=1
exit $failed
