"""Boots a virtual machine and shows what the test inside it says: ``make test-vm``.

Model: qemu emulates the processor (no KVM), boots Debian's kernel directly, and has disks that are files of this test. The guest's serial
line is read; the guest ends itself. However slow the host, the guest says twice a minute what it is at, so silence means that it stands
still. Exit code 1: a check failed, or the machine said nothing for `SILENT_S`. ``PLIMSOLL_VM_CPUS=1`` leaves the host a processor more.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path

END = "PLIMSOLL-VM exit "
#: Twenty lines of the guest that did not come; a busy host has kept one away for six minutes.
SILENT_S = 1200
#: Six members, and a small one beside them.
SIZES = [512 << 20] * 6 + [64 << 20]


def main(cache: str) -> int:
    folder = Path(cache)
    with tempfile.TemporaryDirectory(dir=folder) as disks:
        images = [Path(disks) / f"disk{number}" for number in range(len(SIZES))]
        for image, size in zip(images, SIZES, strict=True):
            with image.open("wb") as file:
                file.truncate(size)
        return _watched(_qemu(folder, images))


def _qemu(folder: Path, images: list[Path]) -> list[str]:
    words = [
        "qemu-system-x86_64",
        "-accel",
        "tcg,thread=multi",
        "-cpu",
        "max",
        "-smp",
        os.environ.get("PLIMSOLL_VM_CPUS", "2"),
        "-m",
        "2048",
        "-no-reboot",
    ]
    words += ["-display", "none", "-monitor", "none", "-net", "none", "-serial", "stdio"]
    words += ["-kernel", str(folder / "vmlinuz"), "-initrd", str(folder / "initrd.img")]
    told = " ".join(f"plimsoll.{what}={os.environ.get(f'PLIMSOLL_VM_{what.upper()}', '')}" for what in ("parts", "layouts"))
    words += ["-append", f"root=/dev/vda rw init=/plimsoll/init console=ttyS0 panic=-1 quiet mitigations=off {told}"]
    # In the order of the guest's names, vda first.
    words += ["-drive", f"file={folder / 'root.img'},format=raw,if=none,id=root,snapshot=on", "-device", "virtio-blk-pci,drive=root"]
    for number, image in enumerate(images):
        words += ["-drive", f"file={image},format=raw,if=none,id=d{number}"]
        words += ["-device", f"virtio-blk-pci,drive=d{number},serial=PLIMSOLL-{number}"]
    return words


def _watched(words: list[str]) -> int:
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as machine:
        assert machine.stdout is not None
        code, rest = 1, b""
        while True:
            if not select.select([machine.stdout], [], [], SILENT_S)[0]:
                print(f"the machine said nothing for {SILENT_S} s", flush=True)
                machine.kill()
                return 1
            chunk = machine.stdout.read1(1 << 16)
            if not chunk:
                return code
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                text = line.decode("utf-8", "replace").rstrip("\r")
                print(text, flush=True)
                if END in text:
                    code = int(text.split(END)[1].strip() or 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
