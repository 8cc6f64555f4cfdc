"""What will be done, or the sentence that says why not.

Model: settings and the disks that are there become a plan. A disk is named by its serial number alone, since its place in the order of
names changes from boot to boot; it is written to only when the same serial number was given again; one that is in use is never measured.
Of what writes without that permission nothing is begun: `rehearsal` lets ``plimsoll`` itself say so before.

    plan = plan_of(read(command_line), disks())
    plan.measure("/plimsoll/results")     # ["plimsoll", "suite", "proliant-generations", "--quick", "--target", …]
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from plimsoll.displayed import quoted
from plimsoll.errors import InputError, SafetyRefusal
from plimsoll.image.disks import Disk, by_serial
from plimsoll.image.rack import Rack
from plimsoll.image.settings import SERIAL, Settings, serials, shown

#: The word of `plimsoll check` among the suites.
CHECK = "check"


@dataclass(frozen=True)
class Delivery:
    """A place where results go: the address without secrets, and what is shown there: a token or a password."""

    url: str
    token: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Plan:
    """A suite on a disk; ``serial`` is the permission to write, of a rack that to write to the disks of all."""

    suite: str
    quick: bool
    disk: Disk
    serial: str | None
    label: str
    deliveries: tuple[Delivery, ...] = ()
    fingerprint: str | None = None
    for_: str | None = None
    poweroff: bool = False
    rack: Rack | None = None

    def measure(self, store: str) -> list[str]:
        """The command that measures, and the same that resumes; of a rack, that of the machine which commands."""
        return self._command(store, [self.disk.path] if self.rack is None else self.rack.targets)

    def rehearsal(self, store: str) -> list[str]:
        """The command that says what would be done on this machine's disk, and refuses what may not."""
        return [*self._command(store, [self.disk.path]), "--dry-run"]

    def _command(self, store: str, target: Sequence[str]) -> list[str]:
        what = [CHECK] if self.suite == CHECK else ["suite", self.suite]
        words = ["plimsoll", *what, "--target", *target]
        words += ["--quick"] if self.quick else []
        words += [f"--destroy-data={self.serial}"] if self.serial is not None else []
        return [*words, "--label", self.label, "--out", store]

    def send(self, run: str, store: str, delivery: Delivery, files: Mapping[str, str]) -> list[str]:
        """The command that sends ``run``; what is secret is in the ``files`` by option, and not in it."""
        words = ["plimsoll", "send", run, "--out", store, "--to", delivery.url]
        words += [word for option, path in files.items() for word in (f"--{option}", path)]
        words += ["--fingerprint", self.fingerprint] if self.fingerprint is not None and delivery.url.startswith("https:") else []
        return [*words, *(["--for", self.for_] if self.for_ is not None else [])]

    def identity(self, machine: str) -> str:
        """What tells this plan on this machine from any other: what was done is noted under it."""
        rack = [] if self.rack is None else [self.rack.hosts]
        said = json.dumps([machine, self.suite, self.quick, self.disk.serial, self.label, *rack])
        return hashlib.sha256(said.encode()).hexdigest()[:16]


def plan_of(settings: Settings, disks: Sequence[Disk], rack: Rack | None = None) -> Plan:
    """Raises `InputError` for what cannot be meant, `SafetyRefusal` for what may not be done; ``rack`` is that of ``settings.hosts``."""
    if settings.problems:
        raise InputError("\n  ".join(settings.problems))
    if settings.suite is None or settings.target is None:
        raise InputError("nothing was asked for; give plimsoll.suite and plimsoll.target, or choose from the menu.")
    disk = _disk(settings.target if rack is None else rack.own(settings.target), disks)
    if disk.users:
        raise SafetyRefusal(f"{disk.described()} is in use: {', '.join(disk.users)}; it is not measured.")
    if settings.destroy is not None and settings.destroy != _named(settings.target, rack):
        named = quoted(_named(settings.target, rack))
        raise SafetyRefusal(
            f"plimsoll.destroy names {quoted(settings.destroy)} and plimsoll.target {named}; nothing is written while they differ."
        )
    return Plan(
        suite=settings.suite,
        quick=settings.quick,
        disk=disk,
        serial=settings.destroy,
        label=settings.label or (" ".join(filter(None, (disk.model, disk.serial))) if rack is None else ", ".join(rack.hosts)),
        deliveries=tuple(_delivery(url, settings.token) for url in settings.send),
        fingerprint=settings.fingerprint,
        for_=settings.for_,
        poweroff=settings.poweroff,
        rack=rack,
    )


def _named(target: str, rack: Rack | None) -> str:
    """The serial numbers that ``target`` names, as ``destroy`` has to repeat them."""
    return target.removeprefix(SERIAL) if rack is None else ",".join(serials(target))


def _disk(target: str, disks: Sequence[Disk]) -> Disk:
    if not target.startswith(SERIAL) or target == SERIAL:
        raise InputError(
            f"plimsoll.target={quoted(target)}: a name may be another disk after the next boot; write plimsoll.target=serial:SERIAL, as the"
            " menu shows it."
        )
    return by_serial(disks, target.removeprefix(SERIAL))


def _delivery(url: str, token: str | None) -> Delivery:
    """The address with its token or password apart."""
    if url.startswith(("https:", "http:")):
        return Delivery(shown(url), token=dict(parse_qsl(urlsplit(url).query)).get("token") or token)
    scheme, _, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    who, at, host = place.rpartition("@")
    user, colon, password = who.partition(":")
    return Delivery(f"{scheme}://{user}{at}{host}{slash}{path}", password=unquote(password)) if colon else Delivery(url)
