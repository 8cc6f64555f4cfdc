"""Goal for what is around the queries of decision support: it costs no more than a hundredth of the time in which DuckDB answers them.

Both ask the same 22 queries with the same values in the same order of the same file, after each has run once, with all data in memory:
the command as users have it, whose phase is counted from its first query to its last row, and a bare loop with DuckDB's own package.
Rounds take turns and come before everything else on the machine where that is allowed (`speed.foremost`). Of each query, and of the time
between queries, the median of all rounds counts, since the seconds of a round differ by more than the goal while few of its queries do;
how far chance may move the ratio of their sums is said by resampled rounds. The processor time that threads of Plimsoll took outside the
engine, the one that stores what was measured among them, which the kernel counts for each of them, is held against the time of the
queries as well. What of it is DuckDB's own, which counts for Plimsoll what each query reads and spills, differs less than two processes do:
so one process asks each query three times in turn, with counting once and without it twice, and says beside the difference how far two
without it are apart.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

from speed import process
from speed.foremost import foremost
from speed.row import Row, unmeasured
from speed.setting import Setting

GOAL = 1.0
SEED = 7
PEER = "a bare loop"
#: As `plimsoll.apps.databases.duckdb` says it.
_COUNTED = ("PRAGMA enable_profiling='no_output'", "SET tracked_metrics = ['io.*']")
#: Resampled sets of rounds.
_DRAWS = 500
#: Opens as Plimsoll does, asks everything once, and prints the CPU seconds and the seconds of each query of the second time.
_BARE = """
import json, sys, time
import duckdb
path, spill = sys.argv[1:]
texts = json.load(sys.stdin)
settings = {"temp_directory": spill, "autoinstall_known_extensions": False, "preserve_insertion_order": False}
connection = duckdb.connect(path, config=settings)
connection.execute("SET enable_progress_bar = false")
for text in texts:
    connection.execute(text).fetchall()
begun_s, cpu_s, each_s = time.monotonic(), time.process_time(), []
for text in texts:
    before_s = time.monotonic()
    connection.execute(text).fetchall()
    each_s.append(time.monotonic() - before_s)
print(time.process_time() - cpu_s, time.monotonic() - begun_s - sum(each_s), *each_s)
"""
#: Asks each query of one connection that counts and of two that do not, in another order each time; prints for each of the three the sum
#: of the medians of its queries' seconds, and of their CPU seconds.
_TURNING = """
import json, statistics, sys, time
import duckdb
path, spill, rounds, *counting = sys.argv[1:]
texts = json.load(sys.stdin)
settings = {"temp_directory": spill, "autoinstall_known_extensions": False, "preserve_insertion_order": False}
connection = duckdb.connect(path, config=settings)
connection.execute("SET enable_progress_bar = false")
asking = [connection.cursor() for _ in range(3)]
for statement in counting:
    asking[0].execute(statement)
for text in texts:
    connection.execute(text).fetchall()
seen = [[([], []) for _ in texts] for _ in asking]
for turn in range(3 * int(rounds)):
    for number, text in enumerate(texts):
        for place in range(3):
            who = (place + turn + number) % 3
            before_s, cpu_s = time.monotonic(), time.process_time()
            asking[who].execute(text).fetchall()
            seen[who][number][1].append(time.process_time() - cpu_s)
            seen[who][number][0].append(time.monotonic() - before_s)
print(*(sum(statistics.median(query[which]) for query in one) for which in (0, 1) for one in seen))
"""


@dataclass(frozen=True)
class Asked:
    """One pass through the queries: seconds of each and between them, CPU seconds of all, and Plimsoll's share of the time."""

    each_s: tuple[float, ...]
    between_s: float
    cpu_s: float
    own_share: float = 0.0


def _seconds(passes: Sequence[Asked]) -> float:
    """Of one pass, each query and what is between them as long as their medians."""
    of_each = [median(seconds) for seconds in zip(*(one.each_s for one in passes), strict=True)]
    return float(sum(of_each) + median(one.between_s for one in passes))


def rows(setting: Setting) -> list[Row]:
    """All goals of this group."""
    try:
        import duckdb  # noqa: F401
    except ImportError:
        return [unmeasured("harness", "DuckDB is not installed; pip install duckdb")]
    scale = 0.1 if setting.quick else 1.0
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-", dir="/var/tmp") as made:
        folder = Path(made)
        # Loads, and keeps what it has loaded.
        _ours(setting, folder, scale)
        return _rows(setting, folder, scale)


