"""DiskSpd command lines and profiles → experiments of ours, with a remark for every flag, element and target.

Model: each time span is a workload and an experiment of kind ``single``, in the order of the profile. Several targets of a time span are
one target of ours, ``concat:`` of all, each with its region. A file may hold one command line per line. A target is one stream with all
its threads, except where sequential threads each have a pointer of their own: then every thread is a stream that begins where the thread
does, at the base or -T after the thread before it. With bursts, mix and sizes stand in an access entry.
Limits: cool-down, affinity and hints for the cache have no counterpart. A sequential thread returns to where it began, not to the base.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from plimsoll.errors import InputError
from plimsoll.formats.diskspd.command import Command, profile_of, read_command, split_line
from plimsoll.formats.diskspd.resolve import Profile, Setting, Span, Use, uses_of
from plimsoll.formats.diskspd.values import as_toml, zones
from plimsoll.formats.diskspd.verdict import Verdict, judge, worst
from plimsoll.formats.diskspd.xml_profile import read_profile, with_targets
from plimsoll.formats.known_targets import SHARED, KnownTargets, is_device
from plimsoll.formats.parts import TargetParts
from plimsoll.formats.place import Place
from plimsoll.formats.translation import Remark, Translation
from plimsoll.stored import Json

#: What DiskSpd writes unless it is told otherwise: the bytes 0 to 255, over and over.
PATTERN = "0x" + bytes(range(256)).hex()


def streams_of(use: Use) -> list[Json]:
    """The streams of one target."""
    name = f"target-{use.position + 1}" if len(use.span.targets) > 1 else "target"
    if not use.own_pointers:
        return [{"name": name, **_load(use), **_addresses(use, 0), **_concurrency(use, use.threads), **_durability(use)}]
    return [
        {"name": f"{name}-thread-{number + 1}", **_load(use), **_addresses(use, number), **_concurrency(use, 1), **_durability(use)}
        for number in range(use.threads)
    ]


def _load(use: Use) -> Json:
    mix = {"read_percent": 100 - use.writes}
    if use.bursts:
        burst = {"burst": use.target.get("BurstSize"), "delay": f"{use.target.get('ThinkTime')}ms"}
        return {"access": [{"size": use.block, **mix, "random_percent": use.random_percent, "align": use.align, **burst}]}
    made: Json = {"block_size": use.block, **mix, "write_percent": use.writes, "random_percent": use.random_percent}
    return made if use.align == use.block else {**made, "align": use.align}


def _addresses(use: Use, thread: int) -> Json:
    made: Json = {}
    if use.random_percent < 100:
        if use.threads > 1 and not use.own_pointers:
            made["sequential"] = "shared" if use.interlocked else "per_thread"
        if use.stride != use.block:
            made["stride"] = use.stride
    ranges = use.target.get("Distribution")
    if ranges is not None and use.random_percent:
        made["distribution"] = as_toml(zones(ranges, use.region_bytes) or [])
    offset = thread * use.thread_stride
    start = use.base + offset
    if use.several:
        made["parts"] = use.index
    if start:
        made["region_start"] = start
    # A file that is created is as long as the region; what a typed target has, it does not say.
    typed = bool(use.target.own_path)
    if use.region_bytes is not None and (typed or use.region_bytes != use.file_bytes - use.base or offset):
        made["region_length"] = use.region_bytes - offset
    return made


def _concurrency(use: Use, threads: int) -> Json:
    made: Json = {"threads": threads, "queue_depth": use.depth}
    rate = use.rate_per_thread
    if rate is not None:
        made |= {"arrival": "constant", "rate": _number(rate * threads)}
    return made


def _durability(use: Use) -> Json:
    made: Json = {"direct": use.direct}
    if use.dsync:
        made["dsync"] = True
    return made | _content(use) if use.writes else made


def _content(use: Use) -> Json:
    content = use.target.get("WriteBufferContent")
    if content == "zero":
        return {"content": "zeros"}
    return {"content": "pattern", "pattern": PATTERN} if content == "sequential" else {"content": "incompressible"}


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


Include = Callable[[str], str]

FORMAT = "diskspd"
_CACHED = "without -S, DiskSpd goes through the cache of the system, and so does this; the figures are mostly memory's"
_SAME_BLOCKS = "every thread begins at the same place and moves a pointer of its own, so all but the first may find the blocks cached"
_PATTERN = "the bytes 0 to 255 are written over and over, which storage that compresses or deduplicates keeps little of; -Zr avoids it"


@dataclass
class _Judged:
    """The verdict on every setting, and the surprises."""

    verdicts: dict[Setting, Verdict] = field(default_factory=dict)
    surprises: dict[Remark, None] = field(default_factory=dict)

    def say(self, setting: Setting, verdict: Verdict) -> None:
        """The worst of what is said of one setting stays."""
        before = self.verdicts.get(setting)
        self.verdicts[setting] = verdict if before is None else worst(before, verdict)

    def surprise(self, line: int | None, text: str, why: str) -> None:
        """Once per place and sentence."""
        self.surprises[Remark(line, text, "surprise", why)] = None

    def remarks(self) -> list[Remark]:
        """In the order of the file, the surprises last."""
        said = sorted(self.verdicts.items(), key=lambda item: (item[0].line or 0, item[0].order))
        return [Remark(setting.line, setting.text, *verdict) for setting, verdict in said] + list(self.surprises)


NOTHING_KNOWN = KnownTargets()


def translate_words(words: Sequence[str], source: str, include: Include | None, targets: KnownTargets = NOTHING_KNOWN) -> Translation:
    """One command line, as words."""
    return _translated([_commanded(words, Place(source), include)], source, targets)


def translate_lines(lines: Sequence[str], source: str, include: Include | None, targets: KnownTargets = NOTHING_KNOWN) -> Translation:
    """A file with one command line per line; ``#`` and ``rem`` begin comments."""
    profiles = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not re.match(r"\s*(#|rem\s|::)", line, re.IGNORECASE):
            place = Place(source, number)
            profiles.append(_commanded(split_line(line, place), place, include))
    if not profiles:
        raise InputError(f"{source}: there is no command line; write one per line, for example diskspd -b4K -r -d10 io.dat.")
    return _translated(profiles, source, targets)


