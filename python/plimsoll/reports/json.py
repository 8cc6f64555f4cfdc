"""Stored runs as one JSON document: every result as it is stored, with the run it belongs to.

{"schema": "plimsoll.report-data/1", "runs": [{"name": …, "status": …, "results": [plimsoll.result/1, …]}]}
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from plimsoll.store import StoredRun
from plimsoll.store.durable import replace_file

SCHEMA = "plimsoll.report-data/1"


def write(runs: Sequence[StoredRun], path: str) -> None:
    """Write all results of ``runs`` to ``path``, at once."""
    document = {
        "schema": SCHEMA,
        "runs": [
            {
                "name": run.name,
                "label": run.meta.get("label"),
                "status": run.status,
                "created": run.meta.get("created"),
                "command": run.meta.get("command"),
                "results": [point.result.to_json() for point in run.points],
            }
            for run in runs
        ],
    }
    replace_file(path, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())
