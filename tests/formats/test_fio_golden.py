"""fio job files of our own, each with the experiment file it becomes and the remark on every line, as reviewed.

Renew with ``PLIMSOLL_RENEW=1 pytest tests/formats/test_fio_golden.py`` and look at the difference.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from formats.vdbench.carried_out import check_document
from plimsoll.engine.block import native
from plimsoll.experiments.declaration import FILE_OPTIONS
from plimsoll.experiments.document import read_experiments
from plimsoll.formats.fio.jobs import Surroundings
from plimsoll.formats.fio.read import Machine, read_sections
from plimsoll.formats.fio.translate import recognises, translate_sections
from plimsoll.formats.translation import Translation

FOLDER = Path(__file__).parent / "fio"
FILES = sorted(FOLDER.glob("*.fio"))
NAMES = [path.stem for path in FILES]
#: Those whose jobs work on trees of files.
TREES = ("trees-of-files",)
AROUND = Surroundings({"DATA": "/data", "SIZE": "2g"}, Machine(pagesize=4096, mb_memory=8192, ncpus=8))


def translation_of(path: Path) -> Translation:
    sections = read_sections(path.read_text(encoding="utf-8"), path.name, lambda name: (FOLDER / name).read_text(encoding="utf-8"))
    return translate_sections(sections, path.name, AROUND)


def as_json(translation: Translation) -> str:
    """Readable in a diff: a stream, an experiment and a remark on a line each."""
    document = translation.document
    shown: dict[str, Any] = {
        "streams": [{"workload": workload["name"], **stream} for workload in document["workload"] for stream in workload["stream"]],
        "workloads": [{key: value for key, value in workload.items() if key != "stream"} for workload in document["workload"]],
        "experiments": document["experiment"],
        "remarks": [list(asdict(remark).values()) for remark in translation.remarks],
    }
    parts = [
        f"{json.dumps(key)}: [\n" + ",\n".join(f"  {json.dumps(item, ensure_ascii=False)}" for item in items) + "\n]"
        for key, items in shown.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def test_there_are_forty_files_or_more() -> None:
    assert len(FILES) >= 40


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_job_file_becomes_the_reviewed_document_and_remarks(path: Path) -> None:
    golden = path.with_suffix(".json")
    text = as_json(translation_of(path))
    if os.environ.get("PLIMSOLL_RENEW"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_our_own_readers_take_what_a_job_file_becomes(path: Path) -> None:
    engine = native()
    document = translation_of(path).document
    streams = engine.workload_schema()["properties"]["stream"]["items"]["properties"]
    if any("driver" in workload for workload in document["workload"]):
        check_document(document, path.name)
        assert path.stem in TREES
        return
    if any("trace" in stream for workload in document["workload"] for stream in workload["stream"]) and "trace" not in streams:
        pytest.skip("this engine replays no traces")
    for workload in document["workload"]:
        engine.check_workload(workload, path.name)
    for experiment in document["experiment"]:
        engine.check_job(experiment["set"])
    inline = any(option.name == "workload" for option in FILE_OPTIONS)
    suite = read_experiments({key: value for key, value in document.items() if key != "workload" or inline}, path.name)
    assert [item.name for item in suite.experiments] == [workload["name"] for workload in document["workload"]]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_every_line_has_exactly_one_verdict(path: Path) -> None:
    said = Counter((remark.line, remark.text) for remark in translation_of(path).remarks if remark.kind != "surprise")
    assert set(said.values()) == {1}
    included = {place for place, text in said if re.search(r"\(.+:\d+\)$", text)}
    spoken = {
        number for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1) if re.split("[;#]", line)[0].strip()
    }
    assert {line for line, _ in said} == spoken | included


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_what_is_not_native_says_why(path: Path) -> None:
    assert [remark for remark in translation_of(path).remarks if remark.kind != "native" and not remark.why] == []


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_job_file_is_recognised_by_its_lines(path: Path) -> None:
    assert recognises("jobs.txt", path.read_text(encoding="utf-8")[:4096])


@pytest.mark.parametrize(
    "text",
    [
        'title = "x"\n[[experiment]]\nname = "a"\nkind = "single"\n',
        "sd=sd1,lun=/dev/sdb\nwd=wd1,sd=sd1,rdpct=100\nrd=run1,wd=wd1,iorate=max\n",
        "Version 1.1.0\n'TEST SETUP ====\n'Test Description\n",
        "[server]\nhost=example\n",
        "/dev/sdb\n/dev/sdc\n",
        "",
    ],
)
def test_other_files_are_not_taken_for_job_files(text: str) -> None:
    assert not recognises("jobs.txt", text)


def test_files_are_refused_only_for_what_is_unsupported() -> None:
    refused = {path.stem for path in FILES if translation_of(path).refusal()}
    assert refused == {"trees-of-files", "unsupported-engine", "unsupported-rest"}
