"""Whatever is written of figures that are derived from a published benchmark says so, and that they are not comparable with its results."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest

from plimsoll.analysis.derivation import MAILSTORE, derivation, derivations, notices
from plimsoll.cli import main
from plimsoll.formats.prometheus import prometheus_text
from plimsoll.formats.stored_point import Recorded
from plimsoll.store.reader import open_run
from support.made_drivers import entered, queried
from support.made_results import Load, made
from support.made_workflows import BANNER as WORKFLOWS

ORDERS = "derived from TPC-C, not comparable with published TPC-C results"
QUERIES = "derived from TPC-H, not comparable with published TPC-H results"
SMALL = ("--set", "warehouses=1", "--set", "customers=10", "--set", "items=100", "--set", "terminals=1", "-d", "200ms", "--warmup", "0s")


def test_each_load_has_its_own_notice_and_most_have_none() -> None:
    plain = made(Load(100.0, 1e6))
    stored = replace(plain, job=replace(plain.job, definition={**plain.job.definition, "driver": "mailstore"}), streams={"pages": {}})
    worked = replace(plain, engine={**plain.engine, "analytics": {"banner": WORKFLOWS}})
    asked, bought = queried("duckdb:/mnt/a", 0.01), entered("sqlite:/mnt/a", 200.0)
    assert [derivation(one) for one in (plain, asked, bought, stored, worked)] == [None, QUERIES, ORDERS, MAILSTORE, WORKFLOWS]
    assert derivations([bought, plain, asked, bought]) == (ORDERS, QUERIES)
    assert notices([bought]) == ("Derived from TPC-C, not comparable with published TPC-C results.",)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where two runs of order entry, ``a`` and ``b``, are stored."""
    place = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(place / "cache"))
        patched.setattr("plimsoll.doctor.look.quick_look", lambda facts, others: "")
        for name in "ab":
            target = ["-t", f"sqlite:{place}/db-{name}", "--label", name, "--out", str(place), "--quiet"]
            said = _said("run", "order-entry", *target, *SMALL, "--json")
            (place / f"{name}.printed").write_text(said)
        yield place


def _said(*words: str) -> str:
    """What a command prints."""
    printed = BytesIO()
    with redirect_stdout(TextIOWrapper(printed, encoding="utf-8", write_through=True)):
        assert main(words) == 0
        sys.stdout.flush()
        return " ".join(printed.getvalue().decode().split())


def test_the_document_that_a_run_prints_says_so(runs: Path) -> None:
    document = json.loads((runs / "a.printed").read_text())
    assert document["notices"] == [f"{ORDERS[0].upper()}{ORDERS[1:]}."]
    assert ORDERS in document["answer"]


@pytest.mark.parametrize("writer", ["x.html", "x.csv", "x.json", "x.md", "x.xml", "x.csv --long", "x.csv --by stream", "x.parquet"])
def test_every_report_says_so(runs: Path, writer: str) -> None:
    name, *words = writer.split()
    assert ORDERS[1:] in _written(runs, name, "report", "a", *words)


@pytest.mark.parametrize("name", ["x.html", "x.csv", "x.json", "x.md", "x.xml", "x.parquet"])
def test_every_comparison_says_so(runs: Path, name: str) -> None:
    assert ORDERS[1:] in _written(runs, name, "compare", "a", "b")


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_comparison_that_is_printed_says_so(runs: Path, words: tuple[str, ...]) -> None:
    assert ORDERS[1:] in _said("compare", "a", "b", "--out", str(runs), *words)


def test_what_is_exported_for_prometheus_says_so(runs: Path) -> None:
    (point, *others) = open_run(str(next(runs.glob("*_order-entry")))).points
    assert not others
    text = prometheus_text("a", [Recorded(point.result, (), ())])
    (line,) = [line for line in text.splitlines() if line.startswith("plimsoll_derived{")]
    assert f'derived="{ORDERS}"' in line


def test_every_row_of_a_table_says_so(runs: Path) -> None:
    for command in (("report", "a"), ("compare", "a", "b")):
        (head, *rows) = csv.reader(StringIO(_written(runs, "x.csv", *command)))
        assert rows
        assert {row[head.index("derived")] for row in rows} == {ORDERS}


def _written(runs: Path, name: str, *words: str) -> str:
    """What a command writes into a file of that name."""
    path = runs / name
    path.unlink(missing_ok=True)
    if name.endswith(".parquet"):
        parquet = pytest.importorskip("pyarrow.parquet")
    _said(*words, "--out", str(runs), "-o", str(path))
    return str(parquet.read_table(path).to_pylist()) if name.endswith(".parquet") else path.read_text()
