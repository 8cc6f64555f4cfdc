"""What our reading of fio's job files asks of the device, against what fio itself asks for; what is timed is in `tests/long`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from differential.cases import CASES, DIFFERENT, TIMED, Case
from differential.comparison import COMPARISONS, differences
from differential.observed import Worker, available, of_fio, watched
from support.patience import HANGS_S

pytestmark = pytest.mark.skipif(available() is not None, reason=available() or "")


def test_the_table_names_every_rule_once() -> None:
    every = (*CASES, *TIMED)
    assert len(CASES) >= 150 and len(TIMED) >= 15
    assert len({case.rule for case in every}) == len({case.text for case in every}) == len(every)


@pytest.mark.parametrize("case", CASES, ids=[case.rule for case in CASES])
def test_the_same_requests_reach_the_files(case: Case, tmp_path: Path, observer: Path, worker: Worker) -> None:
    theirs = of_fio(case.text, tmp_path / "theirs", observer)
    ours = worker.load(case.text, tmp_path / "ours")
    found = differences(case, theirs, ours)
    if case.same_content and (tmp_path / "theirs" / "data").read_bytes() != (tmp_path / "ours" / "data").read_bytes():
        found.append("content: the files differ")
    assert not found, "\n".join([*found, case.text])


@pytest.mark.parametrize(("case", "remark"), DIFFERENT, ids=[case.rule for case, _ in DIFFERENT])
def test_what_differs_is_said(case: Case, remark: str, tmp_path: Path, observer: Path, worker: Worker) -> None:
    """When such a load becomes alike, its remark is wrong and the case belongs into the other table."""
    theirs = of_fio(case.text, tmp_path / "theirs", observer)
    ours = worker.load(case.text, tmp_path / "ours")
    for name in case.alike:
        with pytest.raises(AssertionError):
            COMPARISONS[name](theirs, ours)
    assert any(remark in said for said in ours.answer["remarks"])


@pytest.mark.parametrize("words", ["rw=randrw bs=8k size=1m", "rw=write size=512k fsync=4", "rw=read size=1m numjobs=2"])
def test_the_engine_counts_what_the_observer_sees(words: str, tmp_path: Path, worker: Worker) -> None:
    load = worker.load("\n".join(["[a]", "filename=data", "direct=1", *words.split(), ""]), tmp_path / "ours")
    (point,) = load.answer["points"]
    assert {op: count for op, (count, _) in point["totals"].items()} == load.counts()
    assert {op: size for op, (_, size) in point["totals"].items() if size} == load.bytes()


@pytest.mark.parametrize(
    "words",
    [
        "[a] filename=x size=1m [b] filename=y size=64k [c] filename=z size=200k offset=56k",
        "[a] nrfiles=3 size=768k [b] filename=y size=2m file_service_type=sequential",
        "[a] filename=x:y size=1m bs=16k [b] filename=y:z size=2m bs=16k",
        "[a] filename=x size=64k stonewall [b] filename=x size=512k stonewall [c] filename=y size=1m [d] filename=x size=128k",
        "[a] filename=x:y size=128k file_service_type=sequential [b] filename=z size=1m",
    ],
)
def test_files_are_made_as_long_as_fio_makes_them(words: str, tmp_path: Path, observer: Path, worker: Worker) -> None:
    # All were as long as the longest of them.
    text = "\n".join(["[global]", "rw=read", "direct=1", *words.split(), ""])
    theirs, ours = of_fio(text, tmp_path / "theirs", observer), worker.load(text, tmp_path / "ours")
    assert (ours.counts(), ours.bytes()) == (theirs.counts(), theirs.bytes())
    found = {path.name: path.stat().st_size for path in (tmp_path / "theirs").iterdir()}
    made = {path.name: path.stat().st_size for path in (tmp_path / "ours").iterdir() if not path.name.endswith(".plimsoll")}
    names = [name for name in made if name not in ("job.fio", "log")]
    assert len(names) >= 2
    assert {name: made[name] for name in names} == {name: found[name] for name in names}


def test_the_observer_sees_what_fio_writes_down_itself(tmp_path: Path, observer: Path) -> None:
    folder = tmp_path / "theirs"
    load = of_fio("[a]\nfilename=data\nsize=1m\nrw=randrw\ndirect=1\nioengine=libaio\niodepth=4\nwrite_iolog=iolog\n", folder, observer)
    lines = [line.split() for line in (folder / "iolog").read_text().splitlines()[1:]]
    written = [(op, name, int(offset), int(length)) for _, name, op, offset, length in (line for line in lines if len(line) == 5)]
    assert [place for place in written if place[0] in ("read", "write")] == load.places()
    assert len(load.places()) == 256


def test_a_wrong_reading_is_noticed(tmp_path: Path, observer: Path, worker: Worker) -> None:
    """The comparisons can fail: what is compared here are different job files."""
    head = "[a]\nfilename=data\ndirect=1\nnorandommap\nio_size=8m\nsize=4m\n"
    theirs = of_fio(f"{head}rw=randrw\nbssplit=4k/80:8k/20\n", tmp_path / "theirs", observer)
    ours = worker.load(f"{head}rw=randrw\nrwmixread=70\nbssplit=4k/50:8k/50\n", tmp_path / "ours")
    for name in ("order", "set", "mix", "sizes"):
        with pytest.raises(AssertionError):
            COMPARISONS[name](theirs, ours)


def test_fio_runs_under_the_observer_as_without_it(tmp_path: Path, observer: Path) -> None:
    job = ["--name=a", "--filename=data", "--size=256k", "--rw=randwrite", "--buffer_pattern=0x11", "--output=out"]
    contents = []
    for name, environment in (("with", watched(observer, tmp_path / "log")), ("without", None)):
        folder = tmp_path / name
        folder.mkdir()
        subprocess.run(["fio", *job], cwd=folder, env=environment, check=True, capture_output=True, timeout=HANGS_S)
        contents.append((folder / "data").read_bytes())
    assert contents[0] == contents[1]
