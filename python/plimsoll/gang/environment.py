"""What is carried to a host: this Plimsoll and what it needs, as it is installed here, under the hash of all of it.

Model: the installed distribution and those that it requires, followed from their metadata; of each the files that its installer recorded,
of Plimsoll itself those of the package that runs. What only people use of a distribution (command line scripts, caches of byte code,
parts of Ray that are no core) stays here. The hash is over names, versions and recorded hashes, of Plimsoll itself over what its files
hold: an environment with the same hash is the same.
Limits: compiled parts are of this architecture and of this Python's version, which is checked before.

    environment = environment_of(["ray"])
    environment.name                     # "0.1.0-3f9a…"
    for path, file in environment.files: ...
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import Distribution, PackageNotFoundError, distribution

import plimsoll
from plimsoll import __version__
from plimsoll.errors import InputError

#: Parts of Ray that carry no calls.
_NOT_CORE = tuple(f"ray/{name}/" for name in ("jars", "rllib", "data", "serve", "tune", "train", "llm"))
#: The report page and such are for who commands.
_NOT_CARRIED = ("__pycache__",)
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class File:
    """A file: its path in the environment, and where it is here."""

    path: str
    source: str


@dataclass(frozen=True)
class Environment:
    """See the module."""

    packages: tuple[str, ...]
    files: tuple[File, ...]
    digest: str

    @property
    def name(self) -> str:
        """What its directory is called on a host."""
        return f"{__version__}-{self.digest[:24]}"

    @cached_property
    def size_bytes(self) -> int:
        """How much has to be carried where it is not there yet."""
        return sum(os.stat(file.source).st_size for file in self.files)


def environment_of(packages: Iterable[str]) -> Environment:
    """Plimsoll, what it requires, and these packages with what they require."""
    found: dict[str, Distribution] = {}
    for package in ["plimsoll", *packages]:
        _follow(package, found)
    digest = hashlib.sha256()
    files: list[File] = []
    for name, one in sorted(found.items()):
        if name == "plimsoll":
            continue
        digest.update(f"{name} {one.version} {_recorded(one)}\n".encode())
        files += _files_of(one)
    for file in _own():
        with open(file.source, "rb") as opened:
            digest.update(f"{file.path} {hashlib.sha256(opened.read()).hexdigest()}\n".encode())
        files.append(file)
    versions = tuple(f"{name} {one.version}" for name, one in sorted(found.items()))
    return Environment(versions, tuple(files), digest.hexdigest())


def _follow(package: str, found: dict[str, Distribution]) -> None:
    """The package and what it requires here, whatever extras others name."""
    name = re.sub(r"[-_.]+", "-", package).lower()
    if name in found:
        return
    try:
        found[name] = distribution(package)
    except PackageNotFoundError:
        raise InputError(f"--hosts: the package {package} is not installed here, so it cannot be carried to hosts.") from None
    for requirement in found[name].requires or []:
        wanted, _, condition = requirement.partition(";")
        matched = _NAME.match(wanted.strip())
        if matched is not None and "extra" not in condition and _is_installed(matched.group()):
            _follow(matched.group(), found)


def _is_installed(package: str) -> bool:
    """What is for another system or Python is not."""
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def _files_of(one: Distribution) -> Iterator[File]:
    for path in one.files or []:
        text = str(path)
        if text.startswith(("..", "/", *_NOT_CORE)) or any(part in text for part in _NOT_CARRIED):
            continue
        source = str(one.locate_file(path))
        if os.path.isfile(source):
            yield File(text, source)


def _recorded(one: Distribution) -> str:
    """The hash of what its installer recorded, which has the hash of every file."""
    return hashlib.sha256((one.read_text("RECORD") or "").encode()).hexdigest()


def _own() -> Iterator[File]:
    """The package that runs, wherever it was imported from."""
    root = os.path.dirname(os.path.abspath(plimsoll.__file__))
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _NOT_CARRIED)
        for name in sorted(names):
            source = os.path.join(folder, name)
            if not name.endswith((".pyc", ".pyi")):
                yield File(os.path.join("plimsoll", os.path.relpath(source, root)), source)
