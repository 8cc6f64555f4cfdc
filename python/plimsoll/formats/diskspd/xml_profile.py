"""A DiskSpd profile in XML becomes time spans with targets; or one sentence says what is wrong on which line.

Model: every element known makes one setting, elements unknown are errors. Paths ``*1``, ``*2`` … stand for the targets of a command line.
A result file holds the profile that it was made with; that is read as well.

    profile = read_profile(text, "profile.xml")
    profile.spans[0].targets[0].path            # '*1'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.diskspd.elements import CACHING_MODES, PROFILE_ELEMENTS, SPAN_ELEMENTS, TARGET_ELEMENTS, ElementForm
from plimsoll.formats.diskspd.resolve import TEMPLATE, Profile, Scope, Setting, Span, Target
from plimsoll.formats.diskspd.tree import Element, read_tree
from plimsoll.formats.diskspd.values import RANGES_MAX, RATE_MAX, Kind, Ranges, checked, whole
from plimsoll.near import nearest

_SWITCHES = {"true": True, "1": True, "false": False, "0": False}
_PATTERNS = ("sequential", "zero", "random")
_SHOWN = 60


def read_profile(text: str, source: str) -> Profile:
    """The profile in ``text``; raises `InputError` that names the line."""
    root = read_tree(text, source)
    if root.tag == "Results":
        root = root.child("Profile") or root
    if root.tag != "Profile":
        raise InputError(f"{source}:{root.line}: the document is a <{root.tag}>; write a <Profile> with <TimeSpans>.")
    return _Reading(source).profile(root)


def with_targets(profile: Profile, paths: Sequence[str], source: str) -> None:
    """Puts the targets of a command line in the places of ``*1``, ``*2`` …"""
    used = set()
    for span in profile.spans:
        for target in span.targets:
            found = TEMPLATE.fullmatch(target.path)
            if found is None:
                continue
            number = int(found[1])
            if not 1 <= number <= len(paths):
                raise InputError(
                    f"{source}: the profile asks for target *{number}, and {len(paths)} stand behind -X; write as many as it uses."
                )
            target.path = paths[number - 1]
            used.add(number)
    if len(used) < len(paths):
        spare = next(number for number in range(1, len(paths) + 1) if number not in used)
        raise InputError(f"{source}: the profile has no place *{spare} for target {quoted(paths[spare - 1])}; leave it out.")


class _Reading:
    """One file: counts settings and knows its name."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._order = 0

    def profile(self, root: Element) -> Profile:
        profile = Profile()
        spans = self._scope(profile, root, PROFILE_ELEMENTS, "TimeSpans", profile.others)
        if spans is None:
            raise self._wrong(root, "there are no <TimeSpans>; write one with a <TimeSpan> in it.")
        for element in spans.children:
            profile.spans.append(self._span(self._is(element, "TimeSpan"), profile.others))
        if not profile.spans:
            raise self._wrong(spans, "there is no <TimeSpan> in it; write one with <Targets>.")
        return profile

    def _span(self, element: Element, others: list[Setting]) -> Span:
        span = Span()
        targets = self._scope(span, element, SPAN_ELEMENTS, "Targets", others)
        for child in targets.children if targets is not None else ():
            span.targets.append(self._target(self._is(child, "Target"), others))
        if not span.targets:
            raise self._wrong(element, "the time span has no <Target>; write <Targets> with one in it.")
        return span

    def _target(self, element: Element, others: list[Setting]) -> Target:
        target = Target()
        self._scope(target, element, TARGET_ELEMENTS, "", others)
        path = target.settings.get("Path")
        if path is None or not path.value or not path.value.isprintable():
            raise self._wrong(element, "the target has no <Path>; write a file or a disk, or *1 for the first one of the command line.")
        target.path = path.value
        return target

    def _scope(self, scope: Scope, element: Element, known: Mapping[str, ElementForm], inner: str, others: list[Setting]) -> Element | None:
        """Reads the settings of one element into ``scope``; the child called ``inner`` is given back."""
        found: Element | None = None
        seen: set[str] = set()
        for child in element.children:
            if child.tag in seen:
                raise self._wrong(child, f"<{child.tag}> stands a second time in <{element.tag}>; leave one out.")
            seen.add(child.tag)
            if child.tag == inner:
                found = child
            elif child.tag in known:
                self._setting(scope, child, known[child.tag], others)
            else:
                near = nearest(child.tag, [*known, inner])
                hint = f"did you mean <{near}>?" if near else f"there are {', '.join(known)}."
                raise self._wrong(child, f"<{child.tag[:_SHOWN]}> is not known in <{element.tag}>; {hint}")
        return found

    def _setting(self, scope: Scope, element: Element, form: ElementForm, others: list[Setting]) -> None:
        self._order += 1
        try:
            value = _READERS[form.form](element, form)
        except InputError as problem:
            raise self._wrong(element, f"<{element.tag}>: {problem}") from None
        shown = f"<{element.tag}>{_flat(element)}"
        setting = Setting(form.key, value, shown, element.line, self._order)
        if element.tag not in CACHING_MODES:
            scope.settings[form.key] = setting
            return
        before = scope.settings.get("Caching")
        modes = (before.value if before is not None else "") + (CACHING_MODES[element.tag] if value else "")
        if before is not None:
            others.append(before)
        scope.settings["Caching"] = Setting("Caching", modes, shown, element.line, self._order)

    def _is(self, element: Element, tag: str) -> Element:
        if element.tag != tag:
            raise self._wrong(element, f"<{element.tag[:_SHOWN]}> stands where only <{tag}> can; leave it out.")
        return element

    def _wrong(self, element: Element, problem: str) -> InputError:
        return InputError(f"{self._source}:{element.line}: {problem}")


