"""Where a database is: an address as it is typed after ``--target``, read into a record that has no password.

Model: the word before the colon is the engine. ``ENGINE:DIR`` and ``ENGINE:new:DIR`` are private: Plimsoll makes the database in that
directory, starts what it needs, and stops and removes it. A URL is the user's own server, where Plimsoll works in a schema of its own.
Spark has a master and a directory, which every worker has to see. Nothing here looks at a disk or a network.
Limits: passwords were taken out where the text was typed (`plimsoll.passwords`); `Address.secrets` gives them to whoever connects.

    parse("postgresql:new:/mnt/array/pg")               # Address("postgresql:new:/mnt/array/pg", "postgresql", directory="/mnt/array/pg")
    parse("postgresql://me@db1/test").url               # "postgresql://me@db1/test"
    parse("spark://m:7077?data=/mnt/dss").directory     # "/mnt/dss"
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal
from urllib.parse import unquote

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import listed, nearest
from plimsoll.passwords import kept, withheld
from plimsoll.records import dataclass

Engine = Literal["duckdb", "sqlite", "postgresql", "spark"]

#: How each engine's addresses are written.
FORMS: dict[Engine, tuple[str, ...]] = {
    "duckdb": ("duckdb:DIR",),
    "postgresql": ("postgresql:new:DIR", "postgresql://USER@HOST/DB"),
    "sqlite": ("sqlite:DIR",),
    "spark": ("spark:local?data=DIR", "spark://HOST:7077?data=DIR"),
}
#: What else an engine is called.
_OTHER_NAMES: dict[str, Engine] = {
    "postgres": "postgresql",
    "pgsql": "postgresql",
    "pg": "postgresql",
    "psql": "postgresql",
    "jdbc:postgresql": "postgresql",
    "postgresql+psycopg": "postgresql",
    "duck": "duckdb",
    "sqlite3": "sqlite",
}
_LOCAL = re.compile(r"local(\[(\d+|\*)\])?")
_SPARK_DEFAULT = "./plimsoll-scratch.spark"


@dataclass(frozen=True)
class Address:
    """``text`` is what was typed, without a password. A private database has a ``directory`` and no ``url``; the user's own server a
    ``url``, which is complete but for its password; Spark has its master for a URL, and the directory of its data."""

    text: str
    engine: Engine
    directory: str | None = None
    url: str | None = None

    @property
    def is_private(self) -> bool:
        """Whether Plimsoll makes, starts and stops the engine itself."""
        return self.url is None or self.url.startswith("local")

    @property
    def secrets(self) -> dict[str, str]:
        """The password that was typed in the URL, by the names of a connection's options; never to be stored or shown."""
        return {} if self.url is None else kept(self.url)

    def __str__(self) -> str:
        return self.text


def parse(text: str, engines: Sequence[Engine] = tuple(FORMS)) -> Address:
    """The address that ``text`` is, of one of ``engines``; raises `InputError` with what may have been meant."""
    text = withheld(text.strip())
    word, colon, rest = _divided(text)
    if not colon or word not in FORMS:
        raise InputError(f"target {quoted(text)}: {_no_engine(text, word, rest, engines)}")
    if word not in engines:
        raise InputError(f"target {quoted(text)}: {word} is no engine for this load; write {_forms(engines)}.")
    return {"duckdb": _embedded, "sqlite": _embedded, "postgresql": _postgresql, "spark": _spark}[word](text, word, rest)


def is_address(text: str) -> bool:
    """Whether a text begins like an address of some engine, whatever follows."""
    return _divided(text.strip())[0] in FORMS


def _divided(text: str) -> tuple[str, str, str]:
    """The engine's word, the colon, and what follows; ``postgres://`` is how libpq writes ``postgresql://`` as well."""
    word, colon, rest = text.partition(":")
    word = word.lower()
    return ("postgresql" if word == "postgres" and rest.startswith("//") else word), colon, rest


def _no_engine(text: str, word: str, rest: str, engines: Sequence[Engine]) -> str:
    """What is wrong with an address without an engine, and what may have been meant."""
    near: str | None = None
    for other, engine in _OTHER_NAMES.items():
        if text.lower().startswith(f"{other}:"):
            near, rest = engine, text[len(other) + 1 :]
    near = near or (nearest(word, FORMS) if ":" in text else None)
    if near in engines:
        if near == "postgresql" and not rest.startswith(("//", "new:")):
            rest = f"new:{rest}"
        return f"there is no engine {quoted(word)}; did you mean {quoted(f'{near}:{rest}')}?"
    if ":" not in text:
        if not text.startswith((".", "/", "~")):
            return f"names no database engine; write {_forms(engines)}."
        first = FORMS[engines[0]][0].partition("DIR")[0]
        return f"names no database engine; did you mean {quoted(first + text)}? Write {_forms(engines)}."
    return f"there is no engine {quoted(word)} for this load; write {_forms(engines)}."


