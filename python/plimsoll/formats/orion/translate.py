"""Command lines of ORION → experiments of ours, with a remark for every option.

Model: a run is a workload of two streams, ``small`` (random) and ``large`` (random, or a thread for each sequential stream), and
experiments of kind ``matrix`` over their outstanding requests. NAME.lun, read through ``include``, names the target; without it the target
is left to the command line of Plimsoll. Several command lines in one file run one after the other.
Limits: ORION fills the array's cache with unrelated requests before points with sequential streams; here the point's own load warms up.

    translation = translate_lines(["-run simple"], "job.orion", include)
    translation.document["experiment"][0]["grid"]       # 'basic'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from plimsoll.errors import InputError
from plimsoll.formats.known_targets import KnownTargets, is_of_windows
from plimsoll.formats.orion.grid import (
    FIXED,
    Points,
    Shape,
    announced_minutes,
    has_streams,
    points,
    random_experiments,
    sequential_experiments,
    too_many,
)
from plimsoll.formats.orion.read import Command, Given, Lun, read_command, read_luns, split_line, target_of
from plimsoll.formats.place import Place
from plimsoll.formats.translation import Kind, Remark, Translation
from plimsoll.stored import Json

Include = Callable[[str], str]

FORMAT = "orion"
#: ORION's warming of the array's cache takes about this long before each point with sequential streams.
WARMING = "2m"
_MATRIX_OF_RUN = {"simple": "basic", "normal": "detailed", "oltp": "oltp"}
_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_SMALLER_SET = "published traces show it reading the same, too few blocks again and again; here small requests reach the whole target"
_ASYNC = "it keeps requests outstanding asynchronously, where a database often waits for each read; so does this translation"


@dataclass
class _Verdicts:
    """What is said of the options of one command line."""

    command: Command
    #: The typed target that takes the place of all LUNs, or nothing.
    target: str = ""
    said: dict[str, tuple[Kind, str]] = field(default_factory=dict)
    others: list[Remark] = field(default_factory=list)

    def say(self, name: str, kind: Kind, why: str = "") -> None:
        """Of an option, if it was typed; nothing becomes native after it was unsupported."""
        if name in self.command.given and self.said.get(name, ("native", ""))[0] != "unsupported":
            self.said[name] = (kind, why)

    def other(self, text: str, kind: Kind, why: str) -> None:
        """Of something that is no option."""
        self.others.append(Remark(self.command.place.line, text, kind, why))

    def remarks(self) -> list[Remark]:
        """One for each option, in the order typed, then the rest."""
        return [self._remark(given) for given in self.command.given.values()] + self.others

    def _remark(self, given: Given) -> Remark:
        kind, why = self.said[given.option.name]
        return Remark(self.command.place.line, given.text, kind, why)

    def runnable(self) -> bool:
        """Whether nothing is unsupported."""
        return all(remark.kind != "unsupported" for remark in self.remarks())


NOTHING_KNOWN = KnownTargets()


def translate_words(words: Sequence[str], source: str, include: Include | None, targets: KnownTargets = NOTHING_KNOWN) -> Translation:
    """One command line, as words."""
    return _translated([read_command(words, Place(source))], source, include, targets.target)


def translate_lines(lines: Sequence[str], source: str, include: Include | None, targets: KnownTargets = NOTHING_KNOWN) -> Translation:
    """A file with one command line per line."""
    commands = []
    for number, line in enumerate(lines, start=1):
        place = Place(source, number)
        words = split_line(line, place)
        if words:
            commands.append(read_command(words, place))
    if not commands:
        raise InputError(f"{source}: there is no command line; write one per line, for example -run simple -num_disks 4.")
    return _translated(commands, source, include, targets.target)


def _translated(commands: Sequence[Command], source: str, include: Include | None, target: str) -> Translation:
    translation = Translation(source, FORMAT)
    workloads: list[Json] = []
    experiments: list[Json] = []
    for command in commands:
        verdicts = _Verdicts(command, target)
        name = _unused(_NAME.sub("-", command.word("testname")).strip("-_")[:40] or "orion", [item["name"] for item in workloads])
        made = _run(command, name, include, verdicts)
        translation.remarks += verdicts.remarks()
        if made is not None and verdicts.runnable():
            workloads.append(made[0])
            experiments += made[1]
    translation.document = {
        "title": f"ORION: {commands[0].word('testname')}" if len(commands) == 1 else f"ORION: {len(commands)} command lines",
        "source": f"ORION, {source}",
        "workload": workloads,
        "experiment": experiments,
    }
    return translation


def _unused(name: str, taken: Sequence[str]) -> str:
    if name not in taken:
        return name
    return next(f"{name}-{number}" for number in range(2, len(taken) + 3) if f"{name}-{number}" not in taken)


def _run(command: Command, name: str, include: Include | None, verdicts: _Verdicts) -> tuple[Json, list[Json]] | None:
    """Workload and experiments of one command line; None when something keeps it from running."""
    _say_what_is_plain(verdicts)
    luns = _luns(command, include, verdicts)
    matrix = _matrix(command, verdicts)
    shape = _shape(command, matrix, luns, verdicts)
    sequential = command.word("type") == "seq"
    excess = too_many(matrix, shape, sequential=sequential) if matrix is not None and shape is not None else None
    measured = points(matrix, shape) if matrix is not None and shape is not None and excess is None else []
    _say_of_load(command, measured, verdicts)
    target = _target(command, luns, verdicts)
    if matrix is None or shape is None:
        return None
    if measured == [(0, 0)]:
        verdicts.say("run", "unsupported", "no request is asked for at all; write -num_small or -num_large above 0")
        return None
    if excess is not None:
        # Without -num_disks, the .lun file has so many lines.
        verdicts.say("run", "unsupported", excess)
        return None
    parts = sequential_experiments(matrix, shape) if sequential else random_experiments(matrix, shape)
    _say_of_points(command, measured, verdicts)
    names = [name] if len(parts) == 1 else [f"{name} small alone", f"{name} with streams"]
    return _workload(command, name), [_experiment(command, part, made, target) for part, made in zip(parts, names, strict=True)]


def _say_what_is_plain(verdicts: _Verdicts) -> None:
    """Whatever does not depend on the other options."""
    verdicts.say("run", "native", "its points are not counted, see the other remarks")
    for name in ("testname", "num_disks", "size_small", "size_large", "type", "simulate", "write", "duration"):
        verdicts.say(name, "native")
    verdicts.say("verbose", "ignored", "progress is always shown")
    verdicts.say("hugenotneeded", "ignored", "the buffers are Plimsoll's own, and the load is the same")
    verdicts.say("storax", "ignored", "the LUNs are opened directly; name a disk that only ASM can open by its device")
    verdicts.say("help", "unsupported", "it prints ORION's help and asks for no load; leave it out")


def _luns(command: Command, include: Include | None, verdicts: _Verdicts) -> list[Lun]:
    """The LUNs of NAME.lun; none when nothing reads files here."""
    name = f"{command.word('testname')}.lun"
    if include is None:
        why = f"{name} is not read here; name its LUNs with --target, for example --target stripe:/dev/sdb,/dev/sdc"
        if "testname" in command.given:
            verdicts.say("testname", "ignored", why)
        else:
            verdicts.other(name, "ignored", why)
        return []
    try:
        text = include(name)
    except (OSError, InputError) as problem:
        if verdicts.target:
            verdicts.say("testname", "native", f"--target {verdicts.target} takes the place of its LUNs")
            return []
        raise _unread(command, name, problem) from None
    luns = read_luns(text, name)
    for number, lun in enumerate(luns, start=1):
        verdicts.other(f"{name}:{lun.line}: {lun.path}", *_lun_verdict(lun, number if len(luns) > 1 else 0, verdicts.target))
    return luns


def _unread(command: Command, name: str, problem: OSError | InputError) -> InputError:
    advice = "put it beside the command line, one path per line"
    if isinstance(problem, InputError):
        return command.place.wrong(f"{str(problem).rstrip('.')}; {advice}, or name the one that is there with -testname.")
    return command.place.wrong(f"{name} cannot be read ({problem.strerror or 'not found'}); {advice}.")


def _lun_verdict(lun: Lun, number: int, target: str) -> tuple[Kind, str]:
    """What becomes of a LUN; ``number`` counts several."""
    if target:
        return "native", f"--target {target} takes {'the place of all LUNs' if number else 'its place'}"
    if is_of_windows(lun.path):
        return "unsupported", "it is a name of Windows; name a file or device of this system with --target, or in the .lun file"
    return "native", f"part {number} of the target" if number else "the target"


def _matrix(command: Command, verdicts: _Verdicts) -> str | None:
    """The matrix that is run, by ORION's word for it or ``oltp``; None when its points are not known."""
    run = command.word("run")
    if run == "dss":
        why = "ORION's list of points for it is not published; nearest: -run advanced -matrix col -num_small 0"
        verdicts.say("run", "unsupported", why)
        verdicts.say("matrix", "unsupported", "it belongs to -run advanced; write that, or leave -matrix out")
        return None
    if run != "advanced":
        verdicts.say("matrix", "unsupported", f"it belongs to -run advanced, and this is -run {run}; write that, or leave -matrix out")
        return _MATRIX_OF_RUN.get(run)
    if command.word("matrix") == "max":
        why = "which points it measures is not published; nearest: -matrix point with -num_small and -num_large, or -matrix detailed"
        verdicts.say("matrix", "unsupported", why)
        return None
    verdicts.say("matrix", "native")
    return command.word("matrix")


