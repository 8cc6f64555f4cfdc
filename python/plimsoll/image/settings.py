"""What the image shall do, as it stands on the kernel command line or in ``plimsoll.conf`` on the stick.

Model: words ``plimsoll.NAME=VALUE``, quoted as the kernel does it; in the file the same, a line each, with or without ``plimsoll.``, ``#``
begins a comment. A word of the command line replaces that of the file. Whatever is wrong becomes a problem in a sentence, and while there
is one nothing runs by itself.
Limits: whoever can read /proc/cmdline on the machine reads what was given there; `plimsoll.host` stores only the names of these words.

    settings = read("quiet plimsoll.suite=check plimsoll.target=serial:S4EV", "poweroff = yes")
    settings.suite, settings.target, settings.poweroff          # "check", "serial:S4EV", True
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from ipaddress import ip_address, ip_interface
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import listed, meant

_PREFIX = "plimsoll."
_YES, _NO = ("yes", "1", "true", "on", ""), ("no", "0", "false", "off")
#: A word as the kernel takes it apart: quotes may stand around it or around its value.
_WORD = re.compile(r'(?:"[^"]*"|[^\s"])+')
#: What comes before a serial number in ``target``.
SERIAL = "serial:"
#: As many as one gang has (`plimsoll.gang.lineup`), and a name or an address that its results can be called by.
_HOSTS_MAX = 64
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_KEY_TYPES = ("ssh-ed25519", "ssh-rsa", "ecdsa-sha2-", "sk-ssh-ed25519@", "sk-ecdsa-sha2-")


@dataclass(frozen=True)
class Word:
    """A word that can be given: its value in help, and what it means."""

    metavar: str
    meaning: str


#: Every word; the table of docs/live-image.md has the same.
WORDS: dict[str, Word] = {
    "suite": Word("NAME", "What to run: `proliant-generations`, any other suite, or `check`, which only reads a device"),
    "quick": Word("yes", "The short form of the suite"),
    "target": Word("serial:SERIAL", "The disk, by its serial number"),
    "destroy": Word("SERIAL", "The same serial number again: all data on that disk may be overwritten"),
    "label": Word("TEXT", "What the run is called in reports [model and serial number of the disk]"),
    "send": Word("URL", "Where results go, as for `plimsoll send --to`; given again, there as well"),
    "token": Word("TOKEN", "The token of `plimsoll serve --receive`, if it is not in the URL"),
    "fingerprint": Word("SHA256", "The SHA-256 of the server's certificate, as `plimsoll serve` prints it"),
    "for": Word("TIME", "Try to send for so long, e.g. `1h` [until it is there]"),
    "poweroff": Word("yes", "Power the machine off at the end"),
    "ip": Word("ADDRESS/BITS,GATEWAY,DNS", "An address of its own instead of DHCP; gateway and DNS may be missing"),
    "ssh_key": Word("KEY", "A public key that may log in as root; without one there is no ssh"),
    "hosts": Word("A,B,…", "Addresses or names of machines that measure together; the first commands, and each has the file `rack`"),
    "share": Word("HOW", "How these share one disk that all reach: `slices`, `full`, or a region for each, as `--share` says it"),
}
_SEVERAL = ("send", "ssh_key")
_SWITCHES = ("quick", "poweroff")


@dataclass(frozen=True)
class Address:
    """An address of the machine, with what it needs to reach others."""

    own: str
    gateway: str | None = None
    dns: str | None = None


@dataclass(frozen=True)
class Settings:
    """What was asked for; ``problems`` says in sentences what of it is wrong. Secrets are in no representation."""

    suite: str | None = None
    quick: bool = False
    target: str | None = None
    destroy: str | None = None
    label: str | None = None
    send: tuple[str, ...] = field(default=(), repr=False)
    token: str | None = field(default=None, repr=False)
    fingerprint: str | None = None
    for_: str | None = None
    poweroff: bool = False
    address: Address | None = None
    ssh_keys: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    share: str | None = None
    problems: tuple[str, ...] = ()

    @property
    def unattended(self) -> bool:
        """Whether something shall be measured without anybody at the menu."""
        return self.suite is not None or self.target is not None or self.destroy is not None

    def masked(self, text: str) -> str:
        """``text`` without any secret of these settings."""
        for secret in sorted(self._secrets(), key=len, reverse=True):
            text = text.replace(secret, "***")
        return text

    def _secrets(self) -> set[str]:
        found = {self.token or ""}
        for url in self.send:
            found.update(_secrets_of(url))
        return {secret for secret in found if secret}


def read(command_line: str, file: str = "") -> Settings:
    """What both ask for; never raises."""
    problems: list[str] = []
    told = {**_given(_lines(file), "plimsoll.conf", problems), **_given(_of_kernel(command_line), "the kernel command line", problems)}
    settings = Settings()
    for name, (values, where) in told.items():
        try:
            settings = replace(settings, **_value(name, values))
        except InputError as problem:
            problems.append(f"{where}: {_PREFIX}{name}: {problem}")
    problems += _missing(settings)
    return replace(settings, problems=tuple(problems))


def shown(url: str) -> str:
    """An address without what is secret in it."""
    scheme, _, rest = url.partition("://")
    if not rest:
        return url
    place = rest.partition("?")[0].partition("#")[0]
    host, slash, path = place.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def _is_ours(word: str) -> bool:
    return word.lstrip('"').startswith(_PREFIX)


def _of_kernel(command_line: str) -> Iterator[tuple[str, str | None]]:
    for found in _WORD.finditer(command_line):
        if _is_ours(found.group(0)):
            name, equals, value = found.group(0).replace('"', "").removeprefix(_PREFIX).partition("=")
            yield name, value if equals else None


def _lines(file: str) -> Iterator[tuple[str, str | None]]:
    for line in file.splitlines():
        text = line.strip().removeprefix("\ufeff")
        if text and not text.startswith("#"):
            name, equals, value = text.removeprefix(_PREFIX).partition("=")
            value = value.strip()
            quotes = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            yield name.strip(), (value[1:-1] if quotes else value) if equals else None


def _given(words: Iterator[tuple[str, str | None]], where: str, problems: list[str]) -> dict[str, tuple[list[str], str]]:
    told: dict[str, tuple[list[str], str]] = {}
    for name, value in words:
        if name == "medium":
            continue  # of the boot loader: where the image lies
        if name not in WORDS:
            problems.append(f"{where}: there is no word {quoted(_PREFIX + name)}; {meant(name, WORDS)}")
        elif value is None and name not in _SWITCHES:
            problems.append(f"{where}: {_PREFIX}{name} has no value; write {_PREFIX}{name}={WORDS[name].metavar}.")
        elif name in told and name not in _SEVERAL:
            problems.append(f"{where}: {_PREFIX}{name} is given twice; give it once.")
        else:
            told.setdefault(name, ([], where))[0].append(value or "")
    return told


def _value(name: str, values: list[str]) -> dict[str, Any]:
    last = values[-1]
    if name in _SWITCHES:
        return {name: _switch(last)}
    if not all(values):
        raise InputError(f"it is empty; write {_PREFIX}{name}={WORDS[name].metavar}.")
    match name:
        case "send":
            return {"send": tuple(map(_url, values))}
        case "ssh_key":
            return {"ssh_keys": tuple(map(_key, values))}
        case "ip":
            return {"address": _address(last)}
        case "for":
            return {"for_": last}
        case "hosts":
            return {"hosts": _hosts(last)}
        case _:
            return {name: last}


def _switch(text: str) -> bool:
    if text.lower() not in (*_YES, *_NO):
        raise InputError(f"{quoted(text)} is neither yes nor no.")
    return text.lower() in _YES


def _url(text: str) -> str:
    """An address in which a password ends where one thinks that it does."""
    place = re.split(r"[/?#]", text.partition("://")[2], maxsplit=1)[0]
    if "@" not in place and re.search(r":\D", place.partition("]")[2] or place):
        raise InputError("its password has a '/', '?' or '#' of its own; write them as %2F, %3F and %23.")
    return text


def _key(text: str) -> str:
    if not text.startswith(_KEY_TYPES) or len(text.split()) < 2 or "\n" in text:
        raise InputError("it is no public key; write it as it stands in id_ed25519.pub, between quotes.")
    return text


def _address(text: str) -> Address | None:
    if text == "dhcp":
        return None
    parts = text.split(",")
    try:
        if not 1 <= len(parts) <= 3 or "/" not in parts[0]:
            raise ValueError
        own = str(ip_interface(parts[0]))
        others = [str(ip_address(part)) if part else None for part in parts[1:]]
    except ValueError:
        raise InputError(f"{quoted(text)} is no address; write for example 10.0.0.7/24,10.0.0.1,10.0.0.1, or dhcp.") from None
    return Address(own, *others)


def _hosts(text: str) -> tuple[str, ...]:
    names = tuple(word.strip() for word in text.split(","))
    for name in names:
        if not _HOST.fullmatch(name):
            raise InputError(f"{quoted(name)} is no address and no name; write for example 10.0.0.11,10.0.0.12.")
        if names.count(name) > 1:
            raise InputError(f"{name} is named twice; name each machine once.")
    if not 2 <= len(names) <= _HOSTS_MAX:
        raise InputError(f"{len(names)} named; name 2 to {_HOSTS_MAX} machines, with commas between them.")
    return names


def serials(text: str) -> tuple[str, ...]:
    """The serial numbers of a rack's disks, as ``target`` or ``destroy`` names them."""
    return tuple(word.strip().removeprefix(SERIAL) for word in text.split(","))


