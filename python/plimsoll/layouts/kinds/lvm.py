"""LVM: one volume group over all devices below, and volumes in it.

Model: physical volumes get UUIDs that the plan chose, group and volumes a tag; taking away asks for these. Sources: lvmraid(7),
lvcreate(8), pvcreate(8).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.experiments.forms import Form, whole, words
from plimsoll.experiments.option import Option
from plimsoll.layouts.kinds.forms import ROOM, UNIT, WORD
from plimsoll.layouts.kinds.kind import BUSY_S, Host, Kind, Laid, Options, unlike, wiped
from plimsoll.layouts.step import Await, Command, Facts, Named, Step, Stripe, Volume
from plimsoll.units import size_bytes

_SIGNATURES = frozenset({"LVM2 physical volume"})
_TYPES = {
    "striped": "each device takes a part in turn",
    "linear": "one device after the other",
    "mirrored": "two devices hold the same (raid1)",
}
#: How many of its 32 digits stand in each group of a UUID of LVM.
_GROUPS = (6, 4, 4, 4, 4, 4, 6)
_ALL = "100%"


def _volumes(value: Any) -> list[dict[str, str]]:
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        raise InputError(f'{quoted(value)} is not a list of volumes; write [{{ name = "data", size = "50%" }}].')
    for one in value:
        unknown = [key for key in one if key not in ("name", "size")]
        if unknown or "name" not in one:
            problem = f"has no key {quoted(unknown[0])}" if unknown else "has no name"
            raise InputError(f'a volume {problem}; write {{ name = "data", size = "50%" }}.')
    read = [{"name": WORD.read(one["name"]), "size": ROOM.read(one.get("size", _ALL))} for one in value]
    names = [one["name"] for one in read]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two volumes are called {quoted(twice)}; give each a name of its own.")
    shares = sum(float(one["size"][:-1]) for one in read if one["size"].endswith("%"))
    if shares > 100:
        raise InputError(f"the volumes take {shares:g}% of the room together; 100% is all.")
    return read


OPTIONS = (
    Option(
        "over",
        words({"all": "one volume group over all devices", "each": "one on each device, with all the volumes"}),
        "Where the volume groups lie.",
        "each",
        default="all",
    ),
    Option("type", words(_TYPES), "How volumes lie on the devices.", "striped", default="striped"),
    Option("stripes", whole(1, 128), "Over how many devices a striped volume goes.", 8, absent="over all"),
    Option("stripe_size", UNIT, "What a striped volume writes to one device before the next.", "64KiB", default=64 << 10),
    Option("extent", UNIT, "The unit in which room is given out.", "4MiB", default=4 << 20),
    Option(
        "volumes",
        Form(
            "list of volumes",
            'each with `name` and `size`, a share such as `"50%"` or a size.',
            _volumes,
            {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["name"]}},
        ),
        "The volumes that are made.",
        [{"name": "data", "size": "50%"}, {"name": "work", "size": "50%"}],
        default=[{"name": "data", "size": _ALL}],
    ),
)


def _lay(options: Options, volumes: Sequence[Volume], named: Named) -> Laid:
    if options["over"] == "all" or len(volumes) == 1:
        return _group(options, volumes, named, "")
    groups = [_group(options, [volume], named, f"-{number}") for number, volume in enumerate(volumes, 1)]
    return Laid(tuple(step for laid in groups for step in laid.steps), tuple(made for laid in groups for made in laid.volumes))


def _group(options: Options, volumes: Sequence[Volume], named: Named, suffix: str) -> Laid:
    """A volume group with its volumes; ``suffix`` tells it from others of the layout."""
    kind, count = str(options["type"]), len(volumes)
    stripes = int(options["stripes"] or count)
    if stripes > count:
        raise InputError(f"a volume over {stripes} devices needs as many; there {'is 1' if count == 1 else f'are {count}'}.")
    if kind == "mirrored" and count < 2:
        raise InputError("a mirrored volume needs two devices at least; there is 1.")
    group, tag = f"{named.ours}{suffix}", f"plimsoll.{named.id}"
    paths = tuple(volume.path for volume in volumes)
    join = ("vgcreate", "--yes", "--addtag", tag, "--physicalextentsize", f"{options['extent']}b", group, *paths)
    what = f"join {count} devices to the volume group {group}" if count > 1 else f"make the volume group {group}"
    steps = [_physical(path, named) for path in paths]
    steps.append(Step("volume group", what, "Volumes take their room from it.", (Command(join),), {"group": group, "tag": tag}))
    # A volume on one device lies as that device does.
    stripe = (
        Stripe(int(options["stripe_size"]), stripes) if kind == "striped" and stripes > 1 else volumes[0].stripe if count == 1 else None
    )
    how = _how(kind, stripes, int(options["stripe_size"]))
    made = []
    for one in options["volumes"]:
        volume = Volume(f"/dev/{group}/{one['name']}", f"{one['name']}{suffix}", None, stripe)
        create = ("lvcreate", "--yes", "--wipesignatures", "y", *how, *_room(one["size"]), "--addtag", tag, "--name", one["name"], group)
        why = f"It is {kind}: {_TYPES[kind]}." if stripes > 1 else "It lies on one device."
        facts = {"volume": f"{group}/{one['name']}", "tag": tag}
        steps.append(Step("volume", f"make the volume {volume.path}", why, (Command(create), Await(volume.path)), facts))
        made.append(volume)
    return Laid(tuple(steps), tuple(made))


def _how(kind: str, stripes: int, unit: int) -> tuple[str, ...]:
    """The arguments that say how a volume lies."""
    if kind == "mirrored":
        # What is on both halves before is nobody's, so they need not be made equal first, beside the measurement.
        return ("--type", "raid1", "--mirrors", "1", "--nosync")
    if kind == "linear" or stripes == 1:
        return ("--type", "linear")
    return ("--type", "striped", "--stripes", str(stripes), "--stripesize", f"{unit}b")


def _room(size: str) -> tuple[str, str]:
    """The arguments that say how large a volume is."""
    if size == _ALL:
        return ("--extents", "100%FREE")
    return ("--extents", f"{size[:-1]}%VG") if size.endswith("%") else ("--size", f"{size_bytes(size)}b")


def _physical(path: str, named: Named) -> Step:
    uuid = lvm_uuid(named.uuid(f"physical volume {path}"))
    make = Command(("pvcreate", "--yes", "--uuid", uuid, "--norestorefile", path))
    return Step("physical volume", f"make {path} a physical volume", "LVM takes no other devices.", (make,), {"device": path, "uuid": uuid})


def lvm_uuid(uuid: str) -> str:
    """A UUID in LVM's form: the 32 digits in its groups."""
    digits, groups = uuid.replace("-", ""), []
    for length in _GROUPS:
        groups.append(digits[:length])
        digits = digits[length:]
    return "-".join(groups)


