"""What Vdbench writes, from results of ours, and its flatfile back.

Model: a point is a run definition; its intervals are windows of the measured phase of at least a second. Response times are service
times, as Vdbench counts them from submission to completion. What Plimsoll does not know stands as ``n/a``, in the histogram as nothing.
Points on file systems have Vdbench's columns for these, points on devices those for devices; a run with both has two tables.
Limits: there is one row for all storage of a point; Vdbench's files for each SD, FSD and host are not written.

    for name, text in files([Recorded(result, intervals, monitor)]).items(): …      # flatfile.html, summary.html, …
    read_flatfile(text, "flatfile.html")
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from plimsoll.formats.stored_point import Recorded
from plimsoll.formats.vdbench.results.file_rows import file_run_of, is_of_files
from plimsoll.formats.vdbench.results.flatfile import file_flatfile, flatfile
from plimsoll.formats.vdbench.results.histogram import histogram_text
from plimsoll.formats.vdbench.results.read import Span, is_flatfile, read_flatfile, span_line
from plimsoll.formats.vdbench.results.rows import Run, frame_of, names, run_of, tod_of
from plimsoll.formats.vdbench.results.summary import file_summary_lines, status_text, summary_lines

__all__ = ["files", "is_flatfile", "read_flatfile"]

_HEAD = """\
* Flatfile in the layout of Vdbench 5.04.07, written by Plimsoll.
* Columns are found by their names in the header below, not by their positions.
* reqrate 999977 is the maximum; n/a is not known.
"""


def files(points: Sequence[Recorded]) -> dict[str, str]:
    """Every file by its name."""
    kinds = [is_of_files(point) for point in points]
    runs: list[Run[Any]] = [
        (file_run_of if of_files else run_of)(point, name) for point, name, of_files in zip(points, names(points), kinds, strict=True)
    ]
    of_devices, of_files = ([run for run, kind in zip(runs, kinds, strict=True) if kind is wanted] for wanted in (False, True))
    return {
        "flatfile.html": _HEAD
        + _spans(points, runs)
        + "<pre>\n"
        + (flatfile(of_devices) if of_devices else "")
        + (file_flatfile(of_files) if of_files else ""),
        "summary.html": _text("Vdbench summary report, written by Plimsoll.", runs, kinds, averages_only=False),
        "totals.html": _text("Vdbench totals report, written by Plimsoll.", runs, kinds, averages_only=True),
        "histogram.html": histogram_text(runs),
        "status.html": status_text(runs),
    }


def _spans(points: Sequence[Recorded], runs: Sequence[Run[Any]]) -> str:
    return "".join(
        span_line(run.name, Span(tod_of(frame_of(point, run.course).origin), run.course.seconds, point.result.job.target))
        for point, run in zip(points, runs, strict=True)
    )


def _text(title: str, runs: Sequence[Run[Any]], kinds: Sequence[bool], *, averages_only: bool) -> str:
    def lines() -> Iterator[str]:
        yield from ("<pre>", title)
        for run, of_files in zip(runs, kinds, strict=True):
            yield ""
            yield from (file_summary_lines if of_files else summary_lines)(run, averages_only=averages_only)

    return "\n".join(lines()) + "\n"
