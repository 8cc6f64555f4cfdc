"""Goal for what is around the queries of decision support: it costs no more than a hundredth of the time in which DuckDB answers them.

Both ask the same 22 queries with the same values in the same order of the same file, after each has run once, with all data in memory:
the command as users have it, whose phase is counted from its first query to its last row, and a bare loop with DuckDB's own package.
The ratio is of the medians of rounds in turn, which come before everything else on the machine where that is allowed (`speed.foremost`).
The processor time that threads of Plimsoll took outside the engine, which the kernel counts for each of them, is held against the time of
the queries as well. A second bare loop lets DuckDB count what each query reads and spills, as Plimsoll does: what that costs is the
engine's own, and what is above it is ours.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from speed import process
from speed.foremost import foremost
from speed.row import Row, unmeasured
from speed.setting import Setting

GOAL = 1.0
SEED = 7
PEER = "a bare loop"
COUNTING = "a bare loop with DuckDB's counting"
#: As `plimsoll.apps.databases.duckdb` says it.
_COUNTED = ("PRAGMA enable_profiling='no_output'", "SET tracked_metrics = ['io.*']")
#: Opens as Plimsoll does, asks everything once, and prints the seconds and the CPU seconds of the second time.
_BARE = """
import json, sys, time
import duckdb
path, spill, *counting = sys.argv[1:]
texts = json.load(sys.stdin)
settings = {"temp_directory": spill, "autoinstall_known_extensions": False, "preserve_insertion_order": False}
connection = duckdb.connect(path, config=settings)
connection.execute("SET enable_progress_bar = false")
for statement in counting:
    connection.execute(statement)
for text in texts:
    connection.execute(text).fetchall()
begun_s, cpu_s = time.monotonic(), time.process_time()
for text in texts:
    connection.execute(text).fetchall()
print(time.monotonic() - begun_s, time.process_time() - cpu_s)
"""


@dataclass(frozen=True)
class Asked:
    """One pass through the queries."""

    seconds: float
    cpu_s: float
    between_s: float = 0.0
    own_share: float = 0.0


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
        COUNTING: lambda _: _bare(setting, folder, scale, _COUNTED),
    }
    with foremost(os.getpid()):
        found = setting.interleaved(what, contestants, max(setting.rounds, 3))
    wall_s = {name: median(asked.seconds for asked in passes) for name, passes in found.items()}
    cpu_s = {name: median(asked.cpu_s for asked in passes) for name, passes in found.items()}
    between = median(asked.between_s / asked.seconds for asked in found["plimsoll"])
    detail = (
        f"DuckDB at scale {scale:g}, warm: {wall_s['plimsoll']:.3f} s by the clock, {PEER} {wall_s[PEER]:.3f} s; "
        f"{COUNTING} {wall_s[COUNTING]:.3f} s; CPU time {cpu_s['plimsoll']:.3f}, {cpu_s[PEER]:.3f} and {cpu_s[COUNTING]:.3f} s; "
        f"between queries {between:.2%} of the time"
    )
    shares = sorted(asked.own_share for asked in found["plimsoll"])
    own = f"processor time of Plimsoll's threads outside the engine, rounds from {shares[0]:.2%} to {shares[-1]:.2%}"
    return [
        Row(what, "at most", GOAL, f"% above {PEER}", 100 * (wall_s["plimsoll"] / wall_s[PEER] - 1), detail),
        Row(f"{what}: own processor time", "at most", GOAL, "% of the time of the queries", 100 * median(shares), own),
    ]


def _ours(setting: Setting, folder: Path, scale: float) -> Asked:
    asked = ["--set", "test=power", "--set", "memory=engine", "--set", f"seed={SEED}", "--no-refresh", "--cache", "warm"]
    target = ["--target", f"duckdb:{folder}/target", "--scale", f"{scale:g}", "--keep", "--out", str(setting.plimsoll.out)]
    said = process.run([setting.plimsoll.command, "run", "decision-support", *target, *asked, "--quiet", "--json"])
    printed = json.loads(said.stdout)
    phase = next(phase for phase in printed["phases"] if phase["name"] == "power")
    share = printed["results"][0]["engine"]["decision"]["own_cpu_share"]
    between_s = phase["seconds"] - sum(query["seconds"] for query in printed["queries"])
    return Asked(phase["seconds"], phase["engine_cpu_s"], between_s, share)


def _bare(setting: Setting, folder: Path, scale: float, counting: Sequence[str] = ()) -> Asked:
    texts = folder / "texts.json"
    if not texts.exists():
        texts.write_text(json.dumps(_texts(scale)))
    home = folder / "target/duckdb"
    python = str(Path(setting.plimsoll.command).with_name("python"))
    files = [str(home / "plimsoll.duckdb"), str(home / "spill")]
    command = ["sh", "-c", 'exec "$@" <"$0"', str(texts), python, "-c", _BARE, *files, *counting]
    seconds, cpu_s = process.run(command).stdout.split()
    return Asked(float(seconds), float(cpu_s))


def _texts(scale: float) -> list[str]:
    """What the power test asks, in its order."""
    from plimsoll.decision import data
    from plimsoll.decision.queries import text

    drawn = data.parameters(SEED, 0, scale)
    return [text(number, drawn[number]) for number in data.order_of(0)]
