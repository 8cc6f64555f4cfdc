"""What a claim says in words: what the model gave, and why it is missed.

Model: a claim of several cases shows their span; one that is missed says which cases do not hold, the worst first, and what limited the
runs in them. The words are part of the document, so that the terminal, the page and ``--json`` say the same.

    modelled_text(cases, "each")        # "2,204/s to 2,310/s"
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise

from plimsoll.analysis.reproduction import CheckedCase
from plimsoll.units import count, duration, megabytes, significant

#: Missed cases that are told one by one.
_TOLD = 3
_READ_OFF = re.compile(r"\w+(?:\.beyond)?\.(?:read_|write_)?(iops|bytes_per_s|mean|p\d+|rebuild_s|size_bytes)")
_FORMATS = {
    "iops": lambda value: f"{count(value)}/s",
    "bytes_per_s": lambda value: f"{megabytes(value)} MB/s",
    "rebuild_s": lambda value: f"{count(value)} s",
    "size_bytes": lambda value: f"{significant(value / 1e12, 4)} TB",
}


def modelled_text(cases: Sequence[CheckedCase], judge: str) -> str:
    """What the model says, in one cell."""
    if not cases:
        return "–"
    if judge == "mean":
        errors = [abs(case.error_percent) for case in cases if case.error_percent is not None]
        return f"mean error {sum(errors) / len(errors):.1f} % of {len(errors)} figures, at most {max(errors):.1f} %" if errors else "–"
    return "; ".join(_spanned(list(found)) for _, found in groupby(cases, key=lambda case: case.check))


def missed_text(cases: Sequence[CheckedCase]) -> str:
    """Why a claim is missed: the cases that do not hold, the worst first."""
    missed = sorted((case for case in cases if not case.holds), key=_badness, reverse=True)
    told = [_missed_case(case) for case in missed[:_TOLD]]
    left = len(missed) - len(told)
    more = [f"{left} more of {len(cases)} cases"] if left else []
    return "; ".join([*told, *more])


def _spanned(cases: Sequence[CheckedCase]) -> str:
    """One check: its value, or from the smallest to the largest of its cases; of orders how many are right."""
    known = [case for case in cases if case.values]
    if not known:
        return str(cases[0].problem)
    if cases[0].form == "ordering":
        if len(cases) == 1:
            return " > ".join(_figures(known[0]))
        return f"{sum(case.holds for case in cases)} of {len(cases)} in order"
    low, high = (pick(known, key=lambda case: case.values[0]) for pick in (min, max))
    texts = list(dict.fromkeys((_figures(low)[0], _figures(high)[0])))
    return " to ".join(texts)


def _missed_case(case: CheckedCase) -> str:
    where = " ".join(str(value) for value in case.where.values())
    limits = ", ".join(f"{run} by {component}" for run, component in case.limited_by.items())
    limited = f" (limited: {limits})" if limits else ""
    said = case.problem or _said(case)
    return f"{where}: {said}{limited}" if where else f"{said}{limited}"


def _said(case: CheckedCase) -> str:
    figures = _figures(case)
    if case.form == "ordering":
        return ", ".join(f"{of} {figure}" for of, figure in zip(case.of, figures, strict=True)) + " ought to fall"
    if case.form == "quantity":
        return f"{figures[0]} instead of {_figure(case.published, case)}, {case.error_percent:+.1f} %"
    limit = case.low if case.low is not None and case.values[0] < case.low else case.high
    side = "at least" if limit is case.low else "at most"
    return f"{figures[0]}, ought to be {side} {_figure(limit, case)}"


def _badness(case: CheckedCase) -> float:
    """How far a case is from holding, as a share."""
    if not case.values:
        return float("inf")
    if case.error_percent is not None:
        return abs(case.error_percent)
    value = case.values
    if case.form == "ordering":
        return max(later / first if first else float("inf") for first, later in pairwise(value))
    limit = case.low if case.low is not None and value[0] < case.low else case.high
    return abs((value[0] - limit) / limit) if limit else float("inf")


def _figures(case: CheckedCase) -> list[str]:
    return [_figure(value, case, of) for value, of in zip(case.values, case.of, strict=True)]


def _figure(value: float | None, case: CheckedCase, of: str | None = None) -> str:
    """In the check's unit, or in that of what was read off."""
    if value is None:
        return "–"
    if case.unit:
        return f"{_number(value / case.per_unit)} {case.unit}"
    read_off = _READ_OFF.fullmatch(of or case.of[0])
    if read_off is None:
        return _number(value)
    return _FORMATS.get(read_off[1], duration)(value)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else significant(value, 4)
