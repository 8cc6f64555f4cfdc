"""What sides cost, as text for a terminal: a sentence for each load, a table of prices and figures, and what to know about them.

print(prices_text(prices, Screen(80)))
"""

from __future__ import annotations

from plimsoll.analysis.price.per_unit import Priced, Prices
from plimsoll.analysis.price.price import in_currency, money
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.reports.terminal.table import table
from plimsoll.result import tells
from plimsoll.units import count

_HEAD = ("load", "side", "price", "figure", "value", "price per unit", "95 % interval", "ratio")
#: More rows than this are left to the report.
ROWS = 24


def prices_text(prices: Prices, screen: Screen = ANY, *, details: bool = False) -> str:
    """The sentences where they are few, the table, the notes."""
    found = prices.findings()
    lines = ["prices"]
    if len(found) == 1 or details:
        lines += [line for sentence in found for line in screen.lines(sentence, "• ", "  ")]
    rows = prices.rows if details else prices.rows[:ROWS]
    lines.append(table([_HEAD, *(_row(row, prices.currency) for row in rows)], left=4, screen=screen))
    if len(rows) < len(prices.rows):
        lines.append(f"… and {len(prices.rows) - len(rows)} more, in the report.")
    lines += [line for note in prices.notes for line in screen.lines(note, "· ", "  ")]
    return "\n".join(lines)


def _row(row: Priced, currency: str) -> tuple[str, ...]:
    view, headline = row.to_json(), row.headline
    least = "≥ " if headline.at_least else ""
    value = "none held" if headline.value is None else f"{least}{count(headline.value)} {headline.unit}"
    per_unit = "–" if row.per_unit is None else f"{'≤ ' if headline.at_least else ''}{in_currency(money(row.per_unit), currency)}"
    low, high = view["per_unit_low"], view["per_unit_high"]
    interval = f"[{money(low)}, {money(high)}]" if low is not None and high is not None and tells(low, high) else "–"
    ratio = "–" if row.ratio is None else f"{row.ratio:.2f} ×"
    side = f"{row.side} (modelled)" if row.modelled else row.side
    return (headline.title, side, row.price.words(), headline.figure, value, per_unit, interval, ratio)
