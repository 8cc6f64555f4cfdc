"""A fio job file, several, or a command line, as an experiment file of ours with a remark for every line.

Model: sections → jobs → groups of jobs that run at the same time, each of which is one workload and one experiment. Everything that is
malformed raises `InputError` with file and line; everything that is well formed and has no counterpart becomes a remark.
The words of a command line become the same sections that a job file has: options before the first ``--name`` are defaults, each ``--name``
begins a job, other words are job files. Jobs of the command line come first, then those of the files; from the second file on a file
begins behind a wall. Options that are fio's own and not a job's say where its output goes and are ignored, or start something other than
a run and are unsupported.
Limits: abbreviated options (``--runt=5``) are refused, although fio takes them where they are clear.

    translation = translate(text, "job.fio", include, environment)
    translation.document["experiment"][0]["kind"]        # "single"
    translate_command(["fio", "--name=x", "--rw=read", "--filename=/dev/sdb"], "command line")
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.errors import InputError
from plimsoll.formats.fio.files import Extent, named_files
from plimsoll.formats.fio.flow import JOBS_MAX, TOO_MANY, Flow, Performer, flows, stream_name
from plimsoll.formats.fio.goal import goal, timing
from plimsoll.formats.fio.jobs import Job, Ledger, Surroundings, batches, read_jobs
from plimsoll.formats.fio.layout import Placed, laid_out, layout
from plimsoll.formats.fio.options import OPTIONS, Verdict, canonical, meant
from plimsoll.formats.fio.quantity import Quantity, bytes_text
from plimsoll.formats.fio.read import Include, JobPlace, Line, Machine, Section, read_sections, this_machine
from plimsoll.formats.fio.replay import open_logs, replays
from plimsoll.formats.fio.trees import is_of_files, tree_stream
from plimsoll.formats.known_targets import SHARED, Found, KnownTargets, known_targets, nothing_found
from plimsoll.formats.translation import Translation

Json = dict[str, Any]

#: The longest name that a stream can have.
_NAME_MAX = 64
#: The longest target that the engine takes.
_SIZE_MAX = 1 << 50


@dataclass
class Names:
    """Names given so far; every further one is made different."""

    taken: set[str] = field(default_factory=set)

    def unique(self, wanted: str) -> str:
        """The name, with a number behind it where it is taken."""
        name, number = wanted, 2
        while name in self.taken:
            more = f"-{number}"
            name, number = wanted[: _NAME_MAX - len(more)] + more, number + 1
        self.taken.add(name)
        return name


@dataclass(frozen=True)
class Group:
    """What a group became; ``lasts_ns`` is None when it ends by amounts."""

    workload: Json
    experiment: Json
    lasts_ns: int | None
    placed: Placed = field(default_factory=Placed)


def group(jobs: Sequence[Job], names: Names, targets: KnownTargets, elapsed_ns: int | None) -> Group:
    """The workload and experiment of jobs that run at the same time."""
    if any(is_of_files(job) for job in jobs):
        return _tree_group(jobs, names, elapsed_ns)
    streams = [flow for job in jobs for flow in (replays(job) if job.get("read_iolog") else flows(job))]
    if sum(job.get("numjobs", 1) for job in jobs) > JOBS_MAX >= max(job.get("numjobs", 1) for job in jobs):
        jobs[-1].unsupported("numjobs", TOO_MANY)
    _name(streams)
    _remark_sharing(jobs)
    placed = layout(streams, targets)
    settings, lasts_ns = timing(streams, elapsed_ns)
    asked = goal(streams, settings)
    settings |= _settings(streams, placed)
    name = names.unique(streams[0].job.name if _is_word(streams[0].job.name) else streams[0].name)
    experiment: Json = {"name": name, "kind": asked.pop("kind"), "workloads": [name], "set": settings, **asked}
    if any(not flow.job.requests.direct and flow.job.get("invalidate", True) and flow.performer.backend != "null" for flow in streams):
        experiment["cache"] = "cold"
    experiment["configurations"] = [{"name": name, "target": placed.target}]
    for job in jobs:
        _remark_place(job, name, len(jobs))
    return Group(_workload(name, jobs, streams), experiment, lasts_ns, placed)


def _remark_sharing(jobs: Sequence[Job]) -> None:
    """Says where one typed target takes the place of several files."""
    first = jobs[0]
    if not first.target:
        return
    named = {path for job in jobs for clone in range(min(job.get("numjobs", 1), JOBS_MAX)) for path in named_files(job, clone)}
    if len(named) > 1:
        together = "this job" if len(jobs) == 1 else "this job and those beside it"
        first.surprise("", f"{together} would use {len(named)} files or devices; --target {first.target} {SHARED}")


def _tree_group(jobs: Sequence[Job], names: Names, elapsed_ns: int | None) -> Group:
    """Jobs that work on trees of files at the same time."""
    known, trees, streams = Names(), [], list[Flow]()
    for job in jobs:
        if not is_of_files(job):
            job.unsupported("", "jobs on blocks and jobs on many files have targets of their own; put stonewall between")
            continue
        tree, stream = tree_stream(job, known.unique(stream_name(job.name)))
        trees.append(tree)
        streams.append(Flow(job, stream["name"], stream, (), Extent(Quantity(0), None, None), Performer("", 1)))
    settings, lasts_ns = timing(streams, elapsed_ns)
    name = names.unique(streams[0].name)
    folders = dict.fromkeys(str(flow.job.get("directory", ".")) for flow in streams)
    if len(folders) > 1 and not streams[-1].job.target:
        streams[-1].job.unsupported("directory", "trees that are worked on at the same time lie in one directory; name one for all")
    target = f"{next(iter(folders)).partition(':')[0].rstrip('/')}/{name}"
    experiment: Json = {"name": name, "kind": "single", "workloads": [name], "set": settings}
    experiment["configurations"] = [{"name": name, "target": target}]
    for job in jobs:
        _remark_place(job, name, len(jobs))
    workload = _workload(name, jobs, streams)
    return Group({"driver": "files", **workload, "tree": trees}, experiment, lasts_ns)


def _is_word(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,55}", name) is not None


def _name(streams: Sequence[Flow]) -> None:
    names = Names()
    for flow in streams:
        flow.options["name"] = names.unique(flow.name)


def _workload(name: str, jobs: Sequence[Job], streams: Sequence[Flow]) -> Json:
    workload: Json = {"name": name, "title": " and ".join(job.name for job in jobs)}
    purposes = [str(job.get("description")) for job in jobs if job.get("description")]
    if purposes:
        workload["purpose"] = "; ".join(dict.fromkeys(purposes))
    workload["stream"] = [flow.options for flow in streams]
    return workload


def _remark_place(job: Job, name: str, count: int) -> None:
    job.native("", f"experiment {name!r}" if count == 1 else f"a stream of experiment {name!r}")
    if job.has("randrepeat") and not job.get("randrepeat"):
        job.ignored("randrepeat", "equal seeds give equal requests; --set seed=… gives others")


def _settings(streams: Sequence[Flow], placed: Placed) -> Json:
    settings: Json = {}
    if placed.made_bytes > _SIZE_MAX:
        longest = next((flow.job for flow in streams if flow.job.has("size")), streams[0].job)
        raise longest.wrong("size", "the target would be longer than 1 PiB; write a smaller size, or a smaller offset.")
    if placed.size_bytes is not None:
        settings["size"] = bytes_text(placed.size_bytes)
    backend = _backend(streams)
    if backend:
        settings["backend"] = backend
    if any(flow.performer.polled for flow in streams):
        settings["polled"] = True
    if any(_goes_on(flow.job) for flow in streams):
        settings["on_error"] = "continue"
    for flow in streams:
        if flow.job.has("randseed"):
            flow.options["seed"] = flow.job.get("randseed")
    return settings


def _goes_on(job: Job) -> bool:
    return job.get("continue_on_error", "none") not in ("none", "0")


def _backend(streams: Sequence[Flow]) -> str:
    """The one backend of the point, or empty where ours chooses."""
    backends = {flow.performer.backend for flow in streams} - {""}
    if len(backends) == 1:
        only = backends.pop()
        return only if only in ("sync", "mmap") else ""
    for flow in streams:
        if flow.performer.backend == "mmap":
            flow.job.unsupported("ioengine", "a point has one backend; put stonewall between mmap and the others")
        elif flow.performer.backend == "sync" and flow.job.has("ioengine"):
            flow.job.native("ioengine", "io_uring with one request outstanding, because jobs beside it have more")
    return ""


FORMAT = "fio"
NOTHING_KNOWN = KnownTargets()

_HEADER = re.compile(r"^[ \t]*\[[^\]\n=]+\][ \t]*(?:[;#].*)?$", re.MULTILINE)
_OPTION = re.compile(
    r"^[ \t]*(rw|readwrite|ioengine|bs|blocksize|bsrange|bssplit|iodepth|numjobs|filename|directory|size|filesize|direct|nrfiles"
    r"|runtime|time_based|stonewall|group_reporting|rwmixread|thread|verify|ramp_time|loops|random_distribution)[ \t]*(=|$|[;#])",
    re.MULTILINE,
)


def recognises(name: str, head: str) -> bool:
    """Whether a file is a fio job file, by its name or by its first lines."""
    if name.endswith(".fio"):
        return True
    return bool(_HEADER.search(head)) and bool(_OPTION.search(head)) and "[[" not in head


def translate(
    text: str,
    source: str,
    include: Include | None = None,
    environment: Mapping[str, str] | None = None,
    targets: Found = nothing_found,
) -> Translation:
    """The translation of a job file. ``targets`` says how long files and devices are, where the caller can tell."""
    sections = read_sections(text, source, include)
    return translate_sections(sections, source, Surroundings(environment or {}, this_machine(), include), known_targets(targets))


def translate_sections(
    sections: Sequence[Section],
    source: str,
    around: Surroundings | None = None,
    targets: KnownTargets = NOTHING_KNOWN,
    ledger: Ledger | None = None,
) -> Translation:
    """The translation of sections that were read already; ``ledger`` may hold remarks on what stood before them."""
    ledger = ledger or Ledger()
    around = around or Surroundings({}, Machine(4096, 1024, 1))
    jobs = read_jobs(sections, ledger, around)
    for job in jobs:
        job.targets = targets
    open_logs(jobs, around.include, targets)
    names, groups = Names(), list[Group]()
    elapsed_ns: int | None = 0
    for together in batches(jobs):
        made = group(together, names, targets, elapsed_ns)
        groups.append(made)
        elapsed_ns = None if elapsed_ns is None or made.lasts_ns is None else elapsed_ns + made.lasts_ns
    _lay_out(groups)
    document = {
        "title": f"fio: {source.rsplit('/', 1)[-1]}",
        "source": f"fio job file {source}",
        "workload": [made.workload for made in groups],
        "experiment": [made.experiment for made in groups],
    }
    return Translation(source, FORMAT, document, ledger.remarks())


def _lay_out(groups: Sequence[Group]) -> None:
    """Gives the files that several groups make one length; a shorter one would be made anew between."""
    made = [each for each in groups if each.placed.paths]
    for each, placed in zip(made, laid_out([each.placed for each in made]), strict=True):
        each.experiment["configurations"][0]["target"] = placed.target
        if placed.size_bytes is not None:
            each.experiment["set"]["size"] = bytes_text(placed.size_bytes)
        else:
            each.experiment["set"].pop("size", None)


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
            raise typed.place.wrong(f"{option.text!r} names no section; write for example --section=reader.")
        typed.chosen.append(option.value)
    typed.program.append((option, known))


def _job_option(option: Line, typed: _Typed) -> None:
    name = canonical(option.key)
    if name is None or name == "include":
        near = meant(option.key)
        hint = f"did you mean '--{near}'?" if near else "'fio --help' lists its own."
        raise typed.place.wrong(f"{option.text!r}: fio has no option {option.key!r}; {hint}")
    if option.value is None and _takes_next(name, typed.words):
        option = _with_next(option, typed)
    if option.value is None and OPTIONS[name].form != "flag":
        raise typed.place.wrong(f"{option.text!r} needs a value; write {option.text}=….")
    if name == "name":
        if not option.value:
            raise typed.place.wrong(f"{option.text!r} names no job; write for example --name=reader.")
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
            raise InputError(f"{source}: the job file {name!r} cannot be read here; translate it by itself.")
        try:
            text = include(name)
        except (OSError, KeyError, UnicodeError) as problem:
            raise InputError(f"{source}: the job file {name!r} cannot be read ({problem}); give its path.") from None
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
