"""Reading one fact at a time: the value, or why it is absent.

Model: a fact that is not there is null, and the reason stands under ``absent`` beside it. Records of earlier versions have the text
``absent: reason`` in its place; `known` and `why_absent` read both.

    facts = collect_facts({"model": lambda: text("/sys/block/sda/device/model")})
    facts                           # {"model": None, "absent": {"model": "no such file or directory"}}
    why_absent(facts, "model")      # "no such file or directory"
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, cast

from plimsoll.displayed import quoted

#: Where the reasons stand.
ABSENT = "absent"
#: What a fact of an earlier version begins with when it is none.
_MARK = "absent:"


class Absent(Exception):
    """A fact that this host does not offer; the message is the reason."""


def text(path: str) -> str:
    """The stripped content of a small file."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError as problem:
        raise Absent(_reason(problem)) from None


def number(path: str) -> int:
    """The integer that a small file holds."""
    content = text(path)
    try:
        return int(content)
    except ValueError:
        raise Absent(f"{os.path.basename(path)} holds {quoted(content)}, not a number") from None


def collect_facts(collectors: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """The value of each collector, None where there is none, with the reasons under ``absent`` when there are any."""
    facts: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for name, collector in collectors.items():
        facts[name] = None
        try:
            facts[name] = collector()
        except Absent as reason:
            reasons[name] = str(reason)
        except (OSError, ValueError, LookupError) as problem:
            reasons[name] = _reason(problem)
    return {**facts, ABSENT: reasons} if reasons else facts


def known(facts: Mapping[str, object], name: str) -> Any:
    """The fact, or None when it is absent."""
    value = facts.get(name)
    return None if isinstance(value, str) and value.startswith(_MARK) else value


def why_absent(facts: Mapping[str, object], name: str) -> str:
    """The reason why a fact is absent."""
    said = cast("Mapping[str, str]", facts.get(ABSENT) or {}).get(name) or str(facts.get(name) or "")
    return said.removeprefix(_MARK).strip() or "not collected"


def _reason(problem: Exception) -> str:
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror.lower()
    return f"{type(problem).__name__}: {problem}"
