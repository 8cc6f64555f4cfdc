"""Equal components of a modelled array as one set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.analysis.point.array import component_sets
from support.made_results import Load, made

Json = dict[str, Any]


def component(name: str, **own: object) -> Json:
    counted = {"utilisation": 0.5, "operations": 10, "bytes": 40960, "mean_queue": 1.0, "elapsed_ns": 10**9}
    return {"name": name, "set": name.partition("[")[0], "kind": "flash", **counted, **own}


def sets(*components: Json) -> dict[str, Any]:
    result = replace(made(Load(1000, 1e6)), engine={"engine": {"components": list(components)}})
    return {one.name: one for one in component_sets(result)}


def test_the_write_amplification_of_a_set_is_weighted_by_what_was_written() -> None:
    # 3 and 1 in equal parts would be 2; (300 + 900) / (100 + 900) is 1.2.
    first = component("nvme[0]", written_bytes=100, programmed_bytes=300, write_amplification=3.0)
    second = component("nvme[1]", written_bytes=900, programmed_bytes=900, write_amplification=1.0)
    idle = component("nvme[2]")
    assert sets(first, second, idle)["nvme"].write_amplification == pytest.approx(1.2)


def test_what_was_not_written_to_has_none() -> None:
    found = sets(component("nvme[0]"), component("disk[0]", kind="disk"))
    assert [one.write_amplification for one in found.values()] == [None, None]


def test_what_was_read_ahead_in_vain_is_a_share_of_all_that_was() -> None:
    cache = component("a.cache", kind="cache", hit_share=0.9, read_ahead_bytes=1000, read_ahead_wasted_bytes=250)
    assert sets(cache)["a.cache"].wasted_share == 0.25
    assert sets(component("a.cache", kind="cache", hit_share=0.9))["a.cache"].wasted_share is None
