"""The points of a shipped suite: how many there have to be, and which of those measured say nothing because the disk stood still.

checked(results, planned("four-corners"), empty_max=disk.spoiled(0.2))
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from plimsoll import catalog
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.layout_target import layout_target
from support.suite_time import points_max

Json = dict[str, Any]
#: Only a ramp may need fewer points than it could take.
RAMP = "20 ms"


#: Drivers whose target is a server, a database or a directory, which a file, a device or a model is not.
OF_SERVERS = frozenset(("analytics", "io-test", "database-durability", "decision-support", "mail", "order-entry"))


def suites_of_storage() -> list[str]:
    """The shipped suites that go to files, devices and models; those of servers are tested beside what they measure, those of layouts in a
    virtual machine."""
    return [name for name in catalog.suite_names() if not OF_SERVERS & _drivers(name) and not _lays_out(name)]


def _lays_out(name: str) -> bool:
    suite = read_experiments(catalog.suite_document(name), f"{name}.toml")
    return any(layout_target(side.target) for experiment in suite.experiments for side in experiment.configurations)


def _drivers(name: str) -> set[str]:
    suite = read_experiments(catalog.suite_document(name), f"{name}.toml")
    sources = [source for experiment in suite.experiments for workload in experiment.workloads for source in catalog.sources(workload)]
    return {str(catalog.load(source).get("driver")) for source in sources}


def planned(name: str) -> dict[str, int]:
    """Experiment → points at most, of a quick form."""
    suite = read_experiments(catalog.suite_document(name), f"{name}.toml", quick=True)
    return {experiment.name: points_max(experiment) for experiment in suite.experiments}


def checked(results: list[Json], expected: dict[str, int], empty_max: int = 0) -> None:
    """Every point is there and complete; so many of them may have measured nothing."""
    for result in results:
        assert result["status"] == "complete", (result["job"]["workload"], result["error"])
    found = Counter(result["place"]["experiment"] for result in results)
    assert found.keys() == expected.keys()
    assert {name: count for name, count in found.items() if name != RAMP} == {
        name: count for name, count in expected.items() if name != RAMP
    }
    assert RAMP not in expected or 1 <= found[RAMP] <= expected[RAMP]
    empty = stalled(results)
    assert len(empty) <= empty_max, empty


def stalled(results: list[Json]) -> list[str]:
    """Workloads of points in whose time the target completed nothing, as shared disks do at times; each must be called invalid."""
    empty = [result for result in results if not any(total["count"] for total in result["totals"].values())]
    for result in empty:
        assert ("nothing_measured", "invalid") in [(flag["name"], flag["severity"]) for flag in result["flags"]], result["job"]["workload"]
    return [result["job"]["workload"] for result in empty]
