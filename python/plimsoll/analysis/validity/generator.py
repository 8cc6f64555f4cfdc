"""Flags about the load generator, live and replaying a trace.

The generator: fast enough, punctual, on the path it was asked to use?

Replayed traces: were the requests issued when they were due, all of them, where they were recorded?
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analysis.point.definition import offered_per_s
from plimsoll.analysis.point.offered_load import due_per_s, offered_kind_per_s, share_min_of
from plimsoll.analysis.validity.evidence import COST_BACKENDS, Evidence, quantity
from plimsoll.analysis.validity.severity import of_shift
from plimsoll.own_cost import NOP, NULL, OwnCost
from plimsoll.result import Flag
from plimsoll.units import brief_duration

#: Own cost per I/O above this share of the service time distorts it.
OWN_COST_SHARE_MAX = 0.10
#: A worker this busy had no time to issue more.
BUSY_SHARE_MAX = 0.95
#: Below this service time a busy worker means that the CPU, not the target, set the rate.
SMALL_SERVICE_NS = 20_000.0
LATE_SHARE_MAX = 0.01
LAG_NS_MIN = 50_000
DRIFT_PPM_MAX = 50.0
#: What the way to a worker thread of the kernel and back adds to a request: two wake-ups.
HANDOVER_NS = 20_000.0


def generator_bound(evidence: Evidence) -> Iterator[Flag]:
    """The numbers say more about this host than about the target."""
    if evidence.backend in COST_BACKENDS:
        yield Flag(
            "generator_bound",
            "note",
            f"The {evidence.backend} backend moves no data: the numbers are Plimsoll's own cost.",
            "Read them as the maximum load this host can generate.",
        )
        return
    service_ns, own_ns = evidence.service_mean_ns, own_cost_ns(evidence)
    if service_ns is None or not evidence.moves_data:
        return
    if own_ns is not None and own_ns > OWN_COST_SHARE_MAX * service_ns:
        yield Flag(
            "generator_bound",
            of_shift(own_ns / service_ns),
            f"Plimsoll's own cost of {brief_duration(own_ns)} per I/O is {own_ns / service_ns:.0%} of the service time of "
            f"{brief_duration(service_ns)}.",
            "Read latencies as upper bounds. To find the target's own limit, use more workers or larger requests.",
        )
    busy = busy_share(evidence)
    if busy is not None and busy > BUSY_SHARE_MAX and service_ns < SMALL_SERVICE_NS * max(1, evidence.job_depth):
        yield Flag(
            "generator_bound",
            "doubt",
            f"The workers used {busy:.0%} of their cores: the CPU of this host, not the target, may have set the rate.",
            "Use more threads or hosts, or larger requests. A CPU-limited rate says nothing about the target.",
        )


def rate_not_achieved(evidence: Evidence) -> Iterator[Flag]:
    """The target (or the generator) did not keep up with the offered rate."""
    for name, offered in offered_per_s(evidence.result.job.definition).items():
        stream = next(stream for stream in evidence.streams if stream["name"] == name)
        achieved = offered_kind_per_s(stream, evidence.result.streams.get(name, {}))
        elapsed_s = evidence.observation.elapsed_s
        due = due_per_s(offered, iops=achieved, unfinished=evidence.result.unfinished, elapsed_s=elapsed_s)
        least = share_min_of(due * elapsed_s, drawn=stream.get("arrival") != "constant")
        # What found no file to be done to is no matter of the target's: `operations_skipped` tells of it.
        if elapsed_s > 0 and achieved + _skipped(evidence, name) / elapsed_s < least * due:
            yield Flag(
                "rate_not_achieved",
                "doubt",
                f"Stream {name} was offered {quantity(offered)}/s and completed {quantity(achieved)}/s "
                f"({achieved / offered:.1%}): the target is saturated, and latencies grow as long as the run lasts.",
                "Offer less. Latency at a rate the target cannot sustain depends on the length of the run.",
            )


def _skipped(evidence: Evidence, stream: str) -> int:
    """Operations of a stream on files that there was nothing for."""
    files = evidence.result.engine.get("files") or {}
    return sum((files.get("skipped") or {}).get(stream, {}).values())


def generator_lag(evidence: Evidence) -> Iterator[Flag]:
    """Requests left later than they were due although nothing but the generator held them."""
    observation, count = evidence.observation, evidence.count
    if not count or observation.lag_late <= LATE_SHARE_MAX * count or observation.lag_p99_ns < LAG_NS_MIN:
        return
    yield Flag(
        "generator_lag",
        of_shift(_lag_of_mean(evidence)),
        f"{observation.lag_late / count:.1%} of the requests left late (99th percentile {brief_duration(observation.lag_p99_ns)}, "
        f"worst {brief_duration(observation.lag_max_ns)}): the host was busy elsewhere.",
        "Free a CPU core for the generator. Every open-loop latency shown includes this lateness.",
    )


def _lag_of_mean(evidence: Evidence) -> float:
    """At most so much of the mean latency the lateness can be: that of the late ones, all as late as the 99th percentile."""
    observation, latency_ns = evidence.observation, evidence.latency_mean_ns
    return observation.lag_late / evidence.count * observation.lag_p99_ns / latency_ns if latency_ns else 1.0


def clock_source(evidence: Evidence) -> Iterator[Flag]:
    """The time came from a slow or drifting clock."""
    clock = evidence.engine_facts.get("clock") or {}
    source, drift_ppm = clock.get("source"), clock.get("drift_ppm")
    if source is not None and source not in ("tsc", "virtual"):
        yield Flag(
            "clock_source",
            "note",
            f"The clock is {source}, not the processor's time-stamp counter: each stamp costs more.",
            "Check the kernel's clocksource. Latencies of a few microseconds include the cost of the clock.",
        )
    if isinstance(drift_ppm, (int, float)) and abs(drift_ppm) > DRIFT_PPM_MAX:
        yield Flag(
            "clock_source",
            of_shift(drift_ppm * 1e-6),
            f"The time-stamp counter ran {drift_ppm:+.0f} ppm against the system clock during the job.",
            "Check whether a virtual machine was suspended or migrated. Rates are wrong by the same share.",
        )


def uring_fallback(evidence: Evidence) -> Iterator[Flag]:
    """Another backend than the asked one was used."""
    backend = evidence.result.engine.get("backend") or {}
    reason = backend.get("fallback_reason")
    if reason:
        yield Flag(
            "uring_fallback",
            "doubt",
            f"The {backend.get('used')} backend was used in place of io_uring: {str(reason).rstrip('.')}.",
            "Allow io_uring (sysctl kernel.io_uring_disabled=0, container profile) for comparable numbers at depth.",
        )


def uring_handoff(evidence: Evidence) -> Iterator[Flag]:
    """The kernel handed requests to worker threads because the target would have blocked."""
    workers = evidence.engine_facts.get("iou_wrk_threads")
    if isinstance(workers, int) and workers > 0:
        told = _changeover(evidence)
        yield Flag(
            "uring_handoff",
            of_shift(HANDOVER_NS / (evidence.service_mean_ns or HANDOVER_NS)),
            f"The kernel handed io_uring requests to {workers} worker threads, because they could not complete without blocking: "
            "latencies include the hand-over.",
            f"System calls were tried in the warm-up and were not clearly faster: {told}."
            if told
            else "Compare with --set backend=sync, which is faster on such targets.",
        )


def changed_over(evidence: Evidence) -> Iterator[Flag]:
    """``auto`` compared io_uring with plain system calls in the warm-up, and system calls carried what was measured."""
    told = _changeover(evidence)
    if told and evidence.backend == "sync":
        yield Flag(
            "changed_over",
            "note",
            f"System calls carried the requests in place of io_uring: {told}.",
            "Give both sides of a comparison the same backend, with --set backend=sync or --set backend=uring.",
        )


def _changeover(evidence: Evidence) -> str | None:
    """What came of comparing the two, where the engine did."""
    return (evidence.engine_facts.get("facts") or {}).get("changeover")


def own_cost_ns(evidence: Evidence) -> float | None:
    """Plimsoll's calibrated cost of one I/O on the path that was used."""
    per_core = OwnCost(evidence.result.calibration or {}).per_core(NOP if evidence.backend == "uring" else NULL)
    return None if per_core is None else 1e9 / per_core


