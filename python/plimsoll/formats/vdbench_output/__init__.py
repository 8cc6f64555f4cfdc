"""What Vdbench writes, from results of ours, and its flatfile back.

Model: a point is a run definition; its intervals are windows of the measured phase of at least a second. Response times are service
times, as Vdbench counts them from submission to completion. What Plimsoll does not know stands as ``n/a``, in the histogram as nothing.
Limits: there is one row for all storage of a point; Vdbench's files for each SD and host are not written.

    for name, text in files([Recorded(result, intervals, monitor)]).items(): …      # flatfile.html, summary.html, …
    read_flatfile(text, "flatfile.html")
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.formats.recorded import Recorded
from plimsoll.formats.vdbench_output.flatfile import flatfile
from plimsoll.formats.vdbench_output.flatfile_reader import is_flatfile, read_flatfile
from plimsoll.formats.vdbench_output.histogram import histogram_text
from plimsoll.formats.vdbench_output.rows import runs
from plimsoll.formats.vdbench_output.status import status_text
from plimsoll.formats.vdbench_output.summary import summary_text, totals_text

__all__ = ["files", "flatfile", "is_flatfile", "read_flatfile"]


def files(points: Sequence[Recorded]) -> dict[str, str]:
    """Every file by its name."""
    known = runs(points)
    return {
        "flatfile.html": flatfile(known),
        "summary.html": summary_text(known),
        "totals.html": totals_text(known),
        "histogram.html": histogram_text(known),
        "status.html": status_text(known),
    }
