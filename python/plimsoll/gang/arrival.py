"""The first of Plimsoll on a host that has nothing but Python: a text that comes over ssh, unpacks the rest, and becomes what is wanted.

Model: whoever commands sends this text, and talks to it in lines of JSON. It says what the host is; takes the environment, file by file,
where the cache has none with that hash; makes a directory that only its user can enter, with what the gang is told in it; and replaces
itself by a keeper, or by what answers for files, with the carried environment before anything that is installed here. Lines of the host's
own shell in front of it are no harm: its own begin with `MARK`.
Limits: the standard library alone, in words that Python 3.7 can read, so that one that is too old can say so.

    ssh db1 python3 -c 'import sys; exec(sys.stdin.buffer.read(LENGTH))'
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import tempfile
import time
from typing import Any, NoReturn

Json = Any
MARK = "plimsoll-host "
#: Environments that lie in the cache at most; the one used longest ago goes first.
KEPT = 3
_MANIFEST = "manifest.json"
#: What a host may change of it: many add authorities of their own to the certificates of every Python, and no gang asks these.
HOSTS_OWN = ("certifi/cacert.pem",)
#: A path of a socket has 107 bytes, and Ray makes its own below the directory.
_TEMPORARY_MAX = 20


class Refused(Exception):
    """One sentence, for whoever commands."""


def say(message: Json) -> None:
    """A line to whoever commands."""
    sys.stdout.write(MARK + json.dumps(message) + "\n")
    sys.stdout.flush()


def heard() -> Any:
    """The next line of whoever commands; ends when there is nobody any more."""
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        sys.exit(0)
    return json.loads(line.decode())


def introduction() -> Json:
    """What the host is."""
    libc = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in os.confstr_names else ""
    return {
        "name": os.uname().nodename,
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "architecture": os.uname().machine,
        "system": os.uname().sysname,
        "libc": libc,
        "connection": os.environ.get("SSH_CONNECTION", ""),
        "wall_ns": int(time.time() * 1e9),
    }


def folder_of(variable: str, usual: str) -> str:
    """A directory of this user's, made."""
    path = os.path.join(os.environ.get(variable) or os.path.join(os.path.expanduser("~"), usual), "plimsoll")
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except OSError as problem:
        why = (problem.strerror or str(problem)).lower()
        wanted = "give its user a home that can be written, or set " + variable
        raise Refused(f"{path} cannot be made here ({why}); {wanted}.") from None
    return path


def is_whole(path: str) -> bool:
    """Whether every file that was carried is there, as long as it was but for what is the host's own."""
    try:
        with open(os.path.join(path, _MANIFEST), encoding="utf-8") as file:
            sizes = json.load(file)
        found = {name: os.stat(os.path.join(path, name)).st_size for name in sizes}
        return all(found[name] == size or name in HOSTS_OWN for name, size in sizes.items())
    except (OSError, ValueError):
        return False


def unpacked(cache: str, name: str) -> None:
    """Take the files that come, and show them under their name once all are on the medium."""
    beside = tempfile.mkdtemp(prefix=".part-", dir=cache)
    try:
        sizes = {}
        while True:
            one = heard()
            if one is None:
                break
            path = os.path.join(beside, one["path"])
            if os.path.commonpath([os.path.realpath(os.path.dirname(path)), os.path.realpath(beside)]) != os.path.realpath(beside):
                raise Refused(f"{one['path']} is no path of an environment.")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            left = sizes[one["path"]] = one["size"]
            with open(path, "wb") as file:
                while left:
                    piece = sys.stdin.buffer.read(min(left, 1 << 20))
                    if not piece:
                        sys.exit(0)
                    file.write(piece)
                    left -= len(piece)
            if one["executable"]:
                os.chmod(path, 0o700)
        with open(os.path.join(beside, _MANIFEST), "w", encoding="utf-8") as file:
            json.dump(sizes, file)
        os.sync()
        final = os.path.join(cache, name)
        if os.path.exists(final):
            # Another gang was faster, or what is there is damaged.
            shutil.rmtree(final, ignore_errors=True)
        try:
            os.rename(beside, final)
        except OSError:
            if not is_whole(final):
                raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def tidied(cache: str, but: str) -> None:
    """Environments that nobody has used for long make way."""
    names = [name for name in os.listdir(cache) if not name.startswith(".") and name != but]
    for name in sorted(names, key=lambda name: os.stat(os.path.join(cache, name)).st_mtime)[: max(0, len(names) - KEPT + 1)]:
        shutil.rmtree(os.path.join(cache, name), ignore_errors=True)


def settled(told: Json, environment: str) -> tuple[str, str]:
    """The directory of the gang here and where it stores; in what it is told `{nest}`, `{store}` and so on stand for them."""
    directory = os.path.expanduser(told["directory"])
    if not os.path.isdir(directory):
        raise Refused(f"{directory} is no directory here; name another with 'directory', or make it.")
    usual = tempfile.gettempdir()
    nest = tempfile.mkdtemp(prefix="plimsoll-gang-", dir=usual if len(usual) <= _TEMPORARY_MAX else "/tmp")  # noqa: S108
    store = os.path.join(folder_of("XDG_STATE_HOME", ".local/state"), "gangs", told["gang"])
    os.makedirs(os.path.join(store, told["host"]), mode=0o700)
    words = {"{nest}": nest, "{store}": store, "{directory}": directory, "{python}": sys.executable, "{environment}": environment}
    for name, content in told["files"].items():
        text = content
        for word, value in words.items():
            text = text.replace(word, value)
        path = os.path.join(nest, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR), "w", encoding="utf-8") as file:
            file.write(text)
    return nest, store


def become(module: str, environment: str, *words: str) -> NoReturn:
    """Be a module of the carried environment from now on."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PLIMSOLL_", "RAY_"))}
    os.execve(sys.executable, [sys.executable, "-s", "-m", module, *words], {**kept, "PYTHONPATH": environment})  # noqa: S606


def serve() -> None:
    """The talk, to its end."""
    say(introduction())
    told = heard()
    cache = os.path.join(folder_of("XDG_CACHE_HOME", ".cache"), "environments")
    os.makedirs(cache, mode=0o700, exist_ok=True)
    environment = os.path.join(cache, told["environment"])
    there = is_whole(environment)
    say({"there": there})
    if not there:
        unpacked(cache, told["environment"])
        say({"there": True})
    os.utime(environment)
    tidied(cache, told["environment"])
    wanted = heard()
    if wanted["be"] == "keeper":
        nest, store = settled(wanted, environment)
        say({"nest": nest, "store": store, "environment": environment})
        become("plimsoll.gang.keeper", environment, nest)
    say({})
    become("plimsoll.gang.attendant", environment, *wanted["words"])


def main() -> None:
    """Serve; what cannot be is one sentence."""
    try:
        serve()
    except Refused as refusal:
        say({"refused": str(refusal)})
    except OSError as problem:
        where = f"{problem.filename}: " if problem.filename else ""
        say({"refused": f"{where}{(problem.strerror or str(problem)).lower()}."})


if __name__ in ("__main__", "arrival"):
    main()