def busy_share(evidence: Evidence) -> float | None:
    """CPU time of the workers over the time they had; None when it is not known or they poll by order."""
    used = evidence.result.engine.get("cpu_ns") or {}
    workers, end_ns = evidence.engine_facts.get("workers"), evidence.result.engine.get("end_ns")
    if not workers or not end_ns or not used or evidence.result.job.options.get("polled"):
        return None
    return float((used.get("user", 0) + used.get("system", 0)) / (workers * end_ns))


#: More than this share of the requests later than a millisecond is no longer the load that was recorded.
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
            "Replay slower, or with a larger queue_depth. Latency counts from when a request was due, so it includes lateness."
            if waits
            else "Free a CPU core for the generator. Latency counts from when a request was due, so it includes lateness.",
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
                "time was over: the numbers lack the rest of the trace.",
                "Use a longer duration, or replay less of the trace (requests).",
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
                "Compare only with results of the same mapping. A target as large as the recorded one needs no mapping.",
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
            "Replay again with the report on a disk with free space. Totals and this section cover every request.",
        )
    elif report and report["dropped"]:
        yield Flag(
            "report_incomplete",
            "note",
            f"{requests_text(report['dropped'])} missing in {report['path']}: its disk was too slow, and the workers did not wait.",
            "Write it to a disk faster than the one under test, or replay slower. Totals and this section cover every request.",
        )


def requests_text(number: int) -> str:
    """The subject of a sentence, and its verb."""
    return "1 request is" if number == 1 else f"{number:,} requests are"
