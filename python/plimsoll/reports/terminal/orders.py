"""Order entry on a terminal: a row per point with what was committed, what the log took, and what was done beside the transactions.

Model: counts are of the measured time; the log's rate and flushes are those of the engine's own counters. The banner closes the table.
Limits: what an engine does not tell is a dash. A private server of a point that failed tells nothing any more.

    print(commits(results))
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analysis.comparison.names import names_of
from plimsoll.analysis.point.transactions import commits_of, enters_orders, limit, section, upkeep
from plimsoll.orders import BANNER
from plimsoll.reports.progress import settings_text
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.reports.terminal.table import table
from plimsoll.result import Result
from plimsoll.stored import OrderEntryOutcome
from plimsoll.units import binary, duration

_HEAD = ("terminals", "commits", "rolled back", "tried again", "log", "made durable", "p99", "checkpoints", "vacuums", "limited by", "data")


def commits(results: Sequence[Result], screen: Screen = ANY) -> str:
    """A row per point of order entry that came to its end; empty without such."""
    own = [(result, said) for result in results if enters_orders(result) and (said := section(result.engine)) is not None]
    if not own:
        return ""
    names, placed = names_of(results), any(settings_text(result) for result, _ in own)
    head = ("target", "point") if placed else ("target",)
    rows = [(names[result.side], *((settings_text(result),) if placed else ()), *_row(result, said)) for result, said in own]
    return f"{table([(*head, *_HEAD), *rows], left=len(head), screen=screen)}\n{screen.wrapped(f'{BANNER[0].upper()}{BANNER[1:]}.')}"


def _row(result: Result, said: OrderEntryOutcome) -> tuple[str, ...]:
    flush, kept_up, limited = said.get("flush_ns") or {}, upkeep(said), limit(result)
    consistent, logged = said.get("consistent"), said.get("wal_bytes")
    return (
        f"{said.get('terminals', result.job.threads):,}",
        f"{commits_of(said):,}",
        f"{said.get('rolled_back', 0):,}",
        f"{sum((said.get('retries') or {}).values()):,}",
        "–" if logged is None else binary(logged),
        *(duration(flush.get(name)) for name in ("mean", "p99")),
        *("–" if kept_up[name] is None else f"{kept_up[name]:,}" for name in ("checkpoints", "vacuums")),
        "–" if limited is None else f"{limited.what} {limited.share:.0%}",
        "not checked" if consistent is None else "consistent" if consistent else "NOT consistent",
    )
