"""Translations of parameter files, each covering rules once, as they were reviewed; renew with ``PLIMSOLL_RENEW=1`` and look at the difference.

Lines ``* given: name=value`` and ``* size: path=10g`` of a file say what its translation is told beside the text.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from formats.vdbench.carried_out import check_document
from plimsoll.formats.translation import Translation
from plimsoll.formats.vdbench import recognises, translate
from plimsoll.formats.vdbench.values import parse

FOLDER = Path(__file__).parent / "vdbench"
FILES = sorted(FOLDER.glob("*.vdb"))

#: Files that are read and cannot be run.
UNSUPPORTED = {
    "everything_unsupported",
    "file_access_that_deletes",
    "file_anchor_of_windows",
    "file_clean_alone",
    "file_content_verified",
    "file_copy_without_target",
    "file_directories_alone",
    "file_flags_and_odd_sizes",
    "file_hosts",
    "file_loops_over_sizes",
    "file_selection_of_nothing",
    "other_hosts",
    "percent_of_nothing",
}


def told(text: str, what: str) -> dict[str, str]:
    """The pairs that the lines ``* what:`` of a file hold."""
    return dict(pair.split("=", 1) for line in re.findall(rf"^\* {what}: (.*)$", text, re.MULTILINE) for pair in line.split())


def translated(path: Path) -> Translation:
    text = path.read_text(encoding="utf-8")
    sizes = {name: int(found.value) for name, size in told(text, "size").items() if (found := parse(size))}
    return translate(text, path.name, lambda name: (FOLDER / name).read_text(encoding="utf-8"), told(text, "given"), sizes.get)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_translation_is_the_one_reviewed(path: Path) -> None:
    translation = translated(path)
    found = {"document": translation.document, "remarks": [said(translation, number) for number in range(len(translation.remarks))]}
    golden = path.with_suffix(".json")
    if os.environ.get("PLIMSOLL_RENEW"):
        golden.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert found == json.loads(golden.read_text(encoding="utf-8"))


def said(translation: Translation, number: int) -> str:
    remark = translation.remarks[number]
    return f"{remark.line}: {remark.kind}: {remark.text}{f': {remark.why}' if remark.why else ''}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_parameter_has_one_verdict(path: Path) -> None:
    translation = translated(path)
    verdicts = [(remark.line, remark.text) for remark in translation.remarks if remark.kind != "surprise"]
    lines = "".join(_without_comment(line) + ("" if _without_comment(line).endswith(",") else "\n") for line in _lines(path))
    written = [word for line in lines.splitlines() for word in re.findall(r'(?:^|,)([A-Za-z_]+(?:=(?:\([^)]*\)|"[^"]*"|[^,]*))?)', line)]
    texts = [text for _, text in verdicts]
    for word in written:
        filled = re.sub(r"[$!](\w+)", lambda found: told(path.read_text(), "given").get(found[1], "localhost"), word)
        assert texts.count(filled) >= 1, filled
    assert len([text for text in texts if not text.startswith(("$", "!", "sds.txt"))]) == len(written)


def _lines(path: Path) -> list[str]:
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() == "eof":
            break
        if line.strip() and line.strip()[0] not in "/#*":
            found.append(line.strip())
    return found


def _without_comment(line: str) -> str:
    quoted = False
    for index, letter in enumerate(line):
        quoted ^= letter == '"'
        if letter.isspace() and not quoted:
            return line[:index]
    return line


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_documents_can_be_carried_out(path: Path) -> None:
    translation = translated(path)
    if path.stem in UNSUPPORTED:
        assert translation.refusal() is not None
        return
    assert translation.refusal() is None
    check_document(translation.document, path.name)


def test_files_are_recognised() -> None:
    assert all(recognises(path.name, path.read_text(encoding="utf-8")) for path in FILES)
    assert recognises("lines", "* a comment\nsd=sd1,lun=/dev/sdb\n")
    assert not recognises("job.fio", "[global]\nrw=read\n[job]\nfilename=/dev/sdb\n")
    assert not recognises("run.sh", "#!/bin/sh\nsd=/dev/sdb\nrd=1\n")
    assert not recognises("notes.txt", "nothing of the kind\n")
