"""The results of other tools that can be read, as a table: how each is recognised and what reads it.

Model: text in, points out. Files of one measurement that belong together (fio's logs, ORION's tables) are read together, others one by one.
What a file is follows from its name and its first lines, unless it is said.

    points = read_results({"randread.json": text})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.errors import InputError
from plimsoll.formats.export_forms import MARK
from plimsoll.formats.foreign_point import noted
from plimsoll.formats.stored_point import Recorded

Texts = Mapping[str, str]
_HEAD = 20_000


@dataclass(frozen=True)
class Reader:
    """One form: what it is, whether a file of this name and beginning is one, and what reads all of them."""

    about: str
    recognises: Callable[[str, str], bool]
    read: Callable[[Texts], Sequence[Recorded]]


def _is_fio_json(_name: str, head: str) -> bool:
    return '"fio version"' in head


def _fio_json(texts: Texts) -> Sequence[Recorded]:
    from plimsoll.formats.fio.results import read_json

    return [point for name, text in texts.items() for point in read_json(text, name)]


def _is_fio_log(name: str, _head: str) -> bool:
    from plimsoll.formats.fio.results import is_log

    return is_log(name)


def _fio_logs(texts: Texts) -> Sequence[Recorded]:
    from plimsoll.formats.fio.results import read_logs

    return read_logs(texts)


def _is_vdbench(_name: str, head: str) -> bool:
    from plimsoll.formats.vdbench.results import is_flatfile

    return is_flatfile(head)


def _vdbench(texts: Texts) -> Sequence[Recorded]:
    from plimsoll.formats.vdbench.results import read_flatfile

    return [point for name, text in texts.items() for point in read_flatfile(text, name)]


def _is_iometer(_name: str, head: str) -> bool:
    return head.lstrip("\ufeff").lower().startswith("'test type") or "'target type,target name" in head.lower()


def _iometer(texts: Texts) -> Sequence[Recorded]:
    from plimsoll.formats.iometer.results import read_iometer

    return [point for name, text in texts.items() for point in read_iometer(text, name)]


def _is_orion(_name: str, head: str) -> bool:
    from plimsoll.formats.orion.results import is_summary

    return is_summary(head) or any(line.lstrip().lower().startswith("large/small") for line in head.splitlines())


def _orion(texts: Texts) -> Sequence[Recorded]:
    from plimsoll.formats.orion.results import Run, Summary, is_summary, read_summary, recorded, summary_of
    from plimsoll.formats.orion.table import joined, read_name, read_table

    tests: dict[tuple[str, str | None], list[str]] = {}
    told: dict[tuple[str, str | None], Summary] = {}
    for name, text in texts.items():
        test = summary_of(name)
        if test is not None and is_summary(text):
            told[test] = read_summary(text)
            continue
        known = read_name(name)
        tests.setdefault((known.test, known.moment), []).append(name)
    points: list[Recorded] = []
    for (test_name, moment), names in tests.items():
        started = f"{moment[:4]}-{moment[4:6]}-{moment[6:8]}T{moment[9:11]}:{moment[11:13]}:00" if moment else ""
        plane = joined([read_table(texts[name], name) for name in names])
        known_of = told.get((test_name, moment), Summary())
        run = Run(
            test_name,
            started=started,
            target=known_of.target or f"unknown ({test_name})",
            duration_s=known_of.duration_s,
            write_percent=known_of.write_percent,
            small_kb=known_of.small_kb,
            large_kb=known_of.large_kb,
            files=", ".join(names),
        )
        points += recorded(plane, run)
    return points


def _is_diskspd(_name: str, head: str) -> bool:
    return "<Results>" in head


def _diskspd(texts: Texts) -> Sequence[Recorded]:
    from plimsoll.formats.diskspd.results import read_results as read

    return [point for name, text in texts.items() for point in read(text, name)]


def _is_sysstat(_name: str, head: str) -> bool:
    from plimsoll.formats.sysstat import is_sysstat

    return is_sysstat(head)


def _sysstat(texts: Texts) -> Sequence[Recorded]:
    from plimsoll.formats.sysstat import read_sysstat

    return [point for name, text in texts.items() for point in read_sysstat(text, name)]


READERS: Mapping[str, Reader] = {
    "fio-json": Reader("fio's JSON or JSON+", _is_fio_json, _fio_json),
    "fio-logs": Reader("fio's logs, those of one prefix together", _is_fio_log, _fio_logs),
    "vdbench": Reader("Vdbench's flatfile", _is_vdbench, _vdbench),
    "iometer-csv": Reader("Iometer's results", _is_iometer, _iometer),
    "orion": Reader("ORION's CSV tables, those of one test together", _is_orion, _orion),
    "diskspd-xml": Reader("DiskSpd's XML results", _is_diskspd, _diskspd),
    "sysstat": Reader("iostat -x as text or JSON, or sadf -j", _is_sysstat, _sysstat),
}


def read_results(texts: Texts, form: str | None = None) -> list[Recorded]:
    """The points in all files, in their order; raises `InputError` that names file, line, and what would be right."""
    groups: dict[str, dict[str, str]] = {}
    for name, text in texts.items():
        groups.setdefault(form or recognised(name, text), {})[name] = text
    points = [_unmarked(_noted(point, members)) for kind, members in groups.items() for point in READERS[kind].read(members)]
    if not points:
        raise InputError(f"{', '.join(texts)}: no result is in it; give the result of something that was measured.")
    return points


def _noted(point: Recorded, texts: Texts) -> Recorded:
    """The point with the note that says where it comes from."""
    result = point.result
    if any(flag.name == "imported" for flag in result.flags):
        return point
    note = noted(result.origin or "another tool", ", ".join(texts))
    return replace(point, result=replace(result, flags=[*result.flags, note]))


def _unmarked(point: Recorded) -> Recorded:
    """The point as modelled if the file says so of its target, as exports of ours do; not measured by the detour."""
    result = point.result
    if not result.job.target.endswith(MARK):
        return point
    parts = {name.removesuffix(MARK): totals for name, totals in result.parts.items()}
    return replace(
        point, result=replace(result, modelled=True, job=replace(result.job, target=result.job.target.removesuffix(MARK)), parts=parts)
    )


def recognised(name: str, text: str) -> str:
    """The form of a file."""
    head = text[:_HEAD]
    found = next((kind for kind, reader in READERS.items() if reader.recognises(name, head)), None)
    if found is None:
        raise InputError(f"{name}: not recognised as a result of any tool; say which with --as {', '.join(READERS)}.")
    return found
