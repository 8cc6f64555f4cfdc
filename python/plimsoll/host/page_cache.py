"""Page cache of a target: emptied for a point that is to start cold, and looked at afterwards, since the kernel may keep pages.

Model: dirty pages are written back first (fsync), because only clean ones can be dropped; then posix_fadvise(2) with DONTNEED drops
those of one file, which needs no root. The pages of a device node are shared with file systems on it, so for devices
/proc/sys/vm/drop_caches is written as well where that is allowed. What is left is counted with mincore(2).
Limits: caches of the device itself, of a controller or of the host of a guest are out of reach. A file system that lives in memory (tmpfs)
keeps every page. From Linux 5.2 on mincore tells the truth only about files one may write, so others are not looked at.

    drop_pages(["/data/plimsoll-scratch.dat"])       # Dropped(cold=True, how="The page cache of the target was dropped (posix_fadvise).")
"""

from __future__ import annotations

import ctypes
import mmap
import os
import stat
from collections.abc import Sequence

from plimsoll.records import dataclass

DROP_CACHES = "/proc/sys/vm/drop_caches"
#: "1" frees the page cache and keeps directory entries and inodes, "3" frees all of them (Documentation/admin-guide/sysctl/vm.rst).
_PAGE_CACHE_ONLY, _ENTRIES_AS_WELL = b"1", b"3"
_PROT_READ, _MAP_SHARED = 1, 1
_MAP_FAILED = ctypes.c_void_p(-1).value
#: How much is mapped at a time, so that the answer of mincore stays small.
_WINDOW_BYTES = 1 << 30
#: Pages that may stay, as a share: read-ahead of another process can bring some back at once.
_LEFT_SHARE_MAX = 0.001


@dataclass(frozen=True)
class Dropped:
    """Whether nothing of the target is left in the page cache, and the sentence that says how, or why not."""

    cold: bool
    how: str


def drop_pages(paths: Sequence[str], drop_caches: str = DROP_CACHES) -> Dropped:
    """Empty the page cache of these files and devices."""
    how = "posix_fadvise"
    for path in paths:
        try:
            advised = _advise(path)
        except OSError as problem:
            return Dropped(cold=False, how=f"The page cache could not be dropped: {path}: {str(problem.strerror).lower()}.")
        if advised != "file":
            refusal = _drop_all(drop_caches, _ENTRIES_AS_WELL if advised == "directory" else _PAGE_CACHE_ONLY)
            if refusal is not None:
                return Dropped(cold=False, how=f"The page cache could not be dropped: {refusal}.")
            how = "drop_caches"
    left = sum(resident_bytes(path) for path in paths)
    size_bytes = sum(_size(path) for path in paths)
    if left > size_bytes * _LEFT_SHARE_MAX:
        share = 100 * left / size_bytes
        return Dropped(cold=False, how=f"The page cache was told to drop the target, but {share:.0f} % of it stayed in memory.")
    return Dropped(cold=True, how=f"The page cache of the target was dropped ({how}).")


def resident_bytes(path: str) -> int:
    """How much of a regular file is in the page cache; 0 where the kernel does not tell."""
    if not os.path.isfile(path) or not os.access(path, os.W_OK):
        return 0
    libc = _libc()
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size_bytes = os.fstat(file).st_size
        return sum(_resident(libc, file, start, min(_WINDOW_BYTES, size_bytes - start)) for start in range(0, size_bytes, _WINDOW_BYTES))
    finally:
        os.close(file)


def _resident(libc: ctypes.CDLL, file: int, start: int, length: int) -> int:
    address = libc.mmap(None, length, _PROT_READ, _MAP_SHARED, file, start)
    if address == _MAP_FAILED:
        return 0
    try:
        pages = (ctypes.c_ubyte * -(-length // mmap.PAGESIZE))()
        if libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(length), pages) != 0:
            return 0
        # The lowest bit says that the page is resident; the others are reserved and zero.
        return min(length, bytes(pages).count(1) * mmap.PAGESIZE)
    finally:
        libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(length))


def _advise(path: str) -> str:
    """Drop the clean pages of one file or device, write back those below a directory; says which of them it is."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        mode = os.fstat(file).st_mode
        if stat.S_ISDIR(mode):
            # Files below it are not looked at one by one: everything is written back, and the host's caches are dropped.
            os.sync()
            return "directory"
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        return "device" if stat.S_ISBLK(mode) else "file"
    finally:
        os.close(file)


def _drop_all(drop_caches: str, what: bytes) -> str | None:
    """Drop the page cache of the whole host; the reason when that is not allowed."""
    try:
        with open(drop_caches, "wb", buffering=0) as file:
            file.write(what)
    except OSError as problem:
        return f"{drop_caches}: {str(problem.strerror).lower()}"
    return None


def _size(path: str) -> int:
    return os.stat(path).st_size


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    return libc
