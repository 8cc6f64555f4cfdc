"""Mail stores on a terminal: a row per database of each point, with the verdict on the limits of its generation.

Model: a run of one or two points shows every database; one of many levels shows none, since the page has them all. What goes on in the
background stands in the table of operations.

    print(stores(results))
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analysis.comparison.names import names_of
from plimsoll.analysis.mailstore.counters import Row, counters, is_mailstore, section
from plimsoll.analysis.mailstore.verdict import Verdict, verdict
from plimsoll.analysis.point.recovery import recoveries
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.reports.terminal.table import table
from plimsoll.result import Result
from plimsoll.units import brief_duration, count

_HEAD = ("database", "reads/s", "writes/s", "read", "write", "read B", "write B", "log writes/s", "log write", "log write B")
#: Points whose databases are shown one by one.
_SHOWN = 2


def stores(results: Sequence[Result], screen: Screen = ANY) -> str:
    """The tables and the verdicts; empty without a mail store."""
    own = [result for result in results if is_mailstore(result)]
    if not own:
        return ""
    shown = own if len(own) <= _SHOWN else []
    names = names_of(results)
    texts = [_point(result, names[result.side] if len(own) > 1 else "", screen) for result in shown]
    warnings = dict.fromkeys(str(warning) for result in own for warning in section(result).get("warnings") or ())
    texts += [screen.wrapped(f"The original warns: {warning}.") for warning in warnings]
    return "\n\n".join(filter(None, texts))


def _point(result: Result, name: str, screen: Screen) -> str:
    # What these came to is the answer, which stands above.
    return "" if recoveries(result.engine) else _store(result, name, screen)


def _store(result: Result, name: str, screen: Screen) -> str:
    found, judged = counters(result), verdict(result)
    rows = found.transactional if len(found.transactional) > 2 else found.transactional[:1]
    title = f"{name}\n" if name else ""
    asked = "" if found.asked_per_s is None else f" (asked: {count(found.asked_per_s)})"
    rates = f"{count(found.operations_per_s)} operations/s{asked}, {count(found.achieved_per_s)} transfers/s of databases."
    verdict_text = "" if judged is None else f"\n{screen.wrapped(_verdict(judged))}"
    return f"{title}{table([_HEAD, *(_row(row) for row in rows)], left=1, screen=screen)}\n{screen.wrapped(rates)}{verdict_text}"


def _row(row: Row) -> tuple[str, ...]:
    return (
        row.name,
        count(row.reads_per_s),
        count(row.writes_per_s),
        _time(row.read_mean_ns),
        _time(row.write_mean_ns),
        _size(row.read_bytes),
        _size(row.write_bytes),
        count(row.log_writes_per_s),
        _time(row.log_write_mean_ns),
        _size(row.log_write_bytes),
    )


def _verdict(judged: Verdict) -> str:
    if judged.passed:
        return f"Pass: every database keeps the limits ({judged.source})."
    broken = [check.text for check in judged.checks if not check.holds]
    errors = [f"{judged.errors:,} requests failed"] if judged.errors else []
    return f"Fail: {'; '.join([*broken, *errors])} ({judged.source})."


def _time(value_ns: float | None) -> str:
    return "–" if value_ns is None else brief_duration(value_ns)


def _size(value: float | None) -> str:
    return "–" if value is None else count(value)
