"""Flags about replayed traces: were the requests issued when they were due, all of them, where they were recorded?"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analysis.plausibility.evidence import Evidence
from plimsoll.result import Flag
from plimsoll.units import brief_duration

#: More than this share of the requests later than a millisecond is no longer the load that was recorded.
LATE_SHARE_MAX = 0.01
#: From this share of waiting requests on the target, not this host, is why they are late.
WAITED_SHARE = 0.5


def replay_late(evidence: Evidence) -> Iterator[Flag]:
    """Requests of a trace left later than they were due, whatever held them."""
    for found in evidence.result.replay:
        late, lateness = found["late"], found["lateness_ns"]
        if late is None or late["1ms"] <= LATE_SHARE_MAX:
            continue
        waits = found["waited"] >= WAITED_SHARE * late["1ms"]
        cause = (
            f"{found['waited']:.1%} waited for a free slot, because the target was slower than the recorded load assumes"
            if waits
            else "the host was busy elsewhere"
        )
        yield Flag(
            "replay_late",
            "doubt",
            f"{late['1ms']:.1%} of the requests of stream {found['stream']} left more than 1 ms after they were due (99th percentile "
            f"{brief_duration(lateness['p99'])}, worst {brief_duration(lateness['max'])}): {cause}.",
            "Replay slower, or with a larger queue_depth; latency counts from when a request was due and so holds its lateness."
            if waits
            else "Free a core for the generator; latency counts from when a request was due and so holds its lateness.",
        )


def replay_cut(evidence: Evidence) -> Iterator[Flag]:
    """The time was over before the trace was."""
    limits = {stream["name"]: stream.get("requests") for stream in evidence.streams}
    for found in evidence.result.replay:
        requests = found["requests"]
        asked = min(requests["asked"], limits.get(found["stream"]) or requests["asked"])
        if requests["completed"] + requests["failed"] < asked:
            yield Flag(
                "replay_cut",
                "doubt",
                f"{requests['completed']:,} of the {asked:,} requests of stream {found['stream']} were replayed before the "
                "time was over: what the trace has later is missing in the numbers.",
                "Give more time with duration, or less of the trace with requests.",
            )


def replay_changed(evidence: Evidence) -> Iterator[Flag]:
    """What was issued differs from what was recorded."""
    words = {"moved": "went to another address", "rounded": "were rounded to blocks", "shortened": "were shortened"}
    for found in evidence.result.replay:
        changed = [f"{found['changes'][key]:,} {what}" for key, what in words.items() if found["changes"][key]]
        if changed:
            yield Flag(
                "replay_changed",
                "note",
                f"Of the {found['requests']['issued']:,} requests of stream {found['stream']}, {', '.join(changed)}.",
                "Compare with results of the same mapping only; a target as large as the recorded one needs none.",
            )


def report_incomplete(evidence: Evidence) -> Iterator[Flag]:
    """Lines of the lateness report are missing."""
    report = next((found["report"] for found in evidence.result.replay if found["report"]), None)
    if report and report["failure"]:
        yield Flag(
            "report_incomplete",
            "doubt",
            f"{requests_text(report['dropped'])} missing in {report['path']}, which could not be written to its end: "
            f"{report['failure'].rstrip('.')}.",
            "Replay again with the report on a disk with room; totals and this section hold every request.",
        )
    elif report and report["dropped"]:
        yield Flag(
            "report_incomplete",
            "note",
            f"{requests_text(report['dropped'])} missing in {report['path']}: the workers did not wait for the disk that it is written to.",
            "Write it to a faster disk than the one under test, or replay slower; totals and this section hold every request.",
        )


def requests_text(number: int) -> str:
    """The subject of a sentence, and its verb."""
    return "1 request is" if number == 1 else f"{number:,} requests are"
