"""What the reports claim, as data that one program can test: a file per report in ``claims/``, an entry per numbered claim.

A file names its report, the settings that all its runs have, its runs, and its claims:

    report = "000"
    set = { duration = "20s" }

    [run.sas]
    array = "msa50-sas-10k-{level}-8"
    workload = "hp-sas-oltp-8k"
    set = { queue_depth = 32 }

    [[claim]]
    number = 9
    kind = "ordering"
    basis = "predicted"
    title = "Eight 10K SAS disks against six 15K U320 disks"
    published = "at a queue depth of 32 or 64, the eight 10K RPM SAS drives were higher"
    checks = [{ each = { level = ["raid0", "raid5"] }, order = ["sas.iops", "u320.iops"] }]

What a verdict is worth follows from its basis, which is that of the check that says least:

    constant     arithmetic over what the report and the array's document say; it tests the transcription and cannot miss otherwise
    fitted       the array has values that were fitted to this report's own figures, or derived from them
    assumed      it rests on a value that the report does not give and that was assumed for it, of the array or of the load
    predicted    nothing of the array or of the load comes from what is claimed

Kinds: *quantity* (a figure was published), *ordering* (who was faster), *bound* (a ratio or share lies within bounds).

A run is an ``array`` with a ``workload`` and the options ``set`` for it. With ``over`` (as in an experiment of kind steps) it is run at
several levels and is the one that moved most bytes per second. With ``ramp`` (the options of that kind of experiment) it is the highest
level at which the objective held. A run of which only the size or a link's rate is read is not run at all.

A check is one of three, of expressions over read-offs of runs (`plimsoll.catalog.expression`):

    value, published, unit, tolerance_percent     the value lies within the tolerance of what was published
    order, margin_percent                         each value is larger than the next, by the margin at least (0 if not given)
    value, at_least, at_most, unit                the value lies within the bounds, widened by tolerance_percent of each

``each`` makes a check once for every combination of its values, which fill the braces in its runs and expressions. ``rows`` makes it once
for every row of a set of published figures that matches: the braces are the row's settings, and the row's value is what was published, so
that no figure stands in two files. ``in_order = true`` runs the cases one after another on one array, caches as they are left.

A claim holds when all its checks do; with ``judge = "mean"``, when the mean of the absolute errors of all its cases lies within the
tolerance. ``not_scored`` says why a claim is not tested; it has no checks then. ``note`` is what a reader should know of a verdict.

    for claim in claims():
        for check in claim.checks:
            for case in check.cases():
                case.runs, case.expressions, case.published
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from plimsoll.catalog.expression import Expression, parsed
from plimsoll.catalog.figures import published
from plimsoll.catalog.folder import Folder
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.stored import FigureMatch, Json

_CLAIMS = Folder(os.path.join(os.path.dirname(__file__), "claims"), "set of claims")
Kind = Literal["quantity", "ordering", "bound"]
KINDS = ("quantity", "ordering", "bound")
Basis = Literal["predicted", "assumed", "fitted", "constant"]
BASES: tuple[Basis, ...] = ("predicted", "assumed", "fitted", "constant")
#: What one of a unit is in the units of results: per second, bytes per second, nanoseconds, bytes.
UNITS = {
    "": 1.0,
    "1/s": 1.0,
    "%": 0.01,
    "us": 1e3,
    "ms": 1e6,
    "KiB": 1024.0,
    "GB": 1e9,
    "TB": 1e12,
    "MB/s": 1e6,
    "GB/s": 1e9,
    "Gb/s": 1e9,
}
_FILE_KEYS = {"report", "title", "source", "note", "set", "run", "claim"}
_RUN_KEYS = {"array", "workload", "set", "over", "ramp"}
_CLAIM_KEYS = {"number", "kind", "basis", "title", "published", "checks", "judge", "tolerance_percent", "not_scored", "note"}
_CHECK_KEYS = {
    "quantity": {"value", "published", "unit", "tolerance_percent"},
    "ordering": {"order", "margin_percent"},
    "bound": {"value", "at_least", "at_most", "unit", "tolerance_percent"},
}
_ANY_CHECK = {"each", "rows", "in_order"}
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Run:
    """What is run, or only looked at: equal runs need to be made once."""

    array: str
    workload: str | None
    #: Options of workload and job, in order.
    settings: tuple[tuple[str, Any], ...] = ()
    #: One option and its levels, of which the run with most bytes per second counts.
    over: tuple[str, Any] | None = None
    #: Options of an experiment of kind ramp.
    ramp: tuple[tuple[str, Any], ...] = ()

    @property
    def target(self) -> str:
        """As it is typed after ``--target``."""
        return f"array:{self.array}"


@dataclass(frozen=True)
class Case:
    """One instance of a check: every brace is filled."""

    bindings: Mapping[str, Any]
    runs: Mapping[str, Run]
    expressions: tuple[Expression, ...]
    #: What was published, in the units of results; None for orderings and bounds.
    published: float | None = None


@dataclass(frozen=True)
class Check:
    """One sentence of a claim that can be true or false; see the module."""

    form: Kind
    texts: tuple[str, ...]
    runs: Mapping[str, Json]
    published: float | None = None
    unit: str = ""
    tolerance_percent: float = 0.0
    margin_percent: float = 0.0
    #: In the units of results.
    at_least: float | None = None
    at_most: float | None = None
    in_order: bool = False
    each: Mapping[str, list[Any]] = field(default_factory=dict)
    rows: Mapping[str, Any] = field(default_factory=dict)

    def cases(self) -> Iterator[Case]:
        """Every combination of ``each``, every row of ``rows``, or the one case there is."""
        for bindings, figure in self._bindings():
            expressions = tuple(parsed(str(_filled(text, bindings))) for text in self.texts)
            needed = dict.fromkeys(read_off.run for expression in expressions for read_off in expression.read_offs)
            runs = {name: _run(self.runs[name], bindings) for name in needed}
            yield Case(bindings, runs, expressions, self.published if figure is None else figure)

    def _bindings(self) -> Iterator[tuple[dict[str, Any], float | None]]:
        if self.rows:
            for match, value in _matching(self.rows):
                yield dict(match.get("settings", {})), value
            return
        for values in itertools.product(*self.each.values()):
            yield dict(zip(self.each, values, strict=True)), None


@dataclass(frozen=True)
class Claim:
    """One numbered claim of a report."""

    number: int
    report: str
    kind: Kind
    title: str
    #: What the report says, its figures as they stand there.
    published: str
    checks: tuple[Check, ...] = ()
    #: None where nothing is scored.
    basis: Basis | None = None
    judge: Literal["each", "mean"] = "each"
    tolerance_percent: float | None = None
    not_scored: str | None = None
    note: str = ""


def claim_files() -> list[str]:
    """Every set of claims."""
    return _CLAIMS.names()


def claims(name: str | None = None) -> list[Claim]:
    """The claims of one set or of all, by number; `InputError` says where a file is wrong."""
    files = claim_files() if name is None else [name]
    found = sorted((claim for file in files for claim in _read(file)), key=lambda claim: claim.number)
    for claim, following in itertools.pairwise(found):
        if claim.number == following.number:
            raise InputError(f"claims: number {claim.number} is there twice; every claim has a number of its own.")
    return found


@cache
def _read(name: str) -> tuple[Claim, ...]:
    document = _CLAIMS.document(name)
    _known_keys(document, _FILE_KEYS, f"claims {name}")
    shared = document.get("set", {})
    runs = {}
    for run, table in document.get("run", {}).items():
        _known_keys(table, _RUN_KEYS, f"claims {name}: run.{run}")
        _needed(table, ("array",), f"claims {name}: run.{run}")
        runs[run] = {**table, "set": {**shared, **table.get("set", {})}}
    return tuple(_claim(table, str(document["report"]), runs, name) for table in document["claim"])


def _claim(table: Json, report: str, runs: dict[str, Json], name: str) -> Claim:
    where = f"claims {name}: claim {table.get('number', '?')}"
    _known_keys(table, _CLAIM_KEYS, where)
    _needed(table, ("number", "kind", "title", "published"), where)
    if table["kind"] not in KINDS:
        raise InputError(f"{where}: kind {quoted(table['kind'])} is unknown; write quantity, ordering or bound.")
    if bool(table.get("checks")) == bool(table.get("not_scored")):
        raise InputError(f"{where}: a claim has either checks or the reason why it is not_scored.")
    if table.get("basis") not in ((None,) if "not_scored" in table else BASES):
        told = "leave basis out where nothing is scored" if "not_scored" in table else f"basis is {', '.join(BASES[:-1])} or {BASES[-1]}"
        raise InputError(f"{where}: {told}.")
    if table.get("judge", "each") not in ("each", "mean") or (table.get("judge") == "mean") != ("tolerance_percent" in table):
        raise InputError(f"{where}: judge is each, or mean with a tolerance_percent of the claim.")
    checks = tuple(_check(check, runs, f"{where}, check {number}") for number, check in enumerate(table.get("checks", []), 1))
    return Claim(**{**table, "report": report, "checks": checks})


def _check(table: Json, runs: dict[str, Json], where: str) -> Check:
    form = _form(table)
    _known_keys(table, _CHECK_KEYS[form] | _ANY_CHECK, where)
    unit = str(table.get("unit", ""))
    if unit not in UNITS:
        raise InputError(f"{where}: unit {quoted(unit)} is unknown; there are {', '.join(filter(None, UNITS))}.")
    if form != "ordering" and "value" not in table:
        raise InputError(f"{where}: a check has an order or a value.")
    if form == "quantity" and "rows" not in table and "published" not in table:
        raise InputError(f"{where}: a value is compared with what was published, at_least or at_most.")
    if form == "quantity" and "tolerance_percent" not in table and "rows" not in table:
        raise InputError(f"{where}: a published figure needs a tolerance_percent.")
    scaled = {key: float(table[key]) * UNITS[unit] for key in ("published", "at_least", "at_most") if key in table}
    check = Check(
        form,
        texts=tuple(table["order"]) if form == "ordering" else (str(table["value"]),),
        runs=runs,
        published=scaled.get("published"),
        unit=unit,
        tolerance_percent=float(table.get("tolerance_percent", 0)),
        margin_percent=float(table.get("margin_percent", 0)),
        at_least=scaled.get("at_least"),
        at_most=scaled.get("at_most"),
        in_order=bool(table.get("in_order", False)),
        each=table.get("each", {}),
        rows=table.get("rows", {}),
    )
    try:
        if not list(check.cases()):
            raise InputError("it matches no row; write `of`, `label`, `workload` and `metric` as the published figures have them.")
    except KeyError as missing:
        raise InputError(f"{where}: there is no run or value called {missing}.") from None
    except InputError as problem:
        raise InputError(f"{where}: {problem}") from None
    return check


def _form(table: Json) -> Kind:
    if "order" in table:
        return "ordering"
    return "bound" if "at_least" in table or "at_most" in table else "quantity"


def _matching(rows: Mapping[str, Any]) -> list[tuple[FigureMatch, float]]:
    """What the rows of a set of published figures with this label, workload and metric stand beside, and say."""
    figures = published(str(rows["of"]))["rows"]
    found = [(row, match) for row in figures if (match := row["match"]) is not None]
    asked = (rows["label"], rows["workload"], rows["metric"])
    return [(match, float(row["value"])) for row, match in found if (row["label"], match.get("workload"), row["metric"]) == asked]


def _run(table: Json, bindings: Mapping[str, Any]) -> Run:
    filled = _filled(table, bindings)
    over = next(iter(filled["over"].items())) if filled.get("over") else None
    settings = tuple(filled["set"].items()) if "workload" in filled else ()
    return Run(filled["array"], filled.get("workload"), settings, over, _frozen(filled.get("ramp", {})))


def _frozen(table: Json) -> tuple[tuple[str, Any], ...]:
    return tuple((key, _frozen(value) if isinstance(value, dict) else value) for key, value in table.items())


def _filled(value: Any, bindings: Mapping[str, Any]) -> Any:
    """The value with its braces filled; a text that is nothing but one brace becomes what is bound to it."""
    if isinstance(value, dict):
        return {key: _filled(entry, bindings) for key, entry in value.items()}
    if not isinstance(value, str):
        return value
    whole = _PLACE.fullmatch(value)
    return bindings[whole[1]] if whole else _PLACE.sub(lambda place: str(bindings[place[1]]), value)


def _known_keys(table: Json, known: set[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(f"{where}: key {quoted(key)} is unknown; there are {', '.join(sorted(known))}.")


def _needed(table: Json, keys: tuple[str, ...], where: str) -> None:
    for key in keys:
        if key not in table:
            raise InputError(f"{where}: {key} is missing.")
