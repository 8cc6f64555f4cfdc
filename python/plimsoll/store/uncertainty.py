"""What draws gave the figures of a modelled run: ``uncertainty.json`` beside run.json, made after the run, by who asks for it.

Model: of each point, by operation and metric, the interval with the figure at every draw, and what was drawn. The run itself stays as it
was measured; the file does not travel with it, and can be made again from it.

    keep_drawn("results/r1", {"0001-oltp-db": PointDraws(seed=1, count=60, figures={"read": {"p99": DrawnInterval(…)}})})
    read_drawn("results/r1")["0001-oltp-db"].figures["read"]["p99"].low
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, field, replace

from plimsoll.records import dataclass
from plimsoll.result import DrawnInterval, Result, check_schema
from plimsoll.store.document import fitting, read_document
from plimsoll.store.durable import replace_file
from plimsoll.stored import Json

SCHEMA = "plimsoll.uncertainty/1"
_NAME = "uncertainty.json"


@dataclass(frozen=True)
class PointDraws:
    """Of one point: ``count`` draws of ``seed``, of ``uncertain`` values, some of them ``redrawn``; ``fingerprint`` is that of all."""

    seed: int = 0
    count: int = 0
    uncertain: int = 0
    redrawn: int = 0
    fingerprint: str = ""
    figures: dict[str, dict[str, DrawnInterval]] = field(default_factory=dict)


@dataclass(frozen=True)
class _File:
    points: dict[str, PointDraws]


def read_drawn(path: str) -> dict[str, PointDraws]:
    """What was drawn for the run at ``path``, by point; empty where nothing was."""
    source = os.path.join(path, _NAME)
    if not os.path.lexists(source):
        return {}
    document = read_document(source)
    check_schema(document, SCHEMA, source)
    found: _File = fitting(document, _File, source)
    return found.points


def keep_drawn(path: str, points: Mapping[str, PointDraws]) -> None:
    """Write what was drawn for the run at ``path``, at once."""
    document: Json = {"schema": SCHEMA, "points": {name: asdict(one) for name, one in points.items()}}
    replace_file(os.path.join(path, _NAME), json.dumps(document).encode(), durable=False)


def with_intervals(result: Result, drawn: PointDraws) -> Result:
    """The result with the intervals of its figures."""
    if not drawn.figures:
        return result
    estimates = {
        op: {name: replace(one, interval=drawn.figures.get(op, {}).get(name)) for name, one in metrics.items()}
        for op, metrics in result.estimates.items()
    }
    return replace(result, estimates=estimates)
