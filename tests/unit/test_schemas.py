"""The published JSON Schemas: up to date, and every kind of stored result, run, interval, sample and comparison keeps them."""

from __future__ import annotations

import copy
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from plimsoll.analysis.sizing.demand import COLUMNS, Observed, demand_document
from plimsoll.errors import EngineError, StoreError
from plimsoll.result import Result
from plimsoll.schemas import schema_of_documents
from plimsoll.store.document import fitting
from plimsoll.stored import Run
from support.made_results import Load, failed, made
from support.said import Plimsoll, in_this_process
from support.scripted_engine import Script, ScriptedEngine

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
schemas = cache(schema_of_documents)


def check(name: str, document: Any) -> None:
    """The document keeps the schema, or the first mistake is told with its place."""
    for problem in jsonschema.Draft202012Validator(schemas()[f"{name}.schema.json"]).iter_errors(document):
        raise AssertionError(f"{list(problem.absolute_path)}: {problem.message[:300]}")


def check_store(store: str = "results") -> int:
    """Everything in a store; how many points there are."""
    points = 0
    for run in Path(store).iterdir():
        check("run", json.loads((run / "run.json").read_text()))
        for point in (run / "points").iterdir():
            points += 1
            check("result", json.loads((point / "result.json").read_text()))
            for name, schema in (("intervals.jsonl", "interval"), ("monitor.jsonl", "sample")):
                for line in (point / name).read_text().splitlines() if (point / name).exists() else []:
                    check(schema, json.loads(line))
    return points


@pytest.fixture
def real(here: Path, capsys: pytest.CaptureFixture[str]) -> Plimsoll:
    """The command with the engine itself, for targets in virtual time."""
    return in_this_process(capsys)


def test_the_published_schemas_are_up_to_date() -> None:
    for name, schema in schemas().items():
        text = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
        if os.environ.get("PLIMSOLL_RENEW"):
            (REFERENCE / name).write_text(text, encoding="utf-8")
        assert (REFERENCE / name).read_text(encoding="utf-8") == text, name


