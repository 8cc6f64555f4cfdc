"""Jobs as fio sees them, which of them run at the same time, and what becomes of every line.

Model: a job is defaults, then the globals before it, then its own lines; the last line of an option wins. Every line is read in the
section it stands in, whether a later one takes its place or not, as fio reads it: what is no value there is refused, and ``kb_base`` says
how the sizes of its section and of those after it are read. Verdicts go to the line that a value came from; where there is none, because a
default of fio does something, a surprise goes to the section's header.
A line in a global section serves several jobs, and may be fine for one and not for another. Each job notes verdicts, of which its
worst counts: unsupported before ignored before *idle* (it says nothing to this job) before native. Between jobs the worst counts too,
except that a line is idle only when it is so for every job; that is reported as ignored. Surprises are kept beside the verdict.
A job with ``stonewall`` waits for all jobs before it. ``wait_for=NAME`` waits for one; that is the same when nothing else is running. A
further job file begins behind a wall.

    jobs = read_jobs(sections, ledger, around)
    jobs[0].get("numjobs", 1)
    batches(jobs)             # [[Job, Job], [Job]]
    ledger.remarks()          # [Remark(3, "bs=4k", "ignored", "why")]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plimsoll.errors import InputError
from plimsoll.formats.fio.options import OPTIONS, canonical, check_limit, meant
from plimsoll.formats.fio.quantity import Numbers, Quantity, Sizes
from plimsoll.formats.fio.read import Include, Line, Machine, Section, substituted
from plimsoll.formats.fio.resolve import Requests, Said, Verdict, resolved
from plimsoll.formats.fio.values import read_value
from plimsoll.formats.known_targets import KnownTargets
from plimsoll.formats.translation import Kind, Remark

_WITHIN_JOB: tuple[Verdict, ...] = ("native", "idle", "ignored", "unsupported")
_BETWEEN_JOBS: tuple[Verdict, ...] = ("idle", "native", "ignored", "unsupported")
_KINDS: dict[Verdict, Kind] = {"native": "native", "idle": "ignored", "ignored": "ignored", "unsupported": "unsupported"}


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
        self._unused[id(line)] = f"{by.text!r}{place} takes its place"

    def remarks(self) -> list[Remark]:
        """One verdict for every line, and the surprises behind it."""
        found = []
        for key, line in self._lines.items():
            verdicts = list(self._verdicts.get(key, {}).values()) or [("ignored", self._unused[key])]
            verdict, why = max(verdicts, key=lambda entry: _BETWEEN_JOBS.index(entry[0]))
            found.append(Remark(line.place.remark_line, line.text, _KINDS[verdict], why))
            found += [Remark(line.place.remark_line, line.text, "surprise", said) for said in self._surprises.get(key, [])]
        return found


#: Either of the two sets the other, so the later one holds.
_PAIRS = {"buffered": "direct", "direct": "buffered", "rwmixread": "rwmixwrite", "rwmixwrite": "rwmixread"}
_REPEATABLE = ("include",)
_BASE = "kb_base"
#: Each line adds to those before it, also to those of a global section.
_GATHERED = {"filename": "fio adds the names of each line to those of the lines before it, so the job uses all of them"}


@dataclass
class Job:
    """One section that runs, with the values that hold for it."""

    name: str
    header: Line
    ledger: Ledger
    waits_for_file: bool = False
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, Line] = field(default_factory=dict)
    #: How the number behind the mode is read.
    numbers: Numbers = field(default_factory=Numbers)
    targets: KnownTargets = field(default_factory=KnownTargets)
    #: What the values ask for.
    requests: Requests = field(default_factory=lambda: resolved({})[0])

    @property
    def target(self) -> str:
        """The typed target that takes the place of all the job's own, or nothing."""
        return self.targets.target

    def has(self, name: str) -> bool:
        """Whether a line sets the option."""
        return name in self.values

    def get(self, name: str, default: Any = None) -> Any:
        """The value, or the default."""
        return self.values.get(name, default)

    def native(self, name: str, why: str) -> None:
        """Says more about an option that takes effect."""
        self._note(name, "native", why)

    def idle(self, name: str, why: str) -> None:
        """The option says nothing to this job; another job may still heed its line."""
        if self.has(name):
            self._note(name, "idle", why)

    def ignored(self, name: str, why: str) -> None:
        """The value of this job has no effect here."""
        self._note(name, "ignored", why)

    def unsupported(self, name: str, why: str) -> None:
        """The value of this job cannot be translated."""
        self._note(name, "unsupported", why)

    def say(self, said: Iterable[Said]) -> None:
        """Notes what was found while values were made of the options."""
        for each in said:
            self._note(each.name, each.verdict, each.why)

    def surprise(self, name: str, why: str) -> None:
        """fio does something here that its file does not seem to say."""
        self.ledger.surprise(self.lines.get(name, self.header), why)

    def _note(self, name: str, verdict: Verdict, why: str) -> None:
        """On the option's line; where a default of fio is at work, on the header."""
        self.ledger.note(self.lines.get(name, self.header), verdict, why, id(self))

    def wrong(self, name: str, problem: object) -> InputError:
        """The error for a value that does not go with the others."""
        line = self.lines.get(name, self.header)
        return line.place.wrong(f"{line.text!r}: {problem}")


