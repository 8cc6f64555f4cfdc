#!/bin/sh
# Writes requirements.lock: every version with its hashes and no address, so that any package index serves it.
set -eu
cd "$(dirname "$0")/.."

# uv.lock is not kept: it would name the index it was made with.
trap 'rm -f uv.lock' EXIT
rm -f uv.lock
"$(dev/uv.sh)" export --quiet --all-groups --no-emit-project --output-file requirements.lock
