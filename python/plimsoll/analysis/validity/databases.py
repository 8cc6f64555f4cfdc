"""Flags about databases as loads: answers that are wrong, data that memory holds, a procedure that is not whole.

Model: the driver's section of the outcome says what was asked for and found; the thresholds are here.
Limits: whether reads came from memory is judged by sizes, not by what the devices read: an engine that keeps little reads twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.analysis.decision.runs import section
from plimsoll.analysis.validity.evidence import Evidence
from plimsoll.result import Flag
from plimsoll.units import binary


def wrong_answer(evidence: Evidence) -> Iterator[Flag]:
    """An engine answered a query wrongly."""
    load = (_decision(evidence).get("load") or {}) if _decision(evidence) else {}
    wrong, said = load.get("wrong") or (), load.get("differences") or ()
    if wrong:
        named = ", ".join(f"{number}" for number in wrong)
        yield Flag(
            "wrong_answer",
            "invalid",
            f"{len(wrong)} of {len(load.get('checked') or ())} answers are wrong (query {named}): {said[0] if said else ''}",
            "Do not use these figures: the engine or the storage below it returned wrong data. Load again; if it stays, report it to who "
            "makes the engine.",
        )


def data_in_memory(evidence: Evidence) -> Iterator[Flag]:
    """What was asked for could be answered from memory."""
    found = _decision(evidence)
    data_bytes = int((found.get("load") or {}).get("data_bytes") or 0)
    engine_bytes = found.get("memory_bytes")
    host_bytes = (evidence.result.host.get("memory") or {}).get("total_bytes")
    if not data_bytes:
        return
    if engine_bytes is not None and data_bytes <= engine_bytes:
        holder, advice = (
            f"the {binary(engine_bytes)} that the engine may use",
            "Ask for a larger --scale, or give the engine less (--set memory=).",
        )
    elif isinstance(host_bytes, int) and data_bytes <= host_bytes:
        holder = f"the {binary(host_bytes)} of this host, whose page cache keeps what was read once"
        advice = "Ask for a larger --scale, or start cold (--cache cold), which helps until everything was read once."
    else:
        return
    yield Flag(
        "data_in_memory", "doubt", f"The data take {binary(data_bytes)} and fit into {holder}: little was asked of the storage.", advice
    )


def part_of_procedure(evidence: Evidence) -> Iterator[Flag]:
    """Less was carried out than the whole procedure."""
    found = _decision(evidence)
    if not found:
        return
    missing = [
        said
        for said, is_so in (
            (f"scale {found.get('scale'):g} is none that published results have", not found.get("standard", True)),
            (f"{len(found.get('queries_asked') or ())} of 22 queries were asked", len(found.get("queries_asked") or ()) < 22),
            ("no orders came and went", not found.get("refresh", True)),
            (
                f"{found.get('streams')} streams are fewer than the {found.get('least_streams')} of this scale",
                found.get("test") != "power" and int(found.get("streams") or 0) < int(found.get("least_streams") or 0),
            ),
        )
        if is_so
    ]
    if missing:
        yield Flag(
            "part_of_procedure", "note", f"Not the whole procedure: {'; '.join(missing)}.", "Compare only with runs of the same options."
        )


def procedure_cut(evidence: Evidence) -> Iterator[Flag]:
    """The time limit came before everything was asked."""
    found = _decision(evidence)
    if found and evidence.result.status == "complete" and not found.get("whole", True):
        yield Flag(
            "procedure_cut",
            "doubt",
            "The time was over before every query was asked, so there are no metrics of the test that was cut off.",
            "Leave --duration out: a run ends by itself.",
        )


def _decision(evidence: Evidence) -> Mapping[str, Any]:
    return section(evidence.result) or {}
