#!/bin/sh
# Makes .venv hold exactly what requirements.lock names.
set -eu
cd "$(dirname "$0")/.."
echo "== setting up .venv"

uv=$(dev/uv.sh)
if ! [ -x .venv/bin/python ]; then
    "$uv" venv --quiet --allow-existing --python '>=3.11' .venv
fi
# Compiled now, so that the first call of the command is as quick as every later one.
"$uv" pip sync --quiet --python .venv/bin/python --require-hashes --compile-bytecode requirements.lock
