"""The command line is a client of `import plimsoll`: a command reads words, calls the function of its name and prints what that returns."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

import plimsoll as package
from plimsoll.errors import InputError
from plimsoll.verbs import measurement
from support.said import Plimsoll
from support.scripted_engine import ScriptedEngine

CLI = Path(package.__file__).parent / "cli"
#: Each command that measures as it is typed, with the function that it calls and what that is told besides the target.
CALLS: dict[str, tuple[list[str], tuple[str, ...], dict[str, Any]]] = {
    "check": (["check", "null:", "--quick"], (), {"quick": True}),
    "run": (["run", "small.toml", "--over", "queue_depth=1..4"], ("small.toml",), {"over": ("queue_depth=1..4",)}),
    "suite": (["suite", "four-corners", "--quick"], ("four-corners",), {"quick": True}),
    "replay": (["replay", "trace.csv", "--speed", "2x"], ("trace.csv",), {"speed": "2x", "mapping": "refuse"}),
    "ramp": (["ramp", "small.toml", "--objective", "p99 <= 5ms", "--growth", "+4"], ("small.toml",), {"growth": "+4"}),
    "search": (["ramp", "small.toml", "--objective", "p99 <= 5ms", "--settle", "--repeats-max", "3"], ("small.toml",), {"repeats_max": 3}),
    "curve": (["curve", "small.toml", "--percent", "50,100"], ("small.toml",), {"percent": "50,100"}),
    "scale": (["scale", "small.toml", "--iterations", "2"], ("small.toml",), {"iterations": 2}),
    "steady": (["steady", "small.toml", "--window", "3"], ("small.toml",), {"window": 3}),
    "matrix": (["matrix", "small.toml", "--over", "queue_depth=1,2", "--shuffle", "7"], ("small.toml",), {"shuffle": 7}),
}


class Called(Exception):
    """Stands for whatever the function would have measured."""


@pytest.mark.parametrize("verb", CALLS)
@pytest.mark.parametrize("dry", [False, True], ids=["measured", "--dry-run"])
def test_a_command_calls_the_function_of_its_name(
    plimsoll: Plimsoll, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, verb: str, dry: bool
) -> None:
    calls: list[tuple[tuple[str, ...], dict[str, Any]]] = []

    def function(*named: str, **options: Any) -> None:
        calls.append((named, options))
        raise InputError("called.")

    monkeypatch.setattr(measurement, "preview" if dry else verb, function)
    typed, words, told = CALLS[verb]
    targets = [] if verb == "check" else ["-t", "null:"]
    said = plimsoll(*typed, *targets, "--label", "mine", *(["--dry-run"] if dry else []))
    assert (said.code, said.err.splitlines()[-1]) == (2, "plimsoll: called.")
    ((named, options),) = calls
    assert named == ((verb, *words) if dry else words)
    assert {**told, "targets": ("null:",), "label": "mine"}.items() <= options.items()
    # What is only about showing stays with the command.
    assert not options.keys() & {"quiet", "as_json", "report_path", "opens", "dry_run", "asserts"}


@pytest.mark.parametrize("verb", [verb for verb in CALLS if verb != "replay"])
def test_every_option_of_a_command_is_one_of_its_function(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path, verb: str) -> None:
    said = plimsoll(*CALLS[verb][0], *([] if verb == "check" else ["-t", "null:"]), "--dry-run", "--json")
    assert said.code == 0, said.err


def test_a_preview_is_the_plan_of_the_command(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    words = ["ramp", "small.toml", "-t", "null:", "--objective", "p99 <= 5ms", "--dry-run", "--json"]
    plan = plimsoll(*words).json
    ahead = package.preview("ramp", "small.toml", target="null:", objective="p99 <= 5ms")
    assert json.loads(json.dumps(ahead.to_json())) == {name: value for name, value in plan.items() if name not in ("schema", "stored")}
    assert ahead.objectives == ("p99 <= 5ms",) and ahead.name == "ramp-small"
    assert engine.jobs == [] and not (here / "results").exists()


@pytest.mark.parametrize(
    ("verb", "named", "said"),
    [
        ("rump", ("small.toml",), "'rump' is no function that measures; did you mean 'ramp'?"),
        ("suite", ("a", "b"), "suite takes one name, and 2 are given."),
        ("ramp", ("small.toml",), "'plimsoll ramp' needs --objective; write for example"),
    ],
)
def test_a_preview_of_what_cannot_be_asked_is_refused(
    engine: ScriptedEngine, here: Path, verb: str, named: tuple[str, ...], said: str
) -> None:
    with pytest.raises(InputError) as raised:
        package.preview(verb, *named, target="null:")
    assert said in str(raised.value)


def test_assert_needs_an_objective_before_anything_is_measured(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    for words in (["run", "small.toml", "-t", "null:", "--assert"], ["run", "small.toml", "-t", "null:", "--assert", "--dry-run"]):
        said = plimsoll(*words)
        assert said.code == 2 and "--assert: there is no objective that could hold" in said.err
    assert engine.jobs == [] and not (here / "results").exists()


def test_no_command_carries_anything_out_by_itself() -> None:
    for path in sorted(CLI.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                taken = {alias.name for alias in node.names}
                assert not taken & {"carry_out", "preview_of", "conduct"}, path.name
                undertakings = {name for name in taken if name.endswith("_undertaking")}
                assert not undertakings, path.name
