#!/bin/sh
# Writes requirements.lock, dev/consumers.lock, dev/docs.lock and dev/spark.lock: every version with its hashes and no address, so that any package index serves it.
set -eu
cd "$(dirname "$0")/.."

# uv.lock is not kept: it would name the index it was made with.
trap 'rm -f uv.lock' EXIT
rm -f uv.lock
"$(dev/uv.sh)" export --quiet --all-groups --no-group consumers --no-group docs --no-group spark --no-emit-project --output-file requirements.lock
"$(dev/uv.sh)" export --quiet --only-group consumers --no-emit-project --output-file dev/consumers.lock
"$(dev/uv.sh)" export --quiet --only-group docs --no-emit-project --output-file dev/docs.lock
"$(dev/uv.sh)" export --quiet --only-group spark --no-emit-project --output-file dev/spark.lock
