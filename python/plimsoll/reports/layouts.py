"""The layouts that were measured, side by side: what each was made of, its stripes and options, and what does not fit.

Model: every result on a layout has it among the facts of its target (`plimsoll.layouts.inventory`); a side has one, or several where its
points were on several. What an earlier version did not record is left out.

    print(layouts_text([("raid5-lun", results)], Screen(80)))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from plimsoll.displayed import displayed, displayed_in_line
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.result import Result
from plimsoll.units import binary


class LayoutView(TypedDict):
    """One layout, with the sides that were measured on it."""

    sides: list[str]
    name: str
    title: str
    members: list[str]
    #: A text for each way in which its volumes are striped; none of what is not.
    stripes: list[str]
    #: What its file asks for, a line per layer and table.
    options: list[str]
    #: What was made, in its order.
    made: list[str]
    #: What does not fit, with what would.
    remarks: list[str]


def layout_views(sides: Iterable[tuple[str, Iterable[Result]]]) -> list[LayoutView]:
    """Each layout once, in the order of the sides."""
    found: list[LayoutView] = []
    for side, results in sides:
        for result in results:
            facts = (result.host.get("target") or {}).get("layout")
            if not facts:
                continue
            one = _view(facts)
            same = next((known for known in found if {**known, "sides": []} == one), None)
            if same is None:
                found.append(same := one)
            if side not in same["sides"]:
                same["sides"].append(side)
    return found


def layouts_text(sides: Iterable[tuple[str, Iterable[Result]]], screen: Screen = ANY) -> str:
    """A paragraph for each layout; empty where there is none."""
    return "\n\n".join("\n".join(_lines(one, screen)) for one in layout_views(sides))


def by_side(results: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    """The results of a run by their sides."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.side, []).append(result)
    return list(found.items())


def _lines(one: LayoutView, screen: Screen) -> Iterator[str]:
    sides = "" if one["sides"] == [one["name"]] else f" ({', '.join(one['sides'])})"
    title = f": {one['title']}" if one["title"] else ""
    lines = [
        f"layout {one['name']}{sides}{title}",
        f"on {', '.join(one['members'])}",
        *([f"stripes of {'; '.join(one['stripes'])}"] if one["stripes"] else []),
        *one["options"],
        *(f"! {remark}" for remark in one["remarks"]),
    ]
    for number, line in enumerate(lines):
        yield screen.wrapped(("  " if number else "") + displayed_in_line(line), rest="    ")


def _view(facts: Mapping[str, Any]) -> LayoutView:
    stripes = [volume["stripe"] for volume in facts.get("volumes", []) if volume.get("stripe")]
    shown = [f"{stripe['width']} × {binary(stripe['unit_bytes'])}" for stripe in stripes]
    return {
        "sides": [],
        "name": str(facts["name"]),
        "title": str(facts.get("title", "")),
        "members": list(map(str, facts["members"])),
        "stripes": list(dict.fromkeys(shown)),
        "options": [displayed(line) for line in _options(facts.get("options", {}))],
        "made": list(map(str, facts["steps"])),
        "remarks": list(map(str, facts["remarks"])),
    }


def _options(document: Mapping[str, Any]) -> Iterator[str]:
    """A line for each layer and table of a layout's file, with its keys as they were written."""
    for layer in document.get("layer", []):
        yield _words(str(layer.get("kind")), {key: value for key, value in layer.items() if key != "kind"})
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield _words(name, value)


def _words(name: str, options: Mapping[str, Any]) -> str:
    if not options:
        return name
    return f"{name}: {', '.join(f'{key} {_value(value)}' for key, value in options.items())}"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(map(_value, value))
    return " ".join(map(str, value.values())) if isinstance(value, Mapping) else str(value)
