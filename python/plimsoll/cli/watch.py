"""``plimsoll watch``: what is asked of live devices, as a distribution that can be sized for."""

from __future__ import annotations

import json
import os
import select
import stat
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli.streams import is_lost
from plimsoll.displayed import as_document, encoded, quoted
from plimsoll.engine.paths import await_answer
from plimsoll.errors import InputError, PlimsollError, TargetError
from plimsoll.near import meant
from plimsoll.points.signals import handled
from plimsoll.store.durable import REPLACED, check_replaceable

if TYPE_CHECKING:
    from plimsoll.analysis.sizing.view import DemandDocument

#: Waits are counted in whole milliseconds, so shorter intervals would show steps.
_INTERVAL_MIN_S = 0.1
#: While watching, the file is brought up to date so often: a watch that is killed loses little more than this.
_SAVE_EVERY_S = 60.0
#: At most one part in so many of the time goes into that, since a reading that falls due meanwhile is late.
_SAVE_SHARE = 100
_FACTS = ("disk", "model", "serial", "size_bytes", "rotational", "scheduler")


@click.command(short_help="Watch the load on live devices.")
@click.argument("asked", metavar="DEVICE|PATH...", nargs=-1, required=True)
@click.option("-i", "--interval", metavar="TIME", default="1s", show_default=True, help="Time between two readings, at least 100ms.")
@click.option("-d", "--duration", metavar="TIME", help="How long to watch, e.g. 30m or 1d. [default: until Ctrl-C]")
@click.option("-o", "--output", metavar="FILE", help=f"Keep what was seen there, for 'plimsoll size --from FILE'. {REPLACED}")
@click.option("--json", "as_json", is_flag=True, help="Print what was seen as JSON; the lines go to stderr.")
def command(asked: tuple[str, ...], interval: str, duration: str | None, output: str | None, as_json: bool) -> int:
    """Watch block devices like iostat -x, and record the distribution of their load.

    DEVICE is a disk or partition (sda, /dev/nvme0n1p2, /dev/disk/by-id/...); the device below a file, directory
    or mount point is found by PATH. Nothing is opened, written or slowed down: the kernel's counters are read.

    A line per interval shows reads and writes per second, kB (1024 bytes) per second, waits in ms, request
    sizes in kB, the mean queue and the utilisation. Ctrl-C ends it and shows means, percentiles and maxima.

    \b
    plimsoll watch sda
    plimsoll watch /var/lib/postgresql --duration 1h -o demand.json
    plimsoll size --from demand.json --objective "p99 <= 10ms"
    """
    from plimsoll.monitor.watch import Timing
    from plimsoll.points.quantity import duration_s

    timing = Timing(duration_s("--interval", interval), None if duration is None else duration_s("--duration", duration))
    _check(timing.interval_s, timing.duration_s, output)
    session = _Session(_resolved(asked), timing.interval_s, output, show=_lines(as_json))
    problem = _watch(session, timing)
    if output is not None:
        session.save()
        click.echo(f"demand   {output}", err=True)
    _show(session, as_json=as_json)
    if problem is not None:
        raise problem
    return 0


@dataclass
class _Session:
    """What is watched, and what was seen of it."""

    devices: dict[str, Any]
    interval_s: float
    output: str | None
    show: Callable[[str], None]
    started: float = field(default_factory=time.time)
    save_next: float = field(default_factory=lambda: time.monotonic() + _SAVE_EVERY_S)
    ended_by: str = "running"

    def document(self) -> DemandDocument:
        from plimsoll.analysis.sizing.demand import demand_document
        from plimsoll.host.machine import versions
        from plimsoll.result import iso_time

        about = {
            "started": iso_time(self.started),
            "interval_s": self.interval_s,
            "ended_by": self.ended_by,
            "host": os.uname().nodename,
            "versions": versions(),
        }
        return demand_document(list(self.devices.values()), about)

    def save(self) -> None:
        if self.output is None:
            return
        from plimsoll.store.durable import replace_file

        began = time.monotonic()
        replace_file(self.output, encoded(json.dumps(self.document(), ensure_ascii=False) + "\n"))
        ended = time.monotonic()
        self.save_next = ended + max(_SAVE_EVERY_S, _SAVE_SHARE * (ended - began))


class _Stop:
    """Ctrl-C and SIGTERM as the end of waiting. A pipe, because a handler may not take a lock that the interrupted code holds."""

    def __init__(self) -> None:
        self.pulled = False
        self._handled = ExitStack()

    def wait(self, seconds: float) -> bool:
        """Wait so long or until stopped; whether it was stopped."""
        select.select([self._read], [], [], seconds)
        return self.pulled

    def __enter__(self) -> _Stop:
        self._read, self._write = os.pipe()
        self._handled.enter_context(handled(self._pull))
        return self

    def __exit__(self, *_: object) -> None:
        self._handled.close()
        os.close(self._read)
        os.close(self._write)

    def _pull(self) -> None:
        if not self.pulled:
            self.pulled = True
            os.write(self._write, b"\0")


