"""What others do on this host, counted from the first line of a command on, while the command itself prepares.

Model: a stretch lies between two marks. One in which this process read or wrote storage (``/proc/self/io``) is left out, because the
counters of a device do not say whose requests they count. This process's own processor time is known, in user mode and in the kernel. So
what is imported and planned anyway is part of the look, and only what is missing is waited for.
Limits: of devices only rates of requests are given, as means over the stretches. Where the kernel keeps no ``/proc/self/io``, every stretch
but the last is left out.

    others = Others(begun)                    # the `Moment` at which the command began
    others.mark()                             # from here on targets are read
    others.activity(0.2, ["sda"])["devices"]["sda"]["r_per_s"]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from plimsoll.monitor.moment import Moment, moment
from plimsoll.monitor.sampler import Snapshot, sample

if TYPE_CHECKING:
    from plimsoll.stored import Number, Sample

#: Of a device, what can be averaged over stretches.
_RATES = ("r_per_s", "w_per_s")
_Stretch = tuple[Moment, Moment]


class Others:
    """Counts from ``begun`` on, or from now; ``look`` and ``wait`` give way in tests."""

    def __init__(
        self, begun: Moment | None = None, look: Callable[[], Moment] = moment, wait: Callable[[float], None] = time.sleep
    ) -> None:
        self._look, self._wait = look, wait
        self._stretches: list[_Stretch] = []
        self._begun = begun or look()

    def mark(self) -> None:
        """End a stretch, and begin the next."""
        begun, now = self._begun, self._look()
        if begun.own_io is not None and begun.own_io == now.own_io:
            self._stretches.append((begun, now))
        self._begun = now

    def activity(self, least_s: float, devices: Sequence[str]) -> Sample:
        """What others did in all stretches, once they last ``least_s`` together."""
        self.mark()
        missing_s = least_s - sum(map(_seconds, self._stretches))
        if missing_s > 0:
            begun = self._begun
            self._wait(missing_s)
            self._begun = self._look()
            self._stretches.append((begun, self._begun))
        return _mean([sample(_snapshot(begun), _snapshot(ended), devices) for begun, ended in self._stretches], devices)


def _snapshot(moment: Moment) -> Snapshot:
    """As its own time all that this process has used, since as yet the kernel serves it for nothing but itself."""
    return Snapshot(moment.monotonic_ns, moment.texts, moment.own_s)


def _seconds(stretch: _Stretch) -> float:
    return (stretch[1].monotonic_ns - stretch[0].monotonic_ns) / 1e9


def _mean(samples: Sequence[Sample], devices: Iterable[str]) -> Sample:
    """One sample of several: what some counted, as a mean over the time of those."""
    found: Sample = {"seconds": sum(one["seconds"] for one in samples)}
    cpus = [(one["seconds"], cpu) for one in samples if (cpu := one.get("cpu"))]
    if cpus:
        found["cpu"] = {name: _weighted(cpus, name) for name in cpus[0][1]}
    seen = {name: [(one["seconds"], all_[name]) for one in samples if name in (all_ := one.get("devices") or {})] for name in devices}
    found["devices"] = {name: {rate: _weighted(counted, rate) for rate in _RATES} for name, counted in seen.items() if counted}
    return found


def _weighted(counted: Sequence[tuple[float, Mapping[str, Number | None]]], name: str) -> float:
    return sum(seconds * (values[name] or 0.0) for seconds, values in counted) / sum(seconds for seconds, _ in counted)
