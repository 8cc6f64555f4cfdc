"""A comparison as a table: one row per compared figure and side, then one per mark.

Model: values are in the unit that the row names; the ratio is side over baseline, with its 95 % interval. A mark is compared in requests
per second. What both sides cost, and a unit of what each carried of the row's load, stands in every row of that load.

    comparison_table(comparison, prices)
"""

from __future__ import annotations

from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.analysis.comparison.sides import MarkRow, Row
from plimsoll.analysis.price.per_unit import Prices
from plimsoll.tables.column import DERIVED, NUMBER, TEXT, TRUTH, Column, Value
from plimsoll.tables.table import Table

#: What the sides of a row cost; all empty where nothing is known of it.
PRICES = (
    Column("baseline_price", NUMBER, "", "what the baseline costs, where that is known"),
    Column("price", NUMBER, "", "what the side costs, where that is known"),
    Column("currency", TEXT, "", "the currency of all prices"),
    Column("baseline_price_per_unit", NUMBER, "", "the baseline's price over its headline of this load, where that is in the same unit"),
    Column("price_per_unit", NUMBER, "", "the side's price over its headline of this load: its mark, its highest rate, its composite"),
    Column("priced_unit", TEXT, "", "what one of the headline is called: IOPS, MB/s, composite@SCALE"),
)
COLUMNS = (
    Column("experiment", TEXT, "", "the experiment of the points"),
    Column("workload", TEXT, "", "the workload"),
    Column("settings", TEXT, "", "what the experiment set for the point"),
    Column("level", NUMBER, "", "the value of the option that the experiment varies"),
    Column("objective", TEXT, "", "of a mark, what had to hold"),
    Column("operation", TEXT, "", "read, write, … or all"),
    Column("metric", TEXT, "", "what is compared; mark for the highest load that kept the objective"),
    Column("unit", TEXT, "", "the unit of both values: 1/s, MB/s or ms"),
    Column("baseline", TEXT, "", "the side that is compared with"),
    Column("side", TEXT, "", "the side that is compared"),
    Column("baseline_value", NUMBER, "", "the baseline's value"),
    Column("value", NUMBER, "", "the side's value"),
    Column("at_least", TRUTH, "", "whether one of both is a lower bound"),
    Column("ratio", NUMBER, "", "side over baseline"),
    Column("ratio_low", NUMBER, "", "low end of its 95 % interval"),
    Column("ratio_high", NUMBER, "", "high end of its 95 % interval"),
    Column("p_adjusted", NUMBER, "", "its probability by chance, corrected for the whole table (Holm)"),
    Column("verdict", TEXT, "", "faster, slower, or that no difference is shown"),
    Column("note", TEXT, "", "of a mark, why there is no ratio, or how to read it"),
    DERIVED,
    *PRICES,
)
_UNITS = {"iops": ("1/s", 1.0), "bytes_per_s": ("MB/s", 1e6)}
_MILLI = ("ms", 1e6)


def comparison_table(comparison: Comparison, prices: Prices | None = None) -> Table:
    """Every row of the comparison, with what its sides cost."""
    baseline = str(comparison.sides[0])
    rows = [
        {**row, "baseline": baseline, "derived": comparison.derived.get(str(row["workload"]))}
        for row in (*map(_figure, comparison.points), *map(_mark, comparison.marks))
    ]
    priced = [
        {**row, **prices_between(prices, (baseline, str(row["side"])), (str(row["experiment"]), str(row["workload"])))} for row in rows
    ]
    return Table(COLUMNS, tuple(tuple(row.get(column.name) for column in COLUMNS) for row in priced))


def prices_between(prices: Prices | None, sides: tuple[str, str], load: tuple[str, str]) -> dict[str, Value]:
    """The columns of `PRICES` for the baseline and another side, and a load: its experiment and workload."""
    if prices is None:
        return {}
    costs = [prices.by_side.get(side) for side in sides]
    before, now = (prices.of(side, load) for side in sides)
    unit = next((one.headline.unit for one in (now, before) if one is not None), None)
    same = [one if one is not None and one.headline.unit == unit else None for one in (before, now)]
    return {
        "baseline_price": costs[0].amount if costs[0] else None,
        "price": costs[1].amount if costs[1] else None,
        "currency": prices.currency or None,
        "baseline_price_per_unit": same[0].per_unit if same[0] else None,
        "price_per_unit": same[1].per_unit if same[1] else None,
        "priced_unit": unit,
    }


def _figure(row: Row) -> dict[str, Value]:
    unit, factor = _UNITS.get(row.metric, _MILLI)
    before, now = row.values
    return {
        "experiment": row.point.experiment,
        "workload": row.point.workload,
        "settings": " ".join(f"{name}={value}" for name, value in row.point.settings.items()),
        "level": row.point.level,
        "operation": row.op,
        "metric": row.metric,
        "unit": unit,
        "baseline_value": before.value / factor,
        "value": now.value / factor,
        "at_least": before.at_least or now.at_least,
        **_ratio(row),
    }


def _mark(row: MarkRow) -> dict[str, Value]:
    before, now = row.values
    return {
        "experiment": row.experiment,
        "workload": row.workload,
        "settings": "",
        "objective": row.objective,
        "operation": "all",
        "metric": "mark",
        "unit": "1/s",
        "baseline_value": before.iops if before else None,
        "value": now.iops if now else None,
        "at_least": any(mark is not None and mark.failed_by is None for mark in (before, now)),
        "note": row.note,
        **_ratio(row),
    }


def _ratio(row: Row | MarkRow) -> dict[str, Value]:
    figures = {"ratio": row.ratio, "ratio_low": row.low, "ratio_high": row.high}
    return {"side": row.side, **figures, "p_adjusted": row.p_adjusted, "verdict": row.verdict}
