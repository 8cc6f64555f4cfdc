"""A side is called as it was named, everywhere; a target that nobody named by the words that tell it apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.analysis.comparison.names import names_of, short_names
from plimsoll.errors import InputError
from plimsoll.experiments.document import TYPED, read_experiments
from plimsoll.experiments.named_target import named_target
from support.made_results import Load, Setting, made
from support.said import Plimsoll

DOCUMENT = {"experiment": [{"name": "run", "kind": "single", "workloads": ["random-read-4k"]}]}


@pytest.mark.parametrize(
    ("typed", "name", "target"),
    [
        ("fast=/dev/sdb", "fast", "/dev/sdb"),
        ("cache on=array:nvme?host.cores=2", "cache on", "array:nvme?host.cores=2"),
        ("depth_8.b=./x", "depth_8.b", "./x"),
        # What has a '=' of its own and no name.
        ("queue:servers=2", "", "queue:servers=2"),
        ("array:nvme?host.cores=2", "", "array:nvme?host.cores=2"),
        ("./a=b", "", "./a=b"),
        ("/data/a=b", "", "/data/a=b"),
        ("stripe:/dev/sdb,/dev/sdc?unit=1MiB", "", "stripe:/dev/sdb,/dev/sdc?unit=1MiB"),
        ("/dev/sdb", "", "/dev/sdb"),
    ],
)
def test_a_name_is_what_stands_before_the_first_equals_sign_and_is_no_path_or_scheme(typed: str, name: str, target: str) -> None:
    found = named_target(typed)
    assert (found.name, found.target) == (name, target)


@pytest.mark.parametrize(
    ("targets", "said"),
    [
        (["fast="], "'fast' names no target; write fast=TARGET"),
        (["=/dev/sdb"], "there is no name before '='"),
        (["a=/dev/sdb", "a=/dev/sdc"], "two targets are called 'a'"),
        (["/dev/sdb", "/dev/sdb"], "--target /dev/sdb is given twice"),
    ],
)
def test_names_that_cannot_be_are_refused_in_a_sentence(targets: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        read_experiments(DOCUMENT, TYPED, targets=targets)


def test_a_file_with_an_equals_sign_in_its_name_is_never_taken_for_a_side(plimsoll: Plimsoll) -> None:
    Path("random=null:").touch()
    ended = plimsoll("run", "random-read-4k", "-t", "random=null:", "--dry-run")
    assert ended.code == 2
    assert "--target random=null:: there is a file of that name; write ./random=null: for it" in ended.err


def test_a_named_target_is_a_configuration_of_that_name() -> None:
    (experiment,) = read_experiments(DOCUMENT, TYPED, targets=["fast=/dev/sdb", "/dev/sdc"]).experiments
    assert [(one.name, one.target) for one in experiment.configurations] == [("fast", "/dev/sdb"), ("/dev/sdc", "/dev/sdc")]


@pytest.mark.parametrize(
    ("targets", "short"),
    [
        (["array:msa50-sas-10k-raid0-10", "array:msa50-sas-10k-raid10-10"], ["raid0", "raid10"]),
        (["/dev/loop0", "/dev/loop1"], ["loop0", "loop1"]),
        (["array:se6920-raid5", "array:dl580-local"], ["se6920-raid5", "dl580-local"]),
        # What is left tells nothing: no letters, or nothing at all.
        (["array:a-4", "array:a-8"], ["a-4", "a-8"]),
        (["array:x-4", "array:x-4-nocache"], ["x-4", "x-4-nocache"]),
        (["null:", "queue:"], ["null:", "queue:"]),
        (["array:nvme"], ["array:nvme"]),
    ],
)
def test_targets_without_a_name_are_called_by_the_words_that_tell_them_apart(targets: list[str], short: list[str]) -> None:
    assert list(short_names(targets).values()) == short


def test_only_what_was_named_after_its_target_is_shortened() -> None:
    named = [Setting(target=f"array:x-{name}", place={"configuration": f"array:x {name}"}) for name in ("a", "b")]
    assert list(names_of(made(Load(1, 1), setting=setting) for setting in named).values()) == ["array:x a", "array:x b"]


def test_names_stand_in_tables_sentences_and_exports_and_the_target_in_the_environment(plimsoll: Plimsoll) -> None:
    words = ("-t", "on=null:", "-t", "off=null:?size=1TiB", "-q", "-d", "1s")
    said = plimsoll("run", "small.toml", *words)
    assert said.code == 0 and "off" in said.out.splitlines()[0] and "null:" not in said.text.partition("results ")[0]
    document = plimsoll("run", "small.toml", *words, "--fresh", "--json").json
    assert [result["place"]["configuration"] for result in document["results"]] == ["on", "off"]
    assert [result["job"]["target"] for result in document["results"]] == ["null:", "null:?size=1TiB"]