@dataclass(frozen=True)
class Surroundings:
    """What values may refer to."""

    environment: Mapping[str, str]
    machine: Machine
    #: The text of a file that a value names.
    include: Include | None = None


@dataclass(frozen=True)
class _Setting:
    """A line with the option that it sets, the value that it gives it, and how numbers are read there."""

    name: str
    line: Line
    value: Any
    numbers: Numbers


def read_jobs(sections: Iterable[Section], ledger: Ledger, around: Surroundings) -> list[Job]:
    """The sections that run. Raises `InputError` on an unknown option or a value that fio would refuse."""
    defaults: list[_Setting] = []
    jobs: list[Job] = []
    for section in sections:
        header = Line(f"[{section.name}]", None, section.place, section.written)
        if not section.implied:
            ledger.enter(header, "no job follows it")
        lines = [_replaced(line, ledger, around) for line in section.lines]
        if section.begins_file:
            defaults = []
        settings = _settings(lines, defaults)
        if section.is_global:
            ledger.note(header, "native", "defaults of the jobs after it")
            defaults += settings
        else:
            jobs.append(_job(section, header, [*defaults, *settings], ledger))
    return jobs


def _settings(named: Sequence[tuple[str, Line]], defaults: Iterable[_Setting]) -> list[_Setting]:
    """The lines of a section, read; raises `InputError` at the first whose value is none."""
    bases = [setting.line for setting in defaults if setting.name == _BASE] + [line for name, line in named if name == _BASE]
    numbers = _numbers(bases)
    return [_Setting(name, line, None if name in _REPEATABLE else _value(name, line, numbers), numbers) for name, line in named]


def _value(name: str, line: Line, numbers: Numbers) -> Any:
    try:
        return read_value(OPTIONS[name].form, line.value, numbers)
    except InputError as problem:
        raise line.place.wrong(f"{line.text!r}: {problem}") from None


def _replaced(line: Line, ledger: Ledger, around: Surroundings) -> tuple[str, Line]:
    """The option that a line sets, and the line with everything substituted; its remark shows it as written."""
    name = _known(line)
    unset: list[str] = []
    value = line.value
    if value is not None:
        try:
            value, unset = substituted(value, around.environment, around.machine)
        except InputError as problem:
            raise line.place.wrong(f"{line.text!r}: {problem}") from None
    resolved = line if value == line.value else replace(line, value=value, written=line.written or f"{line.key}={line.value}")
    ledger.enter(resolved, "no job follows it")
    for variable in unset:
        ledger.surprise(resolved, f"the variable {variable} is not set, so nothing stands in its place")
    return name, resolved


def _known(line: Line) -> str:
    name = canonical(line.key)
    if name == "include" and not line.written.startswith("include "):
        raise line.place.wrong(f"{line.text!r}: a file is included without an equals sign; write include {line.value or 'FILE'}.")
    if name is None:
        near = meant(line.key)
        hint = f"did you mean {near!r}?" if near else "'plimsoll translate' knows the options of fio 3.42."
        raise line.place.wrong(f"{line.text!r}: fio has no option {line.key!r}; {hint}")
    return name


