"""The workload of a demand: a load that asks for what was watched or typed, at its rate.

Model: one open stream with Poisson arrivals at the demanded rate, growth included, with the demand's mix, sizes and randomness. A mean size
that no request has becomes two neighbouring sizes whose mean it is: multiples of 4 KiB, below that of 512 bytes. Reads and writes have
sizes of their own where the demand tells them. To find out how much more a storage carries, the rate is raised (`measured_rates`).
Limits: a demand says nothing of skew, bursts within an interval, sequential runs or content; arrivals are random, places uniform.

    demanded_workload(demand_at(observed), "sda")["stream"][0]["rate"]
"""

from __future__ import annotations

from plimsoll.analysis.sizing.demand import Demand
from plimsoll.stored import Json
from plimsoll.units import size_text

_FINE, _COARSE = 512, 4096
#: Room for requests that wait, of each size at most `_BUFFERS_BYTES` together.
_DEPTH_MAX = 256
_BUFFERS_BYTES = 64 << 20
_LARGEST = 16 << 20
#: How far a ramp over the rate goes, in multiples of the demand: enough to know what there is to spare. It begins at the demand itself,
#: which is the question, and goes down from there only where that is too much.
HIGHEST = 8.0


def demanded_workload(demand: Demand, name: str) -> Json:
    """The workload as a file of ours would hold it."""
    read, write = (_sizes(own or demand.block_bytes) for own in (demand.read_bytes, demand.write_bytes))
    stream: Json = {"name": "demand", "arrival": "poisson", "rate": round(demand.grown_iops, 3)}
    percent = round(demand.read_percent, 2)
    stream |= {"read_percent": percent, "random_percent": round(demand.random_percent, 2)}
    if read == write or percent in (0, 100):
        stream["block_size"] = write if percent == 0 else read
    else:
        stream |= {"read_block_size": read, "write_block_size": write}
    stream["queue_depth"] = max(1, min(_DEPTH_MAX, _BUFFERS_BYTES // _largest(demand)))
    grown = f", with {demand.growth_percent:+g} % growth" if demand.growth_percent else ""
    return {
        "title": f"Demand: {demand.source}",
        "purpose": f"What is asked of storage: {demand.source}{grown}.",
        "source": f"Made by Plimsoll of {demand.source}",
        "rationale": " ".join(f"{note[:1].upper()}{note[1:]}." for note in demand.notes) or "Rate, mix and size as typed.",
        "name": name,
        "stream": [stream],
    }


def measured_rates(demand: Demand) -> str:
    """The levels of a ramp that finds how much more than the demand is carried."""
    return f"{max(1.0, demand.grown_iops):.0f}..{max(2.0, demand.grown_iops * HIGHEST):.0f}"


def _largest(demand: Demand) -> int:
    return max(_bounds(own or demand.block_bytes)[1] for own in (demand.read_bytes, demand.write_bytes))


def _bounds(mean_bytes: float) -> tuple[int, int, int]:
    """The sizes below and above a mean, and the step between them."""
    mean = min(max(mean_bytes, _FINE), _LARGEST)
    step = _COARSE if mean >= _COARSE else _FINE
    low = int(mean // step) * step
    return low, low if low == mean else low + step, step


def _sizes(mean_bytes: float) -> str | dict[str, int]:
    """One size, or two with their shares in percent; a share below half a percent is none."""
    low, high, step = _bounds(mean_bytes)
    share = round(100 * (min(max(mean_bytes, _FINE), _LARGEST) - low) / step)
    if share in (0, 100):
        return size_text(low if share == 0 else high)
    return {size_text(low): 100 - share, size_text(high): share}
