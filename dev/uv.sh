#!/bin/sh
# Prints the path of uv: the one on PATH, or one that is installed into .cache/uv-venv the first time.
set -eu
cd "$(dirname "$0")/.."

if command -v uv; then
    exit 0
fi
uv=$PWD/.cache/uv-venv/bin/uv
if ! [ -x "$uv" ]; then
    python=$(command -v python3.11 || command -v python3) || {
        echo "Python is missing: apt-get install python3 python3-venv" >&2
        exit 1
    }
    echo "uv is not on PATH: installing it into .cache/uv-venv" >&2
    if ! "$python" -m venv --clear .cache/uv-venv >&2; then
        echo "$python cannot make a virtual environment: apt-get install python3-venv, or install uv" >&2
        exit 1
    fi
    .cache/uv-venv/bin/pip install --quiet --disable-pip-version-check uv >&2
fi
echo "$uv"
