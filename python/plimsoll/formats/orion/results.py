"""What another run of ORION measured, as results of ours: one for each point of its CSV files, with what its summary.txt adds.

Model: the rates are the tool's; counts follow from them and the duration of a point, which the summary has, beside sizes, writes and LUNs;
without it they are those of one second, and the note says so. Of latencies ORION's tables hold the mean only, which becomes an estimate
without bounds. Every result carries the origin ``ORION`` in its versions.
Limits: the tables do not tell reads from writes. With 0 or 100 % of writes all requests are one or the other; in between they are divided
in that proportion, and only the mean over both is given.

    read_summary(text)        # Summary(duration_s=60.0, write_percent=0, small_kb=8, large_kb=1024, target="/dev/sdb")
    recorded(joined([read_table(iops, "t_iops.csv"), read_table(lat, "t_lat.csv")]), Run("t", duration_s=60))
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import cast

from plimsoll.formats.foreign_point import noted
from plimsoll.formats.orion.plane import BYTES_PER_MB, Plane, Point, Where
from plimsoll.formats.stored_point import Recorded
from plimsoll.result import Estimate, JobRecord, OpTotals, Result, Totals
from plimsoll.stored import Definition, Json

_LUN = re.compile(r"^Name: (.+?)\s+Size: \d+", re.MULTILINE)
_NAME = re.compile(r"(?P<test>.+?)(?:_(?P<day>\d{8})_(?P<time>\d{4}))?_summary\.txt", re.IGNORECASE)


@dataclass(frozen=True)
class Summary:
    """Each as far as the summary has it."""

    duration_s: float | None = None
    write_percent: int | None = None
    small_kb: int | None = None
    large_kb: int | None = None
    target: str = ""


def is_summary(head: str) -> bool:
    """Whether a text begins as a summary does."""
    return head.lstrip("\ufeff \r\n").upper().startswith("ORION VERSION")


def read_summary(text: str) -> Summary:
    """Lines that are not known, or have no number, are passed over."""
    return Summary(
        duration_s=_number(text, r"Duration for each Data Point:\s*(\d{1,9}) seconds"),
        write_percent=_number(text, r"Write:\s*(\d{1,2}|100)%"),
        small_kb=_number(text, r"Small IO size:\s*(\d{1,7}) KB") or None,
        large_kb=_number(text, r"Large IO size:\s*(\d{1,7}) KB") or None,
        target=",".join(_LUN.findall(text)),
    )


def summary_of(name: str) -> tuple[str, str | None] | None:
    """The test and moment that the name of a summary has."""
    found = _NAME.fullmatch(name.replace("\\", "/").rpartition("/")[2])
    if found is None:
        return None
    return found["test"], f"{found['day']}_{found['time']}" if found["day"] else None


def _number(text: str, pattern: str) -> int | None:
    found = re.search(rf"^{pattern}\s*$", text, re.MULTILINE)
    return int(found[1]) if found else None


ORIGIN = "ORION"
#: ORION's sizes unless it was told others.
SMALL_KB, LARGE_KB = 8, 1024


@dataclass(frozen=True)
class Run:
    """What the tables do not say of the run; None where its summary does not say it either, and ORION's default is assumed."""

    test: str
    started: str = ""
    target: str = ""
    duration_s: float | None = None
    write_percent: int | None = None
    small_kb: int | None = None
    large_kb: int | None = None
    files: str = ""

    @property
    def seconds(self) -> float:
        """How long counts are of."""
        return self.duration_s or 1.0

    @property
    def writes(self) -> int:
        """Percent of requests."""
        return self.write_percent or 0

    @property
    def block_bytes(self) -> dict[str, int]:
        """The sizes of small and large requests."""
        return {"small": (self.small_kb or SMALL_KB) * 1024, "large": (self.large_kb or LARGE_KB) * 1024}

    @property
    def remark(self) -> str:
        """What is assumed."""
        assumed = [] if self.duration_s else ["counts are those of one second, as it does not tell how long a point lasted"]
        if self.write_percent is None:
            assumed.append("all requests are taken as reads")
        if self.small_kb is None or self.large_kb is None:
            assumed.append(f"small requests are taken as {self.small_kb or SMALL_KB} KiB and large ones as {self.large_kb or LARGE_KB} KiB")
        return f" Without its summary, {'; '.join(assumed)}." if assumed else ""


