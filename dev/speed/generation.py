"""Goals for drawing the data of decision support: as quick as tpchgen-cli, on one core.

Both write every table to nowhere, as lines of text and as Parquet, each on the same core; the larger share of either is drawing rows.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from statistics import median

from speed import process
from speed.process import Finished
from speed.row import Row, unmeasured
from speed.setting import Setting

GOAL = 0.95
PEER = "tpchgen-cli"
#: Our form, and what the peer calls it.
FORMS = {"copy_text": "tbl", "parquet": "parquet"}
_PROGRAM = """
import sys
from plimsoll.decision import data
with data.kept():
    for table in data.TABLES:
        for piece in getattr(data, sys.argv[1])(table, float(sys.argv[2])):
            sys.stdout.buffer.write(piece)
"""
#: Where dev/consumers.sh puts it.
_CONSUMERS = Path(__file__).parents[2] / ".cache/consumers/bin"


def rows(setting: Setting) -> list[Row]:
    """All goals of this group."""
    peer = shutil.which(PEER) or shutil.which(PEER, path=str(_CONSUMERS))
    if peer is None:
        return [unmeasured("generation", f"{PEER} is not installed; dev/consumers.sh installs it")]
    scale = 0.2 if setting.quick else 1.0
    return [_row(setting, peer, form, scale) for form in FORMS]


def _row(setting: Setting, peer: str, form: str, scale: float) -> Row:
    python = str(Path(setting.plimsoll.command).with_name("python"))
    theirs = [peer, FORMS[form], "--scale-factor", str(scale), "--num-threads", "1", "--stdout", "--quiet"]
    contestants: dict[str, Callable[[int], Finished]] = {
        "plimsoll": lambda _: _on_one_core([python, "-c", _PROGRAM, form, str(scale)]),
        PEER: lambda _: _on_one_core(theirs),
    }
    what = f"decision-support data as {'COPY text' if form == 'copy_text' else 'Parquet'}"
    found = setting.interleaved(what, contestants, setting.long_rounds)
    cpu_s = {name: median(done.cpu_ns for done in runs) / 1e9 for name, runs in found.items()}
    wall_s = {name: median(done.wall_ns for done in runs) / 1e9 for name, runs in found.items()}
    detail = (
        f"scale {scale:g}, one core: {cpu_s['plimsoll']:.2f} s of CPU time, {PEER} {cpu_s[PEER]:.2f} s; "
        f"by the clock {wall_s['plimsoll']:.2f} and {wall_s[PEER]:.2f} s"
    )
    return Row(what, "at least", GOAL, f"× {PEER}", cpu_s[PEER] / cpu_s["plimsoll"], detail)


def _on_one_core(argv: list[str]) -> Finished:
    core = max(os.sched_getaffinity(0))
    return process.run(["taskset", "--cpu-list", str(core), "sh", "-c", 'exec "$@" >/dev/null', "sh", *argv])
