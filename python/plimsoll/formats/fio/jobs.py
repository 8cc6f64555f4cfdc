"""Jobs as fio sees them, and which of them run at the same time.

Model: a job is defaults, then the globals before it, then its own lines; the last line of an option wins. Every line is read in the
section it stands in, whether a later one takes its place or not, as fio reads it: what is no value there is refused, and ``kb_base`` says
how the sizes of its section and of those after it are read. A job keeps the line that each value came from, for what is to be said of it.
A job with ``stonewall`` waits for all jobs before it. ``wait_for=NAME`` waits for one; that is the same when nothing else is running. A
further job file begins behind a wall.

    jobs = read_jobs(sections, ledger, around)
    jobs[0].values.get("numjobs", 1)
    batches(jobs, ledger)     # [[Job, Job], [Job]]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.fio.forms import read_value
from plimsoll.formats.fio.ledger import Ledger
from plimsoll.formats.fio.notes import Note, Unfit, native, surprise, unsupported
from plimsoll.formats.fio.options import OPTIONS, canonical, check_limit, meant
from plimsoll.formats.fio.quantity import Numbers, Quantity, Sizes
from plimsoll.formats.fio.read import Include, Line, Machine, Section, substituted

#: Either of the two sets the other, so the later one holds.
_PAIRS = {"buffered": "direct", "direct": "buffered", "rwmixread": "rwmixwrite", "rwmixwrite": "rwmixread"}
_REPEATABLE = ("include",)
_BASE = "kb_base"
#: Each line adds to those before it, also to those of a global section.
_GATHERED = {"filename": "fio adds the names of each line to those of the lines before it, so the job uses all of them"}


@dataclass(frozen=True, eq=False)
class Job:
    """One section that runs, with the values that hold for it and the lines that they came from."""

    name: str
    header: Line
    values: Mapping[str, Any]
    lines: Mapping[str, Line]
    #: How the number behind the mode is read.
    numbers: Numbers
    waits_for_file: bool = False

    def wrong(self, unfit: Unfit) -> InputError:
        """The error for a value that does not go with the others, with its line."""
        line = self.lines.get(unfit.name, self.header)
        return line.place.wrong(f"{quoted(line.text)}: {unfit.problem}")


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
        raise line.place.wrong(f"{quoted(line.text)}: {problem}") from None


def _replaced(line: Line, ledger: Ledger, around: Surroundings) -> tuple[str, Line]:
    """The option that a line sets, and the line with everything substituted; its remark shows it as written."""
    name = _known(line)
    unset: list[str] = []
    value = line.value
    if value is not None:
        try:
            value, unset = substituted(value, around.environment, around.machine)
        except InputError as problem:
            raise line.place.wrong(f"{quoted(line.text)}: {problem}") from None
    resolved = line if value == line.value else replace(line, value=value, written=line.written or f"{line.key}={line.value}")
    ledger.enter(resolved, "no job follows it")
    for variable in unset:
        ledger.surprise(resolved, f"the variable {variable} is not set, so nothing stands in its place")
    return name, resolved


def _known(line: Line) -> str:
    name = canonical(line.key)
    if name == "include" and not line.written.startswith("include "):
        raise line.place.wrong(f"{quoted(line.text)}: a file is included without an equals sign; write include {line.value or 'FILE'}.")
    if name is None:
        near = meant(line.key)
        hint = f"did you mean {quoted(near)}?" if near else "'plimsoll translate' knows the options of fio 3.42."
        raise line.place.wrong(f"{quoted(line.text)}: fio has no option {quoted(line.key)}; {hint}")
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
    values = _gathered(holding, earlier)
    lines = {name: setting.line for name, setting in holding.items()}
    numbers = holding["rw"].numbers if "rw" in holding else Numbers()
    job = Job(values.get("name", section.name), header, values, lines, numbers, section.waits_for_file)
    notes = [note for name, setting in holding.items() for note in _notes(name, setting.value)]
    for name, setting in holding.items():
        _check_limit(name, setting)
    ledger.say((job, note) for note in (*notes, *(surprise(setting.name, _GATHERED[setting.name]) for setting in earlier)))
    for setting in reversed(earlier):
        ledger.note(setting.line, "native", _GATHERED[setting.name], id(job))
    return job


def _gathered(holding: Mapping[str, _Setting], earlier: Sequence[_Setting]) -> dict[str, Any]:
    """The values, with what stood in earlier lines before that of the last one."""
    values = {name: setting.value for name, setting in holding.items()}
    for setting in reversed(earlier):
        values[setting.name] = f"{setting.value}:{values[setting.name]}"
    return values


def _numbers(lines: Iterable[Line]) -> Numbers:
    """How sizes are read under lines of ``kb_base``, of which the last one holds."""
    base = Numbers().kb_base
    for line in lines:
        if line.value not in ("1000", "1024"):
            raise line.place.wrong(f"{quoted(line.text)}: sizes count in steps of 1000 or 1024; write kb_base=1024.")
        base = int(line.value)
    return Numbers(base)


def _check_limit(name: str, setting: _Setting) -> None:
    try:
        check_limit(name, setting.value)
    except InputError as problem:
        raise setting.line.place.wrong(f"{quoted(setting.line.text)}: {problem}") from None


def _notes(name: str, value: Any) -> list[Note]:
    """What becomes of an option whatever its value, and what reading that found that its writer may not expect."""
    parts = value if isinstance(value, tuple) else (value,)
    verdict = Note(name, OPTIONS[name].verdict, OPTIONS[name].why)
    return [verdict, *(surprise(name, part.surprise) for part in parts if isinstance(part, (Quantity, Sizes)) and part.surprise)]


def batches(jobs: Sequence[Job], ledger: Ledger) -> list[list[Job]]:
    """The jobs in groups, in the order in which they run. Raises `InputError` when a job waits for one that is not there."""
    found: list[list[Job]] = []
    waiting = ""
    for job in jobs:
        awaited = str(job.values.get("wait_for", ""))
        walled = bool(job.values.get("stonewall"))
        if awaited:
            _check(job, awaited, jobs)
        if not found or walled or job.waits_for_file:
            if walled:
                why = "a further experiment" if found else "there is nothing before it to wait for"
                ledger.say([(job, native("stonewall", why))])
            found.append([job])
            waiting = awaited
        elif awaited == waiting:
            found[-1].append(job)
        elif awaited:
            ledger.say((job, note) for note in _beside(awaited, found[-1]))
            found.append([job])
            waiting = awaited
        else:
            why = f"it would start before the job that waits for {quoted(waiting)}; write it above, or stonewall"
            ledger.say([(job, unsupported("", why))])
            found[-1].append(job)
    return found


def _check(job: Job, awaited: str, jobs: Sequence[Job]) -> None:
    before = [other.name for other in jobs[: jobs.index(job)]]
    if awaited == job.name:
        raise job.wrong(Unfit("wait_for", "a job cannot wait for itself; name one above it."))
    if awaited not in before:
        known = ", ".join(before) or "those to come: there is none"
        raise job.wrong(Unfit("wait_for", f"no job above is called {quoted(awaited)}; name one of {known}."))


def _beside(awaited: str, running: Sequence[Job]) -> list[Note]:
    others = [other.name for other in running if other.name != awaited]
    why = f"it would start while {quoted(others[0])} is still running; write stonewall to wait for all" if others else ""
    return [unsupported("wait_for", why)] if others else []