def _watch(session: _Session, timing: Any) -> PlimsollError | None:
    """Watch to the end; a device that vanishes ends it, and what was seen is kept."""
    from plimsoll.monitor.watch import watch
    from plimsoll.reports.terminal.demand import HEAD_EVERY, head, line

    shown = 0
    try:
        with _Stop() as stop:
            for reading in watch(list(session.devices), timing, wait=stop.wait):
                session.devices[reading.device].add(reading.seconds, reading.columns)
                if shown % HEAD_EVERY == 0:
                    session.show(head())
                session.show(line(reading.device, reading.columns))
                shown += 1
                if time.monotonic() >= session.save_next:
                    session.save()
            session.ended_by = "stopped" if stop.pulled else "duration"
    except TargetError as problem:
        if not shown:
            raise
        session.ended_by = str(problem)
        return problem
    return None


def _show(session: _Session, *, as_json: bool) -> None:
    if as_json:
        click.echo(as_document(session.document()))
        return
    from plimsoll.reports.terminal.demand import distribution

    for observed in session.devices.values():
        if observed.seconds:
            click.echo(f"\n{distribution(observed)}")
        else:
            click.echo(f"\n{observed.name}: stopped before the first interval had ended", err=True)


def _lines(as_json: bool) -> Callable[[str], None]:
    stream = sys.stderr if as_json else sys.stdout

    def show(text: str) -> None:
        stream.write(text + "\n")
        stream.flush()
        if is_lost(stream):
            # Nobody reads any more, and without --duration nothing else would end this.
            raise BrokenPipeError

    return show


def _check(interval_s: float, duration_s: float | None, output: str | None) -> None:
    if interval_s < _INTERVAL_MIN_S:
        raise InputError(f"--interval {interval_s * 1e3:g}ms: the kernel counts waits in milliseconds; write at least 100ms.")
    if duration_s is not None and duration_s < interval_s:
        raise InputError(f"--duration {duration_s:g}s is shorter than one interval of {interval_s:g}s; watch longer or read more often.")
    if output is not None:
        folder = os.path.dirname(output) or "."
        if not os.path.isdir(folder):
            raise InputError(f"{output}: there is no directory {quoted(folder)}; make it first.")
        if os.path.isdir(output):
            raise InputError(
                f"{output}: this is a directory; name a file in it, for example {quoted(os.path.join(output, 'demand.json'))}."
            )
        check_replaceable(output, (b'{"schema": "plimsoll.demand/',))


def _resolved(asked: Sequence[str]) -> dict[str, Any]:
    """An empty `Observed` per device, by kernel name; what was asked is noted in it."""
    from plimsoll.analysis.sizing.demand import Observed
    from plimsoll.host.device import device_facts, physical_devices

    found: dict[str, Observed] = {}
    for name in asked:
        device = _device(name)
        if device not in found:
            facts: Mapping[str, object] = device_facts(device)
            about = {key: facts[key] for key in _FACTS if key in facts}
            found[device] = Observed(device, {"asked": [], **about, "on": [disk for disk in physical_devices(device) if disk != device]})
        if name not in found[device].about["asked"]:
            found[device].about["asked"].append(name)
    return found


def _device(asked: str) -> str:
    """The kernel's name of the device that ``asked`` is, or lies on."""
    from plimsoll.host.device import device_name
    from plimsoll.monitor.watch import is_block_device

    if is_block_device(asked):
        return asked
    await_answer(asked)
    try:
        mode = os.stat(asked).st_mode
    except OSError as problem:
        if isinstance(problem, FileNotFoundError):
            raise TargetError(f"{asked or quoted(asked)}: there is no block device and no file of this name; {_nearest(asked)}") from None
        raise TargetError(f"{asked}: cannot be looked at ({str(problem.strerror).lower()}); name the device instead.") from None
    if stat.S_ISBLK(mode):
        return device_name(asked)
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return _device_below(asked)
    raise TargetError(f"{asked}: this is neither a block device nor a file or directory on one; name the device, for example /dev/sda.")


def _device_below(path: str) -> str:
    """The device that the file system of ``path`` is on."""
    from plimsoll.host.device import device_name, mount_of, name_of_number
    from plimsoll.host.facts import Absent

    try:
        return name_of_number(os.stat(path).st_dev)
    except Absent:
        pass
    try:
        # Some file systems (btrfs) number their files with no device's number, but their mount names one.
        mount = mount_of(path)
        if mount.source.startswith("/dev/"):
            return device_name(mount.source)
    except (Absent, OSError):
        raise TargetError(f"{path}: the device it lies on cannot be told; name the device itself.") from None
    raise TargetError(f"{path}: it is on {mount.fs_type}, which has no block device of its own; name the device below it, if there is one.")


def _nearest(asked: str) -> str:
    from plimsoll.monitor.watch import SYS_BLOCK

    try:
        known = sorted(os.listdir(SYS_BLOCK))
    except OSError:
        known = []
    return meant(os.path.basename(asked), known) if known else "this host shows no block devices."
