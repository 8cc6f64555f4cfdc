"""The forms in which stored points can be written, as a table: the one place to add one.

Model: a form makes files of text from points, named; those of a single file can go to stdout. Nothing is written here.
Limits: CSV and Parquet of every number are made from the store itself (`plimsoll.reports.numbers`) and stand only by name.

    FORMS["fio-json"].make(Source("2026-11-21T03-36-29_oltp", points))      # {"oltp.json": "{…"}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from plimsoll.displayed import displayed_in_line
from plimsoll.errors import InputError
from plimsoll.formats.stored_point import Course, Recorded, added
from plimsoll.histogram import Histogram
from plimsoll.result import Result

Files = Mapping[str, str]
#: What stands behind the name of a target that is modelled.
MARK = " (modelled)"


@dataclass(frozen=True)
class Source:
    """What is exported: the run's name and its points."""

    run: str
    points: Sequence[Recorded]

    @property
    def version(self) -> str:
        """Which Plimsoll measured it."""
        return self.points[-1].result.plimsoll_version or "import"


@dataclass(frozen=True)
class Form:
    """One form: what it is, and what makes its files. ``apart`` makes a file of each point, where that is usual as well.

    ``of_files`` says whether it has a place for operations on files.
    """

    about: str
    make: Callable[[Source], Files]
    apart: Callable[[Source], Files] | None = None
    of_files: bool = False


def marked(result: Result) -> Result:
    """The result with its target said to be modelled if it is, as other tools' forms have no other word for it."""
    if not result.modelled:
        return result
    parts = {f"{name}{MARK}": totals for name, totals in result.parts.items()}
    return replace(result, job=replace(result.job, target=result.job.target + MARK), parts=parts)


def _fio_json(source: Source) -> Files:
    from plimsoll.formats.fio.results import json_text

    return {f"{source.run}.json": json_text(source.points)}


def _fio_json_plus(source: Source) -> Files:
    from plimsoll.formats.fio.results import json_text

    return {f"{source.run}.json": json_text(source.points, plus=True)}


def _apart(source: Source, make: Callable[[Source], Files]) -> Files:
    """A document for each point, called as bench-fio does: ``randread-4-2.json``; names that occur again are numbered."""
    from plimsoll.formats.fio.results import job_name

    files: dict[str, str] = {}
    for point in source.points:
        name = job_name(point)
        number = next(n for n in range(1, len(files) + 2) if (name if n == 1 else f"{name}-{n}") + ".json" not in files)
        (text,) = make(Source(source.run, [point])).values()
        files[(name if number == 1 else f"{name}-{number}") + ".json"] = text
    return files


def _fio_logs(source: Source) -> Files:
    from plimsoll.formats.fio.results import log_files

    return log_files(source.points)


def _fio_terse(source: Source) -> Files:
    from plimsoll.formats.fio.results import terse_text

    return {f"{source.run}.terse": terse_text(source.points)}


def _fio_text(source: Source) -> Files:
    from plimsoll.formats.fio.results import normal_text

    return {f"{source.run}.txt": normal_text(source.points)}


def _vdbench(source: Source) -> Files:
    from plimsoll.formats.vdbench.results import files

    return files(source.points)


def _orion(source: Source) -> Files:
    from plimsoll.formats.orion.plane import histograms_of, plane_of
    from plimsoll.formats.orion.read import read_command
    from plimsoll.formats.orion.table import METRICS, table_name, write_table
    from plimsoll.formats.orion.write import About, LunSize, words_for, write_histograms, write_summary
    from plimsoll.formats.place import Place

    plane = plane_of(source.points)
    test, first = source.run.replace(" ", "_"), source.points[0].result
    moment = datetime.fromisoformat(first.started).strftime("%Y%m%d_%H%M") if first.started else None
    command = read_command(words_for(source.points, plane, test), Place(source.run))
    size = (first.host.get("target") or {}).get("size_bytes") or 0
    prefix = test if moment is None else f"{test}_{moment}"
    return {
        f"{prefix}_summary.txt": write_summary(About(command, [LunSize(first.job.target, size)], source.version), plane),
        **{table_name(test, metric, moment): write_table(plane, metric) for metric in METRICS},
        f"{prefix}_hist.txt": write_histograms(histograms_of(source.points)),
    }


