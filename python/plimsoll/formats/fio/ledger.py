"""What becomes of every line: the verdicts of the jobs that it serves, and the surprises beside them.

Model: a line in a global section serves several jobs, and may be fine for one and not for another. Each job notes verdicts, of which its
worst counts: unsupported before ignored before *idle* (it says nothing to this job) before native. Between jobs the worst counts too,
except that a line is idle only when it is so for every job; that is reported as ignored. Surprises are kept beside the verdict.

    ledger.enter(line, "no job follows it")
    ledger.say([(job, ignored("nice", "requests have the priority of the process"))])
    ledger.remarks()          # [Remark(3, "bs=4k", "ignored", "why")]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from plimsoll.displayed import quoted
from plimsoll.formats.fio.notes import Note, Verdict
from plimsoll.formats.fio.read import Line
from plimsoll.formats.translation import Kind, Remark

_WITHIN_JOB: tuple[Verdict, ...] = ("native", "idle", "ignored", "unsupported")
_BETWEEN_JOBS: tuple[Verdict, ...] = ("idle", "native", "ignored", "unsupported")
_KINDS: dict[Verdict, Kind] = {"native": "native", "idle": "ignored", "ignored": "ignored", "unsupported": "unsupported"}


class Lined(Protocol):
    """A job with the lines that its options came from."""

    @property
    def header(self) -> Line: ...

    @property
    def lines(self) -> Mapping[str, Line]: ...


class Ledger:
    """Lines in the order in which they were entered, each with the verdicts of the jobs that it serves."""

    def __init__(self) -> None:
        self._lines: dict[int, Line] = {}
        self._verdicts: dict[int, dict[int, tuple[Verdict, str]]] = {}
        self._unused: dict[int, str] = {}
        self._surprises: dict[int, list[str]] = {}

    def enter(self, line: Line, unused: str) -> None:
        """Makes a line known; ``unused`` is what is said of it when no job notes a verdict."""
        self._lines.setdefault(id(line), line)
        self._unused.setdefault(id(line), unused)

    def say(self, notes: Iterable[tuple[Lined, Note]]) -> None:
        """Notes what was found of the options of jobs, in that order; on the header where no line sets one."""
        for job, note in notes:
            line = job.lines.get(note.name, job.header)
            if note.verdict == "surprise":
                self.surprise(line, note.why)
            elif note.verdict != "idle" or note.name in job.lines:
                self.note(line, note.verdict, note.why, id(job))

    def note(self, line: Line, verdict: Verdict, why: str = "", job: int = 0) -> None:
        """The verdict of a job on a line; of equal ones the later says why."""
        verdicts = self._verdicts.setdefault(id(line), {})
        before = verdicts.get(job)
        if before is None or _WITHIN_JOB.index(verdict) >= _WITHIN_JOB.index(before[0]):
            verdicts[job] = (verdict, why)

    def surprise(self, line: Line, why: str) -> None:
        """What the tool does that the line does not seem to say."""
        said = self._surprises.setdefault(id(line), [])
        if why not in said:
            said.append(why)

    def superseded(self, line: Line, by: Line) -> None:
        """A later line of the same option holds for a job."""
        place = "" if by.place.line is None else f" of line {by.place.line}"
        self._unused[id(line)] = f"{quoted(by.text)}{place} takes its place"

    def remarks(self) -> list[Remark]:
        """One verdict for every line, and the surprises behind it."""
        found = []
        for key, line in self._lines.items():
            verdicts = list(self._verdicts.get(key, {}).values()) or [("ignored", self._unused[key])]
            verdict, why = max(verdicts, key=lambda entry: _BETWEEN_JOBS.index(entry[0]))
            found.append(Remark(line.place.remark_line, line.text, _KINDS[verdict], why))
            found += [Remark(line.place.remark_line, line.text, "surprise", said) for said in self._surprises.get(key, [])]
        return found
