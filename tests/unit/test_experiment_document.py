"""Experiment files: what they become, and the sentence for everything that can be wrong in one."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from plimsoll.errors import InputError, StoreError
from plimsoll.experiments.declaration import KINDS, OPTIONS, options_of
from plimsoll.experiments.document import Experiment, Suite, read_experiments
from plimsoll.experiments.plan import Configuration

STEPS: dict[str, Any] = {"name": "depth", "kind": "steps", "workloads": ["oltp-db"], "over": {"queue_depth": "1..4"}}


def read(text: str, **given: Any) -> Suite:
    return read_experiments(tomllib.loads(text), "my.toml", **given)


def only(entry: dict[str, Any], **given: Any) -> Experiment:
    (experiment,) = read_experiments({"experiment": [entry]}, "my.toml", **given).experiments
    return experiment


def refused(document: Any, **given: Any) -> str:
    with pytest.raises(InputError) as refusal:
        read_experiments(document, "my.toml", **given)
    said = str(refusal.value)
    assert said[-1] in ".?" and "\n" not in said
    return said


def steps_with(**entry: Any) -> dict[str, Any]:
    return {"experiment": [{**STEPS, **entry}]}


def of_kind(kind: str, **entry: Any) -> dict[str, Any]:
    return {"experiment": [{"name": "it", "kind": kind, "workloads": ["oltp-db"], **entry}]}


def test_a_file_becomes_experiments_with_every_default_filled_in() -> None:
    suite = read("""
        title = "Areas"
        published = ["se6920"]
        [[experiment]]
        name = "areas"
        kind = "matrix"
        workloads = ["se6920-random-8k", "mine.toml"]
        over = { region_length = ["2GiB", "4GiB"], log.rate = "1k..2k" }
        objective = "read mean<=0.02s"
        set = { log.queue_depth = 4, queue_depth = 16, block_size = { "4KiB" = 60, "8KiB" = 40 } }
    """)
    assert (suite.title, suite.purpose, suite.published) == ("Areas", "", ("se6920",))
    assert suite.experiments == (
        Experiment(
            name="areas",
            kind="matrix",
            workloads=("se6920-random-8k", "mine.toml"),
            configurations=(Configuration("scratch file", ""),),
            over={"region_length": ("2GiB", "4GiB"), "log.rate": (1000, 2000)},
            settings={"queue_depth": 16, "block_size": {"4KiB": 60, "8KiB": 40}, "log.queue_depth": 4},
            objective="read mean <= 20ms",
            parameters={
                "shuffle": None,
                "grid": None,
                "disks": 1,
                "num_small": None,
                "num_large": None,
                "small": "small",
                "large": "large",
            },
        ),
    )


def test_axes_keep_their_nesting_order_and_a_streams_settings_come_last() -> None:
    experiment = only({**STEPS, "kind": "matrix", "over": {"b": [1], "a": [1], "log": {"rate": [1]}}, "set": {"log.x": 1, "y": 2}})
    assert list(experiment.over) == ["b", "a", "log.rate"]
    assert list(experiment.settings) == ["y", "log.x"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_stored_form_reads_back_as_the_same_experiment(kind: Any) -> None:
    (experiment,) = read(f"[[experiment]]\n{kind.example}", targets=["/dev/sdb", "/dev/sdc"]).experiments
    stored = json.loads(json.dumps(experiment.to_json(), sort_keys=True))
    again = Experiment.from_json(stored)
    assert again == experiment
    assert again.to_json() == experiment.to_json()
    assert list(again.over) == list(experiment.over)


def test_experiments_differ_when_their_axes_are_nested_otherwise() -> None:
    forms = [
        json.dumps(only({**STEPS, "kind": "matrix", "over": {first: [1], second: [1]}}).to_json(), sort_keys=True)
        for first, second in (("a", "b"), ("b", "a"))
    ]
    assert forms[0] != forms[1]


def test_different_spellings_are_the_same_experiment() -> None:
    spelt = only({**STEPS, "over": {"queue_depth": [1, 2, 4]}, "objective": "p99<=0.005s", "precision": "2.0 %"})
    other = only({**STEPS, "objective": "p99 <= 5ms", "precision": "2%", "repeat": 1, "interleave": False})
    assert spelt.to_json() == other.to_json()


def test_a_damaged_stored_experiment_is_refused_in_a_sentence() -> None:
    stored = only(STEPS).to_json()
    del stored["over"]
    with pytest.raises(StoreError, match=r"a stored experiment cannot be read .*'over'"):
        Experiment.from_json(stored)


def test_every_kind_has_its_own_parameters_and_no_others() -> None:
    for kind in KINDS:
        (experiment,) = read(f"[[experiment]]\n{kind.example}").experiments
        own = {option.name for option in options_of(kind.name) if option.kinds}
        shared = {"over", "objective", "repeat", "precision", "iterations"}
        assert set(experiment.parameters) == own - shared


def test_iterations_are_repeats() -> None:
    assert only({**STEPS, "kind": "scaling", "iterations": 4}).repeat == 4
    assert only({**STEPS, "kind": "scaling", "repeat": 3}).repeat == 3
    assert "are the same" in refused(steps_with(kind="scaling", iterations=4, repeat=4))


def test_quick_replaces_what_it_names_and_merges_tables() -> None:
    entry = {
        **STEPS,
        "set": {"duration": "60s", "log": {"rate": 5, "threads": 2}},
        "repeat": 5,
        "configurations": [{"name": "a"}],
        "quick": {"set": {"duration": "1s", "log.rate": 1}, "over": {"queue_depth": [1]}, "repeat": 1, "configurations": []},
    }
    full, quick = only(entry), only(entry, quick=True)
    assert full.settings == {"duration": "60s", "log.rate": 5, "log.threads": 2}
    assert (full.repeat, full.over) == (5, {"queue_depth": (1, 2, 4)})
    assert quick.settings == {"duration": "1s", "log.rate": 1, "log.threads": 2}
    assert (quick.repeat, quick.over) == (1, {"queue_depth": (1,)})
    assert [item.name for item in quick.configurations] == ["scratch file"]
    assert only({**STEPS}, quick=True) == only(STEPS)


def test_targets_of_the_command_line_become_configurations() -> None:
    assert only(STEPS, targets=["/dev/sdb", "/dev/sdc"]).configurations == (
        Configuration("/dev/sdb", "/dev/sdb"),
        Configuration("/dev/sdc", "/dev/sdc"),
    )


def test_configurations_without_target_are_measured_on_every_target() -> None:
    entry = {**STEPS, "configurations": [{"name": "A", "set": {"queue_depth": 1}}, {"name": "B", "target": "null:"}]}
    a = {"queue_depth": 1}
    assert only(entry).configurations == (Configuration("A", "", a), Configuration("B", "null:"))
    assert only(entry, targets=["x"]).configurations == (Configuration("A", "x", a), Configuration("B", "null:"))
    assert only(entry, targets=["x", "y"]).configurations == (
        Configuration("A on x", "x", a),
        Configuration("A on y", "y", a),
        Configuration("B", "null:"),
    )


def test_typed_targets_that_nothing_uses_are_refused() -> None:
    own = steps_with(configurations=[{"name": "A", "target": "null:"}])
    assert refused(own, targets=["x"]) == (
        "my.toml: every experiment names its own targets; leave --target out, or remove them from the file."
    )
    over_targets = of_kind("matrix", over={"target": ["a", "b"]})
    assert "every experiment names its own targets" in refused(over_targets, targets=["x"])
    assert [item.name for item in read_experiments(over_targets, "my.toml").experiments[0].configurations] == ["all targets"]
    both = {"experiment": [*own["experiment"], {**STEPS, "name": "second"}]}
    assert [len(item.configurations) for item in read_experiments(both, "my.toml", targets=["x", "y"]).experiments] == [1, 2]
    assert refused(steps_with(), targets=["x", "x"]) == "--target x is given twice; name each target once."


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ([], "my.toml: not a file of experiments; write one [[experiment]] for each."),
        ({}, "my.toml: there is no experiment; write one [[experiment]] for each."),
        ({"experiment": []}, "my.toml: there is no experiment"),
        ({"experiment": ["x"]}, "my.toml: experiment 1 is 'x', not a table"),
        ({"titel": "x", "experiment": [STEPS]}, "my.toml: key 'titel' is not known; did you mean 'title'?"),
        ({"title": 5, "experiment": [STEPS]}, "my.toml: key 'title': 5 is not a text; write it in quotes."),
        ({"published": "a", "experiment": [STEPS]}, "my.toml: key 'published': 'a' is not a list of texts; write [\"one\", \"two\"]."),
        ({"experiment": [STEPS, STEPS]}, "my.toml: experiments 1 and 2 are both called 'depth'; give each a name of its own."),
        ({"experiment": [{"kind": "steps"}]}, "my.toml: experiment 1: key 'name' is missing; write for example name = \"random\"."),
        ({"experiment": [{"name": "x"}]}, "my.toml: experiment 'x': key 'kind' is missing; there are single, steps, matrix"),
        (steps_with(name="a/b"), "key 'name': 'a/b' is not a name"),
        (steps_with(kind="step"), "my.toml: experiment 'depth': key 'kind': 'step' is not known; did you mean 'steps'?"),
        (steps_with(workloads=[]), "key 'workloads': the list is empty; name at least one."),
        (steps_with(workloads="x"), "key 'workloads': 'x' is not a list of texts"),
        (steps_with(workloads=["x", "x"]), "key 'workloads': 'x' stands twice; name it once."),
        (steps_with(ovver={}), "my.toml: experiment 'depth': key 'ovver' is not known; did you mean 'over'?"),
        (steps_with(qqq=1), "key 'qqq' is not known; there are name, kind, workloads"),
        (steps_with(shuffle=1), "my.toml: experiment 'depth': key 'shuffle' is for matrix, and this is kind 'steps'; leave it out"),
        (steps_with(resolution="2%"), "key 'resolution' is for ramp and search, and this is kind 'steps'"),
        (of_kind("curve", over={}), "key 'over' is for steps, matrix, ramp, search and scaling, and this is kind 'curve'"),
        (
            of_kind("steps"),
            "my.toml: experiment 'it': kind 'steps' needs key 'over'; write for example over = { queue_depth = \"1..64\" }.",
        ),
        (of_kind("ramp", over={"threads": "1..9"}), "kind 'ramp' needs key 'objective'; write for example objective = \"read mean <= 20ms"),
        (of_kind("matrix"), "nothing says what is varied; write one of 'over' and 'grid', for example over = { region_length"),
        (of_kind("matrix", over={"a": [1]}, grid="basic"), "both 'over' and 'grid' say what is varied"),
        (of_kind("matrix", over={"a": [1]}, disks=4), "key 'disks' has no effect without 'grid'; leave it out."),
        (of_kind("matrix", grid="basic", shuffle=4), "key 'shuffle' has no effect with 'grid'; leave it out."),
        (of_kind("matrix", grid="point", num_small=1), "my.toml: experiment 'it': grid 'point' holds one kind of request fixed"),
        (
            of_kind("ramp", objective="p99 <= 1ms", over={"threads": "1.5..9"}),
            "experiment 'it': levels from 1.5 to 9: this option takes whole",
        ),
        (of_kind("matrix", grid="basik"), "'basik' is not known; did you mean 'basic'?"),
        (steps_with(over={}), "key 'over': kind 'steps' varies one option, not 0; write for example over = { queue_depth"),
        (steps_with(over={"a": [1], "b": [1]}), "kind 'steps' varies one option, not 2"),
        (steps_with(over="1..4"), "key 'over': '1..4' is not a table; write { OPTION = LEVELS }"),
        (steps_with(over={"a.b.c": [1]}), "key 'over': 'a.b.c' is not an option; write OPTION or STREAM.OPTION"),
        (steps_with(over={"queue_depth": "4..1"}), "my.toml: experiment 'depth': key 'over': queue_depth: '4..1' does not rise"),
        (
            steps_with(over={"block_size": "4k,8k"}),
            "block_size: '4k' is not a number, as the levels of kind 'steps' are; kind 'matrix' takes",
        ),
        (steps_with(over={"target": ["a"]}), "target: kind 'steps' varies the load; compare targets as configurations"),
        (of_kind("ramp", objective="p99 <= 1ms", over={"threads": "1..9*3"}), "threads: '1..9*3' says how to step"),
        (steps_with(objective="raed mean <= 2ms"), "key 'objective': objective 'raed mean <= 2ms': 'raed' is not an operation"),
        (steps_with(set={"target": "x"}), "key 'set': 'target' is no setting; give it with --target"),
        (steps_with(set=[1]), "key 'set': [1] is not a table; write { OPTION = VALUE }"),
        (steps_with(set={"log": {"x": 1}, "log.x": 2}), "key 'set': option 'log.x' stands twice."),
        (steps_with(repeat=0), "key 'repeat': 0 is not a whole number from 1 to 1000."),
        (steps_with(repeat=True), "key 'repeat': true is not a whole number"),
        (steps_with(interleave="yes"), "key 'interleave': 'yes' is neither true nor false."),
        (steps_with(cache="hot"), "key 'cache': 'hot' is not known; there are as found, cold, warm."),
        (steps_with(precision="2"), "key 'precision': '2' is not a precision; write for example '2%' or '2% of read p99'."),
        (steps_with(precision="2% of raed p99"), "key 'precision': '2% of raed p99': 'raed' is not an operation; did you mean 'read'?"),
        (steps_with(precision="2% of errors"), "'errors' cannot be aimed at; name one of mean, p50"),
        (steps_with(precision="200%"), "'200%' is not a precision"),
        (of_kind("curve", percent=[0]), "key 'percent': 0 is not a percentage of the maximum"),
        (of_kind("curve", percent="x"), "key 'percent': 'x' is not a percentage"),
        (of_kind("curve", maximum="fast"), "key 'maximum': 'fast' is not a rate; write requests per second such as 500 or '20k'."),
        (of_kind("curve", maximum=0), "key 'maximum': 0 is not a rate"),
        (of_kind("steady", metric="iosp"), "key 'metric': 'iosp' is not a metric; did you mean 'iops'?"),
        (of_kind("steady", window=9, rounds_max=8), "8 rounds hold no window of 9; write a larger 'rounds_max'."),
        (of_kind("precondition", amount=0), "key 'amount': 0 is not a multiple of the target's size"),
        (
            of_kind("ramp", objective="p99 <= 1ms", over={"threads": "1..9"}, resolution="fine"),
            "key 'resolution': 'fine' is not a resolution; write a share such as '2%'",
        ),
        (
            of_kind("ramp", objective="p99 <= 1ms", over={"threads": "1..9"}, growth="1x"),
            "key 'growth': '1x' is not a growth; write '2x' to double the level, or '+4' to add 4.",
        ),
        (steps_with(configurations={}), "key 'configurations' is not a list"),
        (steps_with(configurations=["x"]), "configuration 1: 'x' is not a table"),
        (steps_with(configurations=[{"target": "x"}]), "configuration 1: key 'name' is missing"),
        (steps_with(configurations=[{"name": "A"}, {"name": "A"}]), "configuration 'A': the name stands twice"),
        (steps_with(configurations=[{"name": "A", "sett": {}}]), "configuration 'A': key 'sett' is not known; did you mean 'set'?"),
        (steps_with(configurations=[{"name": "A", "target": " "}]), "key 'target': the target is empty"),
        (steps_with(quick=1), "my.toml: experiment 'depth': key 'quick' is not a table"),
        (steps_with(quick={"kind": "ramp"}), "key 'quick': 'kind' cannot be replaced; leave it out."),
        (steps_with(quick={"shuffle": 3}), "key 'quick': key 'shuffle' is for matrix"),
        (steps_with(quick={"repeat": 0}), "my.toml: experiment 'depth': key 'quick': key 'repeat': 0 is not a whole number"),
    ],
)
def test_a_mistake_is_answered_with_file_experiment_and_key(document: Any, sentence: str) -> None:
    assert sentence in refused(document)


def test_reading_what_was_read_changes_nothing() -> None:
    for option in OPTIONS:
        if option.name not in ("quick", "over"):
            once = option.form.read(option.example)
            assert option.form.read(once) == once, option.name
            if option.default is not None:
                assert option.form.read(option.default) == option.default, option.name


def test_a_file_defines_workloads_of_its_own() -> None:
    own = {"name": "log", "stream": [{"block_size": "64KiB"}]}
    document = {"workload": [own], "experiment": [{"name": "one", "kind": "single", "workloads": ["log", "oltp-db"]}]}
    (experiment,) = read_experiments(document, "mine.toml").experiments
    assert experiment.definitions == {"log": own}
    assert Experiment.from_json(experiment.to_json()) == experiment


@pytest.mark.parametrize(
    ("workloads", "sentence"),
    [
        ({"name": "log"}, "mine.toml: key 'workload' is not a list of tables; write [[workload]] and its keys below it."),
        (["log"], "mine.toml: workload 1 is 'log', not a table; write [[workload]] and its keys below it."),
        ([{"stream": []}], 'mine.toml: workload 1 has no name; write for example name = "log".'),
        ([{"name": "a"}, {"name": "a"}], "mine.toml: two workloads are called 'a'; give each a name of its own."),
    ],
)
def test_a_workload_of_its_own_that_cannot_be_is_named(workloads, sentence: str) -> None:
    document = {"workload": workloads, "experiment": [{"name": "one", "kind": "single", "workloads": ["a"]}]}
    with pytest.raises(InputError) as problem:
        read_experiments(document, "mine.toml")
    assert str(problem.value) == sentence
