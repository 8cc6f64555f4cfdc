"""A choice as text for a terminal: the answer in a sentence, what it is held against, those that were tried, and why the others fell out.

Buy nvme-raid10?drives=4: it carries 2,000 requests/s (p99 <= 5ms) healthy, with a drive missing and while that is rebuilt (modelled).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from plimsoll.choice.demand import DemandedLoad
from plimsoll.choice.ranking import Entry
from plimsoll.choice.selection import Chosen
from plimsoll.choice.trial import DEGRADED, HEALTHY, REBUILDING, Outcome, Response
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.reports.terminal.table import table
from plimsoll.reports.uncertainty import ends_words, mostly_words
from plimsoll.units import brief_duration, count, significant, three_digits

#: So many that were tried in vain have a row; so many reasons have a line, with so many names.
_ROWS = 12
_REASONS = 8
_NAMED = 3
_STATES = {HEALTHY: "healthy", DEGRADED: "with a drive missing", REBUILDING: "while that is rebuilt"}


def answer(chosen: Chosen) -> str:
    """What to buy, in one sentence."""
    selection, best = chosen.selection, chosen.best
    load = selection.load
    asked = f"{count(load.rate_per_s)} requests/s ({_objectives(load)})"
    if best is None:
        alone = len(chosen.entries) == 1
        ruled_out = f"arithmetic rules {'it' if alone else 'them'} out before anything is simulated"
        tried = f"{chosen.simulated:,} had to be simulated" if chosen.simulated else ruled_out
        none = "The only candidate is not" if alone else f"None of {len(chosen.entries):,} candidates is"
        return f"{none} shown to carry {asked}; {tried} (modelled)."
    states = [_STATES[state] for state in selection.states]
    how = states[0] if len(states) == 1 else f"{', '.join(states[:-1])} and {states[-1]}"
    unknown = "" if best.price is not None else "; what it costs is not known, so it is first by the load that each drive carries"
    return f"Buy {best.candidate.name}{_for_price(best)}: it carries {asked} {how} (modelled){_doubted(best)}{_disturbed(best)}{unknown}."


def _objectives(load: DemandedLoad) -> str:
    """What has to hold; of several demands whose is which."""
    texts = dict.fromkeys(part.objective.text for part in load.parts)
    if len(texts) == 1:
        return next(iter(texts))
    return "; ".join(f"{', '.join(part.name for part in load.parts if part.objective.text == text)}: {text}" for text in texts)


def _disturbed(entry: Entry) -> str:
    """Which demands disturb others when they ask for more than they said."""
    loud = [surge for surge in entry.surges if not surge.holds]
    if not loud:
        return ""
    names = ", ".join(surge.raised for surge in loud)
    whose = "its" if len(loud) == 1 else "their"
    return f"; but {names} at {loud[0].factor:g} × {whose} rate would disturb others, unless --cap holds it back"


def _doubted(entry: Entry) -> str:
    """In how many draws it does, where these are not all."""
    doubt = entry.doubt
    if doubt.interval is None or doubt.carries is None or doubt.carries >= 1:
        return ""
    return f", healthy in {doubt.carries:.0%} of {doubt.interval.draws} draws of what nobody has looked up".replace("%", " %")


def choice_lines(chosen: Chosen, screen: Screen = ANY) -> Iterator[str]:
    """All of it."""
    yield screen.wrapped(answer(chosen), rest="  ")
    yield ""
    for label, words in (*asked_lines(chosen), *of_best(chosen)):
        yield screen.wrapped(f"{label:<11}{words}", rest=" " * 11)
    shown = [entry for entry in chosen.entries if entry.simulated][:_ROWS]
    if shown:
        yield ""
        yield table([_HEAD, *(_row(entry) for entry in shown)], left=2, screen=screen)
    yield from _rejections(chosen.entries, screen)


_HEAD = ("array", "carries", "mark IOPS", "interval", "healthy", "degraded", "rebuilding", "rebuild", "loss/year", "price", "U", "W")


def _for_price(entry: Entry) -> str:
    cost = entry.considered.cost
    if cost is None or cost.amount is None:
        return ""
    return f" for {cost.currency} {cost.amount:,.0f}"


def asked_lines(chosen: Chosen) -> Iterator[tuple[str, str]]:
    """What was asked: labels with words."""
    selection = chosen.selection
    for part in selection.load.parts:
        least = part.cap_per_s is not None and part.cap_per_s < part.rate_per_s
        capped = (
            "" if part.cap_per_s is None else f", {'of which' if least else 'of which at most'} {count(part.cap_per_s)} are let through"
        )
        yield "demand", f"{part.name}: {count(part.rate_per_s)} requests/s{capped}; {part.objective.text}"
    limits = selection.limits
    held = [f"hold {limits.capacity_bytes / 1e12:g} TB"] if limits.capacity_bytes else []
    held += [f"survive {'one failure' if limits.survive == 1 else f'{limits.survive} failures'}"] if limits.survive else []
    held += [f"cost at most {chosen.currency} {limits.budget:,.0f}"] if limits.budget is not None else []
    if held:
        yield "has to", ", ".join(held)


def of_best(chosen: Chosen) -> Iterator[tuple[str, str]]:
    """What is known of the choice: labels with words; nothing where there is none."""
    best, second = chosen.best, chosen.runner_up
    if best is None:
        return
    line = best.line
    if best.mark_iops is not None:
        least = "at least " if line is not None and line.at_least else ""
        limit = "" if best.limited_by is None or least else f"; beyond that limited by {best.limited_by}"
        times = three_digits(best.mark_iops / chosen.selection.load.rate_per_s)
        yield "headroom", f"{least}{times} × ({least}{count(best.mark_iops)} requests/s{_interval(best)}){limit}"
    if best.rebuild_hours is not None:
        risk = "" if best.loss_per_year is None else f"; chance to lose data within a year {chance_words(best.loss_per_year)}"
        ended = best.outcomes[REBUILDING].rebuild_ended
        others = "".join(f", {name} {hours_words(hours)}" for name, hours in best.further_hours.items() if hours is not None)
        yield "rebuild", f"{hours_words(best.rebuild_hours)} under this load{'' if ended else ', by its course'}{others}{risk}"
    yield from _each(best)
    for surge in best.surges:
        asked = f"{surge.raised} at {surge.factor:g} × its rate ({count(surge.let_through_per_s)} requests/s let through)"
        does = "leaves the others within their objectives" if surge.holds else f"disturbs {surge.rejection}"
        yield "neighbours", f"{asked} {does}"
    cost = best.considered.cost
    if cost is not None and cost.missing:
        yield "price", f"unknown: {', '.join(cost.missing)} without one; give them with --prices FILE"
    elif cost is not None:
        yield "price", f"{cost.currency} {cost.known:,.0f}: {'; '.join(cost.sources)}"
    if second is not None:
        yield "runner-up", f"{second.candidate.name}{_for_price(second)}"
    yield "certainty", _certainty(best)


def _each(best: Entry) -> Iterator[tuple[str, str]]:
    """Of several demands what each of them gets in each state."""
    names = dict.fromkeys(one.part for one in next(iter(best.outcomes.values())).responses) if best.outcomes else {}
    for name in names if len(names) > 1 else ():
        states = [f"{_worst(outcome, name)} {_STATES[state]}" for state, outcome in best.outcomes.items()]
        limit = next(_worst_of(outcome, name) for outcome in best.outcomes.values())
        yield "each", f"{name}: {', '.join(states)}{'' if limit is None else f' ({limit.text})'}"


def _worst_of(outcome: Outcome, part: str) -> Response | None:
    """The condition of one demand that is nearest to its limit, or furthest beyond it."""
    known = [one for one in outcome.responses if one.part == part and one.value is not None and one.limit]
    return max(known, key=lambda one: (one.value or 0.0) / one.limit, default=None)


def _worst(outcome: Outcome, part: str) -> str:
    found = _worst_of(outcome, part)
    return "–" if found is None else _value_words(found)


def _certainty(best: Entry) -> str:
    """Between what the mark lies, given what nobody has looked up, and which values matter."""
    doubt = best.doubt
    if doubt.interval is None or best.mark_iops is None:
        why = f": {doubt.why}" if doubt.why else ""
        return f"nothing was drawn{why}; intervals are those of sampling, what another seed would change, not what is assumed of parts"
    ends = doubt.interval
    if best.line is not None and best.line.at_least and not ends.moves:
        return f"at least {count(best.mark_iops)} requests/s in all {ends.draws} draws of what nobody has looked up"
    words = ends_words(best.mark_iops, ends.low, ends.high, "requests/s")
    level = f"{round(100 * ends.level)} % of {ends.draws} draws of what nobody has looked up"
    return f"{words}, {level}; {mostly_words(ends.to_json())}"


def _interval(entry: Entry) -> str:
    found = None if entry.line is None or entry.line.mark is None else entry.line.mark.interval
    return "" if found is None else f", {count(found[0])} to {count(found[1])} by sampling"


def _row(entry: Entry) -> tuple[str, ...]:
    cost, line = entry.considered.cost, entry.line
    mark = None if entry.mark_iops is None or line is None else f"{'≥ ' if line.at_least else ''}{count(entry.mark_iops)}"
    drawn = entry.doubt.interval
    interval = (
        (drawn.low, drawn.high) if drawn is not None and drawn.moves else None if line is None or line.mark is None else line.mark.interval
    )
    return (
        entry.candidate.name,
        "yes" if entry.carries else "no",
        mark or "–",
        "–" if interval is None else f"{count(interval[0])}–{count(interval[1])}",
        *(response_words(entry.outcomes.get(state)) for state in (HEALTHY, DEGRADED, REBUILDING)),
        "–" if entry.rebuild_hours is None else hours_words(entry.rebuild_hours),
        "–" if entry.loss_per_year is None else chance_words(entry.loss_per_year),
        "–" if cost is None or cost.amount is None else f"{cost.amount:,.0f}",
        "–" if cost is None or cost.rack_units is None else significant(cost.rack_units),
        "–" if cost is None or cost.watts is None else significant(cost.watts),
    )


def response_words(outcome: Outcome | None) -> str:
    """The condition nearest to its limit, or furthest beyond it; one that does not hold before all that do, as the reason names it."""
    if outcome is None:
        return "–"
    known = [one for one in outcome.responses if one.value is not None and one.limit]
    if not known:
        return "failed" if not outcome.carries else "–"
    missed = [one for one in known if not one.holds]
    return _value_words(max(missed or known, key=lambda one: (one.value or 0.0) / one.limit))


def _value_words(one: Response) -> str:
    rated = "achieved" in one.text or "iops" in one.text or "bandwidth" in one.text
    return significant(one.value or 0.0) if rated else brief_duration(one.value or 0.0)


def _rejections(entries: Sequence[Entry], screen: Screen) -> Iterator[str]:
    """Why the others fell out, those of one kind together."""
    rejected = [entry for entry in entries if entry.rejected is not None]
    if not rejected:
        return
    yield ""
    kinds = Counter(kind_of(entry) for entry in rejected)
    for kind, number in kinds.most_common(_REASONS):
        own = [entry for entry in rejected if kind_of(entry) == kind]
        named = "; ".join(f"{entry.candidate.name}: {entry.rejected}" for entry in own[:_NAMED])
        more = f"; and {number - _NAMED} more" if number > _NAMED else ""
        yield screen.wrapped(f"{number} fell out {kind}: {named}{more}", rest="  ")
    if len(kinds) > _REASONS:
        yield f"… and {sum(kinds.values()) - sum(number for _, number in kinds.most_common(_REASONS))} for other reasons ('--json' has all)"


def kind_of(entry: Entry) -> str:
    """How a candidate fell out."""
    reason = entry.rejected or ""
    if entry.simulated:
        return "when simulated"
    if reason.startswith("bound"):
        return "by bounds"
    if reason.startswith("not simulated"):
        return "by their order"
    if reason.startswith("it cannot be built"):
        return "because they cannot be built"
    return "by arithmetic"


def hours_words(hours: float) -> str:
    """Minutes, hours or days."""
    return (
        f"{three_digits(hours / 24)} d" if hours >= 72 else f"{three_digits(hours)} h" if hours >= 1 else f"{three_digits(hours * 60)} min"
    )


def chance_words(chance: float) -> str:
    """A chance in percent, or one in so many where it is small."""
    return f"{significant(100 * chance, 2)} %" if chance >= 1e-4 else f"1 in {count(1 / chance)}" if chance > 0 else "0"
