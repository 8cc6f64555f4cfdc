"""A sample of a fitted workload: requests drawn from it, as the meaning of its options has it.

Model: the options' processes in Python, with their own seeded numbers: mix, sizes, random or following, uniform, zipf or zones, one pointer
per thread, constant gaps, exponential gaps or a schedule. It is the process that the engine follows and not the engine's own sequence:
equal in distribution, different request by request.
Limits: addresses are the trace's, so regions are not moved. Where a stream is closed, no request has a time. Zipf's ranks are drawn in
the groups of `plimsoll.analysis.trace.popularity`, alike within a group.

    profile_requests(draw_requests(fit, requests=100_000, seed=1))
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import accumulate, islice
from random import Random
from typing import TypeVar

from plimsoll.analysis.trace.arrivals import Arrival
from plimsoll.analysis.trace.fit import Fit, FittedStream
from plimsoll.analysis.trace.popularity import rank_groups, zipf
from plimsoll.analysis.trace.profile import Request

_NS_PER_S = 1e9
_TARGET = "drawn"
_CLOSED = Arrival("closed", 0.0)
Key = TypeVar("Key")


def draw_requests(fit: Fit, requests: int, seed: int = 1) -> Iterator[Request]:
    """The first ``requests`` requests of all streams, in the order of their times; closed streams by their shares."""
    timed = fit.profile.timed and all(stream.arrival.kind != "closed" for stream in fit.streams)
    wanted = fit.streams if timed else tuple(replace(stream, arrival=_CLOSED, ends_early=False) for stream in fit.streams)
    streams = [_stream(stream, _seeded(f"{seed}/{index}")) for index, stream in enumerate(wanted)]
    return islice(heapq.merge(*streams, key=_time) if timed else _by_share(fit, streams, _seeded(f"{seed}/share")), requests)


def _seeded(seed: str) -> Random:
    return Random(seed)  # noqa: S311 - reproducible load, nothing secret


def _time(request: Request) -> int:
    return request[0] or 0


def _by_share(fit: Fit, streams: list[Iterator[Request]], draws: Random) -> Iterator[Request]:
    weights = [stream.requests for stream in fit.streams]
    while True:
        yield next(draws.choices(streams, weights)[0])


def _stream(stream: FittedStream, draws: Random) -> Iterator[Request]:
    pick_op = _picker(stream.ops, draws)
    pick_size = {op: _picker(mix, draws) for op, mix in stream.sizes.items() if mix}
    place = _placer(stream, draws)
    pointers = [stream.first_start + stream.length * thread // stream.threads for thread in range(stream.threads)]
    end, align = stream.first_start + stream.length, stream.align
    random_share = stream.random_percent / 100
    times = _times(stream.arrival, draws)
    if stream.ends_early:
        times = islice(times, stream.requests)
    for number, due in enumerate(times):
        at_ns = None if due is None else due + stream.start_ns
        op = pick_op()
        if op == "flush":
            yield at_ns, op, 0, 0, _TARGET, None
            continue
        size, thread = pick_size[op](), number % stream.threads
        if draws.random() < random_share:
            offset = min(stream.first_start + place() * align, (end - size) // align * align)
        else:
            offset = -(-pointers[thread] // align) * align
            offset = stream.first_start if offset + size > end else offset
        pointers[thread] = offset + size
        yield at_ns, op, max(0, offset), size, _TARGET, None


def _picker(shares: dict[Key, float], draws: Random) -> Callable[[], Key]:
    keys, bounds = list(shares), list(accumulate(shares.values()))
    if len(keys) == 1:
        return lambda: keys[0]
    return lambda: keys[min(len(keys) - 1, bisect_right(bounds, draws.random() * bounds[-1]))]


def _placer(stream: FittedStream, draws: Random) -> Callable[[], int]:
    """Numbers of blocks of the region."""
    blocks = max(1, stream.length // stream.align)
    spread = stream.spread
    if spread.theta is not None:
        return _zipf_placer(blocks, spread.theta, draws)
    if spread.parts:
        bounds = [0, *(round(blocks * until) for until in accumulate(region for _, region in spread.parts))]
        pick = _picker({at: requests for at, (requests, _) in enumerate(spread.parts)}, draws)

        def zoned() -> int:
            at = pick()
            return bounds[at] + draws.randrange(max(1, bounds[at + 1] - bounds[at]))

        return zoned
    return lambda: draws.randrange(blocks)


def _zipf_placer(blocks: int, theta: float, draws: Random) -> Callable[[], int]:
    groups = rank_groups(blocks)
    pick = _picker({at: share for at, (_, share) in enumerate(zipf(blocks, theta))}, draws)
    # An odd stride near the golden section of the region visits every block once and scatters neighbours.
    stride = int(blocks * 0.618033988749895) | 1
    while math.gcd(stride, blocks) != 1:
        stride += 2

    def ranked() -> int:
        first, last = groups[pick()]
        return draws.randrange(first, last) * stride % blocks

    return ranked


def _times(arrival: Arrival, draws: Random) -> Iterator[int | None]:
    """Times in nanoseconds; None for ever when the stream is closed."""
    if arrival.kind == "closed":
        while True:
            yield None
    if arrival.kind == "constant":
        number = 0
        while True:
            yield int(number * _NS_PER_S / arrival.rate_per_s)
            number += 1
    steps = arrival.steps or ((0, arrival.rate_per_s),)
    now, at = 0.0, 0
    while True:
        due = draws.expovariate(1.0)
        while True:
            per_ns = steps[at][1] / _NS_PER_S
            until = steps[at + 1][0] if at + 1 < len(steps) else math.inf
            if per_ns > 0 and now + due / per_ns < until:
                now += due / per_ns
                break
            if until == math.inf:
                return
            due -= (until - now) * per_ns
            now, at = float(until), at + 1
        yield int(now)
