#!/bin/bash
# Puts pyspark into .cache/spark, and Java beside it where root can install that: what the tests with Spark need, which are skipped without.
# Half a gigabyte, so it is no part of `make setup`; .ci/run calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
echo "== setting up Spark"

uv=$(dev/uv.sh)
packages=.cache/spark/packages
# Installed beside and renamed, so that half an installation is none. The lock's own text says which one this is.
if ! cmp -s dev/spark.lock "$packages/.lock"; then
    rm -rf .cache/spark
    mkdir -p .cache/spark/making
    # Past uv's cache: it unpacks and builds anew every time, whether it has been here or not, and would keep 2.4 GB of each.
    "$uv" pip install --quiet --no-cache --python .venv/bin/python --target .cache/spark/making --require-hashes --requirement dev/spark.lock
    cp dev/spark.lock .cache/spark/making/.lock
    mv .cache/spark/making "$packages"
fi

if ! command -v java >/dev/null; then
    if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
        echo "skipped: Java is not installed, and only root can install it (apt-get install default-jre-headless)"
        exit 0
    fi
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    for _ in 1 2 3; do
        if { apt-get update && apt-get install --yes --no-install-recommends default-jre-headless; } >"$log" 2>&1; then
            exit 0
        fi
        sleep 5
    done
    tail -n 5 "$log" >&2
    echo "skipped: Java cannot be installed; the tests with Spark are skipped"
    [[ ${CI:-} != true ]]
fi
