#!/bin/sh
# Makes .cache/consumers, an environment with the programs that read what Plimsoll exports, whose tests are skipped without it, and
# those that the bench measures beside it.
set -eu
cd "$(dirname "$0")/.."
echo "== setting up the programs that read exports or are measured beside Plimsoll"

uv=$(dev/uv.sh)
[ -x .cache/consumers/bin/python ] || "$uv" venv --quiet --python '>=3.11' .cache/consumers
"$uv" pip sync --quiet --python .cache/consumers/bin/python --require-hashes dev/consumers.lock
