"""Settings of the kernel: of the queues of members and of the volumes made of them, and, where they are asked for, of the whole host.

Model: what a member had before is in the facts of the step and is set again when the layout goes; what a volume had goes with it. What the
host had is found out when the step begins and noted with it. Settings of the host are those of a profile such as tuned's for throughput;
none is changed that the file does not name.
Sources: Linux, Documentation/block/queue-sysfs.rst, admin-guide/sysctl/vm.rst, admin-guide/pm/cpufreq.rst; tuned, throughput-performance.
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.errors import InputError
from plimsoll.experiments.forms import whole, words
from plimsoll.experiments.option import Option
from plimsoll.layouts.kinds.forms import SIZE
from plimsoll.layouts.kinds.kind import Host, Kind, Options
from plimsoll.layouts.step import Command, Facts, Member, Step, Volume, Write
from plimsoll.units import binary

_KIB, _SECTOR = 1024, 512
_SCHEDULERS = {
    "none": "requests go to the device as they come",
    "mq-deadline": "sorted, with a time by which each is served",
    "kyber": "two queues with latencies to keep",
    "bfq": "shares for each program",
}

_GOVERNORS = {
    "performance": "as high as it goes",
    "powersave": "as low as it goes; with some drivers as high as needed",
    "schedutil": "as the scheduler sees use",
    "ondemand": "up when there is work",
}
_HUGE_PAGES = {"always": "wherever they fit", "madvise": "where a program asks", "never": "nowhere"}

OPTIONS = (
    Option("read_ahead", SIZE, "How far the page cache reads ahead, of members and volumes.", "8MiB", absent="as it is"),
    Option("scheduler", words(_SCHEDULERS), "The scheduler of the members.", "none", absent="as it is"),
    Option("nr_requests", whole(1, 65_536), "How many requests may wait in the queue of a member.", 256, absent="as it is"),
    Option("max_request", SIZE, "The largest request that is sent to a member.", "512KiB", absent="as it is"),
    Option("governor", words(_GOVERNORS), "How the processors of the host choose their clock.", "performance", absent="as it is"),
    Option("dirty_ratio", whole(1, 100), "From what share of memory on who writes has to wait, in percent.", 40, absent="as it is"),
    Option(
        "dirty_background_ratio", whole(1, 100), "From what share of memory on dirty pages are written, in percent.", 10, absent="as it is"
    ),
    Option("swappiness", whole(0, 200), "How readily memory of programs is swapped for the page cache.", 10, absent="as it is"),
    Option("huge_pages", words(_HUGE_PAGES), "Whether memory comes in huge pages.", "always", absent="as it is"),
)
#: The files of a setting of the host: the first takes the value, all are noted. 0 in a file of `vm` means that its twin counts.
_HOST = {
    "governor": ("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",),
    "dirty_ratio": ("/proc/sys/vm/dirty_ratio", "/proc/sys/vm/dirty_bytes"),
    "dirty_background_ratio": ("/proc/sys/vm/dirty_background_ratio", "/proc/sys/vm/dirty_background_bytes"),
    "swappiness": ("/proc/sys/vm/swappiness",),
    "huge_pages": ("/sys/kernel/mm/transparent_hugepage/enabled",),
}
_TWINS = "/proc/sys/vm/dirty_"


def tune(options: Options, members: Sequence[Member], volumes: Sequence[Volume]) -> tuple[Step, ...]:
    """The steps: one for each setting of each member and each volume above."""
    wanted = {
        "read_ahead_kb": str(int(options["read_ahead"]) // _KIB) if options["read_ahead"] else None,
        "scheduler": str(options["scheduler"]) if options["scheduler"] else None,
        "nr_requests": str(options["nr_requests"]) if options["nr_requests"] else None,
        "max_sectors_kb": str(int(options["max_request"]) // _KIB) if options["max_request"] else None,
    }
    # The scheduler first: another one brings its own number of requests.
    named = [(name, wanted[name]) for name in ("scheduler", "nr_requests", "max_sectors_kb", "read_ahead_kb")]
    steps = [_set(member, name, value) for member in members for name, value in named if value is not None]
    if options["read_ahead"]:
        below = {member.path for member in members}
        ahead = int(options["read_ahead"])
        steps += [_read_ahead(volume, ahead) for volume in volumes if volume.path not in below]
    steps += [_host(name, str(options[name])) for name in _HOST if options[name] is not None]
    return tuple(steps)


def _host(name: str, value: str) -> Step:
    taking, *_ = files = _HOST[name]
    facts = {"name": name, "files": list(files), "value": value}
    return Step("setting of the host", f"set {name} of the host to {value}", "What it is now is noted.", (Write(taking, value),), facts)


def _set(member: Member, name: str, value: str) -> Step:
    path = f"/sys/class/block/{member.name}/queue/{name}"
    before = member.settings.get(name)
    if before is None:
        raise InputError(f"{member.path} has no setting {name}; leave it out, or name a disk as a whole.")
    what = f"set {name} of {member.path} to {value}"
    return Step("setting", what, f"It is {before} now.", (Write(path, value),), {"path": path, "before": before, "value": value})


def _read_ahead(volume: Volume, bytes_: int) -> Step:
    command = Command(("blockdev", "--setra", str(bytes_ // _SECTOR), volume.path))
    return Step(
        "setting of a volume", f"read ahead {binary(bytes_)} of {volume.path}", "The members' own does not count above them.", (command,)
    )


def _unmake(host: Host, facts: Facts) -> None:
    if host.exists(str(facts["path"])):
        host.act(Write(str(facts["path"]), str(facts["before"])))


def _unmake_host(host: Host, facts: Facts) -> None:
    for path, before in facts.get("before", {}).items():
        if before != "0" or not path.startswith(_TWINS):
            host.act(Write(str(path), str(before)))


def _gone(_host: Host, _facts: Facts) -> None:
    """It goes with the volume."""


KIND = Kind(
    "settings",
    "Settings of the kernel: of queues, and of the host where they are asked for.",
    OPTIONS,
    None,
    {"setting": _unmake, "setting of a volume": _gone, "setting of the host": _unmake_host},
)
