"""A virtual machine that boots the live image, with a person's hands on its serial line.

Model: qemu emulates the processor (no KVM), so that it runs anywhere; the medium is a USB stick or an optical drive, the disks are files. What
the serial line says is kept in ``transcript``; `wait_for` reads on until a text has come. However slow the host, the guest says something
within `SILENT_S`, or it stands still.

    with Booted(medium, disks, firmware="uefi") as machine:
        machine.wait_for("Type the number")
        machine.type("3")
"""

from __future__ import annotations

import codecs
import os
import re
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SILENT_S = 900
_OVMF = Path("/usr/share/ovmf/OVMF.fd")
_CONTROL = re.compile(r"\x1b\[[0-9;?=:]*[A-Za-z]|\x1b[()][A-Z0-9]|\r")


@dataclass(frozen=True)
class Medium:
    """What is booted from: an image as a stick that can be written to, or as an optical disc."""

    path: Path
    stick: bool
    uefi: bool


@dataclass(frozen=True)
class Cable:
    """A network of several machines and nothing else: ``number`` tells them apart, ``port`` of this machine's loopback carries it.

    The first listens there, and the second connects.
    """

    port: int
    number: int

    def words(self) -> Sequence[str]:
        """qemu's words for a card on it."""
        end = f"{'listen' if self.number == 1 else 'connect'}=127.0.0.1:{self.port}"
        card = f"virtio-net-pci,netdev=net,romfile=,mac=52:54:00:00:00:{self.number:02x}"
        return ["-netdev", f"socket,id=net,{end}", "-device", card]


class StoodStill(Exception):
    """The machine said nothing for too long, or ended too early."""


class Booted:
    """A machine that is on."""

    def __init__(self, medium: Medium, disks: dict[str, Path], cable: Cable | None = None) -> None:
        self.transcript = ""
        self._seen = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun_s = time.monotonic()
        #: A port of this machine that leads to the guest's ssh.
        self.ssh_port = free_port()
        self._monitor = Path(tempfile.mkdtemp(prefix="plimsoll-image-")) / "monitor"
        words = [*_words(medium, disks), *_network(cable, self.ssh_port), "-monitor", f"unix:{self._monitor},server=on,wait=off"]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def __enter__(self) -> Booted:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    @property
    def seconds(self) -> float:
        """Since it was switched on."""
        return time.monotonic() - self._begun_s

    def wait_for(self, *texts: str) -> str:
        """The first of ``texts`` to come after what was waited for before."""
        while True:
            rest = self.transcript[self._seen :]
            found = [(rest.index(text), text) for text in texts if text in rest]
            if found:
                place, text = min(found)
                self._seen += place + len(text)
                print(f"   {self.seconds:6.0f} s  {text.strip()}", flush=True)
                return text
            if not self._read():
                raise StoodStill(f"the machine ended before it said {' or '.join(map(repr, texts))}:\n{rest[-3000:]}")

    def type(self, text: str, *, end: str = "\r") -> None:
        """At the speed of a person, since a boot loader has no buffer for more."""
        assert self._process.stdin is not None
        for letter in f"{text}{end}":
            self._process.stdin.write(letter.encode())
            self._process.stdin.flush()
            time.sleep(0.03)

    def wait_for_end(self) -> None:
        """Until it has switched itself off."""
        while self._read():
            pass
        self._process.wait()

    def cut(self) -> None:
        """The power goes."""
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._monitor.parent, ignore_errors=True)

    def picture(self, path: Path) -> None:
        """What the screen shows, as PNG."""
        shot = self._monitor.with_name("screen.ppm")
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self._monitor))
            _to_prompt(monitor)
            monitor.sendall(f"screendump {shot}\n".encode())
            _to_prompt(monitor)
        _, size, _, pixels = shot.read_bytes().split(b"\n", 3)
        width, height = map(int, size.split())
        rows = b"".join(b"\0" + pixels[3 * width * row : 3 * width * (row + 1)] for row in range(height))
        parts = ((b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
        data = b"".join(struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in parts)
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + data)

    def _read(self) -> bool:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], SILENT_S)[0]:
            raise StoodStill(f"the machine said nothing for {SILENT_S} s:\n{self.transcript[-3000:]}")
        chunk = os.read(self._process.stdout.fileno(), 1 << 16)
        text = _CONTROL.sub("", self._decoder.decode(chunk))
        if os.environ.get("PLIMSOLL_IMAGE_VERBOSE"):
            sys.stdout.write(text)
        self.transcript += text
        return bool(chunk)


def _to_prompt(monitor: socket.socket) -> None:
    said = b""
    while not said.endswith(b"(qemu) "):
        said += monitor.recv(4096)


def free_port() -> int:
    """One of this machine's loopback that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _network(cable: Cable | None, ssh_port: int) -> Sequence[str]:
    """A network to this machine, whose port leads to the guest's ssh, or the cable."""
    identity = ["-uuid", f"7e11a5e0-0000-4000-8000-{0x0A if cable is None else cable.number:012x}"]
    if cable is not None:
        return [*identity, *cable.words()]
    user = f"user,id=net,hostfwd=tcp:127.0.0.1:{ssh_port}-:22"
    return [*identity, "-netdev", user, "-device", "virtio-net-pci,netdev=net,romfile="]


def _words(medium: Medium, disks: dict[str, Path]) -> Sequence[str]:
    words = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "2048", "-no-reboot"]
    words += ["-display", "none", "-serial", "stdio"]
    words += ["-bios", str(_OVMF)] if medium.uefi else []
    if medium.stick:
        words += ["-drive", f"file={medium.path},format=raw,if=none,id=stick", "-device", "qemu-xhci"]
        words += ["-device", "usb-storage,drive=stick,serial=STICK,removable=on,bootindex=0"]
    else:
        words += ["-drive", f"file={medium.path},format=raw,if=none,id=disc,media=cdrom,readonly=on"]
        words += ["-device", "ahci,id=ahci", "-device", "ide-cd,drive=disc,bus=ahci.0,bootindex=0"]
    for serial, path in disks.items():
        words += ["-drive", f"file={path},format=raw,if=none,id={serial}", "-device", f"virtio-blk-pci,drive={serial},serial={serial}"]
    return words
