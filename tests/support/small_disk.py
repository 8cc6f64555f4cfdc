"""A file system of a test's own that can be full: ext4 on a file with holes, mounted through a loop device.

Model: `leave` takes everything but so many bytes, without writing any, and `relieve` gives it back. Root owns no reserve, so that a disk is
as full for root as for anybody.
Limits: root, mount and mkfs.ext4.

    with small_disk(tmp_path / "disk", 64 << 20) as disk:
        disk.leave(4096)
        …
        disk.relieve()
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

_MAP_BYTES = 64 << 10


@dataclass(frozen=True)
class SmallDisk:
    """A mounted disk; ``path`` is where."""

    path: Path

    @property
    def _ballast(self) -> Path:
        # Beside what is looked at: a name that no store lists.
        return self.path / "lost+found" / "ballast"

    @property
    def free_bytes(self) -> int:
        """What is left."""
        return shutil.disk_usage(self.path).free

    def leave(self, size_bytes: int) -> None:
        """Take all but about so many bytes, all of it where these are none."""
        self.relieve()
        with self._ballast.open("wb", buffering=0) as file:
            # The map of what is taken needs some as well.
            os.posix_fallocate(file.fileno(), 0, max(1, self.free_bytes - size_bytes - _MAP_BYTES))
            file.seek(0, os.SEEK_END)
            with suppress(OSError):
                while self.free_bytes > size_bytes:
                    file.write(bytes(4096))
            file.flush()
            with suppress(OSError):
                os.fsync(file.fileno())

    def relieve(self) -> None:
        """Give it back."""
        self._ballast.unlink(missing_ok=True)


def missing() -> str | None:
    """Why there can be no such disk here."""
    if os.geteuid() != 0:
        return "mounting a small disk needs root"
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    absent = [name for name in ("mount", "umount", "mkfs.ext4") if shutil.which(name, path=path) is None]
    return f"{absent[0]} is not installed (dev/system.sh installs it)" if absent else None


needs_small_disk = pytest.mark.skipif(missing() is not None, reason=f"skipped: {missing()}")


@contextmanager
def small_disk(path: Path, size_bytes: int) -> Iterator[SmallDisk]:
    """A disk of this size at ``path``, for as long as it lasts."""
    path.mkdir(parents=True)
    image = path.with_suffix(".img")
    with image.open("wb") as file:
        file.truncate(size_bytes)
    environment = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}
    made = ["mkfs.ext4", "-q", "-m", "0", "-O", "^has_journal,^resize_inode", "-E", "lazy_itable_init=1", str(image)]
    subprocess.run(made, check=True, env=environment, capture_output=True)
    done = subprocess.run(["mount", "-o", "loop", str(image), str(path)], capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True, env=environment)
