"""Sixteen kinds of fault under real runs: Plimsoll ends as it should, names what it could see, and accuses nobody of what did not happen.

Model: each kind strikes each of four loads: a plain one, a verified one, an open one with an asserted objective, and one of file operations; one
more counts failed requests and goes on. What is wanted stands in `long/wanted.py`. With a small scale each kind strikes as many loads as it
allows, at least one of those that can name it.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from long import settings
from long.fault_mount import KINDS, FaultMount, unavailable
from long.tally import Tally
from long.trial import Load, Plan, Trial
from long.wanted import FINDINGS, judge

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=unavailable() or "")

_CLOSED = '[[stream]]\nname = "closed"\nread_percent = 50\nqueue_depth = 8\n'
_OPEN = '[[stream]]\nname = "open"\nread_percent = 50\narrival = "constant"\nrate = 500\nqueue_depth = 64\n'
_FILES = """\
driver = "files"

[[tree]]
name = "a"
depth = 1
width = 3
files = 20
sizes = "16KiB"
filled = 50

[[stream]]
name = "users"
operation = { read = 40, write = 20, create = 15, delete = 15, stat = 5, rename = 5 }
write_created = true
flush_at_close = true
threads = 4
"""
_COPY = 'driver = "filecopy"\n\n[[stream]]\nname = "copy"\nblock_size = "64KiB"\n'
_OBJECTIVE = ("--objective", "p99 <= 100ms", "--assert")
#: Small enough to be prepared at once, large enough that most of what is wrong is read before it is written over.
_SIZE = ("--size", "64MiB")

LOADS = {
    "plain": Load("plain", _CLOSED, "a.dat", _SIZE),
    "verified": Load("verified", _CLOSED + 'verify = "all"\n', "a.dat", _SIZE, verifies=True),
    "open": Load("open", _OPEN, "a.dat", (*_SIZE, *_OBJECTIVE), objective=True),
    "going-on": Load("going-on", _CLOSED, "a.dat", (*_SIZE, "--set", "on_error=continue"), goes_on=True),
    "files": Load("files", _FILES, "tree", works_on_names=True),
    "copy": Load("copy", _COPY, "a.dat", ("--size", "16MiB"), asks_again=True),
}
#: What strikes, how often, how long; wrong data only where a stamp says what is right.
PLANS: dict[str, dict[str, object]] = {
    "eio": {"times": 5, "every": 7},
    "enospc": {"times": 5, "every": 7},
    "short": {"times": 5, "every": 7},
    **{kind: {"times": 3, "every": 40} for kind in FINDINGS},
    "stall": {"ms": 1500, "for_ms": 300},
    # The first block of a file is read, then its second is no longer there; in one large file half of it is gone.
    "truncated": {},
    "slow_metadata": {"ms": 20},
}
#: Loads that a kind cannot reach, so that nothing could be said of it: these see it in full runs only.
_BLIND = {
    **{kind: {"plain", "open", "going-on", "files"} for kind in FINDINGS},
    "slow_metadata": {"plain", "verified", "open", "going-on"},
    "stall": {"files"},
}
SECONDS = 2.0


def _trials() -> list[tuple[str, str]]:
    """Every kind with every load, or as many of them as the scale asks for, drawn so that what can be named comes first."""
    draws, chosen = Random(f"{settings.SEED} trials"), []
    for kind in KINDS:
        loads = draws.sample(sorted(LOADS), len(LOADS))
        loads.sort(key=lambda load: load in _BLIND.get(kind, ()))
        chosen += [(kind, load) for load in loads[: settings.SCALE.times(len(LOADS))]]
    return chosen


def _plan(kind: str, load: Load, draws: Random) -> Plan:
    keys = dict(PLANS.get(kind, {})) | {"seed": draws.randrange(1 << 32)}
    if kind in FINDINGS and load.verifies:
        keys["begins"] = "PLIMSOLL"
    if kind == "truncated" and load.works_on_names:
        keys |= {"on": ["read"], "to": 4096, "bytes": 4096}
    if kind == "truncated" and load.asks_again:
        # Of the copy nothing is read again: only a source that is cut can be seen.
        keys |= {"on": ["read"]}
    return Plan(kind, keys)


@pytest.mark.parametrize(("kind", "name"), _trials())
def test_a_fault_is_named_and_nothing_else_is(kind: str, name: str, tmp_path: Path, draws: Random, tally: Tally) -> None:
    load = LOADS[name]
    with FaultMount(tmp_path) as mount:
        if kind == "reordered":
            mount.volatile()
        outcome = Trial(mount, tmp_path, load).run(_plan(kind, load, draws), SECONDS)
        left = sorted(os.listdir(mount.at))
    judgement = judge(outcome)
    untold = [
        name for name in left if f"{mount.at / name.removesuffix('.plimsoll')} was made for this run and is left behind" not in outcome.said
    ]
    if untold:
        judgement.complaints.append(f"left behind without a word: {untold}")
    tally.count(f"fault: {kind}", survived=not judgement.complaints, named=judgement.named)
    assert not judgement.complaints, "\n".join([*judgement.complaints, str(outcome.plan), str(outcome.injections[:8]), outcome.said])