def _unmake_volume(host: Host, facts: Facts) -> None:
    _unmake_tagged(host, str(facts["volume"]), str(facts["tag"]), ("lvs", "lv_tags"), "lvremove")


def _unmake_group(host: Host, facts: Facts) -> None:
    _unmake_tagged(host, str(facts["group"]), str(facts["tag"]), ("vgs", "vg_tags"), "vgremove")


def _unmake_tagged(host: Host, name: str, tag: str, listing: tuple[str, str], remove: str) -> None:
    tags = host.ask(listing[0], "--noheadings", "--options", listing[1], name)
    if tags is None:
        return
    if tag not in tags.strip().split(","):
        raise unlike(name, "something without this layout's tag", "volumes")
    host.act(Command((remove, "--yes", name), patience_s=BUSY_S))


def _unmake_physical(host: Host, facts: Facts) -> None:
    device = str(facts["device"])
    found = host.ask("pvs", "--noheadings", "--options", "pv_uuid,vg_name", device)
    if found is None or not found.split():
        return
    uuid, *group = found.split()
    if uuid != facts["uuid"] or group:
        raise unlike(device, f"a volume of the group {group[0]}" if group else "another physical volume", "physical volume")
    host.act(Command(("pvremove", "--yes", device)))
    wiped(host, device, _SIGNATURES)


KIND = Kind(
    "lvm",
    "A volume group of LVM over all devices, with volumes in it.",
    OPTIONS,
    _lay,
    {"physical volume": _unmake_physical, "volume group": _unmake_group, "volume": _unmake_volume},
)