def _forms(engines: Sequence[Engine]) -> str:
    return listed([form for engine in engines for form in FORMS[engine]])


def _embedded(text: str, engine: Engine, rest: str) -> Address:
    if rest.startswith("//"):
        rest = rest.removeprefix("//")
        example = f"{engine}:{rest}" if rest else FORMS[engine][0]
        raise InputError(f"target {quoted(text)}: {engine} has no server and so no URL; write {quoted(example)}.")
    return Address(text, engine, directory=_directory(text, rest.removeprefix("new:"), f"{engine}:"))


def _postgresql(text: str, engine: Engine, rest: str) -> Address:
    if rest.startswith("//"):
        return _own_server(text, f"{engine}:{rest}")
    word, colon, directory = rest.partition(":")
    if word == "new" and (colon or not directory):
        return Address(text, engine, directory=_directory(text, directory, "postgresql:new:"))
    if rest.startswith("/"):
        own = f", or 'postgresql:/{rest}' for a server of yours"
        raise InputError(f"target {quoted(text)}: write 'postgresql:new:{rest}' for a server that Plimsoll makes there{own}.")
    if colon and nearest(word, ["new"]):
        raise InputError(f"target {quoted(text)}: did you mean 'postgresql:new:{directory}'?")
    raise InputError(f"target {quoted(text)}: write {_forms(['postgresql'])}.")


def _own_server(text: str, url: str) -> Address:
    """The user's own server; what can be wrong with a URL before anybody connects is found here, since libpq repeats what it was given."""
    place, _, query = url.removeprefix("postgresql://").partition("?")
    hosts, _, name = place.partition("/")
    for host in hosts.rpartition("@")[2].split(","):
        port = re.fullmatch(r"(?:\[[^\]]*\]|[^:\[\]]*)(?::([^:]*))?", host)
        if port is None:
            raise InputError(f"target {quoted(text)}: {quoted(host)} is no host; write HOST, HOST:PORT or [ADDRESS]:PORT.")
        if port[1] and not (port[1].isdigit() and 0 < int(port[1]) < 65536):
            raise InputError(f"target {quoted(text)}: port {quoted(port[1])} is no number from 1 to 65535.")
    if "/" in name:
        raise InputError(f"target {quoted(text)}: {quoted(unquote(name))} is no name of a database; write postgresql://USER@HOST/DB.")
    for pair in filter(None, query.split("&")):
        if "=" not in pair:
            raise InputError(f"target {quoted(text)}: {quoted(pair)} after '?' has no value; write for example sslmode=require.")
    return Address(text, "postgresql", url=url)


def _spark(text: str, engine: Engine, rest: str) -> Address:
    master, _, query = rest.partition("?")
    values = dict(pair.partition("=")[::2] for pair in query.split("&") if pair)
    unknown = next((key for key in values if key != "data"), None)
    if unknown is not None:
        raise InputError(f"target {quoted(text)}: {quoted(unknown)} after '?' is not known; write data=DIR.")
    data = values.get("data")
    if data is not None:
        data = _directory(text, unquote(data), f"{engine}:{master}?data=")
    if _LOCAL.fullmatch(master):
        return Address(text, engine, directory=data or _SPARK_DEFAULT, url="local[*]" if master == "local" else master)
    if not re.fullmatch(r"//[^/?#\s:]+:\d+(,[^/?#\s:]+:\d+)*", master):
        raise InputError(f"target {quoted(text)}: {quoted(master)} is no Spark master; write {_forms(['spark'])}.")
    if data is None:
        raise InputError(f"target {quoted(text)}: name the directory that every worker sees, spark:{master}?data=DIR.")
    return Address(text, engine, directory=data, url=f"spark:{master}")


def _directory(text: str, directory: str, before: str) -> str:
    if not directory.strip():
        raise InputError(f"target {quoted(text)}: name the directory, for example {before}/mnt/array/db.")
    if directory.startswith("~"):
        raise InputError(f"target {quoted(text)}: the shell leaves '~' after a colon as it is; write {before}$HOME{directory[1:]}.")
    if "\0" in directory:
        raise InputError(f"target {quoted(text)}: a directory's name has no zero byte.")
    return directory
