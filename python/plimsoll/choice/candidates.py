"""What could be bought: arrays by family, pattern or file, times the axes that are varied; and what arithmetic alone excludes of them.

Model: a word of ``--among`` is a family (``msa2000``), a pattern of names (``'nvme-*'``), a name or a file. Behind ``?`` stand axes between
``&``, each with several values between commas: ``drives=6..12+2`` (how many drives the group has), ``level=raid5,raid6``,
``drive=nearline-16t,savvio-10k3-300g`` (parts); those of the family's own name, such as ``carving=raid5,raid6``; anything else is set as it
stands. Every combination is a candidate. The first three are of arrays with one group of equal drives.
Excluded by arithmetic: more drives than bays, less capacity than asked, fewer failures survived, dearer than the budget. Capacity is that
of the target after parity and copies; failures are those that no group loses data by, wherever they are.

    candidates(["nearline-raid6?drives=6..12+2&level=raid6,raid10"])      # eight names with their targets
    considered(candidate, limits, book)                                   # Considered(…, rejected=None)
"""

from __future__ import annotations

import fnmatch
import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.catalog.arrays import PREFIX, array_names, described, families
from plimsoll.catalog.bill import bays, bill, drives_of
from plimsoll.catalog.composition.parts import part_names
from plimsoll.catalog.composition.variants import Family
from plimsoll.catalog.levels import ERASURE, SURVIVED, data_members, has_records, is_declustered, parities, storing
from plimsoll.choice.prices import Cost, PriceBook
from plimsoll.displayed import quoted
from plimsoll.errors import InputError, PlimsollError
from plimsoll.near import meant, nearest
from plimsoll.stored import Json
from plimsoll.units import significant, size_text

#: Axes that change a group of equal drives, and the path of each below the document.
AXES = ("drives", "level", "drive")
LEVELS = (*SURVIVED, ERASURE)
_RANGE = re.compile(r"(\d+)\.\.(\d+)(?:\+(\d+))?")
#: More than this is a mistake of typing.
MOST = 100_000


@dataclass(frozen=True)
class Candidate:
    """``name`` is short, ``target`` what can be typed after ``-t``; those of one ``series`` differ by the number of their drives alone."""

    name: str
    target: str
    series: str = ""


@dataclass(frozen=True)
class Limits:
    """What arithmetic holds a candidate against."""

    capacity_bytes: int = 0
    survive: int = 0
    budget: float | None = None


@dataclass(frozen=True)
class Shape:
    """Redundancy groups of one kind: members of each, how many may be missing, how many such groups there are, and a member's bytes.
    ``sources`` members are read to bring one back; as many as hold data if that is not said. ``group`` is its name."""

    members: int
    redundancy: int
    groups: int
    member_bytes: int
    drive: str | None = None
    sources: int | None = None
    group: str = ""


@dataclass(frozen=True)
class Considered:
    """A candidate with what arithmetic says of it; ``rejected`` is why it is none."""

    candidate: Candidate
    capacity_bytes: int = 0
    survives: int = 0
    drives: int = 0
    shapes: tuple[Shape, ...] = ()
    cost: Cost | None = None
    rejected: str | None = None


def candidates(words: Sequence[str]) -> list[Candidate]:
    """Every combination that the words name, each once; raises `InputError` for what there is not."""
    found: dict[str, Candidate] = {}
    for word in (part for text in words for part in text.split()):
        for candidate in _of_word(word):
            found.setdefault(candidate.target, candidate)
            if len(found) > MOST:
                raise InputError(f"--among {word}: these are more than {MOST:,} candidates; name fewer values.")
    if not found:
        raise InputError("--among: nothing is named; give families, patterns or files, such as --among 'msa2000 nvme-raid10?drives=4,8'.")
    return list(found.values())


