"""Analytics workflows by level: what report 002 tells of each number of workflows, with both meanings of its two times.

Model: an iteration is one time that all workflows of a level ran, begun together. Of each there are

    workflow_cpu_s, workflow_real_s     processor time and real time of a workflow, the mean over those that came to their end
    total_cpu_s, total_real_s           processor time of all; last end less first start (the report's text and its name for one figure)
    user … wait_percent                 means over the iteration, of all processors
    blocks_in, blocks_out               blocks of 4,096 bytes that the target's devices moved, a mean per 2 seconds
    bytes_in_per_s, bytes_out_per_s     the same in bytes per second; moved_*: what the workflows' system calls moved

A level is the mean of its iterations. Its stretch is how many times as long a workflow took as one alone. What a core gets is what devices
read and wrote, over the physical cores. The Universal Scalability Law is fitted to iterations, as everywhere
(`plimsoll.analysis.load_line.scaling`). Throughput has ended at the lowest level from which no higher one brings more than a twentieth;
what ended it is the limit of that level.
Source: HP, "SAS on HP MSA 2040 Storage benchmark report" (2013), test methodology.
Limits: where no device of the target is counted, the blocks are those of the whole host, which `counted` says. A workflow that failed is in
no mean, and its level says how many did.

    found = levels_of(results)[0]
    found.levels[-1].stretch, found.end
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from typing import Any, Literal

from plimsoll.analysis.analytics.guidance import PUBLISHED, verdict
from plimsoll.analysis.analytics.limit import Course, Limit, limit
from plimsoll.analysis.load_line.scaling import UslFit, usl_fit
from plimsoll.analysis.point.host_use import BLOCK_BYTES, host_use
from plimsoll.analysis.point.repeats import pool_repeats
from plimsoll.analysis.point.workflows import section
from plimsoll.records import dataclass
from plimsoll.result import Estimate, Result
from plimsoll.stored import IterationOutcome, WorkflowOutcome

#: Blocks are told per so many seconds.
SUMMARY_S = 2.0
#: A level that brings no more than this share more than a lower one brings nothing.
GROWTH_MIN = 0.05
#: The figures of an iteration that a level is the mean of.
MEANS = (
    "workflow_cpu_s",
    "workflow_real_s",
    "total_cpu_s",
    "total_real_s",
    "user_percent",
    "system_percent",
    "idle_percent",
    "wait_percent",
    "blocks_in",
    "blocks_out",
    "bytes_in_per_s",
    "bytes_out_per_s",
    "moved_in_per_s",
    "moved_out_per_s",
)
Counted = Literal["devices", "host"]


@dataclass(frozen=True)
class Iteration:
    """One time that all workflows of a level ran; None where nothing counts."""

    point: str
    number: int
    workflows: int
    failed: int
    wrong: int
    workflow_cpu_s: float | None
    workflow_real_s: float | None
    total_cpu_s: float
    total_real_s: float
    user_percent: float | None
    system_percent: float | None
    idle_percent: float | None
    wait_percent: float | None
    blocks_in: float | None
    blocks_out: float | None
    bytes_in_per_s: float | None
    bytes_out_per_s: float | None
    moved_in_per_s: float
    moved_out_per_s: float
    counted: Counted
    computing_share: float | None
    memory_share: float | None
    util_share: float | None

    @property
    def per_hour(self) -> float:
        """Workflows that came to their end, per hour."""
        return 3600 * (self.workflows - self.failed) / self.total_real_s if self.total_real_s > 0 else 0.0

    @property
    def bytes_per_s(self) -> float | None:
        """In and out together."""
        return None if self.bytes_in_per_s is None or self.bytes_out_per_s is None else self.bytes_in_per_s + self.bytes_out_per_s

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {**asdict(self), "per_hour": self.per_hour}


@dataclass(frozen=True)
class Level:
    """A number of workflows. ``means`` has the mean of every figure of `MEANS`; ``per_core`` is of devices, in bytes per second."""

    workflows: int
    iterations: tuple[Iteration, ...]
    means: Mapping[str, float | None]
    per_hour: Estimate
    bytes_per_s: Estimate | None
    per_core: Estimate | None
    stretch: float | None
    limit: Limit | None
    counted: Counted
    results: tuple[Result, ...] = field(repr=False, compare=False)

    @property
    def failed(self) -> int:
        """Workflows that failed, in all iterations."""
        return sum(one.failed for one in self.iterations)

    @property
    def wrong(self) -> int:
        """Workflows that found wrong data."""
        return sum(one.wrong for one in self.iterations)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        verdicts = None if self.per_core is None else {name: verdict(self.per_core, asked) for name, asked in PUBLISHED.items()}
        return {
            "workflows": self.workflows,
            **self.means,
            "per_hour": asdict(self.per_hour),
            "bytes_per_s": None if self.bytes_per_s is None else asdict(self.bytes_per_s),
            "per_core": None if self.per_core is None else asdict(self.per_core),
            "verdicts": verdicts,
            "stretch": self.stretch,
            "limited_by": None if self.limit is None else {**asdict(self.limit), "words": self.limit.words()},
            "counted": self.counted,
            "failed": self.failed,
            "wrong_data": self.wrong,
            "iterations": [one.to_json() for one in self.iterations],
        }


@dataclass(frozen=True)
class Levels:
    """The levels of one side, lowest first. ``end`` is the level at which throughput ended; None where it was still growing, or with fewer
    than two levels. ``fit`` is None with fewer than four."""

    side: str
    title: str
    cores: int | None
    levels: tuple[Level, ...]
    fit: UslFit | None
    end: Level | None

    @property
    def best(self) -> Level:
        """The level of the highest throughput."""
        return max(self.levels, key=lambda level: level.per_hour.value)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "side": self.side,
            "title": self.title,
            "physical_cores": self.cores,
            "asked_bytes_per_s": dict(PUBLISHED),
            "levels": [level.to_json() for level in self.levels],
            "fit": None if self.fit is None else self.fit.to_json(),
            "ended_at": None if self.end is None else self.end.workflows,
            "ended_by": None if self.end is None or self.end.limit is None else self.end.limit.what,
        }


def levels_of(results: Sequence[Result]) -> list[Levels]:
    """Of every side, in the order measured; what has no whole iteration is left out."""
    sides: dict[tuple[str, str], dict[int, list[Result]]] = {}
    for result in results:
        found = section(result.engine)
        if found is not None and iterations_of(result):
            workflows = int(found["iterations"][0]["workflows"])
            sides.setdefault((result.side, _otherwise(result)), {}).setdefault(workflows, []).append(result)
    return [_side(side, by_level) for (side, _), by_level in sides.items()]


def _otherwise(result: Result) -> str:
    """What was set besides the level."""
    settings = dict(result.place.get("settings") or {})
    settings.pop("workflows", None)
    return f"{result.job.workload} {sorted(settings.items(), key=str)}"


def _side(side: str, by_level: Mapping[int, Sequence[Result]]) -> Levels:
    cores = _cores(next(iter(by_level.values()))[0])
    runs = {workflows: [one for result in by_level[workflows] for one in iterations_of(result)] for workflows in sorted(by_level)}
    alone = _mean([one.workflow_real_s for one in runs.get(1, [])])
    levels = tuple(_level(workflows, own, by_level[workflows], (cores, alone)) for workflows, own in runs.items())
    # One whose workflows failed did another load.
    whole = [(level.workflows, one.per_hour) for level in levels for one in level.iterations if not one.failed]
    fit = usl_fit([workflows for workflows, _ in whole], [per_hour for _, per_hour in whole]) if whole else None
    title = next(iter(by_level.values()))[0].job.title
    return Levels(side, title, cores, levels, fit, _end(levels))


def _level(workflows: int, iterations: Sequence[Iteration], results: Sequence[Result], known: tuple[int | None, float | None]) -> Level:
    cores, alone = known
    means = {name: _mean([getattr(one, name) for one in iterations]) for name in MEANS}
    moved = [Estimate(one.bytes_per_s) for one in iterations if one.bytes_per_s is not None]
    together = pool_repeats(moved) if moved else None
    real = means["workflow_real_s"]
    return Level(
        workflows=workflows,
        iterations=tuple(iterations),
        means=means,
        per_hour=pool_repeats([Estimate(one.per_hour) for one in iterations]),
        bytes_per_s=together,
        per_core=None if together is None or not cores else _over(together, cores),
        stretch=real / alone if real is not None and alone else None,
        limit=limit(_course(iterations, means)),
        counted="devices" if all(one.counted == "devices" for one in iterations) else "host",
        results=tuple(results),
    )


def _course(iterations: Sequence[Iteration], means: Mapping[str, float | None]) -> Course:
    def share(name: str) -> float | None:
        return _mean([getattr(one, name) for one in iterations])

    user, system, wait = (means[f"{name}_percent"] for name in ("user", "system", "wait"))
    return Course(
        busy_share=None if user is None or system is None else (user + system) / 100,
        computing_share=share("computing_share"),
        wait_share=None if wait is None else wait / 100,
        util_share=share("util_share"),
        memory_share=share("memory_share"),
    )


def _end(levels: Sequence[Level]) -> Level | None:
    """The lowest level that no higher one surpasses by more than `GROWTH_MIN`; None where that is the highest."""
    if len(levels) < 2:
        return None
    for index, level in enumerate(levels[:-1]):
        most = max(later.per_hour.value for later in levels[index + 1 :])
        if most <= (1 + GROWTH_MIN) * level.per_hour.value:
            return level
    return None


def iterations_of(result: Result) -> list[Iteration]:
    """The iterations of a point that came to their end, in their order."""
    found = section(result.engine) or {}
    workflows = list(found.get("workflows") or ())
    several = len(found.get("iterations") or ()) > 1
    return [
        _iteration(result, one, [each for each in workflows if each["iteration"] == one["number"]], alone=not several)
        for one in found.get("iterations") or ()
        if any(each["status"] == "complete" for each in workflows if each["iteration"] == one["number"])
    ]


def _iteration(result: Result, one: IterationOutcome, workflows: Sequence[WorkflowOutcome], *, alone: bool) -> Iteration:
    whole = [each for each in workflows if each["status"] == "complete"]
    real_s = float(one["real_s"])
    cpu = one.get("cpu") or {}
    seen: Mapping[str, Any] = (host_use(result) if alone else None) or {}
    bytes_in, bytes_out, counted = _devices(one, seen)
    steps = [step for each in workflows for step in each.get("steps") or ()]
    own_s = sum(float(each["real_s"]) for each in whole)
    memory = (result.host.get("memory") or {}).get("total_bytes")
    resident = sum(int(each.get("max_rss_bytes") or 0) for each in workflows)
    devices = (result.monitor.get("devices") or {}).values()
    utils = [util for device in devices if (util := device.get("util_percent")) is not None]
    return Iteration(
        point=result.id,
        number=int(one["number"]) if not alone else result.job.repeat,
        workflows=int(one["workflows"]),
        failed=len(workflows) - len(whole),
        wrong=sum(each.get("check") not in (None, "ok") for each in workflows),
        workflow_cpu_s=_mean([_cpu_s(each) for each in whole]),
        workflow_real_s=_mean([float(each["real_s"]) for each in whole]),
        total_cpu_s=sum(map(_cpu_s, workflows)),
        total_real_s=real_s,
        user_percent=cpu.get("user_percent", seen.get("user_percent")),
        system_percent=cpu.get("system_percent", seen.get("system_percent")),
        idle_percent=cpu.get("idle_percent", seen.get("idle_percent")),
        wait_percent=cpu.get("iowait_percent", seen.get("wait_percent")),
        blocks_in=None if bytes_in is None else bytes_in / BLOCK_BYTES * SUMMARY_S,
        blocks_out=None if bytes_out is None else bytes_out / BLOCK_BYTES * SUMMARY_S,
        bytes_in_per_s=bytes_in,
        bytes_out_per_s=bytes_out,
        moved_in_per_s=sum(int(step["read_bytes"]) for step in steps) / real_s if real_s else 0.0,
        moved_out_per_s=sum(int(step["written_bytes"]) for step in steps) / real_s if real_s else 0.0,
        counted=counted,
        computing_share=sum(map(_cpu_s, whole)) / own_s if own_s else None,
        memory_share=resident / memory if isinstance(memory, int) and memory and resident else None,
        util_share=max(utils) / 100 if utils else None,
    )


def _devices(one: IterationOutcome, seen: Mapping[str, Any]) -> tuple[float | None, float | None, Counted]:
    """Bytes per second in and out: of the target's devices, else of the whole host."""
    real_s, read, written = float(one["real_s"]), one.get("device_read_bytes"), one.get("device_written_bytes")
    if read is not None and written is not None and real_s > 0:
        return read / real_s, written / real_s, "devices"
    blocks_in, blocks_out = seen.get("blocks_in_per_s"), seen.get("blocks_out_per_s")
    return (
        None if blocks_in is None else blocks_in * BLOCK_BYTES,
        None if blocks_out is None else blocks_out * BLOCK_BYTES,
        "host",
    )


def _cpu_s(workflow: WorkflowOutcome) -> float:
    return float(workflow["user_s"]) + float(workflow["system_s"])


def _cores(result: Result) -> int | None:
    found = (section(result.engine) or {}).get("physical_cores") or (result.host.get("cpu") or {}).get("cores")
    return int(found) if found else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _over(rate: Estimate, cores: int) -> Estimate:
    low, high = (None if bound is None else bound / cores for bound in (rate.low, rate.high))
    return Estimate(rate.value / cores, low, high, rate.batches)
