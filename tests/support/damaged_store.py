"""A store of several runs that are damaged one after the other, and every verb that reads it.

trial(store, random.Random(7), run_command)        # what was done, or raises AssertionError
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from plimsoll.cli import main
from plimsoll.errors import EXIT_CODES, EXIT_MISTAKE
from support.damage import damaged
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine

#: A server in virtual time.
MODEL = "queue:?service=exp:1ms&servers=4&size=16MiB"
#: The run that stays whole, and those that are damaged.
WHOLE = "whole"
#: What reads a run: the words behind the verb, where RUN is the damaged one and OTHER the whole one.
READING = (
    ("runs",),
    ("runs", "--json"),
    ("report", "RUN", "-o", "r.html"),
    ("report", "RUN", "OTHER", "-o", "r.html"),
    ("report", "RUN", "-o", "r.csv"),
    ("report", "RUN", "-o", "r.json"),
    ("compare", "OTHER", "RUN", "--varying", "workload", "--varying", "level", "--varying", "duration"),
    ("compare", "RUN", "OTHER", "-o", "c.html", "--json"),
    *(("export", "RUN", "--as", form, "-o", "exports/") for form in ("csv", "fio-json+", "fio-terse", "fio-text", "vdbench", "prometheus")),
    ("export", "RUN", "--as", "iometer-csv", "-o", "exports/"),
    ("export", "RUN", "--as", "diskspd-xml", "-o", "exports/"),
    ("export", "RUN", "--as", "orion", "-o", "exports/"),
    ("size", "--iops", "100", "--read-percent", "70", "--block-size", "8KiB", "--objective", "read mean <= 20ms"),
    ("fit", "array:nvme", "--measured", "RUN", "--unknown", "host.cores=1..4", "--hold-out", "threads"),
)
#: Goes on with the run that was cut short, if it can.
RESUMING = ("steps", "small.toml", "--over", "queue_depth=1,2,3", "-t", MODEL, "--objective", "p99 <= 1s", "-d", "100ms", "-w", "0s", "-q")


def make_store(plimsoll: Plimsoll, engine: ScriptedEngine) -> list[str]:
    """Three runs in ``results``: a whole one, one with experiments, one that was interrupted and cut short; the names of the last two."""
    engine.scripts = [Script(intervals=3, ops=("read", "write"))]
    assert plimsoll("run", "small.toml", "-t", "null:", "--label", WHOLE).code == 0
    assert (
        plimsoll("steps", "small.toml", "--over", "queue_depth=1,2", "-t", "null:", "--objective", "p99 <= 1s", "--repeat", "2").code == 0
    )
    engine.scripts = [Script(intervals=3), Script(intervals=3, on_interval=_stopping(engine))]
    engine.jobs.clear()
    assert plimsoll(*RESUMING).code in (0, 130)
    names = sorted(path.name for path in Path("results").iterdir())
    cut = Path("results", names[-1], "points")
    # A point that never ended, as a kill leaves it.
    torn = sorted(cut.iterdir())[-1]
    (torn / "result.json").unlink()
    run = Path("results", names[-1], "run.json")
    run.write_text(run.read_text().replace('"status": "complete"', '"status": "interrupted"'))
    engine.scripts = [Script(intervals=3)]
    engine.jobs.clear()
    return [name for name in names if "steps" in name]


#: One stream that verifies, one with a rate, on models in virtual time.
_VERIFYING = '[[stream]]\nname = "main"\nread_percent = 50\nqueue_depth = 4\nverify = "all"\n'
_OPEN = '[[stream]]\nname = "main"\narrival = "poisson"\nrate = 500\nqueue_depth = 8\n[[stream]]\nname = "log"\nread_percent = 0\n'


def made_by_engine(plimsoll: Plimsoll) -> list[str]:
    """The same by the engine itself, on models: verified with wrong data, open, an array that fails, steps and a run that can go on."""
    for name, text in (("small.toml", _VERIFYING.replace("verify", "#")), ("v.toml", _VERIFYING), ("open.toml", _OPEN)):
        Path(name).write_text(text)
    times = ("-d", "300ms", "-w", "0s", "-q")
    assert plimsoll("run", "small.toml", "-t", MODEL, *times, "--label", WHOLE).code == 0
    assert plimsoll("steps", "v.toml", "--over", "queue_depth=1,2", "-t", f"{MODEL}&lost_percent=5", *times, "--repeat", "2").code == 6
    failing = "array:msa2000-raid5?fail=3@100ms&spares=1"
    assert plimsoll("curve", "open.toml", "-t", MODEL, "-t", failing, "--objective", "p99 <= 1s", "--maximum", "400", *times).code in (0, 2)
    assert plimsoll("steps", "small.toml", "--over", "queue_depth=4,8", "-t", failing, *times).code == 0
    assert plimsoll(*RESUMING).code == 0
    names = sorted(path.name for path in Path("results").iterdir())
    return [name for name in names if "_small" not in name] + names[-1:]


def _stopping(engine: ScriptedEngine) -> Any:
    def on_interval(index: int) -> None:
        if index == 3:
            engine.last_control.stop()

    return on_interval


def trial(store: Path, names: Sequence[str], random: Random, plimsoll: Plimsoll, *, verbs: int | None = None) -> str:
    """Damage one run of a copy of ``store`` and read it with every verb, or so many of them; what was damaged."""
    results = Path("results")
    if results.exists():
        shutil.rmtree(results)
    shutil.copytree(store, results, symlinks=True)
    name = random.choice(names)
    done = ", ".join(damaged(results / name, random) for _ in range(random.choice((1, 1, 1, 3))))
    others = [path.name for path in results.iterdir() if path.name != name]
    whole = next(other for other in others if "steps" not in other)
    chosen = READING if verbs is None else (READING[0], *random.sample(READING[1:], verbs))
    for words in (*chosen, *([RESUMING] if verbs is None or random.random() < 0.2 else [])):
        typed = [{"RUN": name, "OTHER": whole}.get(word, word) for word in words]
        said = plimsoll(*typed)
        told = f"{done}\n{' '.join(typed)}: exit code {said.code}\n{said.err}"
        assert said.code in EXIT_CODES and said.code != EXIT_MISTAKE, told
        assert "Traceback" not in said.err + said.out, told
        if words == READING[0]:
            assert said.code == 0 and all(other in said.out for other in others), told
    return done


__all__ = ["main", "make_store", "trial"]
