"""Published figures as data: TOML files in ``published/``, shown beside what is measured and marked as published.

Model: ``{name, title, source, note, rows, claims}``. A row is ``{label, match, metric, value, unit, text}``. ``metric`` is one of those of
results, of one operation if it is named first ("write bytes_per_s"). ``value`` is in the unit in which results are stored (per second,
bytes per second, nanoseconds), ``text`` is how it was printed, and ``match`` says beside which points it stands: ``workload``,
``settings`` and ``configuration``, each optional. A row without ``match`` stands beside none. ``claims`` are sentences: what a report
states without figures, or whose figures are lost. Nothing here was computed but units and, where ``note`` says so, sums.
Latency matrices, of reads beside writes at many rates, lie there as CSV files, whose first lines say where they come from; they are rows
for ``plimsoll fit`` and stand beside no point.

    published("msa2000")["rows"][1]["value"]                 # 1150000000
    rows_for(published("se6920"), "se6920-random", {"region_length": 2 << 30, "block_size": "8k"})
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from plimsoll.catalog.folder import Folder
from plimsoll.stored import FigureMatch, FigureRow, PublishedFigures

_PUBLISHED = Folder(os.path.join(os.path.dirname(__file__), "published"), "published figures")
#: Units in which sizes are written, in steps of 1024 (`crates/workload`).
_BINARY = {unit: 1024**power for power, letter in enumerate("kmgtp", start=1) for unit in (letter, f"{letter}ib")}


def matrix(name: str) -> str | None:
    """The file of a latency matrix, if one is called so."""
    path = os.path.join(_PUBLISHED.path, f"{name}.csv")
    return path if os.path.basename(name) == name and os.path.isfile(path) else None


def published_names() -> list[str]:
    """Every set of published figures."""
    return _PUBLISHED.names()


@cache
def published(name: str) -> PublishedFigures:
    """One set of published figures; raises `InputError` with the nearest name when there is none."""
    found = _PUBLISHED.document(name)
    rows = [{"match": None, "text": "", **row} for row in found["rows"]]
    return cast("PublishedFigures", {"name": name, "note": "", "claims": [], **found, "rows": rows})


def rows_for(figures: PublishedFigures, workload: str, settings: Mapping[str, Any], configuration: str | None = None) -> list[FigureRow]:
    """The rows that stand beside a point; sizes are equal however they are written ("8k", 8192, "8KiB")."""
    return [row for row in figures["rows"] if _stands_beside(row.get("match"), workload, settings, configuration)]


def _stands_beside(match: FigureMatch | None, workload: str, settings: Mapping[str, Any], configuration: str | None) -> bool:
    if match is None:
        return False
    if match.get("workload", workload) != workload or match.get("configuration", configuration) != configuration:
        return False
    return all(option in settings and _plain(settings[option]) == _plain(value) for option, value in match.get("settings", {}).items())


def _plain(value: Any) -> Any:
    """A number for anything that is one, with or without a unit of size; other values as text."""
    text = str(value).strip().lower()
    digits = text.rstrip("bgikmpt ")
    scale = _BINARY.get(text[len(digits) :].strip(), 1 if digits == text else None)
    try:
        return float(digits) * scale if scale else text
    except ValueError:
        return text