def _missing(settings: Settings) -> Iterator[str]:
    """What was asked for in part."""
    if settings.destroy is not None and settings.target is None:
        yield f"{_PREFIX}destroy is given and {_PREFIX}target is not; name the disk: {_PREFIX}target=serial:{settings.destroy}."
    elif settings.suite is None and settings.target is not None:
        yield f"{_PREFIX}target is given and {_PREFIX}suite is not; write {_PREFIX}suite={listed(('check', 'proliant-generations'))}."
    elif settings.suite is not None and settings.target is None:
        yield f"{_PREFIX}suite is given and {_PREFIX}target is not; name the disk: {_PREFIX}target=serial:SERIAL."
    elif settings.hosts and settings.target is None:
        yield f"{_PREFIX}hosts is given, {_PREFIX}suite and {_PREFIX}target are not; give them, the same on each machine."
    elif settings.hosts and settings.target is not None and (count := len(serials(settings.target))) not in (1, len(settings.hosts)):
        yield f"{_PREFIX}target names {count} disks for {len(settings.hosts)} machines; name one for each, in their order, or one for all."
    if settings.share is not None and not settings.hosts:
        yield f"{_PREFIX}share is given and {_PREFIX}hosts is not; a machine by itself shares nothing."


def _secrets_of(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        password = parts.password
    except ValueError:
        yield url
        return
    if password:
        yield from (password, unquote(password))
    for _, value in parse_qsl(parts.query):
        yield value
    if parts.query:
        yield parts.query
