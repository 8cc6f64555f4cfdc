"""Remarks on access specifications: one on each name, one on each line.

Model: a line is native unless it has a reply, which our streams do not send. What nobody runs is ignored, whatever it holds.

    spec_remarks(file, intent)
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.formats.iometer.intent import Intent
from plimsoll.formats.iometer.model import AccessLine, AccessSpec, IometerFile
from plimsoll.formats.iometer.storage import SECTOR
from plimsoll.formats.translation import Remark

#: A size that one circulated web server pattern has by a slip for 64 KiB.
SLIPPED_SIZE = 66560


def spec_remarks(file: IometerFile, intent: Intent) -> Iterator[Remark]:
    """Those of all specifications."""
    running = {spec.name.lower() for item in intent.assignments for spec in item.specs}
    for spec in file.specs or ():
        used = spec.name.lower() in running
        yield _name(spec, used=used, nameless=not file.version.named_specs)
        for number, line in enumerate(spec.lines):
            # The first line of a specification without a name already has the remark on the whole.
            if file.version.named_specs or number > 0:
                yield _line(line, used=used)
            if used:
                yield from _surprises(line)


def _name(spec: AccessSpec, *, used: bool, nameless: bool) -> Remark:
    heading = spec.at["name"]
    text = spec.lines[0].at.text if nameless else heading.text
    if not used:
        return Remark(heading.line, text, "ignored", "no disk worker runs it")
    if nameless:
        return Remark(heading.line, text, "native", f"{_drawn(spec.lines[0])}; first line of what is called {spec.name!r} here")
    return Remark(heading.line, text, "native", "an experiment of its own")


def _line(line: AccessLine, *, used: bool) -> Remark:
    at = line.at
    if not used:
        return Remark(at.line, at.text, "ignored", "no disk worker runs it")
    if line.reply:
        why = (
            f"a reply of {line.reply} bytes in the other direction after each request is not among our operations; "
            "write 0, and mix reads and writes with the percentage of reads"
        )
        return Remark(at.line, at.text, "unsupported", why)
    return Remark(at.line, at.text, "native", _drawn(line))


def _drawn(line: AccessLine) -> str:
    parts = ["a line of the access list" if line.burst == 1 else f"a line of the access list, kept for bursts of {line.burst}"]
    if line.delay_ms:
        parts.append(f"after a pause of {line.delay_ms} ms")
    if not line.align:
        parts.append(f"aligned to sectors of {SECTOR} bytes")
    return ", ".join(parts)


def _surprises(line: AccessLine) -> Iterator[Remark]:
    at = line.at
    if line.size == SLIPPED_SIZE:
        yield Remark(at.line, at.text, "surprise", "66560 bytes are 65 KiB; where this pattern was first published it says 64 KiB (65536)")
    if line.size % SECTOR or line.align % SECTOR:
        why = f"disks take whole sectors of {SECTOR} bytes only, so such requests fail in Iometer and here (--set direct=false to try)"
        yield Remark(at.line, at.text, "surprise", why)