def recorded(plane: Plane, run: Run) -> list[Recorded]:
    """One result for each point that holds any figure, in rising order."""
    return [Recorded(_result(where, point, run)) for where, point in sorted(plane.points.items()) if point != Point()]


def _result(where: Where, point: Point, run: Run) -> Result:
    few, many = where
    streams: dict[str, Totals] = {}
    if point.iops is not None:
        streams["small"] = _totals(point.iops, point.iops * run.block_bytes["small"], run)
    if point.mbps is not None:
        bytes_per_s = point.mbps * BYTES_PER_MB
        streams["large"] = _totals(bytes_per_s / run.block_bytes["large"], bytes_per_s, run)
    settings = {"small.queue_depth": few, "large.queue_depth": many}
    key = f"{run.test} / {few} / {many}"
    return Result(
        id=f"{run.test}-{few}-{many}",
        status="complete",
        error=None,
        started=run.started,
        modelled=False,
        job=_job(where, run),
        totals=_summed(streams),
        streams=streams,
        flags=[noted(ORIGIN, run.files or run.test, run.remark)],
        versions={"origin": ORIGIN},
        estimates=_estimates(point, run),
        place={"experiment": run.test, "kind": "matrix", "settings": settings, "role": "point", "key": key},
    )


def _totals(iops: float, bytes_per_s: float, run: Run) -> Totals:
    shares = {"read": 1 - run.writes / 100, "write": run.writes / 100}
    return {
        op: OpTotals(
            count=round(iops * share * run.seconds),
            iops=iops * share,
            bytes=round(bytes_per_s * share * run.seconds),
            bytes_per_s=bytes_per_s * share,
            errors=0,
            latency_ns=None,
            service_ns=None,
        )
        for op, share in shares.items()
        if share
    }


def _summed(streams: dict[str, Totals]) -> Totals:
    found: Totals = {}
    for totals in streams.values():
        for op, total in totals.items():
            known = found.get(op, OpTotals(0, 0.0, 0, 0.0, 0, None, None))
            found[op] = OpTotals(
                known.count + total.count,
                known.iops + total.iops,
                known.bytes + total.bytes,
                known.bytes_per_s + total.bytes_per_s,
                0,
                None,
                None,
            )
    return found


def _estimates(point: Point, run: Run) -> dict[str, dict[str, Estimate]]:
    """The mean latency, which is of small requests; where large ones ran beside them it is no figure of the whole point."""
    if point.latency is None or point.mbps is not None:
        return {}
    mean = {"mean": Estimate(point.latency.mean_us * 1000)}
    only = {0: {"read": mean}, 100: {"write": mean}}.get(run.writes, {})
    return {"all": mean, **only}


def _job(where: Where, run: Run) -> JobRecord:
    few, many = where
    mix = {"read_percent": 100 - run.writes, "write_percent": run.writes}
    streams: list[Json] = [
        {"name": name, "block_size": run.block_bytes[name], "queue_depth": depth, **mix}
        for name, depth in (("small", few), ("large", many))
        if depth
    ]
    return JobRecord(
        workload=run.test,
        title=f"ORION: {run.test}",
        group="orion",
        target=run.target,
        seed=0,
        repeat=1,
        duration_s=run.seconds,
        warmup_s=0.0,
        threads=len(streams),
        queue_depth=streams[0]["queue_depth"] if len(streams) == 1 else None,
        arrival="closed",
        definition=cast("Definition", {"name": run.test, "stream": streams}),
        options={},
    )
