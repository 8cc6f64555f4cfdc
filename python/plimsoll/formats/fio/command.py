"""A command line of fio as an experiment file of ours.

Model: the words become the same sections that a job file has: options before the first ``--name`` are defaults, each ``--name`` begins a
job, other words are job files. Jobs of the command line come first, then those of the files; from the second file on a file begins behind a
wall. Options that are fio's own and not a job's say where its output goes and are ignored, or start something other than a run and are
unsupported.
Limits: abbreviated options (``--runt=5``) are refused, although fio takes them where they are clear.

    translate_command(["fio", "--name=x", "--rw=read", "--filename=/dev/sdb"], "command line")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.fio.jobs import Surroundings
from plimsoll.formats.fio.ledger import Ledger
from plimsoll.formats.fio.options import OPTIONS, Verdict, canonical, meant
from plimsoll.formats.fio.read import Include, JobPlace, Line, Section, read_sections, this_machine
from plimsoll.formats.fio.translate import translate_sections
from plimsoll.formats.known_targets import Found, known_targets, nothing_found
from plimsoll.formats.translation import Translation


@dataclass(frozen=True)
class CommandOption:
    """An option of the program. ``takes`` says whether a word belongs to it."""

    takes: bool
    verdict: Verdict
    why: str


_OUTPUT = "results are stored with the run; plimsoll show and plimsoll report print them"
_LIVE = "progress is shown in our own way"
_HOSTS = "other hosts are not driven; run the jobs on each of them"
_OTHER = "it does not run jobs; leave it out"

COMMAND_OPTIONS: dict[str, CommandOption] = {
    **{name: CommandOption(True, "ignored", _OUTPUT) for name in ("output", "output-format", "terse-version")},
    **{name: CommandOption(False, "ignored", _OUTPUT) for name in ("minimal", "append-terse", "bandwidth-log", "latency-log")},
    **{name: CommandOption(True, "ignored", _LIVE) for name in ("eta", "eta-newline", "eta-interval", "status-interval", "debug")},
    "section": CommandOption(True, "native", "only these sections of the files run"),
    "readonly": CommandOption(False, "ignored", "nothing is written unless a job writes; see --destroy-data"),
    "warnings-fatal": CommandOption(False, "ignored", "plimsoll translate --strict fails on anything that is not native"),
    "alloc-size": CommandOption(True, "ignored", "memory is taken as it is needed"),
    "max-jobs": CommandOption(True, "ignored", "a workload has as many streams as memory allows"),
    "aux-path": CommandOption(True, "ignored", "runs are kept in the store"),
    "idle-prof": CommandOption(True, "ignored", "the load of the processors is sampled during every run"),
    "parse-only": CommandOption(False, "ignored", "plimsoll translate reads without running"),
    "showcmd": CommandOption(False, "ignored", "plimsoll translate shows what would run"),
    **{name: CommandOption(True, "unsupported", _HOSTS) for name in ("server", "client", "daemonize", "remote-config")},
    **{
        name: CommandOption(True, "unsupported", "nothing is triggered during a run; run it by hand")
        for name in ("trigger", "trigger-file", "trigger-timeout", "trigger-remote")
    },
    **{name: CommandOption(True, "unsupported", _OTHER) for name in ("inflate-log", "cmdhelp", "enghelp", "crctest", "memcpytest")},
    **{name: CommandOption(False, "unsupported", _OTHER) for name in ("help", "version", "cpuclock-test", "merge-blktrace-only")},
}

#: Given without a value they may stand bare even before another word.
_OPTIONAL_VALUE = ("server",)


@dataclass
class _Typed:
    """A command line: the words still to be read, and what was found in those before."""

    words: list[str]
    place: JobPlace
    sections: list[Section] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)
    program: list[tuple[Line, CommandOption]] = field(default_factory=list)


def translate_command(
    words: Sequence[str],
    source: str = "command line",
    include: Include | None = None,
    environment: Mapping[str, str] | None = None,
    targets: Found = nothing_found,
) -> Translation:
    """The translation of a command line; ``include`` reads the job files among its words."""
    rest = list(words)
    if rest and rest[0].rpartition("/")[2] == "fio":
        rest.pop(0)
    typed = _read(_Typed(rest, JobPlace(source, None)))
    sections = [*typed.sections, *_of_files(typed, source, include)]
    if not any(not section.is_global for section in sections):
        raise InputError(f"{source}: there is no job in it; write for example --name=reader --rw=randread --filename=/dev/sdb.")
    ledger = Ledger()
    for line, option in typed.program:
        ledger.enter(line, option.why)
        ledger.note(line, option.verdict, option.why)
    return translate_sections(sections, source, Surroundings(environment or {}, this_machine(), include), known_targets(targets), ledger)


def _read(typed: _Typed) -> _Typed:
    while typed.words:
        word = typed.words.pop(0)
        if not word.startswith("-") or word == "-":
            typed.files.append(word)
            continue
        key, equals, value = word.lstrip("-").partition("=")
        option = Line(key, value if equals else None, typed.place, word)
        if key in COMMAND_OPTIONS:
            _program_option(option, typed)
        else:
            _job_option(option, typed)
    return typed


def _with_next(option: Line, typed: _Typed) -> Line:
    """The option with the next word as its value."""
    value = typed.words.pop(0)
    return Line(option.key, value, option.place, f"{option.written} {value}")


def _program_option(option: Line, typed: _Typed) -> None:
    known = COMMAND_OPTIONS[option.key]
    if known.takes and option.value is None and typed.words and option.key not in _OPTIONAL_VALUE:
        option = _with_next(option, typed)
    if option.key == "section":
        if not option.value:
            raise typed.place.wrong(f"{quoted(option.text)} names no section; write for example --section=reader.")
        typed.chosen.append(option.value)
    typed.program.append((option, known))


def _job_option(option: Line, typed: _Typed) -> None:
    name = canonical(option.key)
    if name is None or name == "include":
        near = meant(option.key)
        hint = f"did you mean '--{near}'?" if near else "'fio --help' lists its own."
        raise typed.place.wrong(f"{quoted(option.text)}: fio has no option {quoted(option.key)}; {hint}")
    if option.value is None and _takes_next(name, typed.words):
        option = _with_next(option, typed)
    if option.value is None and OPTIONS[name].form != "flag":
        raise typed.place.wrong(f"{quoted(option.text)} needs a value; write {option.text}=….")
    if name == "name":
        if not option.value:
            raise typed.place.wrong(f"{quoted(option.text)} names no job; write for example --name=reader.")
        typed.sections.append(Section(option.value, typed.place, written=option.text))
        return
    if not typed.sections:
        typed.sections.append(Section("global", typed.place, implied=True))
    typed.sections[-1].lines.append(option)


def _takes_next(name: str, words: list[str]) -> bool:
    """A switch takes a following 0 or 1, anything else takes the next word."""
    if not words:
        return False
    return words[0] in ("0", "1") if OPTIONS[name].form == "flag" else True


def _of_files(typed: _Typed, source: str, include: Include | None) -> list[Section]:
    """The sections of the job files, those chosen with ``--section`` only."""
    found: list[Section] = []
    for number, name in enumerate(typed.files):
        if include is None:
            raise InputError(f"{source}: the job file {quoted(name)} cannot be read here; translate it by itself.")
        try:
            text = include(name)
        except (OSError, KeyError, UnicodeError) as problem:
            raise InputError(f"{source}: the job file {quoted(name)} cannot be read ({problem}); give its path.") from None
        kept = [
            section
            for section in read_sections(text, name, include)
            if not typed.chosen or section.is_global or section.name in typed.chosen
        ]
        for section in kept[:1]:
            section.begins_file = number > 0
        for section in [section for section in kept if not section.is_global][:1]:
            section.waits_for_file = number > 0
        found += kept
    return found
