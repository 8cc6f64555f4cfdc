"""PostgreSQL's server programs on this machine.

Model: the folders of Debian and of PostgreSQL's own packages are looked through, then PATH; the newest version counts, or the one that made
the data that is there.

    found = programs()
    found.version, found.initdb, found.postgres        # 15, "/usr/lib/postgresql/15/bin/initdb", …
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from glob import glob

from plimsoll.errors import InputError
from plimsoll.records import dataclass

_FOLDERS = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin", "/opt/postgresql*/bin")
#: Older servers have no pg_stat_wal, which says what was written to the log.
OLDEST = 14


@dataclass(frozen=True)
class Programs:
    """The programs of one version."""

    version: int
    folder: str

    @property
    def initdb(self) -> str:
        """Makes a data directory."""
        return os.path.join(self.folder, "initdb")

    @property
    def postgres(self) -> str:
        """The server."""
        return os.path.join(self.folder, "postgres")


def programs(version: int | None = None, folders: tuple[str, ...] = _FOLDERS) -> Programs:
    """The newest programs here, or those of ``version``. Raises `InputError` with what to install."""
    found = list(_found(folders))
    fitting = [one for one in found if version is None or one.version == version]
    if version is not None and not fitting:
        have = f" (installed: {', '.join(sorted({str(one.version) for one in found}))})" if found else ""
        raise InputError(
            f"the data here were made by PostgreSQL {version}, whose server is not installed{have}; install it, for example"
            f" apt-get install postgresql-{version}, or name another directory."
        )
    if not fitting:
        raise InputError(
            "PostgreSQL's server is not installed here; install it (Debian, Ubuntu: apt-get install postgresql; Fedora: dnf install"
            " postgresql-server), or name a server of yours, postgresql://USER@HOST/DB."
        )
    newest = max(fitting, key=lambda one: one.version)
    if newest.version < OLDEST:
        raise InputError(f"PostgreSQL {newest.version} is too old; install {OLDEST} or newer.")
    return newest


def _found(folders: tuple[str, ...]) -> Iterator[Programs]:
    """Every folder that has a server and what makes its data."""
    names = [name for pattern in folders for name in glob(pattern)]
    for folder in dict.fromkeys([*names, *os.environ.get("PATH", "").split(os.pathsep)]):
        if all(os.access(os.path.join(folder, name), os.X_OK) for name in ("initdb", "postgres")):
            version = _version(os.path.join(folder, "postgres"))
            if version is not None:
                yield Programs(version, folder)


def _version(program: str) -> int | None:
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    number = said.rpartition(") ")[2].split(".")[0].split()[:1]
    digits = "".join(letter for letter in (number or [""])[0] if letter.isdigit())
    return int(digits) if digits else None
