"""What a driver shows of its own on the page: a section for each, made from the points that it measured.

Model: a section is a record in a file of its own here, and is drawn by the file of the same name in ``page/src/drivers``. What every load
has (rates, latencies, load lines, marks, flags) stands in the report anyway; a section is for what only this driver knows. It reads
stored results, so a report drawn later is the same. `DriverSections` and `_MADE` are the whole list.
Limits: a driver without points in the report has no section.

    driver_sections(members)["files"]["workloads"][0]["title"]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, cast

from plimsoll.reports.view.drivers.files import FileOperations, file_operations
from plimsoll.reports.view.experiments import Member

#: What makes the section of a driver from the points that it measured; None where there is nothing to show.
Made = Callable[[Sequence[Member]], Mapping[str, Any] | None]


class DriverSections(TypedDict, total=False):
    """The sections of drivers, by the name that the key ``driver`` of a workload has."""

    files: FileOperations


_MADE: dict[str, Made] = {"files": file_operations}


def driver_sections(members: Sequence[Member]) -> DriverSections:
    """The section of every driver that has one, in the order of the list."""
    found = {name: made(own) for name, made in _MADE.items() if (own := [one for one in members if _driver(one) == name])}
    return cast("DriverSections", {name: section for name, section in found.items() if section is not None})


def _driver(member: Member) -> str | None:
    return member.result.job.definition.get("driver")
