"""Comparisons of stored runs for programs and for ``plimsoll compare``: sides, ratios with intervals, conditions.

Model: each run is a name, a label, a path, or what a function of `plimsoll` returned; every configuration of every run is a side, the first
is the baseline. What may not be compared raises `plimsoll.InputError` with the reasons, unless ``varying`` names what may differ.

    comparison = plimsoll.compare("before", "after", varying="machine")
    comparison.findings, comparison.to_pandas()
    comparison.holds("throughput >= 0.95x and p99 <= 1.1x")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from plimsoll.defaults import defaults
from plimsoll.errors import InputError
from plimsoll.near import meant
from plimsoll.store.reader import damage_named, open_runs
from plimsoll.tables.tabular import Tabular

if TYPE_CHECKING:
    from plimsoll.analysis.comparison.assertion import Asserted, Assertion
    from plimsoll.analysis.comparison.comparison import Comparison as Compared
    from plimsoll.analysis.comparison.comparison import Figure
    from plimsoll.analysis.price.per_unit import PricedComparisonView, Prices
    from plimsoll.points.execution import Run
    from plimsoll.points.prices import PriceWords
    from plimsoll.store import reader
    from plimsoll.tables.table import Table
    from plimsoll.verbs.store import StoredRun


@dataclass(frozen=True)
class ComparisonArguments:
    """The arguments of a comparison: the options of the command by their names."""

    varying: Sequence[str] = ()
    baseline: str | None = None
    objective: str | None = None
    prices: Sequence[str] = ()


class Comparison(Tabular):
    """Two or more sides, point by point and mark by mark, each with the first."""

    def __init__(self, runs: Sequence[reader.StoredRun], arguments: ComparisonArguments, metrics: Sequence[str]) -> None:
        from plimsoll.analysis.objective.clause import parse_metric

        self._runs, self._asked = list(runs), arguments
        #: The comparison as the analysis has it, with a row for each figure and mark.
        self.compared = compared(self._runs, arguments, [parse_metric(metric) for metric in metrics] or None)
        #: What the sides cost, as it was asked or as their runs have it; None where nothing is known of it.
        self.prices = _prices(self._runs, arguments)

    @property
    def sides(self) -> list[str]:
        """What the sides are called, the baseline first."""
        return [str(side) for side in self.compared.sides]

    @property
    def answer(self) -> str:
        """Which side, how much, and how sure, in one sentence; empty where nothing could be compared."""
        return self.compared.answer()

    @property
    def findings(self) -> list[str]:
        """What the table says, in sentences with their numbers."""
        return list(self.compared.findings())

    @property
    def notes(self) -> list[str]:
        """What to know about it."""
        return list(self.compared.notes)

    def view(self) -> PricedComparisonView:
        """What pages and programs read, without its schema."""
        found = self.compared.to_json()
        return cast("PricedComparisonView", found if self.prices is None else {**found, "prices": self.prices.to_json()})

    def to_json(self) -> dict[str, Any]:
        """As ``plimsoll compare --json`` prints it (``docs/reference/comparison.schema.json``)."""
        from plimsoll.schemas import COMPARISON

        return {"schema": COMPARISON, **self.view()}

    def table(self) -> Table:
        """A row per compared figure and side, then one per mark; each names its unit (1/s, MB/s, ms), and has what its sides cost."""
        from plimsoll.tables.comparison import comparison_table

        return comparison_table(self.compared, self.prices)

    def check(self, *conditions: str) -> list[Asserted]:
        """Each condition, such as ``throughput >= 0.95x``, with every ratio that it was held against."""
        from plimsoll.analysis.comparison.assertion import parse_assertions

        return self.asserted(parse_assertions(conditions))

    def asserted(self, wanted: Sequence[Assertion]) -> list[Asserted]:
        """Conditions that were read already, held against a comparison by their own figures, which may be others than those shown."""
        from plimsoll.analysis.comparison.assertion import asserted

        if not wanted:
            return []
        # What is asked of marks alone still compares points, by their usual figures.
        figures = list(dict.fromkeys(one.figure for one in wanted if one.figure is not None)) or None
        return asserted(wanted, compared(self._runs, self._asked, figures))

    def holds(self, *conditions: str) -> bool:
        """Whether every condition holds everywhere; what the intervals leave undecided does not."""
        return all(one.holds for one in self.check(*conditions))

    def __repr__(self) -> str:
        return f"<plimsoll comparison of {', '.join(map(repr, self.sides))}>"


class CompareOptions(TypedDict, total=False):
    """What a comparison can be told."""

    #: What may differ: an option, ``workload``, ``level``, ``cache``, ``machine``, ``version``, ``modelled``, ``size``.
    varying: str | Sequence[str]
    #: What is compared, such as ``read p99``; by arrival unless it is said.
    metrics: str | Sequence[str]
    #: The side that the others are compared with; the first unless it is said.
    baseline: str
    #: At what objective marks are taken, instead of the experiments' own.
    objective: str
    #: What sides cost, such as ``A=288751`` or ``A=prices.toml``, or a table from sides to amounts and files.
    price: PriceWords
    #: Where runs called by name are kept.
    out: str


def compare(*runs: str | Run | StoredRun, **options: Unpack[CompareOptions]) -> Comparison:
    """Compare every configuration of every run with the first; ratios are side over baseline, with 95 % intervals."""
    for name in options:
        if name not in CompareOptions.__annotations__:
            raise InputError(f"option '{name}' is not known; {meant(name, CompareOptions.__annotations__)}")
    if not runs:
        raise InputError("nothing is named that could be compared; give the names of runs, or what a function returned.")
    stored = open_runs([run if isinstance(run, str) else run.path for run in runs], options.get("out") or defaults().store)
    with damage_named(point for run in stored for point in run.points):
        from plimsoll.points.prices import price_texts

        varying, prices = _several(options.get("varying", ())), price_texts(options.get("price", ()))
        arguments = ComparisonArguments(varying, options.get("baseline"), options.get("objective"), prices)
        return Comparison(stored, arguments, _several(options.get("metrics", ())))


def _several(words: str | Sequence[str]) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else tuple(words)


def _prices(stored: Sequence[reader.StoredRun], arguments: ComparisonArguments) -> Prices | None:
    from plimsoll.points.prices import prices_of
    from plimsoll.points.sides import objectives, sides

    metas = {run.path: run.meta for run in stored}
    return prices_of(sides(stored, arguments.baseline), metas, arguments.prices, objectives(stored, arguments.objective))


def compared(stored: Sequence[reader.StoredRun], arguments: ComparisonArguments, figures: Sequence[Figure] | None) -> Compared:
    """The comparison of stored runs by ``figures``, or by the usual ones; raises `InputError` for what cannot be compared."""
    from plimsoll.analysis.comparison.pairs import compare_pairs
    from plimsoll.analysis.comparison.refusals import VARYING, unknown
    from plimsoll.experiments.kinds import ADAPTIVE
    from plimsoll.points.sides import objectives, sides

    objective = objectives(stored, arguments.objective)
    found = sides(stored, arguments.baseline)
    for word in unknown(found, arguments.varying):
        raise InputError(f"--varying {word}: these runs have no such option; write {', '.join(VARYING)}, or an option such as queue_depth.")
    pairs = compare_pairs(found, arguments.varying, figures, objective, adaptive=ADAPTIVE)
    if pairs.comparison is not None:
        return pairs.comparison
    if len(pairs.refused) == 1:
        raise InputError(f"this cannot be compared: {pairs.refused[0]}")
    raise InputError("\n  ".join([f"this cannot be compared, for {len(pairs.refused)} reasons:", *pairs.refused]))
