"""The reference page and the schema of experiment files follow from the declarations, and their examples work.

Renew both with ``PLIMSOLL_RENEW=1 pytest tests/unit/test_experiment_reference.py`` and look at the difference.
"""

from __future__ import annotations

import ast
import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll import catalog
from plimsoll.analysis.statistics.steadiness import ROUNDS
from plimsoll.apps.analytics.options import OPTIONS as OF_ANALYTICS
from plimsoll.apps.order_entry.options import OPTIONS as OF_ORDER_ENTRY
from plimsoll.engine.block import native
from plimsoll.experiments import curve, search, steady
from plimsoll.experiments.declaration import OPTIONS, OPTIONS_BY_NAME
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.forms import TABLE_OPTIONS
from plimsoll.experiments.kind import Kind
from plimsoll.experiments.kinds import KINDS, KINDS_BY_NAME
from plimsoll.experiments.levels import WHOLE_OPTIONS
from plimsoll.experiments.reference import EXAMPLE, experiment_schema, experiments_page
from plimsoll.experiments.schedule import settings_of

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
PACKAGE = ROOT / "python" / "plimsoll"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("experiments.md", experiments_page()),
        ("experiment.schema.json", json.dumps(experiment_schema(), indent=2, ensure_ascii=False) + "\n"),
    ],
)
def test_the_generated_documents_are_up_to_date(name: str, text: str) -> None:
    path = REFERENCE / name
    if os.environ.get("PLIMSOLL_RENEW"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_the_page_names_every_kind_and_every_option() -> None:
    page = experiments_page()
    assert all(f"\n## `{kind.name}`\n" in page for kind in KINDS)
    assert all(f"\n| `{option.name}` |" in page for option in OPTIONS)
    assert "None" not in page


def test_a_kind_is_declared_in_a_file_of_its_name_and_nowhere_else() -> None:
    files = {path.stem for path in (PACKAGE / "experiments" / "kinds").glob("*.py")} - {"__init__"}
    assert files == set(KINDS_BY_NAME)


def kinds_by_name(tree: ast.AST) -> Iterator[int]:
    """Lines on which a kind is told by its name: ``kind == "steps"``, or two and more names side by side in a list."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and "kind" in ast.unparse(node.left):
            sides = [found for side in node.comparators for found in getattr(side, "elts", [side])]
            if any(isinstance(found, ast.Constant) and found.value in KINDS_BY_NAME for found in sides):
                yield node.lineno
        listed = node.keys if isinstance(node, ast.Dict) else node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else []
        if len(listed) > 1 and all(isinstance(found, ast.Constant) and found.value in KINDS_BY_NAME for found in listed):
            yield node.lineno


def test_nobody_tells_kinds_by_their_names() -> None:
    # What another tool asks for is translated into experiments of kinds that are named.
    others = [path for path in PACKAGE.rglob("*.py") if not {"kinds", "formats"} & {*path.parts}]
    found = [f"{path.name}:{line}" for path in others for line in kinds_by_name(ast.parse(path.read_text(encoding="utf-8")))]
    assert found == [], "ask what the kind is (plimsoll.experiments.kinds), not how it is called; give it a field if none says that"
    assert list(kinds_by_name(ast.parse('BARS = ("single", "steps")\nif experiment.kind == "curve": pass'))) == [1, 2]


def test_what_planners_do_unless_told_is_what_the_declarations_say() -> None:
    declared = {name: OPTIONS_BY_NAME[name].default for name in ("amount", "rounds_max", "window", "percent", "repeats_max")}
    assert declared == {
        "amount": steady.AMOUNT,
        "rounds_max": steady.ROUNDS_MAX,
        "window": ROUNDS,
        "percent": list(curve.DEFAULT_PERCENTS),
        "repeats_max": search.REPEATS_MAX,
    }


def test_the_example_of_the_page_is_a_file_that_can_be_read() -> None:
    full = read_experiments(tomllib.loads(EXAMPLE), "my.toml")
    quick = read_experiments(tomllib.loads(EXAMPLE), "my.toml", quick=True)
    assert [item.name for item in full.experiments] == ["depth", "sizes"]
    assert full.experiments[0] != quick.experiments[0] and full.experiments[1] == quick.experiments[1]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_example_of_a_kind_is_one_the_engine_takes(kind: Kind) -> None:
    suite = read_experiments(tomllib.loads(f"[[experiment]]\n{kind.example}"), "my.toml")
    engine = native()
    (experiment,) = suite.experiments
    assert experiment.kind == kind.name
    for workload in experiment.workloads:
        definition = engine.check_workload(catalog.load(workload), workload)
        for settings in settings_of(experiment):
            checked, options = definition, engine.check_job({})
            for option, value in settings.items():
                checked, options = engine.set_option(checked, options, option, value)


def types(option: dict[str, Any]) -> set[str]:
    """The JSON types in which a value of ``option`` may be written."""
    return {option.get("type", "")}.union(*(types(form) for form in option.get("anyOf", ())))


def test_what_is_known_of_workload_options_agrees_with_the_engine() -> None:
    streams = native().workload_schema()["properties"]["stream"]["items"]["properties"]
    assert {name for name, option in streams.items() if "object" in types(option)} == set(TABLE_OPTIONS)
    # Options of the job and of other drivers, which the schema of workloads does not hold.
    job = {"workers", "size", "streams", "users"}
    others = job | set(OF_ORDER_ENTRY) | set(OF_ANALYTICS)
    assert {name for name, option in streams.items() if "integer" in types(option)} == WHOLE_OPTIONS - others


def test_the_schema_tells_kinds_apart() -> None:
    schema = experiment_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    experiment = schema["properties"]["experiment"]["items"]
    rules = {rule["if"]["properties"]["kind"]["const"]: rule["then"] for rule in experiment["allOf"]}
    assert list(rules) == list(KINDS_BY_NAME)
    assert rules["ramp"]["required"] == ["over", "objective"]
    assert rules["steps"]["properties"]["shuffle"] is False and "shuffle" not in rules["matrix"]["properties"]
    assert experiment["required"] == ["name", "kind", "workloads"]
    assert "required" not in experiment["properties"]["quick"]
