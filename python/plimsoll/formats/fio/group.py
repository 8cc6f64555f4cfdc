"""Jobs that run at the same time as one workload and one experiment.

Model: each job is decided once (`resolve`). From what it asks for follow its streams, from how those use files the target of all and their
regions on it, from when the jobs start and end the times of the point, and from what a job asks of its own numbers the kind of the
experiment. Each of these hands back options and notes; here they are put together.

    made = group([resolved(source)], Around(targets, 0, Names(), (title,)))
    made.experiment["kind"]          # "single"
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from plimsoll.displayed import quoted
from plimsoll.formats.fio.content import stamp_notes
from plimsoll.formats.fio.flow import JOBS_MAX, TOO_MANY, Flow, flows, stream_name
from plimsoll.formats.fio.goal import Aimed, Alone, aimed, not_alone
from plimsoll.formats.fio.layout import layout
from plimsoll.formats.fio.notes import Note, Unfit, native, surprise, unsupported
from plimsoll.formats.fio.performer import backend_notes
from plimsoll.formats.fio.quantity import bytes_text
from plimsoll.formats.fio.replay import Replay, replays
from plimsoll.formats.fio.resolve import Intent
from plimsoll.formats.fio.times import Stream, timing
from plimsoll.formats.fio.trees import Trees, tree_stream
from plimsoll.formats.known_targets import SHARED, KnownTargets
from plimsoll.formats.parts import TargetParts
from plimsoll.stored import Json

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
class Around:
    """What a group stands in: what is known of targets, when it starts if that is known, the names given before it, and its jobs."""

    targets: KnownTargets
    elapsed_ns: int | None
    names: Names
    #: Name and purpose of every job in it, also of those that cannot be part of it.
    titles: tuple[tuple[str, str], ...]


#: A note on the job of that number.
Said = tuple[int, Note]


@dataclass(frozen=True)
class Group:
    """What a group became, with notes on its jobs by their numbers; ``lasts_ns`` is None when it ends by amounts."""

    workload: Json
    experiment: Json
    lasts_ns: int | None
    placed: TargetParts
    notes: tuple[Said, ...]


@dataclass(frozen=True)
class Owned:
    """A stream of the job of that number."""

    job: int
    flow: Flow


#: What a job asks for, with what is to be said of it.
Decided = tuple[Intent, tuple[Note, ...]]


def group(decided: Sequence[Decided], around: Around) -> Group:
    """The workload and experiment of jobs on blocks; raises `Unfit`."""
    made, notes = _streams(decided, around.targets)
    jobs = [intent for intent, _ in decided]
    laid = layout([each.flow.use for each in made], around.targets)
    regions = [_with_region(each.flow, region) for each, region in zip(made, laid.options, strict=True)]
    ends = [Stream(each.job, any(name in region for name in _ENDS)) for each, region in zip(made, regions, strict=True)]
    times = {number: intent.times for number, intent in enumerate(jobs)}
    timed = timing(times, ends, around.elapsed_ns, around.targets.remedy)
    aim = _aim(jobs, made)
    settings, said = _settings(jobs, made, laid.placed)
    options = [
        {name: value for name, value in {**region, **own, **_seed(jobs[each.job])}.items() if name not in aim.left_out}
        for each, region, own in zip(made, regions, timed.options, strict=True)
    ]
    words = Names()
    names = [words.unique(each.flow.name) for each in made]
    name = around.names.unique(jobs[0].name if _is_word(jobs[0].name) else names[0])
    experiment: Json = {"name": name, "kind": aim.experiment["kind"], "workloads": [name], "set": timed.settings | aim.settings | settings}
    experiment |= {key: value for key, value in aim.experiment.items() if key != "kind"}
    experiment |= {"cache": "cold"} if any(intent.cold for intent in jobs) else {}
    experiment["configurations"] = [{"name": name, "target": laid.placed.target}]
    notes += [*_too_many(jobs), *_sharing(jobs, around.targets.target)]
    notes += [(made[number].job, note) for number, note in laid.notes]
    notes += [(each.job, note) for each, region in zip(made, regions, strict=True) for note in _stamps(each.flow, laid.placed, region)]
    notes += [*timed.notes, *((0, note) for note in aim.notes), *said]
    notes += [] if len(made) == 1 else [(number, note) for number, intent in enumerate(jobs) for note in not_alone(intent.goal)]
    workload = _workload(name, around.titles) | {"stream": [{"name": word, **known} for word, known in zip(names, options, strict=True)]}
    return Group(workload, experiment, timed.lasts_ns, laid.placed, (*notes, *_places(len(jobs), name, around.titles)))


def _streams(decided: Sequence[Decided], targets: KnownTargets) -> tuple[list[Owned], list[Said]]:
    """The streams of all jobs, and what is to be said of them so far, job by job."""
    made, notes = list[Owned](), list[Said]()
    for number, (intent, said) in enumerate(decided):
        assert not isinstance(intent.load, Trees)
        found, more = replays(intent.load) if isinstance(intent.load, Replay) else flows(intent.load, targets)
        made += [Owned(number, flow) for flow in found]
        notes += [(number, note) for note in (*said, *more)]
    return made, notes


#: Options by which a stream ends by itself.
_ENDS = ("trace", "amount", "requests")


def _with_region(flow: Flow, region: Json) -> Json:
    """The options of a stream with those of its region, of which an alignment of its own takes the place."""
    return flow.options | {name: value for name, value in region.items() if name != "align" or name not in flow.options}


def _stamps(flow: Flow, placed: TargetParts, options: Json) -> tuple[Note, ...]:
    """A stream that got no region beside one without target is not judged."""
    is_laid = not placed.model or not flow.use.performer.has_target
    return stamp_notes(flow.requests, options) if flow.use.stamped and is_laid else ()


def _aim(jobs: Sequence[Intent], made: Sequence[Owned]) -> Aimed:
    """Kind and goal of the experiment; a goal is that of a whole point."""
    if len(made) > 1:
        return Aimed({"kind": "single"}, {})
    flow = made[0].flow
    return aimed(jobs[0].goal, Alone(flow.requests.mode.ops, flow.options.get("threads", 1), flow.use.performer.depth))


def _settings(jobs: Sequence[Intent], made: Sequence[Owned], placed: TargetParts) -> tuple[Json, list[Said]]:
    settings: Json = {}
    if placed.made_bytes > _SIZE_MAX:
        longest = next((each.job for each in made if each.flow.use.region.size is not None), made[0].job)
        raise Unfit("size", "the target would be longer than 1 PiB; write a smaller size, or a smaller offset.", longest)
    if placed.size_bytes is not None:
        settings["size"] = bytes_text(placed.size_bytes)
    backends = {each.flow.use.performer.backend for each in made} - {""}
    mixed = len(backends) != 1
    if not mixed and backends <= {"sync", "mmap"}:
        settings["backend"] = next(iter(backends))
    if any(each.flow.use.performer.polled for each in made):
        settings["polled"] = True
    if any(intent.goes_on for intent in jobs):
        settings["on_error"] = "continue"
    return settings, [(each.job, note) for each in made if mixed for note in backend_notes(each.flow.use.performer)]


def _seed(intent: Intent) -> Json:
    return {} if intent.seed is None else {"seed": intent.seed}


def _too_many(jobs: Sequence[Intent]) -> list[Said]:
    counts = [intent.clones for intent in jobs]
    return [(len(jobs) - 1, unsupported("numjobs", TOO_MANY))] if sum(counts) > JOBS_MAX >= max(counts) else []


def _sharing(jobs: Sequence[Intent], target: str) -> list[Said]:
    """Says where one typed target takes the place of several files."""
    named = {path for intent in jobs if target for clone in range(min(intent.clones, JOBS_MAX)) for path in intent.files.own(clone)}
    together = "this job" if len(jobs) == 1 else "this job and those beside it"
    why = f"{together} would use {len(named)} files or devices; --target {target} {SHARED}"
    return [(0, surprise("", why))] if len(named) > 1 else []


def tree_group(decided: Sequence[Decided], around: Around) -> Group:
    """The workload and experiment of jobs that work on trees of files."""
    jobs = [intent for intent, _ in decided]
    known, notes = Names(), [(number, note) for number, (_, said) in enumerate(decided) for note in said]
    trees, made = [], []
    for number, intent in enumerate(jobs):
        assert isinstance(intent.load, Trees)
        tree, said = tree_stream(intent.load, known.unique(stream_name(intent.name)))
        trees.append(tree.tree)
        made.append(tree.stream)
        notes += [(number, note) for note in said]
    times = {number: intent.times for number, intent in enumerate(jobs)}
    ends = [Stream(number, any(name in stream for name in _ENDS)) for number, stream in enumerate(made)]
    timed = timing(times, ends, around.elapsed_ns, around.targets.remedy)
    name = around.names.unique(str(made[0]["name"]))
    folders = dict.fromkeys(intent.load.directory for intent in jobs if isinstance(intent.load, Trees))
    if len(folders) > 1 and not around.targets.target:
        why = "trees that are worked on at the same time lie in one directory; name one for all"
        notes.append((len(jobs) - 1, unsupported("directory", why)))
    target = f"{next(iter(folders)).partition(':')[0].rstrip('/')}/{name}"
    experiment: Json = {"name": name, "kind": "single", "workloads": [name], "set": timed.settings}
    experiment["configurations"] = [{"name": name, "target": target}]
    streams = [{**stream, **own} for stream, own in zip(made, timed.options, strict=True)]
    workload = {"driver": "files", **_workload(name, around.titles), "stream": streams, "tree": trees}
    return Group(workload, experiment, timed.lasts_ns, TargetParts(), (*notes, *timed.notes, *_places(len(jobs), name, around.titles)))


def _is_word(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,55}", name) is not None


def _workload(name: str, titles: Sequence[tuple[str, str]]) -> Json:
    purposes = dict.fromkeys(purpose for _, purpose in titles if purpose)
    purpose = {"purpose": "; ".join(purposes)} if purposes else {}
    return {"name": name, "title": " and ".join(title for title, _ in titles), **purpose}


def _places(count: int, name: str, titles: Sequence[tuple[str, str]]) -> list[Said]:
    why = f"experiment {quoted(name)}" if len(titles) == 1 else f"a stream of experiment {quoted(name)}"
    return [(number, native("", why)) for number in range(count)]
