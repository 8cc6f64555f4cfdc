"""A target is composed once per run, however many points name it, and is told and handed on as it was typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plimsoll.catalog import arrays
from plimsoll.cli import main
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.target import Composer, Target, target_of

ARRAY = "array:nvme?host.cores=2"
SHORT = ("-d", "20ms", "-w", "0s", "-s", "interval=10ms", "-q")


@pytest.fixture
def composed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources of arrays that were composed."""
    found: list[str] = []
    compose = arrays.array_document

    def counting(source: str, *settings: str) -> Any:
        found.append(source)
        return compose(source, *settings)

    monkeypatch.setattr(arrays, "array_document", counting)
    return found


EXPERIMENTS = """
[[experiment]]
name = "one"
kind = "single"
workloads = ["random-read-4k", "sequential-read-128k"]
set = { duration = "20ms", warmup = 0, size = "1GiB" }
[[experiment]]
name = "two"
kind = "steps"
workloads = ["random-read-4k"]
over = { queue_depth = [1, 2] }
set = { duration = "20ms", warmup = 0 }
"""
VERBS = {
    "run": ("run", "random-read-4k", *SHORT),
    "repeats": ("run", "random-read-4k", "sequential-read-128k", "--repeat", "2", *SHORT),
    "steps": ("steps", "random-read-4k", "--over", "queue_depth=1,2,4,8", *SHORT),
    "suite": ("suite", "mine.toml", "-q"),
    "job file": ("run", "job.fio", *SHORT),
    "replay": ("replay", "hm.csv", "-q"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_run_composes_its_array_once(here: Path, composed: list[str], capsys: pytest.CaptureFixture[str], verb: str) -> None:
    # Every verb of the engine composed it anew: 9 times in a run, 19 in four steps.
    (here / "mine.toml").write_text(EXPERIMENTS)
    (here / "job.fio").write_text("[x]\nrw=randread\nbs=4k\nfilename=/dev/nowhere\n")
    (here / "hm.csv").write_text("".join(f"{10**17 + 2500 * at},hm,0,Read,{at * 4096},4096,40\n" for at in range(50)))
    code = main([*VERBS[verb], "-t", ARRAY, "--json"])
    said = capsys.readouterr()
    assert code == 0, said.err
    assert {result["job"]["target"] for result in json.loads(said.out)["results"]} == {ARRAY}
    assert composed == ["nvme"]


def test_what_the_engine_says_of_an_array_names_the_file_that_it_is_in(here: Path) -> None:
    (here / "mine.toml").write_text('like = "nvme"\n')
    with pytest.raises(InputError, match=r"^\./mine\.toml: host\.volumes"):
        native().inspect_target(target_of('array:./mine.toml?host.volumes=["lan"]'))


def test_a_target_is_equal_by_its_name_and_its_driver() -> None:
    composer = Composer()
    assert composer.target(ARRAY) == composer.target(ARRAY) == target_of(ARRAY) != composer.target(ARRAY, "files")
    assert composer.target(ARRAY).document is composer.target(ARRAY, "filecopy").document
    assert (Target(" a ").text, Target(" a ").handed, str(Target("x")), Target("stripe:a,b").kind) == (" a ", " a ", "x", "stripe")
