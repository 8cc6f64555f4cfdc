"""What is wanted of Plimsoll while storage fails: exit code, words, record and report, and that what it says is true. Pure.

Model: an outcome is judged by what was injected, as the log of the file system has it. *Refused* requests fail the point and are named by their
error. *Wrong data* that a verified run has read fails the point with exit code 6, and each injection that was read is named by its address and
none is named that was not; a run that verifies nothing says nothing of it. *Late* requests are in the slowest latency, and an objective that they
break is not held. Everything else leaves a run as it is.

    judge(outcome).complaints == []
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from long.fault_mount import Injection
from long.trial import Outcome

#: The words of an error that a request meets. FUSE turns a short direct write into EIO.
ERRORS = {
    "eio": r"EIO",
    "enospc": r"ENOSPC",
    "short": r"transferred less than was asked for|SHORT|EIO",
    "truncated": r"transferred less than was asked for|SHORT|EIO",
    "removed": r"ESTALE|ENOENT",
    "read_only": r"EROFS",
}
#: What may be said of sectors that hold what an injection left; see `fault.rs` in crates/workload.
FINDINGS = {
    "lost": {"lost"},
    "torn": {"torn", "lost"},
    "misdirected": {"misdirected", "lost"},
    # Older data is stale if a read has returned the newer, otherwise the newer never arrived as far as anybody can tell.
    "stale": {"stale", "lost"},
    "flipped": {"corrupt"},
    # Of a granule written once, no stamp is what stood there before.
    "zeros": {"corrupt", "lost"},
}
LATE = ("stall", "hang")
_MAGIC_BYTES = 12
_SECTOR_BYTES = 512
#: Examples of each fault that a result keeps; where more were found, not every address can be there.
_EXAMPLES_MAX = 8


@dataclass(frozen=True)
class Judgement:
    """What is wrong with an outcome, and whether the fault was named; None where there was nothing that could be."""

    complaints: list[str]
    named: bool | None


def judge(outcome: Outcome) -> Judgement:
    """Judge what came of a run."""
    complaints = _always(outcome)
    if len(outcome.results) != 1:
        return Judgement(complaints, None)
    fault = outcome.plan.fault
    if fault == "short" and outcome.load.asks_again:
        _unharmed(outcome, complaints)
        named = outcome.point["engine"]["engine"]["facts"].get("short transfers") == str(len(outcome.injections))
        _must(named, "short transfers are not counted", complaints)
    elif fault in ERRORS:
        named = _refused(outcome, complaints)
    elif fault in FINDINGS and outcome.load.verifies:
        named = _wrong_data(outcome, complaints)
    elif fault in LATE:
        named = _late(outcome, complaints)
    elif fault == "slow_metadata" and outcome.load.works_on_names:
        _unharmed(outcome, complaints)
        named = _slowest_ms(outcome) >= _delay_ms(outcome)
        _must(named, "no latency is as long as each operation on names took", complaints)
    else:
        _unharmed(outcome, complaints)
        named = None
    return Judgement(complaints, named)


def _must(holds: object, complaint: str, complaints: list[str]) -> None:
    if not holds:
        complaints.append(complaint)


def _always(outcome: Outcome) -> list[str]:
    complaints: list[str] = []
    _must("Traceback" not in outcome.said, "a traceback", complaints)
    _must(len(outcome.results) == 1, f"{len(outcome.results)} points in the store", complaints)
    _must(outcome.page, "no report", complaints)
    return complaints


def _refused(outcome: Outcome, complaints: list[str]) -> bool:
    """Requests failed: so did the point, by the name of the error."""
    point, words = outcome.point, ERRORS[outcome.plan.fault]
    if not outcome.injections:
        complaints.append("nothing was struck")
        return False
    # A file that was cut holds zeros where stamps were, which a verified run may meet as well.
    code = 6 if outcome.plan.fault == "truncated" and "wrong_data" in _flags(point) else 4
    _must(outcome.code == code, f"exit code {outcome.code}, not {code}", complaints)
    _must(sum(count for errors in point["errors"].values() for count in errors.values()) > 0, "no error is counted", complaints)
    _must("io_errors" in _flags(point), "no flag says that requests failed", complaints)
    if not outcome.load.goes_on:
        _must(point["status"] == "failed", f"the point is {point['status']}", complaints)
        _must(re.search(words, point["error"] or ""), f"the error is {point['error']!r}", complaints)
    _must("held" not in _verdicts(outcome), "an objective is held", complaints)
    _must(re.search(words, outcome.page), "the report does not name it", complaints)
    named = bool(re.search(words, outcome.said))
    _must(named, f"nobody said {words}", complaints)
    return named


def _wrong_data(outcome: Outcome, complaints: list[str]) -> bool | None:
    """What was read and wrong is named, each by its address, and nothing else."""
    point, allowed = outcome.point, FINDINGS[outcome.plan.fault]
    findings = point["engine"].get("verify") or {}
    examples = findings.get("examples", [])
    seen = [injection for injection in outcome.injections if injection.seen]
    for example in examples:
        blamed = [injection for injection in outcome.injections if _overlap(example, injection)]
        _must(blamed, f"{example['fault']} at {example['address']}, where nothing was injected", complaints)
        excused = any(_hits_magic(injection) for injection in blamed) or _is_from_before(example)
        _must(example["fault"] in allowed or excused, f"{example['fault']} where it was {outcome.plan.fault}", complaints)
    if not seen:
        _must(outcome.code in (0, 6), f"exit code {outcome.code}", complaints)
        return None
    full = any(findings[fault]["findings"] > _EXAMPLES_MAX for fault in ("lost", "torn", "stale", "misdirected", "corrupt"))
    unnamed = [injection for injection in seen if not any(_overlap(example, injection) for example in examples)]
    _must(not unnamed or (full and len(unnamed) < len(seen)), f"read and not named: {unnamed}", complaints)
    _must(outcome.code == 6, f"exit code {outcome.code}, not 6", complaints)
    _must(point["status"] == "failed", f"the point is {point['status']}", complaints)
    _must("wrong_data" in _flags(point), "no flag says so", complaints)
    _must("held" not in _verdicts(outcome), "an objective is held", complaints)
    _must("wrong_data" in outcome.page, "the report does not name it", complaints)
    said = any(f"{example['fault']} at byte" in outcome.said for example in examples)
    _must(said, "nobody said it", complaints)
    return said and not unnamed


def _late(outcome: Outcome, complaints: list[str]) -> bool:
    """Requests came late or not at all: that is in the figures, and what they break is not held."""
    fault = outcome.plan.fault
    _must(outcome.injections, "nothing was struck", complaints)
    if fault == "hang":
        named = "no answer from" in outcome.said
        _must(named, "nobody said that there was no answer", complaints)
    else:
        named = _slowest_ms(outcome) >= _delay_ms(outcome)
        _must(named, f"the slowest took {_slowest_ms(outcome)} ms", complaints)
    _must("wrong_data" not in _flags(outcome.point), "wrong data where data was late", complaints)
    if outcome.load.objective:
        _must(outcome.code in (1, 4), f"exit code {outcome.code} of an objective that cannot hold", complaints)
        _must("held" not in _verdicts(outcome), "the objective is held", complaints)
    else:
        _must(outcome.code == 0, f"exit code {outcome.code}, not 0", complaints)
    return named


def _unharmed(outcome: Outcome, complaints: list[str]) -> None:
    """Nothing that this run could see: it ends well and accuses nobody."""
    point = outcome.point
    _must(outcome.code == 0, f"exit code {outcome.code}, not 0", complaints)
    _must(point["status"] == "complete", f"the point is {point['status']}: {point['error']}", complaints)
    _must(not point["errors"], f"errors {point['errors']}", complaints)
    _must("wrong_data" not in _flags(point), "wrong data is named where nothing was verified or wrong", complaints)


def _flags(point: dict[str, Any]) -> set[str]:
    return {flag["name"] for flag in point["flags"]}


def _verdicts(outcome: Outcome) -> set[str]:
    """The words after the points of an objective."""
    return set(re.findall(r"^  \S+ on .*: (held|failed|open)\b", outcome.said, re.MULTILINE))


def _slowest_ms(outcome: Outcome) -> float:
    latencies = [totals["latency_ns"] for totals in outcome.point["totals"].values()]
    return max((latency["max"] / 1e6 for latency in latencies if latency), default=0.0)


def _delay_ms(outcome: Outcome) -> float:
    return float(str(outcome.plan.keys["ms"]))


def _overlap(example: dict[str, Any], injection: Injection) -> bool:
    start, end = example["address"], example["address"] + example["len"]
    return any(start < to and at < end for at, to in injection.wrong)


def _is_from_before(example: dict[str, Any]) -> bool:
    """Whether older data was returned that is older than the run: without a stamp of it, nobody can tell that it once stood there."""
    return example["fault"] == "corrupt" and example.get("found", {}).get("kind") in ("unstamped", "zeros", "other_run")


def _hits_magic(injection: Injection) -> bool:
    """Whether a flipped bit stands in what makes a stamp one: without it, nobody can tell that there was one."""
    return injection.fault == "flipped" and any(at % _SECTOR_BYTES < _MAGIC_BYTES for at, _ in injection.wrong)