def _job(section: Section, header: Line, settings: list[_Setting], ledger: Ledger) -> Job:
    holding: dict[str, _Setting] = {}
    earlier: list[_Setting] = []
    for setting in settings:
        name, line = setting.name, setting.line
        if name in _REPEATABLE:
            ledger.note(line, "native", OPTIONS[name].why)
            continue
        for key in (name, _PAIRS.get(name, "")):
            before = holding.pop(key, None)
            if before is not None and name in _GATHERED:
                earlier.append(before)
            elif before is not None:
                ledger.superseded(before.line, line)
        holding[name] = setting
    numbers = holding["rw"].numbers if "rw" in holding else Numbers()
    job = Job(section.name, header, ledger, section.waits_for_file, numbers=numbers)
    for name, setting in holding.items():
        line = setting.line
        ledger.note(line, OPTIONS[name].verdict, OPTIONS[name].why, id(job))
        job.lines[name], job.values[name] = line, setting.value
        try:
            check_limit(name, setting.value)
        except InputError as problem:
            raise line.place.wrong(f"{line.text!r}: {problem}") from None
        for said in _surprises(setting.value):
            job.surprise(name, said)
    _gather(job, earlier)
    job.requests, found = resolved(job.values)
    job.say(found)
    if job.has("name"):
        job.name = job.get("name")
    return job


def _gather(job: Job, earlier: Sequence[_Setting]) -> None:
    """Puts what stood in earlier lines before the value of the last one."""
    for setting in reversed(earlier):
        name = setting.name
        job.values[name] = f"{setting.value}:{job.values[name]}"
        job.ledger.note(setting.line, "native", _GATHERED[name], id(job))
        job.surprise(name, _GATHERED[name])


def _numbers(lines: Iterable[Line]) -> Numbers:
    """How sizes are read under lines of ``kb_base``, of which the last one holds."""
    base = Numbers().kb_base
    for line in lines:
        if line.value not in ("1000", "1024"):
            raise line.place.wrong(f"{line.text!r}: sizes count in steps of 1000 or 1024; write kb_base=1024.")
        base = int(line.value)
    return Numbers(base)


def _surprises(value: Any) -> list[str]:
    """What reading a value found that its writer may not expect."""
    parts = value if isinstance(value, tuple) else (value,)
    found = [part.surprise for part in parts if isinstance(part, (Quantity, Sizes)) and part.surprise]
    return list(dict.fromkeys(found))


def batches(jobs: list[Job]) -> list[list[Job]]:
    """The jobs in groups, in the order in which they run. Raises `InputError` when a job waits for one that is not there."""
    found: list[list[Job]] = []
    waiting = ""
    for job in jobs:
        awaited = str(job.get("wait_for", ""))
        if awaited:
            _check(job, awaited, jobs)
        wall = bool(job.get("stonewall")) or job.waits_for_file
        if not found or wall:
            if job.get("stonewall"):
                job.native("stonewall", "a further experiment" if found else "there is nothing before it to wait for")
            found.append([job])
            waiting = awaited
        elif awaited == waiting:
            found[-1].append(job)
        elif awaited:
            _remark(job, awaited, found[-1])
            found.append([job])
            waiting = awaited
        else:
            job.unsupported("", f"it would start before the job that waits for {waiting!r}; write it above, or stonewall")
            found[-1].append(job)
    return found


def _check(job: Job, awaited: str, jobs: list[Job]) -> None:
    before = [other.name for other in jobs[: next(index for index, other in enumerate(jobs) if other is job)]]
    if awaited == job.name:
        raise job.wrong("wait_for", "a job cannot wait for itself; name one above it.")
    if awaited not in before:
        raise job.wrong(
            "wait_for", f"no job above is called {awaited!r}; name one of {', '.join(before) or 'those to come: there is none'}."
        )


def _remark(job: Job, awaited: str, running: list[Job]) -> None:
    others = [other.name for other in running if other.name != awaited]
    if others:
        job.unsupported("wait_for", f"it would start while {others[0]!r} is still running; write stonewall to wait for all")
