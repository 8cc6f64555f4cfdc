"""The synthetic workload that is like a trace, stream by stream.

A fitted stream: what of the trace it stands for, in the terms of our options, and as those options.

stream.options(base=0)          # {"name": "reads", "read_percent": 100, …}

The fit: a synthetic workload that is like a trace.

Model: reads and writes share a stream when they are alike in sequentiality and place, and have one each otherwise; trims have a stream of
their own; flushes go with the writes. Sizes: the most frequent with their shares, the remainder in bands of an octave, each by its mean.
A stream keeps rate, mix, sizes, sequential share, spread of addresses and region; regions are moved together to the start of the target.
Limits: every property is kept by itself. That large requests are the sequential ones, that reads come where writes were, or that the hot
place moves with time is lost; so are strides and backward runs.

    fit = fit_workload(profile)
    fit.workload("hm_0", source="…")          # a workload file of ours as a dictionary
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from plimsoll.analysis.trace.addresses import WINDOW, position_distance
from plimsoll.analysis.trace.arrivals import Arrival, arrival
from plimsoll.analysis.trace.popularity import Spread, spread
from plimsoll.analysis.trace.profile import Flow, Profile, Sizes
from plimsoll.errors import InputError
from plimsoll.stored import Json
from plimsoll.units import significant, size_text

_PERCENT_DIGITS = 4
_DIRECT_BYTES = 512
#: A stream with less than this share of random requests in percent that has several runs at once gives each a thread.
_MOSTLY_SEQUENTIAL = 50.0


@dataclass(frozen=True)
class FittedStream:
    """Shares are of the stream's own requests; addresses are the trace's."""

    name: str
    requests: int
    ops: dict[str, float]
    #: Sizes with their shares, per operation.
    sizes: dict[str, dict[int, float]]
    align: int
    random_percent: float
    threads: int
    spread: Spread
    start: int
    end: int
    arrival: Arrival
    queue_depth: int
    #: How long after the trace the stream begins.
    start_ns: int = 0
    #: Whether it ends well before the trace does.
    ends_early: bool = False
    warnings: list[str] = field(default_factory=list)

    @property
    def first_start(self) -> int:
        """Where the region starts: the first byte, aligned downward."""
        return self.start // self.align * self.align

    @property
    def length(self) -> int:
        """Length of the region, which has room for the longest request."""
        longest = max((size for mix in self.sizes.values() for size in mix), default=self.align)
        needed = max(self.end - self.first_start, longest)
        return -(-needed // self.align) * self.align

    @property
    def direct(self) -> bool:
        """Whether requests are whole sectors, as direct I/O needs them."""
        return not any(size % _DIRECT_BYTES for size in (self.align, *(size for mix in self.sizes.values() for size in mix)))

    def options(self, base: int) -> Json:
        """The stream as our options, its region moved down by ``base`` bytes."""
        found: Json = {"name": self.name}
        for op in ("read", "write", "trim", "flush"):
            share = self.ops.get(op, 0.0)
            if share or op in ("read", "write"):
                found[f"{op}_percent"] = share
        found |= self._size_options()
        found["align"] = size_text(self.align)
        found["random_percent"] = round(self.random_percent, _PERCENT_DIGITS)
        if self.random_percent > 0:
            found["distribution"] = self.spread.option
        if self.threads > 1:
            found |= {"threads": self.threads, "sequential": "per_thread"}
        found |= {"region_start": size_text(self.first_start - base), "region_length": size_text(self.length)}
        if not self.direct:
            found["direct"] = False
        return found | self._arrival_options()

    def _size_options(self) -> Json:
        forms = {op: _sizes(mix) for op, mix in self.sizes.items() if mix}
        if len({str(form) for form in forms.values()}) == 1:
            return {"block_size": next(iter(forms.values()))}
        return {f"{op}_block_size": form for op, form in forms.items()}

    def _arrival_options(self) -> Json:
        arrival = self.arrival
        found: Json = {"arrival": arrival.kind, "queue_depth": self.queue_depth}
        if arrival.kind in ("constant", "poisson"):
            found["rate"] = _digits(arrival.rate_per_s)
        if arrival.kind == "schedule":
            found["schedule"] = [{"at": f"{at_ns}ns", "rate": _digits(rate)} for at_ns, rate in arrival.steps]
        if self.start_ns:
            found["start_after"] = f"{self.start_ns}ns"
        if self.ends_early:
            found["requests"] = -(-self.requests // self.threads)
        return found


def percentages(shares: dict[Any, float]) -> dict[Any, float]:
    """Shares as percentages that sum to exactly 100 after rounding; the largest takes what is left."""
    total = sum(shares.values())
    rounded = {key: round(100 * share / total, _PERCENT_DIGITS) for key, share in shares.items()}
    rounded = {key: percent for key, percent in rounded.items() if percent > 0}
    largest = max(rounded, key=lambda key: rounded[key])
    rounded[largest] = round(100 - sum(percent for key, percent in rounded.items() if key != largest), _PERCENT_DIGITS)
    return rounded


def _sizes(mix: dict[int, float]) -> str | dict[str, float]:
    if len(mix) == 1:
        return size_text(next(iter(mix)))
    return {size_text(size): percent for size, percent in percentages(dict(mix)).items()}


def _digits(rate_per_s: float) -> float:
    """Six significant digits, and no less than a rate can be; 0 is silence."""
    return max(0.001, float(f"{rate_per_s:.6g}")) if rate_per_s > 0 else 0


#: Sizes of their own have at least this share, and there are at most so many.
SIZE_SHARE = 0.01
MOST_SIZES = 12
LARGEST_REQUEST = 1 << 30
#: Reads and writes are alike when they differ by less than these.
_SEQUENTIAL_ALIKE = 0.1
_PLACES_ALIKE = 0.15
#: With more than this share sequential, reads and writes follow runs of their own.
_RUNS_OF_THEIR_OWN = 0.3
#: An operation with a smaller share than this has no stream of its own.
_WORTH_A_STREAM = 0.001
_RANDOM_ONLY = 0.002
_MOST_THREADS = 16
#: `start_after` goes as far as a day, a schedule and a job as far as a thousand.
_DAY_NS = 86_400 * 10**9
_LONGEST_DAYS = 1000
_HARDLY_SEQUENTIAL = 0.02
#: Reads and writes continue each other's runs when that makes so many more requests sequential.
_WORTH_A_RUN = 0.05
#: A stream that begins or ends by more than this share of the trace's time after or before it says so.
_LATE = 0.05
_FEW_RUNS = 1.5
_BASE_ALIGNMENT = 1 << 20
_LEAST_DEPTH, _MOST_DEPTH = 64, 4096
_BUFFER_BYTES = 1 << 28
_DEPTH_OVER_MEAN = 8
_PLURALS = {"read": "reads", "write": "writes", "trim": "trims"}


@dataclass(frozen=True)
class Fit:
    """The streams, and what they lose."""

    streams: tuple[FittedStream, ...]
    profile: Profile

    @property
    def base(self) -> int:
        """The trace's address that is the target's first byte."""
        return min(stream.first_start for stream in self.streams) // _BASE_ALIGNMENT * _BASE_ALIGNMENT

    @property
    def size_bytes(self) -> int:
        """How large the target has to be."""
        return max(stream.first_start + stream.length for stream in self.streams) - self.base

    @property
    def warnings(self) -> list[str]:
        """What of the trace the workload does not have."""
        found = [f"{stream.name}: {warning}" for stream in self.streams for warning in stream.warnings]
        found += [
            f"{stream.name}: requests are not whole sectors of 512 bytes, so the load goes through the page cache"
            for stream in self.streams
            if not stream.direct
        ]
        if self.profile.total.spacing.out_of_order:
            found.append(
                f"{self.profile.total.spacing.out_of_order:,} requests are older than the one before them and count as coming with it"
            )
        if len(self.profile.targets) > 1:
            found.append(f"{len(self.profile.targets):,} targets are taken together, on top of each other in one address space")
        if not self.profile.timed:
            found.append("the trace has no times: the load is closed with one request outstanding; set queue_depth to what is known")
        return found

    def workload(self, name: str, source: str) -> Json:
        """A workload file of ours."""
        return {
            "name": name,
            "title": f"Fitted to {source}"[:200],
            "group": "fitted",
            "purpose": f"A synthetic load that is like {self.profile.count:,} recorded requests.",
            "source": source,
            "rationale": " ".join(self._rationale()),
            "stream": [stream.options(self.base) for stream in self.streams],
        }

    def _rationale(self) -> list[str]:
        said = [f"Fitted: {_reason(stream, flow_of(self.profile, stream))}" for stream in self.streams]
        said.append(f"Regions are the trace's, moved down by {size_text(self.base)}; the target has to have {size_text(self.size_bytes)}.")
        seconds = self.profile.total.spacing.span_ns / 1e9
        if seconds:
            typed = f"--set duration={_typed(max(seconds, 0.001))}s --set warmup=0s"
            said.append(f"The trace lasts {significant(seconds, 4)} s: {typed} runs as long.")
        return [*said, *(f"Not kept: {warning}." for warning in self.warnings)]


def fit_workload(profile: Profile) -> Fit:
    """The workload. Raises `InputError` when the trace has nothing to fit."""
    if not profile.total.count:
        raise InputError("the trace has no read, write or trim, so there is no load to fit; give a trace of block requests.")
    if profile.total.spacing.span_ns > _LONGEST_DAYS * _DAY_NS:
        raise InputError(f"the trace lasts longer than {_LONGEST_DAYS} days; give it in the units of its format, or a part of it.")
    kinds = [op for op in ("read", "write") if profile.share(op) >= _WORTH_A_STREAM]
    streams = []
    if len(kinds) == 2 and (shares_runs(profile) or alike(profile.flows["read"], profile.flows["write"])):
        streams.append(_stream(profile, "requests", kinds))
    else:
        streams.extend(_stream(profile, _PLURALS[op], [op]) for op in kinds)
    if profile.share("trim") >= _WORTH_A_STREAM:
        streams.append(_stream(profile, "trims", ["trim"]))
    if not streams:
        streams.extend(_stream(profile, _PLURALS[op], [op]) for op in _PLURALS if profile.ops[op])
    return Fit(tuple(streams), profile)


def shares_runs(profile: Profile) -> bool:
    """Whether reads and writes continue each other's runs: together more requests are sequential than apart."""
    apart = sum(flow.runs.sequential for flow in profile.flows.values())
    return profile.total.runs.sequential - apart > _WORTH_A_RUN * profile.total.count


