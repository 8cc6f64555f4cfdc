"""Mail stores: generations with their sources, the driver's verbs, and runs on modelled arrays."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from plimsoll import catalog
from plimsoll.apps import DRIVERS, check_workload, driver_of
from plimsoll.catalog.generations import generation, generation_names, limits, values
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.result import OPS

HOUR_S = 3600


def store(**changes: Any) -> dict[str, Any]:
    return {"driver": "mailstore", "generation": "2003", **changes}


def test_every_value_of_a_generation_has_a_source_and_every_generation_a_workload() -> None:
    assert generation_names() == ["2003", "2007", "2010", "2013"]
    for name in generation_names():
        for key, entry in generation(name)["value"].items():
            assert set(entry) == {"value", "source"} and entry["source"].strip(), (name, key)
        for table in generation(name)["limits"].values():
            assert table["source"]
        assert catalog.document(f"mailstore-{name}")["generation"] == name


@pytest.mark.parametrize("name", ["2003", "2007", "2010", "2013"])
def test_a_workload_of_a_generation_has_all_its_values(name: str) -> None:
    checked: dict[str, Any] = dict(check_workload(catalog.document(f"mailstore-{name}"), "x.toml"))
    assert checked["page_size"] == {"2003": 4096, "2007": 8192}.get(name, 32768)
    assert checked["lazy_commit_percent"] == {"2003": 90, "2007": 55}.get(name, 70)
    assert checked["maintenance"] == {"2010": 5_000_000, "2013": 1_000_000}.get(name, 0)
    assert set(values(name)) <= set(checked)
    assert "not Jetstress" in checked["source"]


def test_what_a_file_says_goes_before_what_its_generation_says() -> None:
    checked: dict[str, Any] = dict(check_workload(store(lazy_commit_percent=50), "mine.toml"))
    assert (checked["lazy_commit_percent"], checked["record_size"]) == (50, 1000)


def test_another_generation_brings_all_its_values() -> None:
    driver = driver_of(store(), native())
    checked = driver.check_workload(store(threads=3), "mine.toml")
    changed, _ = driver.set_option(checked, driver.check_job({}), "generation", "2010")
    told: dict[str, Any] = dict(changed)
    assert (told["page_size"], told["generation"], told["threads"]) == (32768, "2010", 3)


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (store(generation="2004"), "mine.toml: generation '2004' is unknown"),
        (store(thread=1), "mine.toml: key 'thread' is not known; did you mean 'threads'?"),
        (
            store(insert_percent=20),
            "mine.toml: insert_percent, delete_percent, replace_percent and seek_percent add up to 103; they have to be 100",
        ),
    ],
)
def test_a_mistake_is_answered_with_what_would_be_right(document: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        check_workload(document, "mine.toml")
    assert str(refused.value).startswith(sentence)


def test_limits_of_more_than_six_hours_are_those_of_a_stress_test() -> None:
    assert limits("2010", 2 * HOUR_S)["read_max_ms"] == 100
    assert limits("2010", 24 * HOUR_S)["read_max_ms"] == 200
    assert limits("2003", 2 * HOUR_S)["read_mean_ms"] == 20


def test_the_driver_is_listed_and_its_operations_are_words_of_results() -> None:
    assert "mailstore" in DRIVERS
    assert {"log-read", "log-write", "maintenance-read", "replication-read"} <= set(OPS)


def test_data_files_parse_and_say_nothing_twice() -> None:
    folder = Path(catalog.__file__).parent / "generations"
    for file in folder.glob("*.toml"):
        assert {"title", "about", "value", "limits"} <= set(tomllib.loads(file.read_text()))