def _flat(element: Element) -> str:
    """The text of an element, or that there is more below it."""
    text = " ".join(element.text.split())
    return text[:_SHOWN] if not element.children else "…"


def _whole(element: Element, form: ElementForm) -> int:
    return whole(element.text, form.least, form.most)


def _switch(element: Element, _: ElementForm) -> bool:
    value = _SWITCHES.get(element.text.lower())
    if value is None:
        raise InputError(f"{quoted(element.text[:_SHOWN])} is neither; write true or false.")
    return value


def _throughput(element: Element, _: ElementForm) -> tuple[int, str]:
    unit = element.attributes.get("unit", "BPMS").upper()
    if unit not in ("BPMS", "IOPS"):
        raise InputError(f"unit {quoted(unit[:_SHOWN])} is not known; write IOPS, or leave it out for bytes per millisecond.")
    return whole(element.text, 0, RATE_MAX), unit


def _content(element: Element, _: ElementForm) -> Any:
    pattern, data = element.child("Pattern"), element.child("RandomDataSource")
    if data is not None:
        size, path = data.child("SizeInBytes"), data.child("FilePath")
        return ("source", whole(size.text if size is not None else "", 1, 1 << 50), path.text if path is not None else "")
    if pattern is None or pattern.text.lower() not in _PATTERNS:
        raise InputError(f"there is no known <Pattern> in it; write one of {', '.join(_PATTERNS)}.")
    return pattern.text.lower()


def _distribution(element: Element, _: ElementForm) -> Ranges:
    if len(element.children) != 1 or element.children[0].tag not in ("Percent", "Absolute"):
        raise InputError("write either <Percent> or <Absolute> in it, with a <Range> for each part of the target.")
    inside = element.children[0]
    kind: Kind = "pct" if inside.tag == "Percent" else "abs"
    pairs = []
    for child in inside.children[: RANGES_MAX + 1]:
        if child.tag != "Range" or "IO" not in child.attributes:
            raise InputError('write <Range IO="90">10</Range>: the percentage of the requests, and the part of the target.')
        pairs.append((whole(child.attributes["IO"], 0, 100), whole(child.text, 1, 100 if kind == "pct" else 1 << 50)))
    if not pairs:
        raise InputError('it has no range; write for example <Range IO="90">10</Range>.')
    return checked(Ranges(kind, tuple(pairs)))


_READERS: dict[str, Any] = {
    "whole": _whole,
    "switch": _switch,
    "text": lambda element, _: element.text,
    "throughput": _throughput,
    "content": _content,
    "distribution": _distribution,
    "any": lambda *_: True,
}
