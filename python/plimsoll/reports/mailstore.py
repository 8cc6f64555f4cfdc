"""Mail stores in ``--json``: the counters of every point, and what each side carries.

Model: ``sides`` has an entry for each conclusion that looked for a mark, ``stores`` one for each point. Where exactly one side looked for
one, its `StoreMark` is part of ``mark``, too.

    document(results, conclusions, mark)["sides"][0]["mark"]       # {"transfers_per_s": 756.0, "threads": 14, "crossed_first": "read"}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from plimsoll.analysis.derivation import MAILSTORE
from plimsoll.analysis.load_line.mark import MarkView
from plimsoll.analysis.mailstore.counters import counters, is_mailstore, section
from plimsoll.analysis.mailstore.mark import store_mark
from plimsoll.analysis.mailstore.tuning import tuned, tuning_text
from plimsoll.analysis.mailstore.verdict import verdict
from plimsoll.analysis.point.recovery import recoveries, said
from plimsoll.result import Result
from plimsoll.stored import Json


def sentence(results: Sequence[Result], names: Mapping[str, str]) -> str:
    """What recoveries and tuning came to, without full stop; empty where there were none."""
    several = len({result.side for result in results}) > 1
    texts = [(names[result.side], text) for result in results for text in came_to(result)]
    return "; ".join((f"{name}: {text}" if several else text).rstrip(".") for name, text in texts)


def came_to(result: Result) -> list[str]:
    """What a recovery or tuning came to, a text for each database."""
    found = tuned(result)
    return [*(said(*each) for each in recoveries(result.engine)), *([tuning_text(found)] if found else [])]


def document(results: Sequence[Result], conclusions: Sequence[Mapping[str, Any]], mark: MarkView | None) -> Json:
    """The keys of ``--json``; empty for other loads. ``mark`` is that of the document, if it has one."""
    own = [result for result in results if is_mailstore(result)]
    if not own:
        return {}
    workloads = {result.job.workload for result in own}
    sides = [_side(found) for found in conclusions if found["workload"] in workloads and "mark" in found]
    return {"derived": MAILSTORE, "stores": [_store(result) for result in own], **({"sides": sides} if sides else {}), **_marked(mark)}


def _marked(mark: MarkView | None) -> Json:
    return {} if mark is None else {"mark": {**mark, **store_mark(mark)}}


def _side(found: Mapping[str, Any]) -> Json:
    mark = found["mark"]
    return {"side": found["configuration"], "workload": found["workload"], "mark": None if mark is None else store_mark(mark)}


def _store(result: Result) -> Json:
    found, judged = counters(result), verdict(result)
    return {
        "id": result.id,
        "side": result.side,
        "achieved_transfers_per_s": found.achieved_per_s,
        "operations_per_s": found.operations_per_s,
        "threads": found.threads,
        "transactional": [asdict(row) for row in found.transactional],
        "maintenance": [asdict(row) for row in found.maintenance],
        "replication": [asdict(row) for row in found.replication],
        "together": [asdict(row) for row in found.together],
        "passed": None if judged is None else judged.passed,
        "checks": [] if judged is None else [{**asdict(check), "holds": check.holds} for check in judged.checks],
        "recovered": [{"database": name, **found} for name, found in recoveries(result.engine)],
        "tuned": tuned(result),
        "warnings": list(section(result).get("warnings") or ()),
    }
