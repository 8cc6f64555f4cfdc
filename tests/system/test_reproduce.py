"""The claims of reports on the real model: equal tables however many runs go side by side, and caches that stay between runs in order."""

from __future__ import annotations

import json


def test_claims_are_judged_alike_with_one_and_with_two_runs_at_a_time(plimsoll) -> None:
    # Twelve runs that follow from no other; those of a whole report are in tests/long.
    one, two = (plimsoll("reproduce", "000", "--claim", "15,17", "--json", "--quiet", "--jobs", jobs) for jobs in ("1", "2"))
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    assert one.stdout == two.stdout
    document = json.loads(one.stdout)
    assert document["modelled"] is True
    assert [claim["number"] for claim in document["claims"]] == [15, 17]
    assert all(case["values"] for claim in document["claims"] for case in claim["cases"])


def test_runs_in_order_leave_their_caches_to_each_other() -> None:
    from plimsoll.catalog.claims import Run
    from plimsoll.engine.block import native
    from plimsoll.reproduction.runs import carried_out

    # A page cache of 0.9 GB over 2 GiB, and so little time that it fills over all three runs.
    settings = (("duration", "5s"), ("warmup", "1s"), ("region_length", "2GiB"))
    first = Run("se6920-raid5", "se6920-random", (*settings, ("block_size", "8KiB")))
    again = Run("se6920-raid5", "se6920-random", (*settings, ("block_size", "64KiB")))
    ordered = carried_out((again, first), native(), lambda control: control)
    (alone,) = carried_out((first,), native(), lambda control: control)
    assert ordered[1].figures["iops"] > 1.1 * alone.figures["iops"]