def _iometer(source: Source, version: str) -> Files:
    from plimsoll.formats.iometer.write_results import results_csv

    histograms: dict[str, Histogram] = {}
    for point in source.points:
        course = Course(point)
        for op in ("read", "write"):
            found = course.latency(None, op)
            if found is not None:
                histograms[point.result.id] = added(histograms.get(point.result.id), found)
    return {f"{source.run}.csv": results_csv([point.result for point in source.points], histograms, version)}


def _diskspd_xml(source: Source) -> Files:
    from plimsoll.formats.diskspd.span import measured_of
    from plimsoll.formats.diskspd.write import write_xml

    return {f"{source.run}.xml": write_xml([measured_of(point) for point in source.points], source.version)}


def _diskspd_text(source: Source) -> Files:
    from plimsoll.formats.diskspd.span import measured_of
    from plimsoll.formats.diskspd.write import write_text

    return {f"{source.run}.txt": write_text([measured_of(point) for point in source.points])}


def _prometheus(source: Source) -> Files:
    from plimsoll.formats.prometheus import prometheus_text

    return {f"{source.run}.prom": prometheus_text(source.run, source.points)}


FORMS: Mapping[str, Form] = {
    "fio-json": Form("fio's JSON", _fio_json, lambda source: _apart(source, _fio_json)),
    "fio-json+": Form("fio's JSON with every latency bin", _fio_json_plus, lambda source: _apart(source, _fio_json_plus)),
    "fio-logs": Form("fio's bw, iops, lat, clat and clat_hist logs", _fio_logs),
    "fio-terse": Form("fio's terse version 3", _fio_terse),
    "fio-text": Form("fio's normal text", _fio_text),
    "vdbench": Form("Vdbench's flatfile, summary, totals, histogram and status", _vdbench, of_files=True),
    "orion": Form("ORION's summary, CSV tables and histogram", _orion),
    "iometer-csv": Form("Iometer's results in the columns of 2008", lambda source: _iometer(source, "2008.06.18")),
    "iometer-csv-1.1": Form("Iometer's results in the columns of 1.1.0", lambda source: _iometer(source, "1.1.0")),
    "diskspd-xml": Form("DiskSpd's XML results", _diskspd_xml),
    "diskspd-text": Form("DiskSpd's text", _diskspd_text),
    "prometheus": Form("Prometheus' text format", _prometheus, of_files=True),
}


def made(form: Form, source: Source, *, apart: bool = False) -> Files:
    """The files of ``form``; raises `InputError` where the points do not fit it, or are none."""
    if not source.points:
        raise InputError(f"{source.run}: nothing was measured in it, so there is nothing to export; measure something first.")
    source = Source(displayed_in_line(source.run), [_named(point) for point in source.points])
    on_files = None if form.of_files else next((point for point in source.points if _is_of_files(point)), None)
    if on_files is not None:
        able = ", ".join(name for name, other in FORMS.items() if other.of_files)
        name = next(name for name, other in FORMS.items() if other is form)
        workload = on_files.result.job.workload
        raise InputError(f"{source.run}: {workload} works on files, for which {name} has no place; use {able}, csv or parquet.")
    return form.apart(source) if apart and form.apart is not None else form.make(source)


def _named(point: Recorded) -> Recorded:
    """The point with names that every form can hold in a line; nearly every point is so already."""
    plain = point.result.to_json()
    shown = _in_line(plain)
    if shown == plain:
        return point
    lines = ([_in_line(line) for line in lines] for lines in (point.intervals, point.monitor))
    return Recorded(Result.from_json(shown, point.result.id), *lines)


def _in_line(value: Any) -> Any:
    if isinstance(value, str):
        return displayed_in_line(value)
    if isinstance(value, dict):
        return {displayed_in_line(str(name)): _in_line(item) for name, item in value.items()}
    return [_in_line(item) for item in value] if isinstance(value, list | tuple) else value


def _is_of_files(point: Recorded) -> bool:
    from plimsoll.formats.vdbench.results.file_rows import is_of_files

    return is_of_files(point)
