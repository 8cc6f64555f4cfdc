"""A layout that a run makes: planned once, checked before anything is touched, and taken away with what a killed run has left of it.

Model: of what a killed run has left on the members, only what was made for a run is taken away. A run that names no layout imports nothing
of this (`plimsoll.points.layouts`).

    found = plan_layout(layout_target("layout:raid10-xfs"), ("/dev/sdb", "/dev/sdc"), ())
    place_on(found, "./plimsoll-scratch.dat", whole=False)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from plimsoll.catalog.layouts import layout_of_name
from plimsoll.displayed import displayed, quoted
from plimsoll.engine.protocol import Engine, Permission
from plimsoll.errors import InputError, PlimsollError, TargetError
from plimsoll.experiments.layout_target import LayoutTarget
from plimsoll.host.device import device_facts
from plimsoll.host.facts import known
from plimsoll.layouts.alignment import remarks
from plimsoll.layouts.document import read_layout
from plimsoll.layouts.host import ThisHost, missing
from plimsoll.layouts.inventory import names
from plimsoll.layouts.journal import Journal
from plimsoll.layouts.kinds.forms import WORD
from plimsoll.layouts.members import check_root, check_writable, members, still_there
from plimsoll.layouts.plan import Plan, planned
from plimsoll.layouts.removal import check_members, remove
from plimsoll.layouts.step import Member, Named
from plimsoll.points.permission import permission
from plimsoll.records import dataclass
from plimsoll.stored import Inspection, Json
from plimsoll.target import Target


@dataclass(frozen=True)
class PlannedLayout:
    """A layout that a target of the run needs: as it was named, and its plan."""

    asked: LayoutTarget
    plan: Plan

    @property
    def text(self) -> str:
        """What targets on it remember."""
        return self.asked.text

    @property
    def members(self) -> frozenset[str]:
        """The kernel's names of its devices."""
        return frozenset(member.name for member in self.plan.members)

    @property
    def on_files(self) -> bool:
        """Whether what is measured on it are files."""
        return self.plan.layout.filesystem is not None

    def permission(self) -> Permission | None:
        """Leave to write to the volumes: they are made of what could be written to, and hold nothing but what lay there before."""
        return None if self.on_files else permission(",".join(volume.path for volume in self.plan.volumes))

    def inspection(self, target: Target) -> Inspection:
        """What a look at a target on it will tell, as far as it is known."""
        facts = [device_facts(member.name) for member in self.plan.members]
        blocks = [int(block) for one in facts if (block := known(one, "logical_block_bytes")) is not None]
        return {
            "kind": "file" if self.on_files else "device",
            "spec": target.text,
            "exists": False,
            "logical_block_bytes": max(blocks, default=0),
        }

    def identity(self) -> Json:
        """What has to be the same for a run that goes on."""
        return {"members": [member.identity for member in self.plan.members], "document": self.plan.layout.document}

    def renewed(self) -> Plan:
        """The plan with the members as they are now: what a layout that was just taken away had set is no setting to go back to."""
        return planned(self.plan.layout, members([member.path for member in self.plan.members]), self.plan.named)

    def to_json(self) -> Json:
        """What ``--dry-run`` shows of it."""
        return {
            "name": self.plan.named.name,
            "layout": self.asked.layout,
            "members": [f"{member.path} ({', '.join(member.identity)})" for member in self.plan.members],
            "steps": [{"what": step.what, "why": step.why, "commands": list(map(str, step.commands))} for step in self.plan.steps],
            "remarks": remarks(self.plan),
        }


def plan_layout(asked: LayoutTarget, on: Sequence[str], taken: Collection[str]) -> PlannedLayout:
    """The plan of a layout on these devices, called otherwise than those that the run has already; raises `InputError` where it cannot be
    made of them."""
    # Imported where it is needed: few commands make a layout.
    import uuid

    if not on:
        raise InputError(f"the layout {quoted(asked.called)} needs devices to be made of; add --on /dev/sdb,/dev/sdc.")
    layout = read_layout(layout_of_name(asked.layout), asked.layout)
    try:
        found = members(on)
        return PlannedLayout(asked, planned(layout, found, Named(_name(asked, found, taken), str(uuid.uuid4()))))
    except InputError as problem:
        raise InputError(f"layout {quoted(asked.called)}: {problem}") from None


def _name(asked: LayoutTarget, found: Sequence[Member], taken: Collection[str]) -> str:
    """Like the layout; with a number where another one of this run or host is called so and stays."""
    called = WORD.read(asked.called)
    going = {name for name, _ in _left({member.name for member in found})}
    others = {*taken, *(set(names()) - going)}
    return next(name for number in range(1, 1000) if (name := called if number == 1 else f"{called}-{number}") not in others)


