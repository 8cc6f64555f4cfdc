"""``iostat -x`` as text: reports of a CPU table and a device table, found by the names in their headers.

Model: a line that begins with ``Device`` heads a table of devices, which ends at an empty line; ``avg-cpu:`` heads a line of percentages.
With ``-t`` a line before each report says when it was made, in the form of the locale; the forms of en_US, of ISO and with a 24-hour
clock are read. A decimal comma is read as a point.

    read_reports(text, "iostat.txt")
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from plimsoll.errors import InputError
from plimsoll.formats.sysstat.observed import Device, Report, cpu_of, device_of

_TIMES = ("%m/%d/%Y %I:%M:%S %p", "%m/%d/%y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%d/%m/%y %H:%M:%S")
_NUMBER = re.compile(r"-?\d{1,15}(?:[.,]\d{1,6})?$")


def is_report(head: str) -> bool:
    """Whether a text begins like iostat's."""
    return any(re.match(r"Device:?\s.*\b(r/s|%util)", line) for line in head.splitlines())


def read_reports(text: str, source: str) -> list[Report]:
    """Every report. Raises `InputError` that names the line."""
    reading = _Reading(source)
    for number, line in enumerate(text.splitlines(), start=1):
        reading.line(number, line.strip())
    return list(reading.ended())


class _Reading:
    def __init__(self, source: str) -> None:
        self._source = source
        self._header: list[str] | None = None
        self._cpu_header: list[str] | None = None
        self._cpu: dict[str, float] = {}
        self._when: datetime | None = None
        self._devices: dict[str, Device] = {}
        self._reports: list[Report] = []

    def line(self, number: int, line: str) -> None:
        words = line.split()
        if not words:
            self._header = None
        elif words[0] in ("Device", "Device:"):
            self._close()
            self._header = words[1:]
            if "r/s" not in self._header:
                raise InputError(f"{self._source}:{number}: the table has no column 'r/s'; give the output of iostat -x.")
        elif words[0] == "avg-cpu:":
            self._cpu_header = [word.strip("%") for word in words[1:]]
        elif self._cpu_header is not None:
            self._cpu = cpu_of(self._columns(number, self._cpu_header, words))
            self._cpu_header = None
        elif self._header is not None:
            self._devices[words[0]] = device_of(self._columns(number, self._header, words[1:]))
        else:
            self._when = _time(line) or self._when

    def ended(self) -> Iterator[Report]:
        self._close()
        if not self._reports:
            raise InputError(f"{self._source}: there is no table of devices in it; give the output of iostat -x.")
        yield from self._reports

    def _close(self) -> None:
        """The table before, if there was one, is a report."""
        if self._devices:
            self._reports.append(Report(self._when_of_table, None, self._devices, self._cpu_of_table))
        self._devices, self._when_of_table, self._cpu_of_table = {}, self._when, self._cpu

    _when_of_table: datetime | None = None
    _cpu_of_table: dict[str, float] = {}  # noqa: RUF012 - replaced, never changed

    def _columns(self, number: int, names: list[str], words: list[str]) -> dict[str, float]:
        if len(words) != len(names):
            raise InputError(
                f"{self._source}:{number}: {len(words)} values under {len(names)} columns; give the output of iostat -x whole."
            )
        wrong = next((word for word in words if not _NUMBER.match(word)), None)
        if wrong is not None:
            raise InputError(f"{self._source}:{number}: {wrong!r} is no number, which iostat writes there; give its output unchanged.")
        return {name: max(0.0, float(word.replace(",", "."))) for name, word in zip(names, words, strict=True)}


def _time(line: str) -> datetime | None:
    for form in _TIMES:
        try:
            found = datetime.strptime(line, form)
        except ValueError:
            continue
        return found if found.tzinfo else found.astimezone()
    return None
