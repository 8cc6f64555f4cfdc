"""From a layout and its members to the steps that make it: pure, nothing is touched.

Model: the members are cleared of old signatures, the layers are laid from the devices up, each on what the one below gives, then the file
system, the settings, and where it is mounted. Every part has an identity that follows from the layout's own. `alignment` judges the plan.

    plan = planned(layout, [Member("/dev/loop3", "loop3", 1 << 30)], Named("mine", "0b52…"))
    [step.what for step in plan.steps]
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.errors import InputError
from plimsoll.layouts.document import Layer, Layout
from plimsoll.layouts.kinds import LAYERS, PACKAGES, TABLES, settings
from plimsoll.layouts.kinds.kind import Laid
from plimsoll.layouts.step import Command, Member, Named, Step, Volume
from plimsoll.records import dataclass


@dataclass(frozen=True)
class Plan:
    """The steps in their order, what can be measured in the end, and remarks about how well it fits together."""

    layout: Layout
    named: Named
    members: tuple[Member, ...]
    steps: tuple[Step, ...]
    volumes: tuple[Volume, ...]
    #: The devices below the file system.
    devices: tuple[Volume, ...]

    def programs(self) -> dict[str, str]:
        """The programs that making and removing it call, each with its package."""
        called = [action.words[0] for step in self.steps for action in step.commands if isinstance(action, Command)]
        removal = ["setpriv", "wipefs", "blkid", *(name for name in _ASKED for word in called if word in _ASKED[name])]
        return {name: PACKAGES[name] for name in dict.fromkeys([*called, *removal])}


#: What is asked or called beside a program when its work is taken away.
_ASKED = {"umount": ("mount",), "vgs": ("vgcreate",), "lvs": ("lvcreate",), "pvs": ("pvcreate",), "dmsetup": ("cryptsetup",)}


def planned(layout: Layout, members: Sequence[Member], named: Named) -> Plan:
    """Raises `InputError` where the layout does not fit these members."""
    wanted = layout.facts["members"]
    if wanted is not None and wanted != len(members):
        raise InputError(f"the layout is made of {wanted} devices; --on names {len(members)}.")
    if not members:
        raise InputError("no device is named; write --on /dev/sdb,/dev/sdc.")
    volumes = tuple(Volume(member.path, member.name, member.size_bytes) for member in members)
    steps = [_cleared(member) for member in members] if layout.layers or layout.filesystem else []
    for number, layer in enumerate(layout.layers, 1):
        laid = _laid(layer, volumes, named, f"layer {number} ({layer.kind})")
        steps, volumes = [*steps, *laid.steps], laid.volumes
    devices = volumes
    steps += settings.tune(layout.settings.options, members, devices) if layout.settings else ()
    for table in (layout.filesystem, layout.mount):
        if table is not None:
            laid = _laid(table, volumes, named, table.kind)
            steps, volumes = [*steps, *laid.steps], laid.volumes
    return Plan(layout, named, tuple(members), tuple(steps), volumes, devices)


def _laid(layer: Layer, volumes: Sequence[Volume], named: Named, place: str) -> Laid:
    kind = LAYERS.get(layer.kind) or TABLES[layer.kind]
    assert kind.lay is not None
    try:
        return kind.lay(layer.options, volumes, named)
    except InputError as problem:
        raise InputError(f"{place}: {problem}") from None


def _cleared(member: Member) -> Step:
    """The old signatures go first: what is made next must not be taken for a part of them."""
    wipe = Command(("wipefs", "--quiet", "--all", member.path))
    return Step("cleared device", f"clear the signatures of {member.path}", "What was there must not be found again.", (wipe,))
