"""Stored runs as one JSON document: every result as it is stored, with the run it belongs to.

{"schema": "plimsoll.report-data/1", "runs": [{"name": …, "status": …, "results": [plimsoll.result/1, …]}]}
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.analysis.derivation import notices
from plimsoll.analysis.price.per_unit import Prices
from plimsoll.displayed import encoded
from plimsoll.store.durable import replace_file
from plimsoll.store.reader import StoredRun

SCHEMA = "plimsoll.report-data/1"
COMPARISON_SCHEMA = "plimsoll.comparison/1"


def write(runs: Sequence[StoredRun], path: str, prices: Prices | None = None) -> None:
    """Write all results of ``runs`` to ``path``, at once, with what their sides cost."""
    document = {
        "schema": SCHEMA,
        "runs": [
            {
                "name": run.name,
                "label": run.meta.get("label"),
                "status": run.status,
                "created": run.meta.get("created"),
                "command": run.meta.get("command"),
                **{key: run.meta[key] for key in ("suite", "experiments", "conclusions", "prices") if key in run.meta},
                "notices": list(notices([point.result for point in run.points])),
                "results": [point.result.to_json() for point in run.points],
            }
            for run in runs
        ],
        **({"prices": prices.to_json()} if prices is not None else {}),
    }
    replace_file(path, encoded(json.dumps(document, indent=1, ensure_ascii=False) + "\n"))


def comparison_document(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """A comparison's JSON form with its schema."""
    return {"schema": COMPARISON_SCHEMA, **comparison}


def write_comparison(comparison: Mapping[str, Any], path: str) -> None:
    """Write a comparison's JSON form to ``path``, at once."""
    replace_file(path, encoded(json.dumps(comparison_document(comparison), indent=1, ensure_ascii=False) + "\n"))
