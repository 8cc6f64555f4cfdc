"""What stands below the table of points: caches, components of arrays, points that failed, then each doubt once with its advice.

print(footnotes([result, …], Screen(80)))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plimsoll.analysis.comparison.names import names_of
from plimsoll.analysis.point.array import component_sets
from plimsoll.analysis.validity.severity import gathered
from plimsoll.reports.limits import busy_words, configuration_words, incident_words, limit_words
from plimsoll.reports.progress import settings_text
from plimsoll.reports.terminal.points import MARKS, TONES
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.result import Result, flag_words

#: The state of caches that nothing was done about.
AS_FOUND = "as found"
#: Points whose components are told one by one, at most.
_COMPONENT_LINES = 6


def footnotes(results: Sequence[Result], screen: Screen = ANY) -> str:
    """What the caches held and components did, points that failed with their errors, then each flag once; empty when there is none."""
    names = names_of(results)
    plain = [line for text in (*_caches(results, names), *_components(results, names)) for line in screen.lines(text, "", "  ")]
    return "\n".join([*plain, *_failures(results, screen), *_flags(results, names, screen)])


def _failures(results: Sequence[Result], screen: Screen) -> list[str]:
    """One reason often fails every point of a workload; it is said once."""
    said = dict.fromkeys(f"{result.job.workload}: {result.error}" for result in results if result.status == "failed")
    return [line for text in said for line in screen.lines(text, f"{screen.paint('✗', 'bad')} ", "  ")]


def _flags(results: Sequence[Result], names: Mapping[str, str], screen: Screen) -> list[str]:
    """Each doubt once: where it holds, its numbers for the first of them, its advice; then the names of the notes."""
    lines: list[str] = []
    flags = gathered(results)
    for one in flags:
        if one.severity == "note":
            continue
        flag = one.worst
        everywhere = len(one.grave) == len(results) > 1
        where = f"all {len(results)} measurements; the first" if everywhere else _places(one.grave, results, names)
        tone = TONES[flag.severity]
        lines += screen.lines(
            f"{screen.paint(flag_words(flag.name), tone)}: {where}: {flag.message}", f"{screen.paint(MARKS[flag.severity], tone)} ", "  "
        )
        lines += screen.lines(flag.advice, "  → ", "    ")
    notes = [flag_words(one.name) for one in flags if one.severity == "note"]
    if notes:
        lines += screen.lines(
            f"notes: {', '.join(notes)} (the report explains them)", f"{screen.paint(MARKS['note'], TONES['note'])} ", "  "
        )
    return lines


def _caches(results: Sequence[Result], names: Mapping[str, str]) -> list[str]:
    """The state of the caches where something was done about it, each once, and where it held if not everywhere."""
    states: dict[str, list[Result]] = {}
    for result in results:
        if result.cache.get("state", AS_FOUND) != AS_FOUND:
            states.setdefault(f"cache {result.cache['state']}{{}}: {result.cache.get('how') or 'no more is known.'}", []).append(result)
    return [said.format("" if len(held) == len(results) else f" at {_places(held, results, names)}") for said, held in states.items()]


def _components(results: Sequence[Result], names: Mapping[str, str]) -> list[str]:
    """What limited modelled arrays and failed in them: of few points how busy each was, of many a sentence per configuration."""
    told = [(result, sets) for result in results if (sets := component_sets(result))]
    several = _several(results)
    if len(told) > _COMPONENT_LINES:
        limits: dict[str, list[str]] = {}
        for result, sets in told:
            limits.setdefault(names[result.side], []).append(limit_words(sets))
        failing = [result for result, _ in told if incident_words(result)]
        incidents = [f"{_places(failing, results, names)}: {incident_words(failing[0])}."] if failing else []
        return [*(configuration_words(where, said) for where, said in limits.items()), *incidents]
    lines = []
    for result, sets in told:
        lines.append(f"{_place(result, names if several else {})}: {limit_words(sets)}; {busy_words(sets)}.")
        if failed := incident_words(result):
            lines.append(f"{_place(result, names if several else {})}: {failed}.")
    return lines


def _several(results: Sequence[Result]) -> bool:
    """Whether the results are of more than one target or configuration."""
    return len({result.side for result in results}) > 1


def _places(held: Sequence[Result], results: Sequence[Result], names: Mapping[str, str]) -> str:
    """``random-read-4k at queue_depth 32 and 2 more; the first``: the points that something holds for, repeats once."""
    sides = names if _several(results) else {}
    places = list(dict.fromkeys(_place(result, sides) for result in held))
    shown = 1 if any(settings_text(result) for result in held) else 3
    if len(places) == 1:
        return places[0]
    more = f" and {len(places) - shown} more" if len(places) > shown else ""
    return f"{', '.join(places[:shown])}{more}; the first"


def _place(result: Result, sides: Mapping[str, str]) -> str:
    """A point; on which side where ``sides`` has names for them."""
    settings = settings_text(result)
    on = f" on {sides[result.side]}" if sides else ""
    return f"{result.job.workload}{on}{f' at {settings}' if settings else ''}"
