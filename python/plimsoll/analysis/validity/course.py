"""Flags about the course of the job and of its file operations.

The job: killed, interrupted, ended before its goal, failing, corrupt, modelled.

File operations: drawn and not to be done, or all done before the time was over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plimsoll.analysis.point import durability
from plimsoll.analysis.point.array import lost
from plimsoll.analysis.point.definition import asks_a_list, runs_workflows
from plimsoll.analysis.point.recovery import broken_word
from plimsoll.analysis.point.verification import broken_promises, checked, findings, letters_astray
from plimsoll.analysis.validity.evidence import Evidence, at_least, quantity
from plimsoll.result import Flag
from plimsoll.units import significant


def incomplete(evidence: Evidence) -> Iterator[Flag]:
    """The process ended before the point did."""
    if evidence.result.status == "incomplete":
        yield Flag(
            "incomplete",
            "doubt",
            "Plimsoll ended before the measurement did; "
            f"the numbers cover the {quantity(evidence.observation.elapsed_s)} s that reached the disk.",
            "Measure it again.",
        )


def interrupted(evidence: Evidence) -> Iterator[Flag]:
    """A signal ended the job early."""
    if evidence.result.status == "interrupted":
        is_list = asks_a_list(evidence.result.job.definition)
        of = ", before every query was asked" if is_list else f" of {quantity(evidence.result.job.duration_s)} s"
        if runs_workflows(evidence.result.job.definition):
            is_list, of = True, ", before every workflow had ended"
        yield Flag(
            "interrupted",
            "doubt",
            f"The run was stopped after {quantity(evidence.observation.elapsed_s)} s{of}; the numbers cover that part.",
            f"Measure again if you need {'whole figures' if is_list else 'the whole duration'}.",
        )


def precision_not_reached(evidence: Evidence) -> Iterator[Flag]:
    """The time limit came before the interval was as narrow as asked."""
    ended = evidence.result.ended
    if ended.get("by") == "limit" and ended.get("goal") == "precision":
        yield Flag(
            "precision_not_reached",
            "doubt",
            f"The {ended['how']}.",
            "Allow more time (--duration), or ask for less precision.",
        )


def amount_not_reached(evidence: Evidence) -> Iterator[Flag]:
    """The time limit came before everything was transferred."""
    ended = evidence.result.ended
    if ended.get("by") == "limit" and ended.get("goal") == "amount":
        yield Flag("amount_not_reached", "doubt", f"The {ended['how']}.", "Allow more time (--duration).")


def nothing_measured(evidence: Evidence) -> Iterator[Flag]:
    """The point came to its end, and nothing happened in the measured time."""
    if evidence.result.status != "complete" or evidence.result.totals or checked(evidence.result.engine):
        return
    before = evidence.observation.warmup_count
    where = (
        f"all {quantity(before)} requests completed in the warm-up of {evidence.result.job.warmup_s:g} s"
        if before
        else "no request completed"
    )
    yield Flag(
        "nothing_measured",
        "invalid",
        f"Nothing was measured: {where}, and none in the {quantity(evidence.observation.elapsed_s)} s after it.",
        "Warm up for less (--warmup 0), measure longer, or ask for a larger amount.",
    )


def io_errors(evidence: Evidence) -> Iterator[Flag]:
    """Requests failed."""
    failed = sum(total.errors for total in evidence.result.totals.values())
    if not failed or runs_workflows(evidence.result.job.definition):
        return  # which workflows failed, and why, is said by a flag of their own
    named = [f"{count:,} × {name} on {op}" for op, errors in evidence.result.errors.items() for name, count in errors.items()]
    told = f"{quantity(failed)} of {quantity(evidence.count + failed)} requests failed: {', '.join(named)}"
    if kills := (evidence.result.engine.get("mail") or {}).get("kills"):
        some = f"{quantity(failed)} of {quantity(evidence.count + failed)} tasks failed"
        told = f"{some}, while servers were killed {len(kills)} times on purpose."
        yield Flag("io_errors", "note", told, "Latencies say nothing here: what counts is whether mail was kept.")
        return
    advice = "Check the kernel log and the device's health"
    if evidence.result.modelled:
        cause = lost(evidence.result.engine)
        told += f"; {cause}" if cause else ""
        advice = "Let fewer members fail, or give the array spares or another RAID level"
    yield Flag("io_errors", "invalid", f"{told}.", f"{advice}. Do not compare numbers of a failing target.")


def failure_not_reached(evidence: Evidence) -> Iterator[Flag]:
    """A member of a modelled array was to fail, or a new drive to come for it, after the run had ended."""
    end_s = evidence.result.engine.get("end_ns", 0) / 1e9
    facts = evidence.target_facts
    for found, what, sooner in (
        (facts.get("failures"), "failure", "let members fail"),
        (facts.get("replacements"), "replacement", "let new drives come"),
    ):
        beyond = [one for one in found or () if one["time_s"] >= end_s > 0]
        if not beyond:
            continue
        single = len(beyond) == 1
        named = ", ".join(f"of member {one['member']} of {one['group']} at {one['time_s']:g} s" for one in beyond)
        yield Flag(
            "failure_not_reached",
            "doubt",
            f"The {what if single else f'{what}s'} {named} {'comes' if single else 'come'} after the end of the run ({quantity(end_s)} s).",
            f"Use a longer --duration, or {sooner} sooner. Times count from the start of the warm-up.",
        )


def verification(evidence: Evidence) -> Iterator[Flag]:
    """Data read back was not what had been written, or was never stamped."""
    if (broken := broken_promises(evidence.result.engine)) is not None:
        yield Flag(
            "wrong_data",
            "invalid",
            f"{broken[:1].upper()}{broken[1:]}",
            "Do not trust this storage with data that must survive a power cut. Keep target, journal and run as evidence.",
        )
    if (astray := letters_astray(evidence.result.engine)) is not None:
        yield Flag(
            "wrong_data",
            "invalid",
            f"{astray[:1].upper()}{astray[1:]}",
            "Do not trust this server with mail on this storage. Keep the target with --keep, and look at the letters that are named.",
        )
    if (unsaved := broken_word(evidence.result.engine)) is not None:
        yield Flag(
            "wrong_data",
            "invalid",
            f"{unsaved[:1].upper()}{unsaved[1:]}",
            "Do not trust this storage with a database. Keep the target, the file of acknowledged commits and the run as evidence.",
        )
    if (forgotten := durability.broken(evidence.result.engine)) is not None:
        yield Flag(
            "wrong_data",
            "invalid",
            f"{forgotten[:1].upper()}{forgotten[1:]}",
            "Do not trust this database on this storage with these settings. Keep the target with --keep, and look at what is named.",
        )
    found = findings(evidence.result.engine, evidence.result.job.definition)
    if found.nothing_stamped:
        yield Flag(
            "nothing_stamped",
            "invalid",
            f"None of the {found.sectors_checked:,} sectors read has a Plimsoll stamp, so nothing was verified.",
            "First run the workload that writes stamps on this target, with --keep. If you did, its data are gone.",
        )
    elif found.listed:
        places = ", ".join(f"{fault} at byte {address:,}" for fault, address in found.places)
        yield Flag(
            "wrong_data",
            "invalid",
            f"Data read back differs from what was written: {found.listed}" + (f"; {places}." if places else "."),
            "Do not trust this storage with data. Keep the run's directory as evidence.",
        )


def virtual_time(evidence: Evidence) -> Iterator[Flag]:
    """The numbers come from a model."""
    if evidence.result.modelled:
        near = "'plimsoll reproduce' shows how close models come to real storage. Trust ratios more than absolute numbers."
        yield Flag(
            "virtual_time",
            "note",
            "Modelled: the target is a model in virtual time, not real storage.",
            near if evidence.backend == "array" else "Compare it only with theory and other models, never with real storage.",
        )


#: The write caches still filled when their fullest in the measured time is so much more than before, relative to where destaging begins,
#: and when that lasted for so much of the measured time.
FILLING_SHARE_MIN = 0.05
#: So they did, however large they are, when so much of what was written stayed in them.
KEPT_SHARE_MIN = 0.2


def cache_filling(evidence: Evidence) -> Iterator[Flag]:
    """The write cache of a modelled array filled while it was measured, so writes cost the drives less than they do in the long run."""
    found, elapsed_s = evidence.observation.filling, evidence.observation.elapsed_s
    if found is None or found.destages or not found.begins_bytes or found.seconds <= FILLING_SHARE_MIN * elapsed_s:
        return
    growth = found.measured_peak_bytes - found.peak_bytes
    written = sum(total.bytes for op, total in evidence.result.totals.items() if op.endswith("write"))
    kept = written > 0 and growth > KEPT_SHARE_MIN * written
    if growth <= FILLING_SHARE_MIN * found.begins_bytes and not kept:
        return
    rate = (min(found.measured_peak_bytes, found.begins_bytes) - found.begin_bytes) / found.seconds
    enough_s = at_least(1.5 * found.begins_bytes / rate)
    begin, most = (significant(100 * min(held / found.begins_bytes, 1.0), 2) for held in (found.begin_bytes, found.measured_peak_bytes))
    yield Flag(
        "cache_filling",
        "doubt",
        f"The write cache filled from {begin} to {most} % of what it takes before it writes anything to the drives: "
        "until then writes cost the drives nothing, and rates are higher than they can stay.",
        f"Leave out --warmup, so that the warm-up lasts until the cache is in balance, or give --warmup {enough_s}s.",
    )


#: Skipped over drawn operations of a kind above which the mix is not the one asked for.
SKIPPED_SHARE_MAX = 0.01


def operations_skipped(evidence: Evidence) -> Iterator[Flag]:
    """Operations were drawn that no file or directory was there for, so the others are more than their share."""
    for name, by_op in (_files(evidence).get("skipped") or {}).items():
        totals = evidence.result.streams.get(name, {})
        for op, skipped in by_op.items():
            done = totals[op].count if op in totals else 0
            if skipped > SKIPPED_SHARE_MAX * (done + skipped) and skipped > 1:
                yield Flag(
                    "operations_skipped",
                    "doubt",
                    f"Stream {name} skipped {op} {quantity(skipped)} times because there was nothing to {op}, and did it {quantity(done)} "
                    "times: the mix of operations is not the one asked for.",
                    "Give create and delete equal shares, and set filled between its extremes.",
                )


def ran_out(evidence: Evidence) -> Iterator[Flag]:
    """Nothing was left to do before the time was over."""
    if _files(evidence).get("ran_out"):
        yield Flag(
            "ran_out",
            "note",
            f"After {quantity(evidence.observation.elapsed_s)} s no operation had a file or directory left; "
            "the numbers cover the time until then.",
            "To measure the whole duration, use larger trees or operations that undo each other.",
        )


def _files(evidence: Evidence) -> dict[str, Any]:
    return evidence.result.engine.get("files") or {}
