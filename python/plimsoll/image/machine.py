"""The machine that the image runs on: made ready while it boots, and what a console needs of it.

Model: `prepare` finds the partition for results by its label, reads what was asked for, gives the machine its name and network, lets a key
in, and hands everything over as a file in memory that only root reads. The runner is a unit of systemd, so that no console holds it.
Limits: of several network ports a given address goes to the first by name.

    prepare()
    Here().disks()
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace

from plimsoll.errors import InputError, PlimsollError
from plimsoll.image.course import BESIDE, Course, Home
from plimsoll.image.disks import Disk, disks
from plimsoll.image.plan import plan_of
from plimsoll.image.programs import Processes
from plimsoll.image.rack import KEY, NO_KEY, Rack, addresses_of, admitted, rack_of, sshd
from plimsoll.image.settings import Address, Settings, read
from plimsoll.image.together import Clock, Offering
from plimsoll.units import binary

_STATE = "/run/plimsoll"
_ASKED, _NEXT, _PROGRESS = f"{_STATE}/asked.json", f"{_STATE}/next.json", f"{_STATE}/progress"
#: The process of the runner, looked at every second: no program is started for that beside a measurement.
_RUNNING = f"{_STATE}/running"
#: The partition that keeps results, and the one of the medium that any computer can write a file to.
DATA_LABEL, BOOT_LABEL = "PLIMSOLL-DATA", "PLIMSOLLEFI"
_FOLDER, _BOOT = "/plimsoll", f"{_STATE}/boot"
_FILE = "plimsoll.conf"
_RUNNER = "plimsoll-run.service"
_DMI = "/sys/class/dmi/id"
_SECRET = f"{_STATE}/secret"
#: How long a machine of a rack waits for the address by which it finds itself among the others.
_ADDRESS_S = 180


def prepare() -> None:
    """Make the machine ready; what cannot be done is said and left out."""
    os.makedirs(_STATE, mode=0o700, exist_ok=True)
    os.makedirs(_FOLDER, exist_ok=True)
    kept = _mounted(DATA_LABEL, _FOLDER, "rw,noatime")
    os.makedirs(_BOOT, exist_ok=True)
    _mounted(BOOT_LABEL, _BOOT, "ro")
    with open("/proc/cmdline", encoding="utf-8", errors="replace") as file:
        command_line = file.read()
    settings = read(command_line, _first_text(f"{_FOLDER}/{_FILE}", f"{_BOOT}/{_FILE}"))
    for name in (*BESIDE, KEY):
        if text := _first_text(f"{_FOLDER}/{name}", f"{_BOOT}/{name}"):
            os.makedirs(_SECRET, mode=0o700, exist_ok=True)
            _write_secret(f"{_SECRET}/{name}", text)
    _quietly("umount", _BOOT)
    keys = [f"{key}\n" for key in settings.ssh_keys]
    if settings.hosts and (public := _public(f"{_SECRET}/{KEY}")):
        keys.append(admitted(public))
        _write_secret(f"{_SECRET}/{KEY}-known-hosts", f"* {public}\n")
        _write_secret("/etc/ssh/sshd_config.d/plimsoll.conf", sshd(f"{_SECRET}/{KEY}", _FOLDER))
    elif settings.hosts:
        settings = replace(settings, problems=(*settings.problems, NO_KEY))
    _quietly("hostname", _host_name())
    _write_secret(f"{_STATE}/kept", "yes" if kept else "")
    _write_secret(_ASKED, handed(settings))
    os.makedirs("/run/systemd/network", exist_ok=True)
    with open("/run/systemd/network/10-plimsoll.network", "w", encoding="utf-8") as file:
        file.write(network(settings.address, _first_port()))
    if keys:
        os.makedirs("/root/.ssh", mode=0o700, exist_ok=True)
        _write_secret("/root/.ssh/authorized_keys", "".join(keys))
    if settings.unattended and not settings.problems:
        _write_secret(_NEXT, handed(settings))


def network(address: Address | None, port: str) -> str:
    """The file of systemd-networkd."""
    if address is None:
        return "[Match]\nType=ether\n\n[Network]\nDHCP=yes\n"
    lines = ["[Match]", f"Name={port}", "", "[Network]", f"Address={address.own}"]
    lines += [f"Gateway={address.gateway}"] if address.gateway else []
    lines += [f"DNS={address.dns}"] if address.dns else []
    return "\n".join(lines) + "\n"


def handed(settings: Settings) -> str:
    """The settings as a file, secrets too."""
    return json.dumps(asdict(settings))


def taken(text: str) -> Settings:
    """The settings of such a file."""
    told = json.loads(text)
    told |= {name: tuple(told[name]) for name in ("send", "ssh_keys", "hosts", "problems")}
    told["address"] = None if told["address"] is None else Address(**told["address"])
    return Settings(**told)


def carry_out() -> bool:
    """What was handed over, on this machine; every line goes to the file of progress and, on the stick, to a log."""
    with open(_NEXT, encoding="utf-8") as file:
        settings = taken(file.read())
    _write_secret(_RUNNING, f"{os.getpid()}")
    os.unlink(_NEXT)
    with open(_PROGRESS, "w", encoding="utf-8") as progress:
        log = Log(f"{_FOLDER}/logs/progress.log")

        def said(line: str) -> None:
            for one in (f"{settings.masked(line)}\n", *log.kept(f"{settings.masked(line)}\n")):
                progress.write(one)
            progress.flush()

        rack: Rack | None = None
        try:
            rack = _rack(settings)
            plan = plan_of(settings, disks(), rack)
            home = Home(_FOLDER, _SECRET, _identity())
            fine = Course(plan, settings, home, Processes(), said).carry_out()
        except PlimsollError as problem:
            said(f"{problem}")
            if rack is not None:
                Offering(rack, said, Clock()).refuse(settings.masked(f"{problem}"))
            fine = False
        said("Done." if fine else "Ended with errors; see above.")
    return fine


class Log:
    """What was said, on the stick, for as long as it takes it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._is_kept = True

    def kept(self, line: str) -> Sequence[str]:
        """Keep the line; what is to be said where it cannot be, once."""
        if not self._is_kept:
            return ()
        try:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(line)
        except OSError as problem:
            self._is_kept = False
            return (f"warning: from here on nothing is kept in {self._path} ({str(problem.strerror).lower()}).\n",)
        return ()


