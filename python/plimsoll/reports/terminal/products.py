"""Published figures of products beside what their models say, as a table for the terminal and as a page for the documents.

print(products_text(coverage)); page_text(coverage)                  # docs/coverage.md
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analysis.products import SHARE, Coverage, HeldFigure
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.reports.terminal.table import table
from plimsoll.units import brief_duration, count, significant, three_digits

_HEAD = ("array", "what", "published", "modelled", "error", "between (90 %)", "holds it", "mostly")


def products_text(found: Coverage, screen: Screen = ANY) -> str:
    """The answer, a row per figure, and why those that are missed are."""
    rows = [_HEAD, *(_cells(one) for one in found.figures)]
    lines = [screen.wrapped(coverage_words(found), rest="  "), "", table(rows, left=2, screen=screen)]
    missed = [f"{one.array}, {one.what}: {one.miss or 'no cause is known'}." for one in found.missed]
    return "\n".join([*lines, *([""] if missed else []), *(screen.wrapped(line, rest="  ") for line in missed)])


def coverage_words(found: Coverage) -> str:
    """How many intervals hold what is published, in a sentence."""
    if found.share is None:
        return "Nothing of these arrays is uncertain, so no figure has an interval."
    held = f"{found.held} of {found.drawn} intervals of 90 % hold what was published ({100 * found.share:.0f} %)"
    asked = f"at least {100 * SHARE:.0f} % ought to"
    return f"{held}; {asked}{'' if found.enough else ', so ranges are too narrow or the models lack something'}."


def told(one: HeldFigure) -> str:
    """A figure in a line, while others are worked out."""
    cells = _cells(one)
    return f"{one.array}: {one.what}: {cells[2]} published, {cells[3]} modelled, {cells[5]}"


def page_text(found: Coverage) -> str:
    """The page of the documents."""
    head = ("array", "what", "published", "modelled", "error", "between (90 %)", "mostly", "source")
    lines = [_PAGE, coverage_words(found), "", _row(head), _row(["---"] * len(head))]
    for one in found.figures:
        array, what, published, modelled, error, ends, holds, mostly = _cells(one)
        inside = ends if one.holds is None else f"{ends}, {'holds it' if holds == 'yes' else '**misses it**'}"
        lines.append(_row((f"`{array}`", what, published, modelled, error, inside, mostly, one.source)))
    lines += ["", "## Why some miss", ""]
    lines += [f"- `{one.array}`, {one.what}: {one.miss or 'no cause is known'}." for one in found.missed]
    lines += ["", "## By array", "", "| array | intervals | hold |", "|---|---|---|", *_by_array(found)]
    return "\n".join(lines)


def _by_array(found: Coverage) -> Iterator[str]:
    for array in dict.fromkeys(one.array for one in found.figures):
        own = Coverage([one for one in found.figures if one.array == array])
        yield _row((f"`{array}`", str(own.drawn), str(own.held)))


_PAGE = f"""# Published figures of products

<!-- Written by `plimsoll reproduce --products --markdown`; renew with make reproduce. -->

Figures of manufacturers and reviews beside what the [arrays of today](products.md) say in virtual time. No figure below was used to set
the array that it stands beside. What was used is named as the source of the value that it set (`plimsoll show array:NAME`). *Between* is
where 90 % of the draws lie when what is assumed, remembered, derived or fitted is drawn from its range ([uncertainty](uncertainty.md)):
of figures that a model was not given nine of ten ought to lie there, and at least {100 * SHARE:.0f} % are asked for. *Mostly* names what
it follows from. `plimsoll reproduce --products` prints this table anew, `--json` with all numbers; the figures are data
(`catalog/products.toml`).
"""


def _cells(one: HeldFigure) -> tuple[str, ...]:
    ends = "nothing is drawn" if one.low is None or one.high is None else f"{shown(one, one.low)} … {shown(one, one.high)}"
    held = {True: "yes", False: "no", None: "–"}[one.holds]
    mostly = ", ".join(one.mostly) or (f"exact: {one.exact}" if one.exact else "–")
    return one.array, one.what, shown(one, one.published), shown(one, one.modelled), f"{100 * one.error:+.0f} %", ends, held, mostly


def shown(one: HeldFigure, value: float) -> str:
    """A figure with its unit, to three digits."""
    if one.against is not None:
        return f"{three_digits(value)} ×"
    match one.metric:
        case "iops":
            return f"{significant(value)}/s"
        case "bytes_per_s":
            return f"{significant(value / 1e9)} GB/s"
        case "scan_s" | "burst_s":
            return f"{count(value)} s"
        case _:
            return brief_duration(value)


def _row(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
