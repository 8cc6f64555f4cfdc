"""A comparison as a table: one row per compared figure and side, then one per mark.

Model: values are in the unit that the row names; the ratio is side over baseline, with its 95 % interval. A mark is compared in requests
per second.

    comparison_table(comparison)
"""

from __future__ import annotations

from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.analysis.comparison.sides import MarkRow, Row
from plimsoll.tables.column import NUMBER, TEXT, TRUTH, Column, Value
from plimsoll.tables.table import Table

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
)
_UNITS = {"iops": ("1/s", 1.0), "bytes_per_s": ("MB/s", 1e6)}
_MILLI = ("ms", 1e6)


def comparison_table(comparison: Comparison) -> Table:
    """Every row of the comparison."""
    baseline = comparison.sides[0]
    rows = [*map(_figure, comparison.points), *map(_mark, comparison.marks)]
    return Table(COLUMNS, tuple(tuple({**row, "baseline": str(baseline)}.get(column.name) for column in COLUMNS) for row in rows))


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