def translate_profile(text: str, source: str, targets: KnownTargets = NOTHING_KNOWN) -> Translation:
    """A profile in XML."""
    return _translated([read_profile(text, source)], source, targets)


def _commanded(words: Sequence[str], place: Place, include: Include | None) -> Profile:
    command = read_command(words, place)
    if command.profile_file is None:
        return profile_of(command)
    if include is None:
        raise place.wrong(f"{command.profile_file} is not read here; give the profile itself to plimsoll.")
    try:
        text = include(command.profile_file)
    except OSError as problem:
        raise place.wrong(f"{command.profile_file} cannot be read ({problem.strerror or 'not found'}); put it beside the file.") from None
    profile = read_profile(text, command.profile_file)
    with_targets(profile, [target.value for target in command.targets], place.source)
    _override(profile, command)
    return profile


def _override(profile: Profile, command: Command) -> None:
    """What stands beside -X holds over the profile; what it replaces has no effect any more."""
    for flag, setting in command.settings:
        if flag.scope == "span":
            for span in profile.spans:
                span.settings[setting.key] = setting
        elif flag.scope == "profile":
            profile.settings[setting.key] = setting
        else:
            profile.others.append(setting)
    profile.others += command.targets


def _placed(span: Span, targets: KnownTargets) -> None:
    """Every target of a time span as it is here: the typed one in its place, and how long it is."""
    for target in span.targets:
        if targets.target:
            target.own_path, target.path = target.path, targets.target
        target.found, target.remedy = targets.at_length(target.path), targets.remedy
        target.there = is_device(target.path) or targets.is_there(target.path)
        target.overrides = targets.overrides and targets.given is not None
        if not target.says("FileSize") and not is_device(target.path) and not targets.is_there(target.path):
            target.given, target.missing = targets.given or 0, targets.looks and targets.given is None