def considered(candidate: Candidate, limits: Limits, book: PriceBook, size_bytes: int) -> Considered:
    """What arithmetic says, ``size_bytes`` being the size of the target."""
    document, items = described(candidate.target), bill(candidate.target)
    drives = sum(item.count for item in items if item.kind == "drives")
    shapes = tuple(_shapes(document, drives_of(candidate.target)))
    survives = min((shape.redundancy for shape in shapes), default=0)
    cost = book.cost(candidate.target)
    found = Considered(candidate, size_bytes, survives, drives, shapes, cost)
    return Considered(candidate, size_bytes, survives, drives, shapes, cost, _excluded(found, limits))


def overfull(candidate: Candidate) -> str | None:
    """Why its drives do not fit into its bays."""
    full = next(((name, room, count) for name, room, count in bays(candidate.target) if count > room), None)
    return None if full is None else f"{full[2]} drives do not fit into the {full[1]} bays of {full[0]}"


def _excluded(found: Considered, limits: Limits) -> str | None:
    if found.capacity_bytes < limits.capacity_bytes:
        return f"holds {_tb(found.capacity_bytes)}, less than {_tb(limits.capacity_bytes)}"
    if found.survives < limits.survive:
        return f"survives {_failures(found.survives)}, fewer than {limits.survive}"
    cost = found.cost
    if limits.budget is not None and cost is not None and cost.known > limits.budget:
        more = "" if cost.amount is not None else "at least "
        return f"costs {more}{cost.currency} {cost.known:,.0f}, above the budget of {limits.budget:,.0f}"
    return None


def _failures(count: int) -> str:
    return "no failure" if count == 0 else "one failure" if count == 1 else f"{count} failures"


def _tb(size: int) -> str:
    return f"{significant(size / 1e12)} TB" if size >= 1e11 else size_text(size)


