"""The options of order entry: what is taken, what is refused in one sentence, and what the rest of Plimsoll makes of a canonical workload."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll import catalog
from plimsoll.analysis.objective.clause import parse_clause
from plimsoll.analysis.objective.judgement import applies_to, parse_objective
from plimsoll.analysis.point.definition import arrival, concurrency, offered_per_s, overwrites
from plimsoll.apps import driver_of
from plimsoll.apps.order_entry.options import canonical, plan_of
from plimsoll.engine.block import native
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError
from plimsoll.experiments.levels import levels_of
from plimsoll.points.short_document import AXES
from plimsoll.stored import Definition


def _driver() -> Engine:
    return driver_of(catalog.load("order-entry"), native())


def _checked(**stream: Any) -> Definition:
    return _driver().check_workload({"name": "mine", "driver": "order-entry", "stream": [stream]}, "mine.toml")


def _set(*settings: tuple[str, Any]) -> Definition:
    driver = _driver()
    workload, options = driver.check_workload(catalog.load("order-entry"), "order-entry.toml"), driver.check_job({})
    for key, value in settings:
        workload, options = driver.set_option(workload, options, key, value)
    return driver.check_workload(workload, "order-entry.toml")


def test_the_shipped_workload_is_that_of_the_specification() -> None:
    workload = _set()
    (stream,) = workload["stream"]
    assert workload["driver"] == "order-entry"
    assert (stream["terminals"], stream["warehouses"], stream["customers"], stream["items"]) == (8, 10, 3_000, 100_000)  # type: ignore[typeddict-item]
    assert stream["operation"] == {"new-order": 45, "payment": 43, "order-status": 4, "delivery": 4, "stock-level": 4}
    assert "derived from TPC-C, not comparable with published TPC-C results" in " ".join(
        catalog.load("order-entry")["source"].lower().split()
    ).replace("tpc-c", "TPC-C")


def test_the_canonical_form_reads_back_as_itself() -> None:
    workload = _checked(terminals=3, rate="1.5k", warehouses=2)
    assert _driver().check_workload(workload, "again") == workload


def test_a_rate_makes_arrivals_open_and_is_of_new_orders() -> None:
    workload = _set(("rate", "200/s"))
    assert (arrival(workload), offered_per_s(workload)) == ("open", {"orders": 200.0})
    assert arrival(_set(("rate", 200), ("arrival", "closed"))) == "closed"


def test_a_curve_sets_the_arrival_before_the_rate() -> None:
    assert _set(("arrival", "poisson"), ("rate", 10.0))["stream"][0]["arrival"] == "poisson"


def test_terminals_are_the_concurrency_and_the_usual_axis() -> None:
    assert concurrency(_checked(terminals=16)) == (16, 1)
    assert AXES["order-entry"] == "terminals=1..64"
    assert levels_of("terminals", "1..8") == (1, 2, 4, 8)


def test_order_entry_changes_what_its_target_holds() -> None:
    assert overwrites(_checked())


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        ({"terminals": 0}, "terminals is 0, but must be a whole number from 1 to 10,000."),
        ({"warehouses": "many"}, "warehouses is 'many', but must be a whole number from 1 to 100,000."),
        ({"arrival": "poisson"}, "arrival is poisson, but there is no rate; write for example rate=100 (new orders per second)."),
        ({"arrival": "closed", "rate": 10}, "a rate is given, but arrival is closed; leave one of them out."),
        ({"rate": "fast"}, "rate is 'fast', but must be how many new orders are due each second, for example 200 or 1.5k."),
        ({"rate": 10, "pauses": 1}, "pauses are of terminals that wait for their answers; leave them out, or leave out the rate."),
        ({"operation": {"new-order": 50, "payment": 43}}, "shares from 0 to 100 that make 100 together, not 93."),
        ({"operation": {"payment": 100}}, "a share of new-order above 0"),
        ({"operation": {"new-ordr": 100}}, "'new-ordr' is none."),
        ({"calls": "procedures"}, "calls is 'procedures', but must be functions or statements."),
        ({"memory": "lots"}, "memory is 'lots', but must be a size from 1MiB on, or auto (a quarter of the data, at least 128MiB)."),
        ({"threads": 4}, "order entry has no option 'threads'; did you mean 'terminals'?"),
        ({"warehuses": 4}, "order entry has no option 'warehuses'; did you mean 'warehouses'?"),
        ({"block_size": "8k"}, "order entry has no option 'block_size'; there are terminals, warehouses,"),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(stream: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        _checked(**stream)
    assert str(refused.value).startswith("mine.toml: stream: ")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("queue_depth", "queue_depth: order entry has no option 'queue_depth'; did you mean 'terminals'?"),
        ("read_percent", "read_percent: order entry has no option 'read_percent'"),
        ("size", "size: a database is as large as its warehouses make it; set warehouses in place of size."),
        ("terminal", "order entry has no option 'terminal'; did you mean 'terminals'?"),
    ],
)
def test_options_of_other_loads_are_refused(key: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        _set((key, 16))
    assert said in str(refused.value)


def test_options_of_the_job_are_taken() -> None:
    driver = _driver()
    _, options = driver.set_option(_set(), driver.check_job({}), "duration", "3s")
    assert options["duration"] == 3


def test_two_streams_are_one_too_many() -> None:
    with pytest.raises(InputError, match="order entry has one stream"):
        _driver().check_workload({"name": "mine", "driver": "order-entry", "stream": [{}, {}]}, "mine.toml")


def test_an_objective_may_be_of_one_kind_of_transaction() -> None:
    clause = parse_clause("p90 of new-order <= 500ms")
    assert (clause.op, clause.metric, clause.limit, clause.text) == ("new-order", "p90", 5e8, "new-order p90 <= 500ms")
    assert parse_clause(clause.text) == clause
    assert parse_clause("p99 of read <= 5ms") == parse_clause("read p99 <= 5ms")
    assert applies_to(parse_objective("p90 of new-order <= 500ms"), _set()) is None


def test_an_objective_on_another_load_is_told_what_this_one_does() -> None:
    said = applies_to(parse_objective("read p99 <= 5ms"), _set())
    assert said is not None
    assert "name new-order, payment, order-status, delivery or stock-level." in said


def test_of_three_words_that_mean_nothing_the_form_is_told() -> None:
    with pytest.raises(InputError, match="is too much before the relation"):
        parse_clause("p90 by new-order <= 500ms")


def test_terminals_of_a_host_come_after_those_of_the_hosts_before_it() -> None:
    stream = canonical({"terminals": 5}, "x")
    plans = [plan_of(stream, {"seed": 7 + number}, {"number": number, "count": 3, "seed": 7}) for number in range(3)]
    assert [plan.first for plan in plans] == [0, 5, 10]
    assert {plan.constants_seed for plan in plans} == {7}
    assert plan_of(stream, {"seed": 7}).first == 0