def place_on(found: PlannedLayout, usual: str, *, whole: bool) -> str:
    """The target on a layout: as it was asked for, or all its volumes; ``whole``: the load goes to files and devices as they are."""
    paths = {volume.name: volume.path for volume in found.plan.volumes}
    if found.asked.at:
        return _filled(found, {**paths, "volumes": ",".join(paths.values())})
    scheme, begins, file = usual.rpartition("./")
    if found.on_files:
        places = [f"{path}/{file}" for path in paths.values()]
    elif whole:
        places = list(paths.values())
    else:
        raise InputError(f"layout {quoted(found.asked.called)} has no file system, which this workload needs; add a [filesystem] to it.")
    if len(places) == 1:
        return f"{scheme if begins else ''}{places[0]}"
    if whole:
        return f"concat:{','.join(places)}"
    raise InputError(
        f"layout {quoted(found.asked.called)} has several volumes; say which with 'target', for example {{{next(iter(paths))}}}."
    )


def _filled(found: PlannedLayout, words: Json) -> str:
    text = found.asked.at
    for word, value in words.items():
        text = text.replace(f"{{{word}}}", value)
    left = text.partition("{")[2].partition("}")[0]
    if "{" in text:
        raise InputError(f"layout {quoted(found.asked.called)} has no volume {quoted(left)}; there are {', '.join(words)}.")
    return text


def has_filesystem(asked: LayoutTarget) -> bool:
    """Whether files are measured on a layout; nothing is planned."""
    return read_layout(layout_of_name(asked.layout), asked.layout).filesystem is not None


def check_layouts(planned_: Sequence[PlannedLayout], engine: Engine, typed: str | None, *, own: Collection[str]) -> None:
    """Raise for the first layout that must not or cannot be made; ``typed`` is what ``--destroy-data`` says.

    What a killed run has left on members is not weighed where writing was allowed at all: it is taken away first (`take_back_left`).
    """
    check_root()
    lacking = missing({name: package for one in planned_ for name, package in one.plan.programs().items()})
    if lacking is not None:
        raise lacking
    left = {member for _, theirs in _left(_members(planned_)) for member in theirs} if typed is not None else set()
    for one in planned_:
        check_allowed(one, engine, typed, own=own, but=left)


def check_allowed(layout: PlannedLayout, engine: Engine, typed: str | None, *, own: Collection[str], but: Collection[str] = ()) -> None:
    """Raise for the first member that must not be written to, or is another device by now; those of the kernel's names ``but`` are passed
    over. What lies on members ``own`` of this run, it has written itself."""

    def refusal(target: Target, word: str | None) -> str | None:
        return engine.write_refusal(target, None if typed is None else permission(word))

    for member in layout.plan.members:
        still_there(member)
        if member.name not in but:
            check_writable([member], refusal, member.path if typed is not None and member.name in own else typed)


def take_back_left(planned_: Sequence[PlannedLayout], remark: Callable[[str], None]) -> set[str]:
    """Take away what killed runs have left on the members; whose names the kernel has for them. Raises `TargetError` for what stays."""
    found: set[str] = set()
    for name, theirs in list(_left(_members(planned_))):
        with Journal.of(name) as journal:
            journal.hold()
            remark(f"taking away the layout {quoted(name)}, which {displayed(journal.for_run) or 'a killed command'} has left behind")
            take_away(journal)
            found |= theirs
    return found


def take_away(journal: Journal) -> None:
    """Take a layout away; raises `TargetError` for what stays, with the command that goes on."""
    try:
        check_members(journal)
        remove(journal, ThisHost(journal.key_path), lambda _: None)
    except TargetError as problem:
        raise TargetError(
            f"the layout {quoted(journal.name)} stays: {problem} Take it away with 'plimsoll layout undo {journal.name}'."
        ) from None


def left_behind(planned_: Sequence[PlannedLayout]) -> list[str]:
    """The layouts that killed runs have left on the members."""
    return [name for name, _ in _left(_members(planned_))]


def _members(planned_: Iterable[PlannedLayout]) -> set[str]:
    return {member for one in planned_ for member in one.members}


def _left(ours: set[str]) -> Iterator[tuple[str, set[str]]]:
    """Layouts that killed runs have left on members with these names of the kernel, each with the names of its own."""
    for name in names():
        try:
            journal = Journal.of(name)
        except PlimsollError:
            continue
        theirs = {str(member["name"]) for member in journal.plan["members"]}
        # One that was killed before it had a plan has made nothing yet.
        if ((journal.for_run and theirs & ours) or not journal.plan["steps"]) and not journal.is_held:
            yield name, theirs