def _shape(command: Command, matrix: str | None, luns: Sequence[Lun], verdicts: _Verdicts) -> Shape | None:
    """Disks and what is fixed; None when the points cannot be counted."""
    needed = FIXED.get(matrix or "", ())
    for name in ("num_small", "num_large"):
        if name in needed and name not in command.given:
            raise command.place.wrong(f"-matrix {matrix} needs -{name}; write for example -{name} {0 if name == 'num_large' else 4}.")
        verdicts.say(name, *_fixed_verdict(command, matrix, name))
    fixed = {name: command.number(name) for name in needed}
    if "num_disks" in command.given:
        return Shape(command.number("num_disks"), **fixed)
    if luns:
        return Shape(len(luns), **fixed)
    if matrix == "point":
        return Shape(1, **fixed)
    if matrix is not None:
        why = "it is the number of LUNs, and the .lun file is not read here; write it, for example -num_disks 4"
        verdicts.other("-num_disks (not given)", "unsupported", why)
    return None


def _fixed_verdict(command: Command, matrix: str | None, name: str) -> tuple[Kind, str]:
    if name in FIXED.get(matrix or "", ()):
        return "native", ""
    if command.word("matrix") == "max" and matrix is None:
        return "unsupported", "it bounds -matrix max, which is not supported"
    return "ignored", f"{matrix or 'this run'} does not hold it fixed, and ORION does not use it either"


