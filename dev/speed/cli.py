"""The command line of the bench: find the contestants, make the files, measure each group, show the table."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from speed import (
    analytics,
    arrays,
    choosing,
    closed,
    closeness,
    copying,
    first_paint,
    generation,
    harness,
    host,
    hosts,
    mail,
    mailstore,
    memory,
    open_loop,
    orders,
    page,
    start,
    streams,
    table,
    traces,
)
from speed.bare_ring import BareRing
from speed.fio import Fio
from speed.plimsoll import Plimsoll
from speed.process import BenchError
from speed.ring_loop import RingLoop
from speed.row import Row, unmeasured
from speed.setting import Setting, make_holes

GROUPS: dict[str, Callable[[Setting], list[Row]]] = {
    "start": start.rows,
    "closed": closed.rows,
    "open": open_loop.rows,
    "closeness": closeness.rows,
    "streams": streams.rows,
    "memory": memory.rows,
    "arrays": arrays.rows,
    "choosing": choosing.rows,
    "generation": generation.rows,
    "copying": copying.rows,
    "traces": traces.rows,
    "orders": orders.rows,
    "mailstore": mailstore.rows,
    "mail": mail.rows,
    "analytics": analytics.rows,
    "harness": harness.rows,
    "first paint": first_paint.rows,
    "hosts": hosts.rows,
}


def main() -> None:
    """Exit code 0 whether goals are met or not, 1 when something that is at hand could not be measured."""
    arguments = _arguments()
    try:
        with tempfile.TemporaryDirectory(prefix="plimsoll-bench-", dir=arguments.dir) as folder:
            setting = _setting(arguments, Path(folder))
            facts, rows = _measure(setting, arguments.only or list(GROUPS), arguments.minutes)
        _write(arguments, facts, rows)
        if setting.refused:
            sys.exit("\n".join(f"bench: {what}: {name} could not be measured: {why}" for (what, name), why in setting.refused.items()))
    except (BenchError, OSError) as problem:
        sys.exit(f"bench: {problem}")
    except KeyboardInterrupt:
        sys.exit(130)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="Plimsoll's own cost beside fio's, against the goals.")
    parser.add_argument("--plimsoll", default=_beside_python(), help="command to measure [%(default)s]")
    parser.add_argument("--rounds", type=int, help="repetitions [5; with --quick 3]")
    parser.add_argument("--minutes", type=float, default=45.0, help="groups that would begin later are missing [%(default)g]")
    parser.add_argument("--quick", action="store_true", help="short runs: about a minute, coarser figures")
    parser.add_argument("--only", action="append", choices=GROUPS, help="only this group of goals; may be repeated")
    parser.add_argument("--dir", default="/var/tmp", help="where sparse files are made; not in memory [%(default)s]")  # noqa: S108
    parser.add_argument("--page", metavar="FILE", help="write the figures there as a page of Markdown, too; only of all groups")
    parser.add_argument("--json", metavar="FILE", help="write the figures there as JSON, too")
    arguments = parser.parse_args()
    if arguments.page and (arguments.only or arguments.quick):
        parser.error("--page wants all groups at full length: leave out --only and --quick.")
    return arguments


def _beside_python() -> str:
    beside = Path(sys.executable).parent / "plimsoll"
    return str(beside if beside.exists() else Path(__file__).parents[2] / ".venv/bin/plimsoll")


def _setting(arguments: argparse.Namespace, folder: Path) -> Setting:
    if not Path(arguments.plimsoll).exists():
        raise BenchError(f"{arguments.plimsoll} does not exist: run `make` first, or name the command with --plimsoll.")
    if (kind := host.file_system(folder)) in host.IN_MEMORY:
        raise BenchError(f"{arguments.dir} is on {kind}: name a folder on a disk with --dir.")
    if (rounds := arguments.rounds or (3 if arguments.quick else 5)) < 1:
        raise BenchError("--rounds must be at least 1.")
    fio, ring_loop = _named("FIO", "fio"), _named("T_IO_URING", "io_uring-bench", "t/io_uring")
    return Setting(
        plimsoll=Plimsoll(arguments.plimsoll, folder / "results"),
        fio=Fio(fio) if fio else None,
        ring_loop=RingLoop(ring_loop) if ring_loop else None,
        bare_ring=_bare_ring(folder),
        holes=make_holes(folder),
        rounds=rounds,
        seconds=0.3 if arguments.quick else 1.0,
        quick=arguments.quick,
    )


def _named(variable: str, *commands: str) -> str | None:
    """The command that the environment names, or the first that is on the path."""
    if named := os.environ.get(variable):
        if found := shutil.which(named):
            return found
        raise BenchError(f"{variable}={named} is no program that can be run.")
    return next(filter(None, map(shutil.which, commands)), None)


def _bare_ring(folder: Path) -> BareRing | None:
    try:
        return BareRing.built(folder)
    except BenchError as problem:
        print(f"bench: rows beside the bare ring are missing: {problem}", file=sys.stderr)
        return None


def _measure(setting: Setting, groups: list[str], minutes: float) -> tuple[dict[str, str], list[Row]]:
    facts, before, begun_s = host.facts(setting), host.stolen(), time.monotonic()
    rows: list[Row] = []
    took_s: dict[str, float] = {}
    for name in groups:
        group_s = time.monotonic()
        if group_s - begun_s < 60 * minutes:
            rows += _group(setting, name)
            took_s[name] = time.monotonic() - group_s
            print(f"bench: {name}: {took_s[name]:.0f} s", file=sys.stderr)
        else:
            late = f"{minutes:g} minutes were over before its turn: --only '{name}', or more --minutes"
            setting.refused[(name, "the group")] = late
            rows.append(unmeasured(name, late))
    longest = sorted(took_s, key=lambda name: -took_s[name])
    took = f"{sum(took_s.values()):.0f} s" + "".join(f", {name} {took_s[name]:.0f} s" for name in longest)
    return {**facts, "time": took, "steal": host.stolen_share(before, host.stolen())}, rows


def _write(arguments: argparse.Namespace, facts: dict[str, str], rows: list[Row]) -> None:
    print(table.text(facts, rows))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(table.document(facts, rows), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if arguments.page:
        today = datetime.now(tz=UTC).date()
        Path(arguments.page).write_text(page.markdown(today, facts, rows), encoding="utf-8")


def _group(setting: Setting, name: str) -> list[Row]:
    """The rows of a group; one that could not be measured leaves the others alone."""
    try:
        return GROUPS[name](setting)
    except BenchError as problem:
        setting.refused[(name, "the group")] = str(problem)
        return [unmeasured(name, str(problem))]
