#!/bin/bash
# Runs a command and interrupts it after PLIMSOLL_TEST_LIMIT (as `timeout` reads it, such as 20m) where that is set: what hangs ends there, and
# pytest still prints its summary. `timeout` hands the interrupt on even where whoever began all this ignores it.
set -euo pipefail

if [[ -z ${PLIMSOLL_TEST_LIMIT:-} ]]; then
    exec "$@"
fi
exec timeout --foreground --signal=INT --kill-after=60 "$PLIMSOLL_TEST_LIMIT" "$@"