def _rows(setting: Setting, folder: Path, scale: float) -> list[Row]:
    what = "22 queries around which Plimsoll watches"
    contestants: dict[str, Callable[[int], Asked]] = {
        "plimsoll": lambda _: _ours(setting, folder, scale),
        PEER: lambda _: _bare(setting, folder, scale),
    }
    with foremost(os.getpid()):
        found = setting.interleaved(what, contestants, max(2 * setting.rounds, 3), turning=True)
        counting = _counting(setting, folder)
    wall_s = {name: _seconds(passes) for name, passes in found.items()}
    cpu_s = {name: median(asked.cpu_s for asked in passes) for name, passes in found.items()}
    between = median(asked.between_s for asked in found["plimsoll"]) / wall_s["plimsoll"]
    low, high = _interval(found["plimsoll"], found[PEER])
    detail = (
        f"DuckDB at scale {scale:g}, warm, {len(found[PEER])} rounds: {wall_s['plimsoll']:.3f} s by the clock, "
        f"{PEER} {wall_s[PEER]:.3f} s ({100 * (low - 1):.1f} to {100 * (high - 1):.1f} % apart by chance), "
        f"CPU time {cpu_s['plimsoll']:.3f} and {cpu_s[PEER]:.3f} s; between queries {between:.2%} of the time; {counting}"
    )
    shares = sorted(asked.own_share for asked in found["plimsoll"])
    own = f"processor time of Plimsoll's threads outside the engine, rounds from {shares[0]:.2%} to {shares[-1]:.2%}"
    return [
        Row(what, "at most", GOAL, f"% above {PEER}", 100 * (wall_s["plimsoll"] / wall_s[PEER] - 1), detail),
        Row(f"{what}: own processor time", "at most", GOAL, "% of the time of the queries", 100 * median(shares), own),
    ]


def _interval(ours: Sequence[Asked], theirs: Sequence[Asked]) -> tuple[float, float]:
    """Where 95 % of such ratios lie when rounds are drawn from those that there are, with replacement (bootstrap)."""
    draws = Random(1)  # noqa: S311 — nothing is kept secret
    drawn = [draws.choices(range(len(ours)), k=len(ours)) for _ in range(_DRAWS)]
    ratios = sorted(_seconds([ours[number] for number in one]) / _seconds([theirs[number] for number in one]) for one in drawn)
    return ratios[round(0.025 * _DRAWS)], ratios[round(0.975 * _DRAWS) - 1]


def _ours(setting: Setting, folder: Path, scale: float) -> Asked:
    asked = ["--set", "test=power", "--set", "memory=engine", "--set", f"seed={SEED}", "--no-refresh", "--cache", "warm"]
    target = ["--target", f"duckdb:{folder}/target", "--scale", f"{scale:g}", "--keep", "--out", str(setting.plimsoll.out)]
    said = process.run([setting.plimsoll.command, "run", "decision-support", *target, *asked, "--quiet", "--json"])
    printed = json.loads(said.stdout)
    phase = next(phase for phase in printed["phases"] if phase["name"] == "power")
    share = printed["results"][0]["engine"]["decision"]["own_cpu_share"]
    each_s = tuple(query["seconds"] for query in printed["queries"])
    return Asked(each_s, phase["seconds"] - sum(each_s), phase["engine_cpu_s"], share)


def _bare(setting: Setting, folder: Path, scale: float) -> Asked:
    texts = folder / "texts.json"
    if not texts.exists():
        texts.write_text(json.dumps(_texts(scale)))
    cpu_s, between_s, *each_s = _printed(setting, folder, _BARE)
    return Asked(tuple(each_s), between_s, cpu_s)


def _counting(setting: Setting, folder: Path) -> str:
    """What DuckDB's own counting costs, and how far that can be told."""
    counted_s, one_s, other_s, counted_cpu_s, one_cpu_s, other_cpu_s = _printed(setting, folder, _TURNING, str(setting.rounds), *_COUNTED)

    def above(counted: float, one: float, other: float) -> str:
        return f"{100 * (2 * counted / (one + other) - 1):+.1f} % (two without it {100 * abs(one / other - 1):.1f} % apart)"

    by_clock, by_cpu = above(counted_s, one_s, other_s), above(counted_cpu_s, one_cpu_s, other_cpu_s)
    return f"DuckDB's own counting, by turns in one process: {by_clock} by the clock, {by_cpu} of CPU time"


def _printed(setting: Setting, folder: Path, program: str, *arguments: str) -> list[float]:
    """The numbers that a program with DuckDB alone prints of the texts."""
    home = folder / "target/duckdb"
    python = str(Path(setting.plimsoll.command).with_name("python"))
    files = [str(home / "plimsoll.duckdb"), str(home / "spill")]
    command = ["sh", "-c", 'exec "$@" <"$0"', str(folder / "texts.json"), python, "-c", program, *files, *arguments]
    return [float(number) for number in process.run(command).stdout.split()]


def _texts(scale: float) -> list[str]:
    """What the power test asks, in its order."""
    from plimsoll.decision import data
    from plimsoll.decision.queries import text

    drawn = data.parameters(SEED, 0, scale)
    return [text(number, drawn[number]) for number in data.order_of(0)]
