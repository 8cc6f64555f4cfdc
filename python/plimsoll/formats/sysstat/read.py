"""What iostat and sadf say: ``iostat -x`` as text, ``iostat -o JSON`` and ``sadf -j`` as documents; the same counters.

Model: in the text a line that begins with ``Device`` heads a table of devices, which ends at an empty line; ``avg-cpu:`` heads a line of
percentages. With ``-t`` a line before each report says when it was made, in the form of the locale; the forms of en_US, of ISO and with a
24-hour clock are read. A decimal comma is read as a point. Both documents hold ``sysstat.hosts[].statistics[]``. iostat names a device
``disk_device`` and its columns as in its text; sadf names it ``disk-device`` (older versions ``name``), its columns ``tps``, ``rkB``,
``wkB``, ``await`` and says how long each interval is. sadf does not tell reads from writes in requests, so they are divided as the amounts
of data are.

    read_reports(text, "iostat.txt")
    origin, reports = read_document(text, "iostat.json")
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.sysstat.results import Device, Report, cpu_of, device_of
from plimsoll.stored import Json

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
            raise InputError(
                f"{self._source}:{number}: {quoted(wrong)} is no number, which iostat writes there; give its output unchanged."
            )
        return {name: max(0.0, float(word.replace(",", "."))) for name, word in zip(names, words, strict=True)}


def _time(line: str) -> datetime | None:
    for form in _TIMES:
        try:
            found = datetime.strptime(line, form)
        except ValueError:
            continue
        return found if found.tzinfo else found.astimezone()
    return None


def read_document(text: str, source: str) -> tuple[str, list[Report]]:
    """Which tool wrote it, and its reports. Raises `InputError` that names file and place."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as problem:
        raise InputError(
            f"{source}:{problem.lineno}: not JSON ({problem.msg.lower()}); sysstat may have been ended while writing it."
        ) from None
    except ValueError:
        raise InputError(f"{source}: a number in it has thousands of digits; give it as sysstat wrote it.") from None
    except RecursionError:
        raise InputError(f"{source}: nested too deeply for a document of sysstat's; give it as it was written.") from None
    hosts = _objects(_object(_object(document).get("sysstat")).get("hosts"))
    statistics = [entry for host in hosts for entry in _objects(host.get("statistics"))]
    if not statistics:
        raise InputError(f"{source}: there are no statistics in it; give the output of iostat -x -o JSON or of sadf -j -- -d.")
    if any("disk" in entry and isinstance(entry["disk"], list) and "timestamp" in entry and _is_sadf(entry) for entry in statistics):
        return "sar", [_sadf_report(entry, source) for entry in statistics]
    return "iostat", [_iostat_report(entry, source) for entry in statistics]


def _is_sadf(entry: Json) -> bool:
    return isinstance(entry["timestamp"], dict)


def _iostat_report(entry: Json, source: str) -> Report:
    devices: dict[str, Device] = {}
    for disk in _objects(entry.get("disk")):
        name = str(disk.get("disk_device") or disk.get("device") or "")
        if "r/s" not in disk:
            raise InputError(f"{source}: {name or 'a device'} has no 'r/s'; give the output of iostat -x -o JSON.")
        devices[name] = device_of(_numbers(disk, source))
    return Report(_when(str(entry.get("timestamp") or "")), None, devices, cpu_of(_numbers(_object(entry.get("avg-cpu")), source)))


def _sadf_report(entry: Json, source: str) -> Report:
    stamp = _object(entry.get("timestamp"))
    devices = {}
    for disk in _objects(entry.get("disk")):
        values = _numbers(disk, source)
        reads, writes = (values.get(f"{letter}kB", values.get(f"{letter}d_sec", 0.0) / 2) for letter in "rw")
        share = reads / (reads + writes) if reads + writes else 0.0
        wait = values.get("await", 0.0)
        rates = {"read": values.get("tps", 0.0) * share, "write": values.get("tps", 0.0) * (1 - share), "trim": 0.0, "flush": 0.0}
        moved = {"read": reads * 1024, "write": writes * 1024, "trim": 0.0, "flush": 0.0}
        name = str(disk.get("disk-device") or disk.get("name") or "")
        queue = values.get("aqu-sz", values.get("avgqu-sz", 0.0))
        devices[name] = Device(rates, moved, dict.fromkeys(rates, wait), queue, values.get("%util", values.get("util-percent", 0.0)))
    interval = stamp.get("interval")
    seconds = float(interval) if isinstance(interval, (int, float)) and 0 < interval < 1e9 else None
    return Report(_when(f"{stamp.get('date', '')} {stamp.get('time', '')}"), seconds, devices)


def _when(text: str) -> datetime | None:
    for form in ("%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y %H:%M:%S", "%m/%d/%y %H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"):
        try:
            found = datetime.strptime(text.strip(), form)
        except ValueError:
            continue
        return found if found.tzinfo else found.astimezone()
    return None


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> Iterator[Json]:
    return (entry for entry in (value if isinstance(value, list) else []) if isinstance(entry, dict))


def _numbers(values: Json, source: str) -> dict[str, float]:
    found = {}
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        if not abs(value) < 1e18:
            raise InputError(f"{source}: {name} is {value}, which no counter reaches; give the document as it was written.")
        found[name] = max(0.0, float(value))
    return found