def alike(first: Flow, second: Flow) -> bool:
    """Whether two flows can share a stream."""
    shares = first.sequential_share, second.sequential_share
    if abs(shares[0] - shares[1]) > _SEQUENTIAL_ALIKE or max(shares) > _RUNS_OF_THEIR_OWN:
        return False
    return position_distance(first.addresses, second.addresses) <= _PLACES_ALIKE


def flow_of(profile: Profile, stream: FittedStream) -> Flow:
    """The part of the trace that a stream stands for."""
    ops = [op for op in stream.ops if op != "flush"]
    return profile.flows[ops[0]] if len(ops) == 1 else profile.total


def _stream(profile: Profile, name: str, ops: list[str]) -> FittedStream:
    flow = profile.flows[ops[0]] if len(ops) == 1 else profile.total
    counted = list(ops)
    if profile.ops["flush"] and ("write" in ops or ("write" not in profile.ops and ops == ["read"])):
        counted.append("flush")
    requests = sum(profile.ops[op] for op in counted)
    came = _arrival(profile, counted, requests)
    start_ns = _start_ns(profile, flow, came)
    if start_ns > _DAY_NS:
        came, start_ns = _silent_until(start_ns, came), 0
    align = _alignment(flow)
    starts = max(1, (flow.addresses.end - flow.addresses.start) // align)
    share = _random_share(flow, starts)
    runs = round(flow.runs.at_once) if flow.runs.at_once >= _FEW_RUNS and share < 0.5 else 1
    threads = min(_MOST_THREADS, runs)
    mixes = {op: sizes(profile.flows[op].sizes, flow.alignment) for op in ops}
    longest = max(size for mix in mixes.values() for size in mix)
    warnings = [came.warning] if came.warning else []
    return FittedStream(
        name=name,
        requests=requests,
        ops=percentages({op: profile.ops[op] for op in counted if profile.ops[op]}),
        sizes=mixes,
        align=align,
        random_percent=100 * share,
        threads=threads,
        spread=spread(flow.addresses, starts),
        start=flow.addresses.start,
        end=flow.addresses.end,
        arrival=came,
        queue_depth=_queue_depth(profile, came, longest * threads),
        start_ns=start_ns,
        ends_early=_ends_early(profile, flow, came),
        warnings=warnings,
    )


def sizes(found: Sizes, align: int) -> dict[int, float]:
    """The most frequent sizes, and a mean size for each octave of the remainder, with their shares."""
    shares = found.shares()
    kept = {min(size, LARGEST_REQUEST): share for size, share in shares[:MOST_SIZES] if share >= SIZE_SHARE}
    bands: dict[int, tuple[float, float]] = {}
    for size, share in shares:
        if min(size, LARGEST_REQUEST) not in kept:
            whole, weight = bands.get(size.bit_length(), (0.0, 0.0))
            bands[size.bit_length()] = (whole + size * share, weight + share)
    for whole, weight in bands.values():
        mean = min(LARGEST_REQUEST, max(align, round(whole / weight / align) * align))
        kept[mean] = kept.get(mean, 0.0) + weight
    return kept


def remainder(found: Sizes) -> tuple[int, int, float] | None:
    """The sizes that have no share of their own: smallest, largest, share together; None when there are none."""
    rest = [(size, share) for place, (size, share) in enumerate(found.shares()) if place >= MOST_SIZES or share < SIZE_SHARE]
    return (min(size for size, _ in rest), max(size for size, _ in rest), sum(share for _, share in rest)) if rest else None


def _alignment(flow: Flow) -> int:
    """Where requests may start. Sequential ones go on where the last one ended, so that lengths count, unless nearly all are random."""
    return flow.start_alignment if flow.sequential_share < _HARDLY_SEQUENTIAL else flow.alignment


def _random_share(flow: Flow, starts: int) -> float:
    """Random requests; those that only happen to begin at a recent end, which a small region makes likely, are among them."""
    chance = min(0.9, WINDOW / starts)
    share = 1 - max(0.0, flow.sequential_share - chance) / (1 - chance)
    if share <= _RANDOM_ONLY and flow.count > 1 / _RANDOM_ONLY:
        return 0.0
    return 1.0 if share >= 1 - _RANDOM_ONLY else share


def _arrival(profile: Profile, ops: list[str], requests: int) -> Arrival:
    if not profile.timed:
        return Arrival("closed", 0.0)
    if len(ops) == 1:
        return arrival(profile.flows[ops[0]].spacing)
    came = arrival(profile.total.spacing)
    part = requests / profile.count
    return Arrival(came.kind, came.rate_per_s * part, tuple((at_ns, rate * part) for at_ns, rate in came.steps), came.warning)


def _start_ns(profile: Profile, flow: Flow, came: Arrival) -> int:
    """How long after the trace's first request an open stream's first one comes, where that is more than a gap."""
    late = flow.spacing.first_ns - profile.total.spacing.first_ns
    return late if came.kind != "closed" and late > _LATE * profile.total.spacing.span_ns else 0


def _silent_until(start_ns: int, came: Arrival) -> Arrival:
    """An arrival that begins later than `start_after` can say: a schedule with a silent step before it."""
    steps = came.steps or ((0, came.rate_per_s),)
    return Arrival("schedule", came.rate_per_s, ((0, 0.0), *((at_ns + start_ns, rate) for at_ns, rate in steps)), came.warning)


def _ends_early(profile: Profile, flow: Flow, came: Arrival) -> bool:
    """Whether a stream issues so many requests and no more: it stops well before the trace does, or all of it came at one instant."""
    span_ns = profile.total.spacing.span_ns
    if came.kind == "closed":
        return profile.timed and span_ns > 0
    return profile.total.spacing.last_ns - flow.spacing.last_ns > _LATE * span_ns


def _queue_depth(profile: Profile, came: Arrival, longest: int) -> int:
    """Room for the peaks of an open load: eight times the mean outstanding where it is known, as a power of two.

    Every request that may be outstanding has a buffer of its own, so ``longest``, of all threads together, bounds it too.
    """
    if came.kind == "closed":
        return 1
    wanted = _DEPTH_OVER_MEAN * (profile.outstanding or 0)
    depth = _LEAST_DEPTH
    while depth < wanted and depth < _MOST_DEPTH:
        depth *= 2
    return max(1, min(depth, _BUFFER_BYTES // longest))


def _reason(stream: FittedStream, flow: Flow) -> str:
    came = stream.arrival
    said = f"{stream.name}: {stream.requests:,} requests, {significant(100 * flow.sequential_share)} % follow the end of an earlier one"
    if stream.random_percent > 0:
        said += f", the others begin in {flow.addresses.different:,.0f} different places and are nearest to {stream.spread.option}"
    if came.kind != "closed":
        spacing = flow.spacing
        said += f"; {significant(came.rate_per_s, 4)} requests/s"
        if spacing.count > 2:
            said += f" with a coefficient of variation of {spacing.variation:.2f}"
    return f"{said}."


def _typed(seconds: float) -> str:
    """A number of seconds as it can be typed: never in powers of ten."""
    return significant(seconds, 4).replace(",", "")