def _shapes(document: Json, parts: Mapping[str, str | None]) -> Iterator[Shape]:
    """The redundancy groups that data lie on; ``parts`` names the drive of each set."""
    other = next(iter(parts.values()), None)
    sizes = {entry["name"]: int(entry["model"].get("capacity_bytes", 0)) for entry in document.get("devices", [])}
    for group in storing(document["group"]):
        raid = group["raid"]
        level, devices = str(raid["level"]), int(raid["devices"])
        own = int(raid.get("groups", 1))
        if level == "raid10":
            own = int(raid.get("groups") or devices // 2)
        members = devices // own
        redundancy = members - 1 if level in ("raid1", "raid10") else parities(raid)
        first = str(group["members"][0]).partition("[")[0]
        sources = data_members(raid) if is_declustered(level) else None
        yield Shape(members, redundancy, own, sizes.get(first, 0), parts.get(first, other), sources, str(group["name"]))


def _of_word(word: str) -> Iterator[Candidate]:
    named, _, behind = word.removeprefix(PREFIX).partition("?")
    axes = _axes(behind, word)
    for name, rest in _arrays(named, axes, word):
        varied = {axis: values for axis, values in rest.items() if axis in AXES}
        fixed = {key: values for key, values in rest.items() if key not in AXES}
        for choice in itertools.product(*({**varied, **fixed}.values())):
            chosen = dict(zip({**varied, **fixed}, choice, strict=True))
            yield _candidate(name, chosen, word)


def _axes(behind: str, word: str) -> dict[str, list[str]]:
    """Every key with its values."""
    found: dict[str, list[str]] = {}
    for pair in filter(None, behind.split("&")):
        key, equals, text = pair.partition("=")
        if not equals or not text:
            raise InputError(f"--among {word}: {quoted(pair)} says nothing; write AXIS=VALUE,VALUE, for example drives=6..12+2.")
        # A setting of the model may have a comma in its value.
        found[key] = [text] if "." in key or key in ("fail", "replace", "volume", "spares") else _values(key, text, word)
    return found


def _values(key: str, text: str, word: str) -> list[str]:
    if key != "drives":
        return text.split(",")
    counts: list[str] = []
    for part in text.split(","):
        found = _RANGE.fullmatch(part)
        if found and 0 < int(found[1]) <= int(found[2]) <= MOST and int(found[3] or 1):
            counts += map(str, range(int(found[1]), int(found[2]) + 1, int(found[3] or 1)))
        elif part.isdecimal() and int(part):
            counts.append(part)
        else:
            raise InputError(f"--among {word}: drives: {quoted(part)} is no number of drives; write 8, 4,8,12 or 6..24+2.")
    return counts


def _arrays(named: str, axes: Mapping[str, list[str]], word: str) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """The arrays that the word names, each with the axes that are left for it."""
    if named.endswith(".toml") or os.sep in named:
        yield named, dict(axes)
        return
    family = next((one for one in families() if named in (one.name, one.pattern)), None)
    if family is not None and named not in family.names():
        own = {axis.name for axis in family.axes}
        for name in family.names():
            if _chosen(family, name, {axis: values for axis, values in axes.items() if axis in own}, word):
                yield name, {axis: values for axis, values in axes.items() if axis not in own}
        return
    names = array_names()
    found = [name for name in names if fnmatch.fnmatchcase(name, named)]
    if not found:
        near = nearest(named.strip("*?"), [*names, *(one.name for one in families())])
        hint = f"did you mean {quoted(near)}?" if near else "'plimsoll list --arrays' names them; * stands for any letters."
        raise InputError(f"--among {word}: there is no array, family or file of this name; {hint}")
    yield from ((name, dict(axes)) for name in found)


def _chosen(family: Family, name: str, wanted: Mapping[str, list[str]], word: str) -> bool:
    for axis in family.axes:
        for value in wanted.get(axis.name, ()):
            if value not in axis.values:
                raise InputError(f"--among {word}: {axis.name}: {quoted(value)} is unknown; there are {', '.join(axis.values)}.")
    choice = family.choice(name)
    return all(choice[axis] in values for axis, values in wanted.items())


def _candidate(name: str, chosen: Mapping[str, str], word: str) -> Candidate:
    settings = []
    varied = [axis for axis in AXES if axis in chosen]
    for axis, known in (("level", LEVELS), ("drive", tuple(part_names("drives")))):
        if axis in chosen and chosen[axis] not in known and not chosen[axis].endswith(".toml"):
            told = meant(chosen[axis], known, otherwise=f"there are {', '.join(known)}.")
            raise InputError(f"--among {word}: {axis}: {quoted(chosen[axis])} is unknown; {told}")
    if varied:
        group, drives = _one_group(name, word)
        paths = {"drives": (f"devices.{drives}.count", f"group.{group}.raid.devices"), "level": (f"group.{group}.raid.level",)}
        paths["drive"] = (f"devices.{drives}.model.part",)
        settings = [f"{path}={chosen[axis]}" for axis in varied for path in paths[axis]]
    settings += [f"{key}={value}" for key, value in chosen.items() if key not in AXES]
    shown = "&".join(f"{key}={value}" for key, value in chosen.items())
    target = f"{PREFIX}{name}" + ("?" + "&".join(settings) if settings else "")
    return Candidate(f"{name}?{shown}" if shown else name, target, _series(name, chosen))


def _series(name: str, chosen: Mapping[str, str]) -> str:
    """What is equal of candidates whose drives differ in number; empty where that is no axis, or where a request takes all drives."""
    if "drives" not in chosen or has_records(_level(name, chosen)):
        return ""
    rest = "&".join(f"{key}={value}" for key, value in chosen.items() if key != "drives")
    return f"{name}?{rest}"


def _level(name: str, chosen: Mapping[str, str]) -> str:
    return chosen.get("level") or str(described(PREFIX + name)["group"][0]["raid"]["level"])


def _one_group(name: str, word: str) -> tuple[str, str]:
    """The group and the set of drives that are varied."""
    try:
        document = described(PREFIX + name)
    except PlimsollError as problem:
        raise InputError(f"--among {word}: {problem}") from None
    if len(document["group"]) != 1 or len(document["devices"]) != 1:
        many = f"{len(document['group'])} groups and {len(document['devices'])} sets of drives"
        raise InputError(f"--among {word}: drives, level and drive vary an array with one group of equal drives; {name} has {many}.")
    return str(document["group"][0]["name"]), str(document["devices"][0]["name"])
