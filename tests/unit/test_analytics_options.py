"""The options of analytics workflows and their records: what is taken, what is refused in one sentence, what is stored and read back."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll import catalog
from plimsoll.analysis.objective.judgement import applies_to, parse_objective
from plimsoll.analysis.point.definition import concurrency, drawn_by_stream, ends_by_itself, overwrites
from plimsoll.apps import driver_of
from plimsoll.apps.analytics.options import OPTIONS, ROW_BYTES, STEPS, WorkflowOptions
from plimsoll.apps.analytics.outcome import Iteration, Step, Workflow
from plimsoll.engine.block import native
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.kinds import KINDS_BY_NAME
from plimsoll.points.short_document import AXES
from plimsoll.result import OPS
from plimsoll.stored import Definition


def _driver() -> Engine:
    return driver_of(catalog.load("sas-analytics"), native())


def _checked(**stream: Any) -> Definition:
    return _driver().check_workload({"name": "mine", "driver": "analytics", "stream": [stream]}, "mine.toml")


def _set(*settings: tuple[str, Any]) -> Definition:
    driver = _driver()
    workload, options = driver.check_workload(catalog.load("sas-analytics"), "sas-analytics.toml"), driver.check_job({})
    for key, value in settings:
        workload, options = driver.set_option(workload, options, key, value)
    return driver.check_workload(workload, "sas-analytics.toml")


def _asked(workload: Definition) -> WorkflowOptions:
    return WorkflowOptions.of(dict(workload["stream"][0]))


def test_the_shipped_workload_has_ten_million_rows_of_200_bytes_and_names_no_product_as_its_own() -> None:
    asked = _asked(_set())
    assert (asked.rows, ROW_BYTES, asked.data_bytes, asked.memory, asked.buffer) == (10_000_000, 200, 2_000_000_000, 256 << 20, 64 << 10)
    assert (asked.workflows, asked.iterations, asked.direct, asked.input, asked.engine) == (1, 1, False, "own", "native")
    assert "not a SAS benchmark" in catalog.load("sas-analytics")["source"]
    assert AXES["analytics"] == "workflows=1..64"


def test_the_canonical_form_reads_back_as_itself_and_says_what_every_load_says() -> None:
    workload = _checked(workflows=3, rows="1.5M", memory="1GiB", direct="yes", input="shared")
    assert _driver().check_workload(workload, "again") == workload
    assert _asked(workload).rows == 1_500_000
    assert concurrency(workload) == (3, 1)
    assert ends_by_itself(workload) and overwrites(workload)
    assert drawn_by_stream(workload) == {"workflows": frozenset(("read", "write"))}


def test_setting_workflows_sets_how_many_are_under_way() -> None:
    workload = _set(("workflows", 8), ("workflows.rows", "10k"), ("iterations", "2"))
    assert concurrency(workload) == (8, 1)
    assert (_asked(workload).rows, _asked(workload).iterations) == (10_000, 2)


def test_steps_and_workflows_are_operations_that_objectives_may_name() -> None:
    assert set(STEPS) | {"workflow"} <= set(OPS)
    for text in ("workflow p95 <= 600s", "mean of sort <= 60s", "read mean <= 20ms"):
        assert applies_to(parse_objective(text), _set()) is None


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        ({"workflows": 65}, "workflows is '65', but must be a whole number from 1 to 64."),
        ({"workflows": 0}, "whole number from 1 to 64"),
        ({"rows": "many"}, "rows is 'many', but must be a whole number from 1,000 to"),
        ({"memory": "4MiB"}, "memory is '4MiB', but must be a size from 48MiB on"),
        ({"memory": "64MiB", "engine": "duckdb"}, "engine duckdb needs 256 MiB"),
        ({"memory": "48MiB", "buffer": "4MiB"}, "a buffer of 4096 KiB is too large for a memory of 48 MiB"),
        ({"buffer": "6000"}, "multiple of 4KiB"),
        ({"engine": "sas"}, "must be native or duckdb"),
        ({"engine": "duckdb", "direct": True}, "DuckDB chooses its own reads and writes"),
        ({"input": "none"}, "must be own, shared or generated"),
        ({"direct": "perhaps"}, "must be true or false"),
        ({"threads": 4}, "no option 'threads'; did you mean 'workflows'?"),
        ({"block_size": "64k"}, "did you mean 'buffer'?"),
        ({"lopps": 3}, "did you mean 'loops'?"),
    ],
)
def test_what_cannot_be_is_one_sentence_with_its_place(stream: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        _checked(**stream)
    assert str(refused.value).startswith("mine.toml: stream: ")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("key", "said"), [("size", "set rows in place of size"), ("queue_depth", "did you mean 'workflows'?"), ("rowz", "did you mean 'rows'?")]
)
def test_setting_what_there_is_not_is_one_sentence(key: str, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("?", r"\?")):
        _set((key, "1GiB"))


def test_every_option_says_what_it_means_and_reads_its_own_default() -> None:
    for name, option in OPTIONS.items():
        assert option.meaning.endswith("."), name
        assert option.read(option.default) == option.default, name


def test_a_workload_with_two_streams_is_refused() -> None:
    with pytest.raises(InputError, match="has one \\[\\[stream\\]\\] table"):
        _driver().check_workload({"name": "mine", "driver": "analytics", "stream": [{}, {}]}, "mine.toml")


def test_records_are_read_back_as_they_were_stored_also_with_fields_of_a_later_version() -> None:
    step = Step("sort", 1.0, 3.0, rows=10, read_bytes=300, written_bytes=100, stored_read_bytes=100, stored_written_bytes=100, check="ok")
    found = Workflow(2, 1, "complete", 0.5, 3.0, user_s=1.0, system_s=0.5, max_rss_bytes=5, memory_bytes=6, steps=(step,))
    stored = found.to_json()
    assert (stored["real_s"], stored["check"], stored["steps"][0]["real_s"], stored["steps"][0]["device_share"]) == (2.5, "ok", 2.0, 0.5)
    stored["later"] = stored["steps"][0]["later"] = 1
    assert Workflow.from_json(stored) == found
    iteration = Iteration(1, 0.5, 3.0, 2, user_s=2.0, system_s=1.0)
    assert Iteration.from_json(iteration.to_json()) == iteration
    assert (iteration.real_s, iteration.cpu_s) == (2.5, 3.0)


def test_a_workflow_with_one_wrong_step_is_wrong_and_one_without_results_is_not_known() -> None:
    steps = [Step("data-step", 0, 1, check="ok"), Step("format", 1, 2, check="wrong data: a.rows: row 3 does not have its checksum.")]
    assert Workflow(1, 1, "failed", 0, 2, steps=steps).check == steps[1].check
    assert Workflow(1, 1, "failed", 0, 0).check is None


@pytest.mark.parametrize(("name", "axis"), [("sas-analytics", "workflows"), ("decision-support", "streams")])
def test_a_curve_of_a_load_without_a_rate_is_refused_with_what_to_do(name: str, axis: str) -> None:
    """It measured the maximum first, and failed at each percentage of it."""
    driver = driver_of(catalog.load(name), native())
    workload = driver.check_workload(catalog.load(name), name)
    document = {"experiment": [{"name": "line", "kind": "curve", "workloads": [name]}]}
    (experiment,) = read_experiments(document, "mine.toml", targets=()).experiments
    said = KINDS_BY_NAME["curve"].unsuited(experiment, [workload])
    assert said == f"the load of {name} has no rate, which a curve offers; measure its levels: plimsoll steps --over {axis}=1..8."