def test_the_published_schemas_are_schemas() -> None:
    for schema in schemas().values():
        jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "oltp-db", "random-read-4k"),
        ("run", "small.toml", "--repeat", "2", "--objective", "p99 <= 5ms"),
        ("run", "small.toml", "-s", "arrival=poisson", "-s", "rate=200", "--precision", "5%"),
        ("matrix", "small.toml", "--over", "queue_depth=1,2", "--over", "block_size=4k,8k"),
        ("ramp", "small.toml", "--over", "queue_depth=1..8", "--objective", "mean <= 5ms"),
        ("curve", "small.toml", "--percent", "50,90"),
        ("scale", "small.toml", "--over", "threads=1,2"),
        ("steady", "small.toml", "--rounds-max", "5"),
        ("replay", "hm.csv"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_every_kind_of_run_keeps_the_schemas(real: Plimsoll, words: tuple[str, ...]) -> None:
    Path("hm.csv").write_text("".join(f"{10**17 + 2500 * at},hm,0,Read,{at * 4096},4096,40\n" for at in range(50)))
    timing = () if words[0] == "replay" else ("-d", "1s", "-w", "0s")
    said = real(*words, "-t", "queue:?servers=2", *timing, "-q")
    assert said.code == 0, said.err
    assert check_store() >= 1


def test_results_of_arrays_keep_the_schemas(real: Plimsoll) -> None:
    words = ("run", "oltp-db", "-t", "array:msa50-sas-10k-raid10-10", "-t", "array:nvme", "-d", "2s", "-w", "0s", "-q")
    assert real(*words).code == 0
    assert check_store() == 2


def test_failures_errors_parts_and_imports_keep_the_schemas(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [
        Script(ops=("read", "write", "flush"), parts=("0:/dev/a", "1:/dev/b"), errors={"EIO": 1}),
        Script(raises=EngineError("the device went away.")),
    ]
    plimsoll("run", "small.toml", "-t", "null:", "--repeat", "2", "-s", "on_error=continue", "-q")
    (run,) = Path("results").iterdir()
    assert check_store() == 2
    assert plimsoll("export", run.name, "--as", "fio-json+", "--point", "1", "-o", "theirs.json").code == 0
    assert plimsoll("import", "theirs.json", "-o", "imported").code == 0
    assert check_store("imported") == 1


def test_made_results_keep_the_schema() -> None:
    for result in (made(Load(100, 1e6)), made(Load(100, 1e6, spread=None), 4), failed(2)):
        check("result", json.loads(json.dumps(result.to_json())))


def test_a_comparison_keeps_its_schema(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    plimsoll("steps", "small.toml", "-t", "null:", "-t", "queue:", "--over", "queue_depth=1,2", "--objective", "mean <= 5ms", "-q")
    (run,) = Path("results").iterdir()
    said = plimsoll("compare", run.name, "--varying", "modelled", "--varying", "size", "--json", "--assert", "throughput >= 0.5x")
    assert said.code == 0, said.err
    check("comparison", said.json)


def test_what_was_watched_and_what_was_sized_for_it_keep_their_schemas(real: Plimsoll) -> None:
    observed = Observed("sda", {"model": "made up", "rotational": {"absent": "no such file"}})
    for second in range(10):
        observed.add(1.0, {**dict.fromkeys(COLUMNS, 1.0), "r/s": 400.0 + second, "rkB/s": 3200.0, "w/s": 100.0, "wkB/s": 800.0})
    document = demand_document([observed], {"host": "bench", "interval_s": 1.0})
    check("demand", json.loads(json.dumps(document)))
    Path("demand.json").write_text(json.dumps(document))
    disks = ("--raid", "5", "--disk-iops", "180", "--disk-size", "146GB", "--price", "5000")
    for words in ((), ("--measure", "-t", "queue:?service=const:1ms", "-q"), disks):
        said = real("size", "--from", "demand.json", "--objective", "mean <= 20ms", *words, "--json")
        check("sizing", said.json)
    check("sizing", real("size", "--raid", "6", "--disks", "48", "--json").json)


def test_what_a_check_prints_keeps_its_schema(real: Plimsoll) -> None:
    said = real("check", "queue:?service=const:1ms", "queue:?service=const:2ms", "--quick", "-d", "500ms", "-w", "0s", "-q", "--json")
    check("check", said.json)
    assert said.json["targets"][0]["mark"] is not None and said.json["mark"] is None


DAMAGES: list[tuple[tuple[str, ...], Any]] = [
    (("schema",), "plimsoll.result/2"),
    (("status",), "done"),
    (("modelled",), "no"),
    (("totals", "read", "iops"), "1000"),
    (("totals", "read", "latency_ns", "p99"), None),
    (("flags",), {}),
    (("flags", "0"), {"name": "x", "severity": "mild", "message": "", "advice": ""}),
    (("job", "seed"), "one"),
    (("job", "definition", "stream"), "none"),
    (("estimates", "all", "iops", "value"), None),
    (("place", "kind"), 7),
]


@pytest.mark.parametrize(("place", "value"), DAMAGES, ids=[".".join(place) for place, _ in DAMAGES])
def test_what_the_reader_refuses_the_schema_refuses(plimsoll: Plimsoll, place: tuple[str, ...], value: Any) -> None:
    plimsoll("steps", "small.toml", "-t", "null:", "--over", "queue_depth=1", "-q")
    (stored,) = Path("results").glob("*/points/*/result.json")
    document = json.loads(stored.read_text())
    check("result", document)
    damaged = copy.deepcopy(document)
    found: Any = damaged
    for key in place[:-1]:
        found = found[int(key) if isinstance(found, list) else key]
    found[int(place[-1]) if isinstance(found, list) else place[-1]] = value
    with pytest.raises(StoreError):
        Result.from_json(damaged, "result.json")
    with pytest.raises(AssertionError):
        check("result", damaged)


def test_a_key_that_is_missing_is_refused_by_both(plimsoll: Plimsoll) -> None:
    plimsoll("run", "small.toml", "-t", "null:", "-q")
    (stored,) = Path("results").glob("*/points/*/result.json")
    for key in ("id", "status", "job", "started"):
        document = json.loads(stored.read_text())
        del document[key]
        with pytest.raises(StoreError):
            Result.from_json(document, "result.json")
        with pytest.raises(AssertionError, match=key):
            check("result", document)
    with pytest.raises(AssertionError, match="status"):
        check("run", {"schema": "plimsoll.run/1"})
    with pytest.raises(StoreError):
        fitting({}, Run, "run.json")


def test_keys_of_a_later_version_are_no_mistake(plimsoll: Plimsoll) -> None:
    document = made(Load(100, 1e6), 4).to_json() | {"later": {"anything": [1]}}
    check("result", json.loads(json.dumps(document)))
    Result.from_json(document, "result.json")
