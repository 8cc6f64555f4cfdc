"""Refusals: every reason against comparing these sides, in sentences.

Model: a comparison answers one question, so one thing may differ: what is compared. Everything else must be equal: the workload and job
options of matched points (each that differs is named with its values), the levels measured, the state of the caches, the machine that
made the load, Plimsoll's version, model or real target. Targets may always differ, and so may their sizes, because those are part of
what is compared; `size_notes` says by how much where a load uses the whole of them. The same target at another size is another load,
and is refused. What else is
meant to differ is named in ``varying``: an option (``queue_depth``, ``log.rate``, ``duration``), ``workload``, ``level``, ``cache``,
``machine``, ``version``, ``modelled``, ``size``. Sides of one run may differ in the settings of their configurations, because the
experiment itself says so, and a point in what the experiment set for it.
Limits: seeds, texts and what the point stands for (its place) are not compared. Of the machine, its name, CPU and kernel are.
Levels of ``adaptive`` kinds of experiments follow from what was measured and may differ.

    refusals([before, after], varying=["queue_depth"], adaptive=["search"])
    # ["before and after differ in duration (10 against 60); measure both alike, or compare with --varying duration."]
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from plimsoll.analysis.comparison.comparison import match_points
from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.load_line.line import by_level
from plimsoll.analysis.point.definition import streams
from plimsoll.result import Result
from plimsoll.units import significant

#: Sizes of targets may differ by this factor.
SIZE_FACTOR = 1.1
#: What does not change the load: seeds, and how much of the record is kept.
_NOT_COMPARED = ("seed", "name", "interval")
#: Nothing drifts in virtual time, and a model is measured for as long as its caches need; `cache_filling` flags what was too short.
_VIRTUAL = frozenset(("duration", "warmup"))
#: What must be equal, by the word that allows it to differ.
_FACTS: Mapping[str, tuple[str, Callable[[Result], Any]]] = {
    "cache": ("the state of the caches", lambda result: result.cache.get("state")),
    "version": ("the version of Plimsoll", lambda result: result.plimsoll_version),
    "modelled": ("what answered", lambda result: "a modelled target" if result.modelled else "a real target"),
}
_MACHINE: Mapping[str, tuple[str, str]] = {
    "the machine": ("machine", "name"),
    "the CPU": ("cpu", "model"),
    "the kernel": ("kernel", "release"),
}


#: What `refusals` takes as varying, besides the options of job and workload.
VARYING = ("workload", "level", "cache", "machine", "version", "modelled", "size")


def unknown(sides: Sequence[Side], varying: Collection[str]) -> list[str]:
    """The words of ``varying`` that name nothing these sides could differ in; they would be allowed and mean nothing."""
    results = [result for side in sides for result in side.results]
    options = {name for result in results for name in (*_flat(result, ()), *result.place.get("settings", {}))}
    bare = {name.rpartition(".")[2] for name in options}
    return [word for word in varying if word not in VARYING and word not in options and word not in bare]


def refusals(sides: Sequence[Side], varying: Collection[str] = (), *, adaptive: Collection[str]) -> list[str]:
    """Why each side may not be compared with the first; empty when all may."""
    return [sentence for other in sides[1:] for sentence in _between(sides[0], other, varying, adaptive)]


def _between(one: Side, other: Side, varying: Collection[str], adaptive: Collection[str]) -> Iterator[str]:
    matches = [groups for _, groups in match_points([one, other], varying)]
    if not matches:
        yield _nothing_in_common(one, other)
        return
    yield from _options(one, other, matches, varying)
    if "level" not in varying:
        yield from _levels(one, other, adaptive)
    pairs = [result for groups in matches for result in groups[0]], [result for groups in matches for result in groups[1]]
    for word, (noun, read) in _FACTS.items():
        if word not in varying:
            yield from _fact(one, other, noun, word, [{_said(read(result)) for result in side} for side in pairs])
    for noun, (group, name) in _MACHINE.items():
        if "machine" not in varying:
            known = [{_said(value) for result in side if (value := _host(result, group, name)) is not None} for side in pairs]
            yield from _fact(one, other, noun, "machine", known)
    if "size" not in varying:
        yield from _sizes(one, other, matches)


def _nothing_in_common(one: Side, other: Side) -> str:
    workloads = [sorted({result.job.workload for result in side.results}) for side in (one, other)]
    if not set(workloads[0]) & set(workloads[1]):
        named = [", ".join(names) or "nothing" for names in workloads]
        return f"{one.label} measured {named[0]} and {other.label} {named[1]}: no workload in common; compare two with --varying workload."
    return f"{one.label} and {other.label} have no point in common: workload and level, or settings, must be the same."


def _fact(one: Side, other: Side, noun: str, word: str, values: Sequence[set[str]]) -> Iterator[str]:
    if all(values) and values[0] != values[1]:
        yield _sentence(one, other, noun, word, [" and ".join(sorted(found)) for found in values])


def _sentence(one: Side, other: Side, noun: str, word: str, values: Sequence[str]) -> str:
    differ = f"{one.label} and {other.label} differ in {noun} ({values[0]} against {values[1]})"
    return f"{differ}; measure both alike, or compare with --varying {word}."


def _options(one: Side, other: Side, matches: Sequence[Sequence[tuple[Result, ...]]], varying: Collection[str]) -> Iterator[str]:
    """Every option of job or workload that differs at some point, with the values of all such points."""
    stated = {*one.settings, *other.settings} if one.run and one.run == other.run else set()
    differing: dict[str, tuple[list[str], list[str]]] = {}
    for groups in matches:
        before, after = groups[0][0], groups[1][0] if groups[1] else groups[0][0]
        allowed = {*varying, *stated, *before.place.get("settings", {}), *after.place.get("settings", {})}
        if before.modelled and after.modelled:
            allowed |= _VIRTUAL
        left, right = _flat(before, allowed), _flat(after, allowed)
        # Another tool's file does not say every option: what one side does not know cannot be held against it.
        partly_known = any(result.origin is not None for result in (before, after))
        for name in left.keys() & right.keys() if partly_known else left.keys() | right.keys():
            values = _said(left.get(name)), _said(right.get(name))
            if values[0] != values[1] and not _is_allowed(name, allowed):
                for known, value in zip(differing.setdefault(name, ([], [])), values, strict=True):
                    known.append(value)
    for name in sorted(differing):
        yield _sentence(one, other, name, name, [", ".join(dict.fromkeys(values)) for values in differing[name]])


def _flat(result: Result, allowed: Collection[str]) -> dict[str, Any]:
    """Options by name: of the job, and of each stream, prefixed by its name where there are several."""
    flat = {name: value for name, value in result.job.options.items() if name not in _NOT_COMPARED}
    found = streams(result.job.definition)
    if "workload" in allowed:
        return flat
    for stream in found:
        prefix = f"{stream.get('name')}." if len(found) > 1 else ""
        flat.update({f"{prefix}{name}": value for name, value in stream.items() if name not in _NOT_COMPARED})
    driver = result.job.definition.get("driver")
    return flat if driver is None else {**flat, "driver": driver}


def _is_allowed(name: str, allowed: Collection[str]) -> bool:
    """By its own name, by the option's of every stream, or by that of the only stream."""
    bare = name.rpartition(".")[2]
    return name in allowed or bare in allowed or ("." not in name and any(entry.rpartition(".")[2] == name for entry in allowed))