def _translated(profiles: Sequence[Profile], source: str, targets: KnownTargets) -> Translation:
    translation = Translation(source, FORMAT)
    for profile in profiles:
        for each in profile.spans:
            _placed(each, targets)
    spans = [(profile, span) for profile in profiles for span in profile.spans]
    workloads: list[Json] = []
    experiments: list[Json] = []
    for profile in profiles:
        judged = _judged(profile)
        remarks = judged.remarks()
        translation.remarks += remarks
        runnable = all(remark.kind != "unsupported" for remark in remarks)
        for span in profile.spans if runnable else ():
            name = "diskspd" if len(spans) == 1 else f"span-{len(workloads) + 1}"
            workloads.append(_workload(name, span))
            experiments.append(_experiment(name, span))
    title = "DiskSpd" if len(spans) == 1 else f"DiskSpd: {len(spans)} time spans"
    translation.document = {"title": title, "source": f"DiskSpd, {source}", "workload": workloads, "experiment": experiments}
    return translation


def _judged(profile: Profile) -> _Judged:
    judged = _Judged()
    for span in profile.spans:
        for use in uses_of(span):
            for setting in _settings(profile, span, use):
                judged.say(setting, judge(setting, use))
            _surprise(judged, use)
    if profile.spans:
        first = uses_of(profile.spans[0])[0]
        for setting in profile.others:
            # What was joined with a later setting or stands beside the profile; targets are judged where they are used.
            judged.say(setting, ("native", "it takes its place in the profile") if setting.key == "Path" else judge(setting, first))
    return judged


def _settings(profile: Profile, span: Span, use: Use) -> Iterator[Setting]:
    for scope in (profile, span, use.target):
        yield from scope.settings.values()


def _surprise(judged: _Judged, use: Use) -> None:
    path = use.target.settings["Path"]
    if len({target.own_path for target in use.span.targets}) > 1:
        judged.surprise(path.line, path.text, f"it is one of several targets; --target {use.target.path} {SHARED}")
    if not use.direct and not use.mapped and "b" not in use.caching:
        judged.surprise(path.line, f"{path.text} without -S", _CACHED)
    if use.own_pointers and not use.thread_stride:
        judged.surprise(path.line, f"{path.text} with {use.threads} sequential threads", _SAME_BLOCKS)
    if use.writes and not use.target.says("WriteBufferContent"):
        judged.surprise(path.line, f"{path.text} without -Z", _PATTERN)


def _workload(name: str, span: Span) -> Json:
    return {
        "name": name,
        "title": f"DiskSpd: {', '.join(target.path for target in span.targets)}"[:200],
        "group": "diskspd",
        "purpose": "The load of a DiskSpd time span",
        "stream": [stream for use in uses_of(span) for stream in streams_of(use)],
    }


def _experiment(name: str, span: Span) -> Json:
    uses = uses_of(span)
    settings: Json = {"duration": f"{span.get('Duration')}s", "warmup": f"{span.get('Warmup')}s"}
    if uses[0].interval_ms is not None:
        settings["interval"] = f"{uses[0].interval_ms}ms"
    if span.says("RandSeed") and span.get("RandSeed") >= 0:
        settings["seed"] = span.get("RandSeed")
    placed = _made(uses)
    if placed.size_bytes:
        settings["size"] = placed.size_bytes
    if uses[0].mapped:
        settings["backend"] = "mmap"
    made: Json = {"name": name, "kind": "single", "workloads": [name], "set": settings}
    if any(use.foreign for use in uses):
        return made
    return {**made, "configurations": [{"name": name, "target": placed.target}]}


def _made(uses: Sequence[Use]) -> TargetParts:
    """The files and disks of a time span, and how long those are made that are not there."""
    paths = tuple(uses[0].paths)
    wanted: dict[str, int] = {}
    for use in uses:
        wanted[use.target.path] = max(wanted.get(use.target.path, 0), use.file_bytes or use.target.given)
    alike = len(paths) == 1 or len({use.file_bytes for use in uses}) == 1
    if alike or any(use.target.overrides or use.foreign for use in uses):
        return TargetParts(paths, (max(wanted.values()) or None,) * len(paths))
    there = {use.target.path for use in uses if use.target.there}
    return TargetParts(paths, tuple(None if path in there else wanted[path] or None for path in paths))