def _target(command: Command, luns: Sequence[Lun], verdicts: _Verdicts) -> str | None:
    striped = command.word("simulate") == "raid0"
    if not striped:
        verdicts.say("stripe", "ignored", "the LUNs are not striped without -simulate raid0, in ORION neither")
    elif verdicts.target:
        for name in ("simulate", "stripe"):
            verdicts.say(name, "ignored", f"--target {verdicts.target} takes the place of all LUNs; it may be a stripe:A,B?unit=… itself")
    elif len(luns) == 1:
        verdicts.say("stripe", "ignored", "there is one LUN, and nothing to stripe")
    elif not luns:
        unit = command.number("stripe")
        for name in ("simulate", "stripe"):
            verdicts.say(name, "ignored", f"the LUNs are not known here; write it into the target, --target stripe:A,B?unit={unit}KiB")
    else:
        verdicts.say("stripe", "native")
    if verdicts.target:
        return verdicts.target
    return target_of(luns, command.number("stripe") * 1024 if striped else None) if luns else None


def _say_of_load(command: Command, measured: Points, verdicts: _Verdicts) -> None:
    streams = command.word("type") == "seq" and (not measured or any(many for _, many in measured))
    if streams and 0 < command.number("write") < 100:
        why = "with sequential streams ORION makes that share of the streams write, and threads are alike here; nearest: 0 or 100"
        verdicts.say("write", "unsupported", why)
    if command.word("type") == "seq":
        verdicts.say("num_streamIO", "native")
    else:
        verdicts.say("num_streamIO", "ignored", "large requests are not sequential without -type seq, and ORION does not use it either")
    if command.value("cache_size") == 0 or not streams:
        verdicts.say("cache_size", "native", "" if command.value("cache_size") == 0 else "no point has sequential streams to warm up for")
    else:
        why = f"no cache is filled with other requests; {WARMING} of the point's own load stand for that"
        verdicts.say("cache_size", "ignored", why)
        if "cache_size" not in command.given:
            why = "before points with sequential streams ORION issues about two minutes of other requests; here the load warms up"
            verdicts.other("-cache_size (not given)", "surprise", f"{why} for {WARMING}")


def _say_of_points(command: Command, measured: Points, verdicts: _Verdicts) -> None:
    count, seconds = len(measured), command.number("duration")
    empty = ", the one without requests is left out here" if (0, 0) in measured else ""
    minutes = f"; ORION announces {announced_minutes(count)} minutes" if seconds == 60 else ""
    verdicts.say("run", "native", f"{count} point{'s' if count > 1 else ''} of {seconds} s{empty}{minutes}")
    run = command.given["run"].text
    if any(few for few, _ in measured):
        verdicts.other(run, "surprise", _SMALLER_SET)
    verdicts.other(run, "surprise", _ASYNC)


def _workload(command: Command, name: str) -> Json:
    write = {"read_percent": 100 - command.number("write"), "write_percent": command.number("write")}
    small = {"name": "small", "block_size": f"{command.number('size_small')}KiB", **write, "random_percent": 100}
    large: Json = {"name": "large", "block_size": f"{command.number('size_large')}KiB", **write, "random_percent": 100}
    if command.word("type") == "seq":
        large |= {"random_percent": 0, "sequential": "per_thread", "queue_depth": command.number("num_streamIO")}
    return {
        "name": name,
        "title": f"ORION {command.word('run')}: {command.word('testname')}",
        "group": "orion",
        "purpose": "Small random requests and large ones, each with so many outstanding",
        "source": command.text,
        "stream": [small, large],
    }


def _experiment(command: Command, part: Json, name: str, target: str | None) -> Json:
    workload = name.split(" ", maxsplit=1)[0]
    streams = "grid" not in part and has_streams(part)
    warming = WARMING if streams and command.value("cache_size") != 0 else "0s"
    made = {
        "name": name,
        "kind": "matrix",
        "workloads": [workload],
        **{key: value for key, value in part.items() if key != "set"},
        "set": {"duration": f"{command.number('duration')}s", "warmup": warming, **part.get("set", {})},
    }
    return made if target is None else {**made, "configurations": [{"name": workload, "target": target}]}
