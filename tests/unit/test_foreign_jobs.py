"""Job files as people write them, on a host that has none of their files and devices: translated, and run on a target that is typed."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from formats.fio_jobs import JOBS, OF_WINDOWS, REFUSED
from support.said import Plimsoll
from support.scripted_engine import ScriptedEngine


@pytest.fixture
def elsewhere(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with every job in a file of its name."""
    monkeypatch.setenv("DATA", "/data")
    for name, text in JOBS.items():
        (here / f"{name}.fio").write_text(text)
    return here


def test_there_are_forty_of_them() -> None:
    assert len(JOBS) >= 40


def test_every_job_is_translated_where_its_devices_are_not(plimsoll: Plimsoll, elsewhere: Path) -> None:
    for name in JOBS:
        said = plimsoll("translate", "--assume-size", "100GiB", f"{name}.fio")
        assert (said.code == 2) == (name in REFUSED | OF_WINDOWS), said.err
        if said.code == 0:
            assert tomllib.loads(said.out)["experiment"], name


def test_every_job_runs_on_the_typed_target(plimsoll: Plimsoll, elsewhere: Path, engine: ScriptedEngine) -> None:
    for name in sorted(JOBS.keys() - REFUSED):
        if "steadystate" in JOBS[name] or "latency_target" in JOBS[name]:
            continue  # these go on until results say that they may end
        # The null: of the scripted engine has a gibibyte.
        said = plimsoll("run", "-q", "-t", "null:", "-d", "1s", f"{name}.fio")
        beyond = "its region ends at" in said.err or "longer than the region" in said.err
        assert said.code == (2 if beyond else 0), (name, said.err)
    assert {job["target"] for job in engine.jobs} == {"null:"}
    assert len(engine.jobs) > 30 and not any(os.path.exists(elsewhere / f"{name}.dat") for name in JOBS)
