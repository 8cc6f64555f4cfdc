"""RAID of Linux (md): one array over all devices below.

Model: mdadm(8) makes it with a UUID that the plan chose, which each member then carries. The first synchronisation would run beside the
measurement, so a layout waits for it unless it says otherwise. Source: mdadm(8), md(4).
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.errors import InputError
from plimsoll.experiments.forms import whole, words
from plimsoll.experiments.option import Option
from plimsoll.layouts.kinds.forms import UNIT
from plimsoll.layouts.kinds.kind import BUSY_S, Host, Kind, Laid, Options, unlike, wiped
from plimsoll.layouts.step import Action, Await, Command, Facts, Named, Step, Stripe, Volume
from plimsoll.units import binary

_SIGNATURES = frozenset({"Linux RAID"})
#: The least devices of each level, and how many of them hold no data of their own.
_LEAST = {"0": 2, "1": 2, "10": 2, "5": 3, "6": 4}
_KIB = 1024

OPTIONS = (
    Option(
        "level",
        words(
            {
                "0": "stripes without protection",
                "1": "mirrored",
                "10": "mirrored in pairs and striped",
                "5": "one parity",
                "6": "two parities",
            }
        ),
        "The RAID level.",
        "10",
        required=True,
    ),
    Option("devices", whole(2, 512), "How many devices make one array; the others make more of them.", 12, absent="all make one"),
    Option("chunk", UNIT, "What is written to one device before the next; levels 0, 10, 5 and 6.", "64KiB", default=512 * _KIB),
    Option(
        "first_sync",
        words({"wait": "measure when it is done", "beside": "measure while it goes on"}),
        "What becomes of the first synchronisation of a mirror or of parity.",
        "wait",
        default="wait",
    ),
)


def _lay(options: Options, volumes: Sequence[Volume], named: Named) -> Laid:
    each = int(options["devices"] or len(volumes))
    if len(volumes) % each:
        raise InputError(f"{len(volumes)} devices cannot be divided into arrays of {each}; name a multiple of {each}.")
    groups = [volumes[first : first + each] for first in range(0, len(volumes), each)]
    arrays = [_array(options, group, named, number if len(groups) > 1 else None) for number, group in enumerate(groups, 1)]
    return Laid(tuple(step for step, _ in arrays), tuple(volume for _, volume in arrays))


def _array(options: Options, volumes: Sequence[Volume], named: Named, number: int | None) -> tuple[Step, Volume]:
    level, chunk, count = str(options["level"]), int(options["chunk"]), len(volumes)
    if count < _LEAST[level]:
        raise InputError(f"RAID {level} needs {_LEAST[level]} devices at least; there {'is 1' if count == 1 else f'are {count}'}.")
    # An array of arrays has a name of its own as well.
    below = "" if all(not volume.path.startswith("/dev/md/") for volume in volumes) else "-over"
    name = f"{named.ours}{below}{'' if number is None else f'-{number}'}"
    device, uuid, paths = f"/dev/md/{name}", md_uuid(named.uuid(f"raid {name}")), [volume.path for volume in volumes]
    create = ["mdadm", "--create", device, "--run", f"--level={level}", f"--raid-devices={count}", "--metadata=1.2"]
    create += [f"--uuid={uuid}", f"--name={name}", "--homehost=any"]
    create += [f"--chunk={chunk // _KIB}"] if level != "1" else []
    # A write-intent bitmap costs writes of its own; stripes without protection have none.
    create += ["--bitmap=none"] if level != "0" else []
    commands: list[Action] = [Command((*create, *paths)), Await(device)]
    if level != "0" and options["first_sync"] == "wait":
        # Fails when there is nothing to wait for.
        commands.append(Command(("mdadm", "--wait", device), tolerated=True))
    what = f"join {count} devices to RAID {level}, {device}"
    why = f"Each takes {binary(chunk)} in turn." if level != "1" else "Each holds the same data."
    data = {"0": count, "10": count // 2, "5": count - 1, "6": count - 2}.get(level)
    step = Step("raid", what, why, tuple(commands), {"device": device, "uuid": uuid, "members": paths})
    return step, Volume(device, "data" if number is None else f"data-{number}", None, Stripe(chunk, data) if data else None)


def md_uuid(uuid: str) -> str:
    """A UUID as mdadm writes it: four groups of eight digits."""
    digits = uuid.replace("-", "")
    return ":".join(digits[start : start + 8] for start in range(0, 32, 8))


def _unmake(host: Host, facts: Facts) -> None:
    device, uuid = str(facts["device"]), str(facts["uuid"])
    running = _uuid(host.ask("mdadm", "--detail", "--export", device)) if host.exists(device) else None
    if running == uuid:
        host.act(Command(("mdadm", "--quiet", "--stop", device), patience_s=BUSY_S))
    elif running is not None:
        raise unlike(device, f"the RAID {running}", "RAID")
    for member in map(str, facts["members"]):
        found = _uuid(host.ask("mdadm", "--examine", "--export", member))
        if found == uuid:
            host.act(Command(("mdadm", "--quiet", "--zero-superblock", member)))
            wiped(host, member, _SIGNATURES)
        elif found is not None:
            raise unlike(member, f"a member of the RAID {found}", "RAID")


def _uuid(said: str | None) -> str | None:
    return next((line.removeprefix("MD_UUID=") for line in (said or "").splitlines() if line.startswith("MD_UUID=")), None)


KIND = Kind("raid", "RAID of Linux (md) over all devices.", OPTIONS, _lay, {"raid": _unmake})