def _levels(one: Side, other: Side, adaptive: Collection[str]) -> Iterator[str]:
    """Levels of a workload that only one side has."""
    mine, theirs = _levels_of(one, adaptive), _levels_of(other, adaptive)
    for subject in mine.keys() & theirs.keys():
        if mine[subject] != theirs[subject]:
            values = [", ".join(f"{level:g}" for level in found[subject]) for found in (mine, theirs)]
            yield _sentence(one, other, f"the levels of {subject[1]}", "level", values)


def _levels_of(side: Side, adaptive: Collection[str]) -> dict[tuple[str, str], list[float]]:
    subjects: dict[tuple[str, str], list[Result]] = {}
    for result in side.results:
        if result.place.get("level") is not None and result.place.get("kind") not in adaptive:
            subjects.setdefault((result.place.get("experiment", ""), result.job.workload), []).append(result)
    return {subject: [level for level, _ in by_level(results)] for subject, results in subjects.items()}


def size_notes(sides: Sequence[Side], varying: Collection[str] = ()) -> Iterator[str]:
    """By how much the sizes of targets differ, for each side whose loads use the whole of them."""
    for other in sides[1:]:
        matches = [groups for _, groups in match_points([sides[0], other], varying)]
        named = _differing(matches, same_target=False)
        if named is not None:
            yield (
                f"{sides[0].label} and {other.label} differ in size ({named[0]} against {named[1]}), and the load uses the whole of it: "
                "seeks are longer, and caches hold less, on the larger one."
            )


def _sizes(one: Side, other: Side, matches: Sequence[Sequence[tuple[Result, ...]]]) -> Iterator[str]:
    named = _differing(matches, same_target=True)
    if named is not None:
        yield _sentence(one, other, "the size of the target", "size", named)


def _differing(matches: Sequence[Sequence[tuple[Result, ...]]], *, same_target: bool) -> tuple[str, str] | None:
    """The sizes of both sides where they differ and loads use the whole of the target, which is the ``same_target`` or another."""
    sizes: tuple[set[int], set[int]] = set(), set()
    for groups in matches:
        before, after = groups[0], groups[1]
        if not before or not after or (_place(before[0]) == _place(after[0])) != same_target or not _uses_all(before[0]):
            continue
        for found, group in zip(sizes, (before, after), strict=True):
            found.update(size for result in group if isinstance(size := _host(result, "target", "size_bytes"), int) and size)
    if not all(sizes) or max(*sizes[0], *sizes[1]) <= SIZE_FACTOR * min(*sizes[0], *sizes[1]):
        return None
    before_said, after_said = (" and ".join(_size(size) for size in sorted(found)) for found in sizes)
    return (before_said, after_said) if before_said != after_said else None


def _place(result: Result) -> tuple[str, str]:
    """Where a load went: two layouts can be mounted at one point, one after the other."""
    layout = _host(result, "target", "layout")
    return result.job.target, str(layout.get("name")) if isinstance(layout, dict) else ""


def _uses_all(result: Result) -> bool:
    """Whether some stream goes over the whole target: one without a region of so many bytes, and no operations on trees."""
    definition = result.job.definition
    return definition.get("driver") is None and any(not isinstance(stream.get("region_length"), int) for stream in streams(definition))


def _size(size_bytes: int) -> str:
    unit, each = next(((unit, each) for unit, each in (("PB", 1e15), ("TB", 1e12)) if size_bytes >= each), ("GB", 1e9))
    return f"{significant(size_bytes / each, 4)} {unit}"


def _host(result: Result, group: str, name: str) -> Any:
    """A fact of the host; None when it is not there."""
    facts = result.host.get(group)
    value = facts.get(name) if isinstance(facts, dict) else None
    return None if isinstance(value, str) and value.startswith("absent:") else value


def _said(value: Any) -> str:
    if value is None:
        return "not set"
    return str(value).lower() if isinstance(value, bool) else str(value)
