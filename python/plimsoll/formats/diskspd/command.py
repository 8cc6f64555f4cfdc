"""A DiskSpd command line: words in, a profile of one time span out; or one sentence that says which word is wrong.

Model: flags come first, each with its value in the same word, then the targets. ``b`` in a size counts blocks, so ``-b`` is looked for
before the others are read. Flags hold for every target. With ``-X`` everything comes from the profile named, and only its times, seed and
output may be said anew; the targets then take the places of ``*1``, ``*2`` …

    command = read_command(["-b4K", "-r", "-o32", "io.dat"], Place("command line"))
    command.profile.spans[0].targets[0].get("Random")       # 0: aligned to the block size
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.diskspd.options import BESIDE_PROFILE, EXCLUSIVE, FLAGS, LONGEST_FIRST, NEEDS, Flag
from plimsoll.formats.diskspd.resolve import DEFAULTS, Profile, Scope, Setting, Span, Target
from plimsoll.formats.diskspd.values import Values, between, caching, read_special, size, whole
from plimsoll.formats.place import Place

PROGRAMS = ("diskspd", "diskspd.exe", "diskspd64", "diskspd64.exe")
#: Flags that may stand more than once.
_REPEATED = frozenset(("S", "f", "a", "e", "y"))


@dataclass
class Command:
    """What was typed: settings of every scope by flag, the targets, and the profile file of -X."""

    place: Place
    words: dict[str, int] = field(default_factory=dict)
    settings: list[tuple[Flag, Setting]] = field(default_factory=list)
    targets: list[Setting] = field(default_factory=list)
    profile_file: str | None = None


def split_line(line: str, place: Place) -> list[str]:
    """The words of one line of a file: quotation marks hold words together, a backslash is part of a path."""
    lexer: Any = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""
    try:
        return [str(word) for word in lexer]
    except ValueError:
        raise place.wrong("a quotation mark is not closed; write the closing one, or leave both out.") from None


def read_command(words: Sequence[str], place: Place) -> Command:
    """The flags and targets of ``words``; raises `InputError` naming the word."""
    command = Command(place)
    skipped = 1 if words and words[0].replace("\\", "/").rpartition("/")[2].lower() in PROGRAMS else 0
    block = _block(words[skipped:])
    number = skipped
    while number < len(words) and words[number].startswith("-"):
        number += _read_flag(command, words, number, block)
    _read_targets(command, words, number)
    _check_together(command)
    if not command.targets and command.profile_file is None:
        raise place.wrong("there is no target; write a file or a disk after the flags, for example io.dat.")
    return command


def profile_of(command: Command) -> Profile:
    """The profile of one time span that a command line without -X says."""
    profile, span = Profile(), Span()
    targets = [Target(path=setting.value) for setting in command.targets]
    for flag, setting in command.settings:
        scopes: Sequence[Scope] = targets if flag.scope == "target" else [span] if flag.scope == "span" else [profile]
        if flag.scope == "other":
            profile.others.append(setting)
            continue
        for scope in scopes:
            _put(scope.settings, setting, profile.others)
    for target, setting in zip(targets, command.targets, strict=True):
        target.settings["Path"] = setting
    span.targets = targets
    profile.spans.append(span)
    return profile


def _put(settings: dict[str, Setting], setting: Setting, others: list[Setting]) -> None:
    """Into its scope; what it repeats is joined, and still remarked upon."""
    before = settings.get(setting.key)
    if before is not None and before not in others:
        others.append(before)
    settings[setting.key] = setting


def _block(words: Sequence[str]) -> int:
    """The block size, for sizes in blocks; a wrong one is reported when its turn comes."""
    for word in words:
        if word.startswith("-b"):
            try:
                return size(word[2:], 1) or 1
            except InputError:
                break
    block: int = DEFAULTS["BlockSize"]
    return block


def _read_flag(command: Command, words: Sequence[str], index: int, block: int) -> int:
    """Reads the flag at ``index``; how many words it takes."""
    word, place, number = words[index], command.place, index + 1
    flag = _flag(word, place, number)
    text, taken = word[1 + len(flag.name) :], 1
    if flag.name in ("X", "y") and (not text or (flag.name == "y" and len(text) == 1)) and index + 1 < len(words):
        # The documentation writes these two with a space.
        text, taken = text + words[index + 1], 2
    if flag.name in command.words and flag.name not in _REPEATED:
        raise place.wrong(f"-{flag.name} stands a second time, first as word {command.words[flag.name]}; leave one out.", number)
    command.words.setdefault(flag.name, number)
    try:
        values = _values(flag, text, block)
        if "Caching" in values:
            values["Caching"] = _joined_caching(command, values["Caching"])
    except InputError as problem:
        raise place.wrong(f"-{flag.name}: {problem}", number) from None
    if flag.name == "X":
        if not text:
            raise place.wrong("-X names no file; write for example -Xprofile.xml.", number)
        command.profile_file = text
    shown = " ".join(words[index : index + taken])
    for key, value in values.items():
        command.settings.append((flag, Setting(key, value, shown, place.line, number)))
    return taken


def _flag(word: str, place: Place, number: int) -> Flag:
    for flag in LONGEST_FIRST:
        if word[1:].startswith(flag.name):
            return flag
    raise place.wrong(f"{quoted(word[:40])} is not a flag of DiskSpd; there are {', '.join(f'-{flag.name}' for flag in FLAGS)}.", number)


def _values(flag: Flag, text: str, block: int) -> Values:
    if flag.form == "special":
        return read_special(flag.name, text, block)
    if flag.form == "any":
        return {flag.key: text}
    if flag.form == "none":
        if text:
            raise InputError(f"{quoted(text[:40])} stands behind it, and it takes no value; write -{flag.name} alone.")
        return {flag.key: "h" if flag.name == "h" else True}
    if not text:
        if flag.form.startswith("optional"):
            return {flag.key: flag.bare}
        raise InputError(f"the value is missing; write it in the same word, for example {flag.written.split(',')[0]}.")
    if flag.form.endswith("whole"):
        return {flag.key: whole(text, flag.least, flag.most)}
    return {flag.key: between(size(text, block), flag.least, flag.most)}


def _joined_caching(command: Command, modes: str) -> str:
    """Several -S count as one: ``-Su -Sw`` is ``-Suw``."""
    before = next((setting.value for flag, setting in reversed(command.settings) if flag.name == "S"), "")
    return caching(before + modes)


def _read_targets(command: Command, words: Sequence[str], start: int) -> None:
    for index in range(start, len(words)):
        word = words[index]
        if word.startswith("-") and len(word) > 1:
            raise command.place.wrong(f"{quoted(word[:40])} stands behind a target; write flags before the targets.", index + 1)
        if not word or not word.isprintable():
            raise command.place.wrong(f"{quoted(word[:40])} cannot be a target; write a file or a disk, for example io.dat.", index + 1)
        if word in [setting.value for setting in command.targets]:
            raise command.place.wrong(f"{quoted(word[:40])} is named twice; name each target once, and use -t for more threads.", index + 1)
        command.targets.append(Setting("Path", word, word, command.place.line, index + 1))


def _check_together(command: Command) -> None:
    words, place = command.words, command.place
    if command.profile_file is not None:
        for name in words:
            if name not in BESIDE_PROFILE:
                raise place.wrong(f"-{name} cannot stand beside -X; write it into the profile.", words[name])
        return
    for one, other, why in EXCLUSIVE:
        if one in words and other in words and not (one == "r" and "rs" in words):
            raise place.wrong(f"{why}.", max(words[one], words[other]))
    for name, needed, why in NEEDS:
        if name in words and not any(item in words for item in needed):
            raise place.wrong(f"{why}.", words[name])
