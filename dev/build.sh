#!/bin/sh
# Builds the engine and installs the command as .venv/bin/plimsoll; edits of Python need no further build.
# dev/build.sh [PROFILE]: one of Cargo.toml, release unless given.
set -eu
cd "$(dirname "$0")/.."
echo "== building the engine"

command -v cargo >/dev/null || {
    echo "cargo is missing: install Rust 1.89 or newer (apt-get install cargo, or rustup)" >&2
    exit 1
}
PATH=$(dirname "$(dev/uv.sh)"):$PATH
export PATH VIRTUAL_ENV="$PWD/.venv"
.venv/bin/maturin develop --profile "${1:-release}" --locked --uv
# Compiled now, so that the first call of the command is as quick as every later one.
.venv/bin/python -m compileall -q python/plimsoll
