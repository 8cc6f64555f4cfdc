"""DiskSpd's XML results as results of ours, marked with their origin.

Model: each time span becomes a result. Counts are sums over threads and targets, rates divide by the test's time, latencies come from the
table of percentiles. The profile in the file, translated, is the definition of the job; where it cannot be, the definition is empty.
Limits: there are no histograms in the file, so nothing can be merged or read between the percentiles.

    points = read_results(text, "result.xml")
    points[0].result.totals["read"].latency_ns.p99
"""

from __future__ import annotations

import math
from typing import cast

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.diskspd.resolve import Profile, uses_of
from plimsoll.formats.diskspd.translate import streams_of
from plimsoll.formats.diskspd.tree import Element, read_tree
from plimsoll.formats.diskspd.verdict import judge
from plimsoll.formats.diskspd.xml_profile import read_profile
from plimsoll.formats.stored_point import Recorded
from plimsoll.result import Estimate, JobRecord, LatencySummary, OpTotals, Result, Totals
from plimsoll.stored import Definition, Sample

ORIGIN = "DiskSpd"
#: Our fields and the percentiles they are.
_PERCENTILES = {"min": 0.0, "p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p999": 99.9, "max": 100.0}
_SIDES = {"read": "Read", "write": "Write"}


def read_results(text: str, source: str) -> list[Recorded]:
    """One result for each time span; raises `InputError` that names the line."""
    root = read_tree(text, source)
    if root.tag != "Results":
        raise InputError(f"{source}:{root.line}: the document is a <{root.tag}>, not the <Results> of DiskSpd (-Rxml).")
    spans = list(root.all("TimeSpan"))
    if not spans:
        raise InputError(f"{source}:{root.line}: there is no <TimeSpan> with results; DiskSpd may have ended before it measured.")
    profile = read_profile(text, source) if root.child("Profile") is not None else Profile()
    return [Recorded(_Reading(source, root, profile).result(span, number)) for number, span in enumerate(spans)]


class _Reading:
    """One file."""

    def __init__(self, source: str, root: Element, profile: Profile) -> None:
        self._source = source
        self._root = root
        self._profile = profile

    def result(self, span: Element, number: int) -> Result:
        seconds = self._number(span, "TestTimeSeconds")
        if not seconds:
            raise self._wrong(span, "the test lasted no time, so there are no rates; measure again.")
        totals = self._totals(span, seconds)
        system = self._root.child("System")
        tool = system.child("Tool") if system is not None else None
        return Result(
            id=f"diskspd-{number + 1}",
            status="complete",
            error=None,
            started=_text(system, "RunTime"),
            modelled=False,
            job=self._job(span, number, seconds),
            totals=totals,
            streams={"diskspd": totals},
            host={"machine": {"name": _text(system, "ComputerName")}},
            versions={"origin": ORIGIN, "diskspd": _text(tool, "Version")},
            estimates=_estimates(totals),
            monitor=self._monitor(span),
        )

    def _totals(self, span: Element, seconds: float) -> Totals:
        targets = [target for thread in span.all("Thread") for target in thread.all("Target")]
        found: Totals = {}
        for op, side in _SIDES.items():
            count = sum(int(self._number(target, f"{side}Count")) for target in targets)
            size = sum(int(self._number(target, f"{side}Bytes")) for target in targets)
            if count:
                latency = self._latency(span.child("Latency"), side)
                found[op] = OpTotals(count, count / seconds, size, size / seconds, 0, latency, latency)
        return found

    def _latency(self, latency: Element | None, side: str) -> LatencySummary | None:
        """From the percentiles; None when latency was not measured."""
        if latency is None or latency.child(f"Average{side}Milliseconds") is None:
            return None
        found: dict[float, float] = {}
        for bucket in latency.all("Bucket"):
            if bucket.child(f"{side}Milliseconds") is not None:
                found[round(self._number(bucket, "Percentile"), 9)] = self._number(bucket, f"{side}Milliseconds")
        missing = next((percent for percent in _PERCENTILES.values() if percent not in found), None)
        if missing is not None:
            raise self._wrong(latency, f"the percentile {missing:g} of {side.lower()}s is missing from the table.")
        return LatencySummary(
            mean=self._number(latency, f"Average{side}Milliseconds") * 1e6,
            stddev=self._number(latency, f"{side}LatencyStdev") * 1e6,
            **{name: round(found[percent] * 1e6) for name, percent in _PERCENTILES.items()},
        )

    def _monitor(self, span: Element) -> Sample:
        utilization = span.child("CpuUtilization")
        average = utilization.child("Average") if utilization is not None else None
        if average is None:
            return {}
        names = {"user_percent": "UserPercent", "system_percent": "KernelPercent", "idle_percent": "IdlePercent"}
        return {"cpu": {name: self._number(average, tag) for name, tag in names.items()}}

    def _job(self, span: Element, number: int, seconds: float) -> JobRecord:
        asked = self._profile.spans[number] if number < len(self._profile.spans) else None
        uses = uses_of(asked) if asked is not None else []
        clear = all(
            judge(setting, use)[0] != "unsupported" for use in uses for setting in use.target.settings.values() if setting.key != "Path"
        )
        streams = [stream for use in uses for stream in streams_of(use)] if clear else []
        threads = int(self._number(span, "ThreadCount"))
        depths = {use.depth for use in uses}
        paths = uses[0].paths if uses else []
        return JobRecord(
            workload="diskspd",
            title=f"DiskSpd: {', '.join(paths)}" if paths else "DiskSpd",
            group="diskspd",
            target=", ".join(paths),
            seed=int(asked.get("RandSeed") or 0) if asked is not None else 0,
            repeat=1,
            duration_s=seconds,
            warmup_s=float(asked.get("Warmup")) if asked is not None else 0.0,
            threads=threads,
            queue_depth=depths.pop() if len(depths) == 1 else None,
            arrival="constant" if any(use.rate_per_thread for use in uses) else "closed",
            definition=cast("Definition", {"name": "diskspd", "stream": streams}),
            options={},
        )

    def _number(self, element: Element, tag: str) -> float:
        child = element.child(tag)
        if child is None:
            raise self._wrong(element, f"<{element.tag}> has no <{tag}>; the file is not complete.")
        try:
            value = float(child.text)
        except ValueError:
            value = math.nan
        if not 0 <= value < 1e30:
            raise self._wrong(child, f"<{tag}> is {quoted(child.text[:40])}; write a number, 0 or more.")
        return value

    def _wrong(self, element: Element, problem: str) -> InputError:
        return InputError(f"{self._source}:{element.line}: {problem}")


def _text(element: Element | None, tag: str) -> str:
    child = element.child(tag) if element is not None else None
    return child.text if child is not None else ""


def _estimates(totals: Totals) -> dict[str, dict[str, Estimate]]:
    """The figures without bounds, as far as the file has them."""
    return {
        op: {
            "iops": Estimate(total.iops),
            "bytes_per_s": Estimate(total.bytes_per_s),
            **({"mean": Estimate(total.latency_ns.mean), "p99": Estimate(total.latency_ns.p99)} if total.latency_ns else {}),
        }
        for op, total in totals.items()
    }
