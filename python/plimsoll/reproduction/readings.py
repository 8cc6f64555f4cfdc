"""What can be read off a run: rates and latencies, how busy components were, and what its array's document says.

Model: a reading of a run with several levels is that of the level that counts; ``beyond`` is that of the first level at which a ramp did
not hold. A component's use is that of the busiest of its set.

    reading = reading_of(result)
    reading.figures["read_p99"], reading.use["disk"]
    document_value(run, ReadOff("r5", "rate", "a0-array-maximum"))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from statistics import mean

from plimsoll.analysis.point.array import bottleneck, component_sets, rebuilds_s
from plimsoll.analysis.point.metric import ALL, metric
from plimsoll.catalog.claims import Run
from plimsoll.catalog.expression import MEASURED, ReadOff
from plimsoll.engine.protocol import Engine
from plimsoll.result import Result
from plimsoll.stored import Json
from plimsoll.target import target_of


class Unreadable(Exception):
    """Why there is no such number; caught where claims are judged."""


@dataclass(frozen=True)
class Reading:
    """See the module. ``problem`` says why a run has no figures: the model's own answer.

    ``failure`` says why a run failed.
    """

    figures: Mapping[str, float] = field(default_factory=dict)
    use: Mapping[str, float] = field(default_factory=dict)
    level: float | None = None
    beyond: Reading | None = None
    limited_by: str | None = None
    problem: str | None = None
    failure: str | None = None

    def to_json(self) -> Json:
        """For another process."""
        return asdict(self)

    @classmethod
    def from_json(cls, said: Json) -> Reading:
        """What `to_json` made."""
        beyond = said["beyond"]
        return cls(**{**said, "beyond": None if beyond is None else cls.from_json(beyond)})

    def value(self, read_off: ReadOff) -> float:
        """The number of a read-off that needs a run; `Unreadable` when there is none."""
        if self.problem is not None or self.failure is not None:
            raise Unreadable(self.problem or str(self.failure))
        if read_off.what == "use":
            return self._use(str(read_off.of))
        reading = self.beyond if read_off.beyond else self
        if reading is None:
            raise Unreadable(f"no level of {read_off.run} was too much for its objective")
        if read_off.what not in reading.figures:
            raise Unreadable(f"{read_off.run} has no {read_off.what}")
        return reading.figures[read_off.what]

    def _use(self, component: str) -> float:
        if component not in self.use:
            raise Unreadable(f"no component is called {component}; there are {', '.join(sorted(self.use))}")
        return self.use[component]


def reading_of(result: Result) -> Reading:
    """What one point says."""
    if result.status != "complete":
        return Reading(failure=result.error or f"the run was {result.status}")
    sets = component_sets(result)
    limit = bottleneck(sets)
    figures = {name: found.value for name in MEASURED if (found := metric(result, *_parts(name))) is not None}
    rebuilt_s = rebuilds_s(result.engine)
    if rebuilt_s:
        figures["rebuild_s"] = mean(rebuilt_s)
    return Reading(figures, {one.name: one.busiest for one in sets}, limited_by=limit.name if limit else None)


def _parts(name: str) -> tuple[str, str]:
    """Operation and metric of a read-off's name."""
    operation, _, metric_name = name.partition("_")
    return (operation, metric_name) if operation in ("read", "write") else (ALL, name)


def document_value(run: Run, read_off: ReadOff, engine: Engine) -> float:
    """A size, or a link's rate, as the array's document says."""
    if read_off.what == "size_bytes":
        return float(engine.inspect_target(target_of(run.target))["size_bytes"])
    links = _rates(run.target)
    if read_off.of not in links:
        raise Unreadable(f"{run.array} has no link {read_off.of}; there are {', '.join(links)}")
    return links[str(read_off.of)]


@cache
def _rates(target: str) -> dict[str, float]:
    document: Json = target_of(target).document or {}
    return {link["name"]: float(link["rate_bytes_per_s"]) for link in document.get("link", [])}
