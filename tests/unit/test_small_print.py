"""What was small and wrong: empty targets, caches that cannot be written, limits of file size, formulas in tables, names in exports."""

from __future__ import annotations

import csv
import json
import os
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll import calibration
from plimsoll.formats.export_forms import FORMS, Source, made
from plimsoll.store.durable import LineFile, replace_file
from support.recorded_point import Load, recorded_point
from support.said import Plimsoll
from support.scripted_engine import ScriptedEngine


@pytest.mark.parametrize("target", ["", " "])
@pytest.mark.parametrize(
    "words", [("run", "small.toml"), ("steps", "small.toml", "--over", "queue_depth=1,2"), ("run", "x.fio"), ("replay", "x")]
)
def test_an_empty_target_is_refused(plimsoll: Plimsoll, engine: ScriptedEngine, words: tuple[str, ...], target: str) -> None:
    said = plimsoll(*words, "--target", target)
    assert said.code == 2 and "--target: the name is empty, as that of a variable which is not set" in said.err
    assert not engine.jobs and not engine.prepared


def test_a_calibration_that_was_not_remembered_is_not_said_to_be(plimsoll: Plimsoll, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"remembered in {calibration.cache_path()}" in plimsoll("calibrate", "--seconds", "0.1").err
    (here / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "file" / "cache"))
    for words in (("--seconds", "0.1"), ("--seconds", "0.1", "--json")):
        said = plimsoll("calibrate", *words)
        assert said.code == 0 and said.out and "not remembered: " in said.err and "cannot be written (not a directory)" in said.err


def _limited(script: str, here: Path) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    return subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True, cwd=here, preexec_fn=limit, env={**os.environ}
    )


@pytest.mark.parametrize(
    "script",
    [
        f"from {replace_file.__module__} import replace_file; replace_file('x', bytes(5000))",
        f"from {LineFile.__module__} import LineFile; [LineFile('x').append('y' * 3000) for _ in range(2)]",
    ],
)
def test_a_limit_of_file_size_is_told_as_what_it_is(here: Path, script: str) -> None:
    done = _limited(script, here)
    assert "file too large" in done.stderr and "ulimit -f" in done.stderr and "no space" not in done.stderr


def test_names_that_a_spreadsheet_would_take_for_formulas_are_text(plimsoll: Plimsoll, here: Path) -> None:
    assert plimsoll("run", "small.toml", "-t", "null:").code == 0
    (stored,) = here.glob("results/*/points/*/result.json")
    result = json.loads(stored.read_text())
    result["job"]["target"], result["job"]["workload"] = "=cmd|calc!A1", "@SUM(1)"
    result["place"] = {"experiment": "e", "kind": "steps", "role": "point", "settings": {"rate": -5, "+x": "-1.5", "-y": "\t=1"}}
    stored.write_text(json.dumps(result))
    (run,) = here.glob("results/*")
    rows: list[list[str]] = []
    for form in ([], ["--long"]):
        assert plimsoll("report", str(run), "-o", "r.csv", *form).code == 0
        with open("r.csv", newline="") as file:
            rows += list(csv.reader(file))
    cells = {cell for row in rows for cell in row}
    assert {"'=cmd|calc!A1", "'@SUM(1)", "'+x", "'-y", "-5", "-1.5", "\\u0009=1"} <= cells
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "@") or (cell[:1] == "-" and not cell[1:2].isdigit())]


@pytest.mark.parametrize("form", [name for name in FORMS if name not in ("orion", "fio-logs")])
def test_no_name_breaks_the_lines_of_an_export(form: str) -> None:
    plain, nasty = (recorded_point(Load(name=name)) for name in ("main", "a\nb;c\x1b[2J\r\udcffd"))
    job = replace(nasty.result.job, workload="w\nx\x1by", title="t\nu", target="/dev/x\ny")
    nasty = replace(nasty, result=replace(nasty.result, job=job))
    expected = made(FORMS[form], Source("run", [plain]))
    found = made(FORMS[form], Source("run", [nasty]))
    assert [len(text.splitlines()) for text in found.values()] == [len(text.splitlines()) for text in expected.values()]
    assert not any(character in text for text in found.values() for character in "\x1b\udcff")
    if form == "fio-terse":
        assert [text.count(";") for text in found.values()] == [text.count(";") for text in expected.values()]