class Here:
    """This machine, as a menu sees it."""

    def name(self) -> str:
        said = Processes().output(["ip", "-brief", "-family", "inet", "address", "show", "scope", "global"])
        addresses = [word for line in said.splitlines() for word in line.split()[2:3]]
        return f"{os.uname().nodename} ({', '.join(addresses) or 'no network address'})"

    def kept(self) -> str:
        if _text(f"{_STATE}/kept"):
            return f"Results are kept on the partition {DATA_LABEL} ({binary(shutil.disk_usage(_FOLDER).free)} free)."
        return f"Results are in memory and lost at power-off: there is no partition {DATA_LABEL} (docs/live-image.md)."

    def asked(self) -> Settings:
        return taken(_text(_ASKED)) if os.path.exists(_ASKED) else Settings()

    def disks(self) -> list[Disk]:
        return disks()

    def going(self) -> bool:
        return os.path.exists(_NEXT) or os.path.exists(f"/proc/{_text(_RUNNING) or 'none'}")

    def start(self, settings: Settings) -> None:
        _write_secret(_NEXT, handed(settings))
        _quietly("systemctl", "start", "--no-block", _RUNNER)

    def progress(self, after: int) -> Sequence[str]:
        # A line that is being written comes whole the next time.
        return [line.rstrip("\n") for line in _text(_PROGRESS).splitlines(keepends=True)[after:] if line.endswith("\n")]

    def results(self) -> str:
        return Processes().output(["plimsoll", "list", "--runs", "--out", f"{_FOLDER}/results"]).rstrip()

    def doctor(self) -> str:
        return Processes().output(["plimsoll", "doctor"]).rstrip()

    def shell(self) -> None:
        with suppress(OSError):
            subprocess.run(["/bin/bash", "--login"], check=False, cwd=_FOLDER)

    def power_off(self) -> None:
        _quietly("systemctl", "poweroff")


class Console:
    """The terminal that this process was started on."""

    def say(self, text: str) -> None:
        self._write(f"{text}\n")

    def ask(self, question: str) -> str | None:
        self._write(question)
        line = sys.stdin.readline()
        return line.strip() if line else None

    def pressed(self, within_s: float) -> bool:
        if not select.select([sys.stdin], [], [], within_s)[0]:
            return False
        sys.stdin.readline()
        return True

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _rack(settings: Settings) -> Rack | None:
    """The rack of which this machine is one, once it has an address that is named; raises `InputError` where it has none."""
    if not settings.hosts:
        return None
    until_s = time.monotonic() + _ADDRESS_S
    while True:
        try:
            return rack_of(settings, _own_addresses(), _SECRET, addresses_of)
        except InputError:
            if time.monotonic() > until_s:
                raise
            time.sleep(1.0)


def _own_addresses() -> set[str]:
    """Addresses of this machine, and its name."""
    said = Processes().output(["ip", "-brief", "address", "show", "scope", "global"])
    return {word.partition("/")[0] for line in said.splitlines() for word in line.split()[2:]} | {os.uname().nodename}


def _public(path: str) -> str:
    """The public half of a private key without passphrase; nothing where there is none."""
    return Processes().output(["ssh-keygen", "-y", "-P", "", "-f", path]).strip()


def _mounted(label: str, point: str, options: str) -> bool:
    device = f"/dev/disk/by-label/{label}"
    if not os.path.exists(device):
        return False
    return _quietly("mount", "-o", options, device, point)


def _first_text(*paths: str) -> str:
    return next((text for text in map(_text, paths) if text), "")


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _write_secret(path: str, text: str) -> None:
    """Whole or absent, and for root's eyes alone."""
    with open(os.open(f"{path}.part", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.part", path)


def _quietly(*words: str) -> bool:
    try:
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _first_port() -> str:
    ports = sorted(name for name in os.listdir("/sys/class/net") if os.path.exists(f"/sys/class/net/{name}/device"))
    return ports[0] if ports else "en*"


def _identity() -> str:
    """What tells this machine from others that are booted from the same stick."""
    return _text(f"{_DMI}/product_uuid").strip() or _text(f"{_DMI}/product_serial").strip()


def _host_name() -> str:
    known = re.sub(r"[^a-z0-9]+", "-", (_text(f"{_DMI}/product_serial").strip() or _identity()[:8]).lower()).strip("-")
    return f"plimsoll-{known}"[:63].rstrip("-") if known else "plimsoll"
