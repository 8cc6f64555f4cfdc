"""The verbs as functions of the package: they do what their commands do, print nothing, and return what came of it."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import plimsoll as package
from plimsoll.cli.options import EXPERIMENT
from plimsoll.errors import InputError, SafetyRefusal
from plimsoll.points.arguments import Arguments
from plimsoll.points.listener import Listener
from plimsoll.points.options import Options, complete
from plimsoll.store.reader import open_run
from plimsoll.verbs import measurement
from support.said import Plimsoll
from support.scripted_engine import ScriptedEngine

pytestmark = pytest.mark.usefixtures("engine")
#: Options of a command that say how it prints.
SHOWING = {"report_path", "quiet", "as_json", "opens", "dry_run", "live", "otlp", "draws"}


def test_a_run_returns_its_results_and_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    run = package.run("small.toml", targets="null:", settings={"queue_depth": 32, "main.direct": True}, duration="30s", label="mine")
    (result,) = run.results
    assert (result.job.queue_depth, result.job.duration_s, result.job.target) == (32, 30, "null:")
    assert open_run(run.path).label == "mine" and run.exit_code == 0
    assert capsys.readouterr() == ("", "")


CALLS: list[tuple[tuple[str, ...], Any]] = [
    (("run", "small.toml", "--repeat", "2"), lambda: package.run("small.toml", targets=["null:"], repeat=2)),
    (
        ("steps", "small.toml", "--over", "queue_depth=1,2"),
        lambda: package.steps("small.toml", targets="null:", over={"queue_depth": [1, 2]}),
    ),
    (
        ("matrix", "small.toml", "--over", "queue_depth=1,2", "--over", "block_size=4k,8k", "--shuffle", "7"),
        lambda: package.matrix("small.toml", targets="null:", over={"queue_depth": "1,2", "block_size": ["4k", "8k"]}, shuffle=7),
    ),
    (
        ("ramp", "small.toml", "--objective", "p99 <= 5ms", "--over", "queue_depth=1..4", "--growth", "+1"),
        lambda: package.ramp("small.toml", targets="null:", objective="p99 <= 5ms", over="queue_depth=1..4", growth="+1"),
    ),
    (
        ("search", "small.toml", "--objective", "p99 <= 5ms", "--over", "queue_depth=1..4", "--repeats-max", "2"),
        lambda: package.search("small.toml", targets="null:", objective="p99 <= 5ms", over="queue_depth=1..4", repeats_max=2),
    ),
    (("curve", "small.toml", "--percent", "50,100"), lambda: package.curve("small.toml", targets="null:", percent="50,100")),
    (("scale", "small.toml", "--over", "threads=1,2"), lambda: package.scale("small.toml", targets="null:", over={"threads": [1, 2]})),
    (("steady", "small.toml", "--rounds-max", "5"), lambda: package.steady("small.toml", targets="null:", rounds_max=5)),
    (("suite", "mine.toml"), lambda: package.suite("mine.toml", targets="null:")),
    (("replay", "hm.csv", "--speed", "2x"), lambda: package.replay("hm.csv", targets="null:", speed="2x")),
]


@pytest.mark.parametrize(("words", "call"), CALLS, ids=[words[0] for words, _ in CALLS])
def test_a_verb_measures_what_its_command_measures(plimsoll: Plimsoll, here: Path, words: tuple[str, ...], call: Any) -> None:
    (here / "mine.toml").write_text('[[experiment]]\nname = "x"\nkind = "single"\nworkloads = ["small.toml"]\n')
    (here / "hm.csv").write_text("".join(f"{10**17 + 2500 * at},hm,0,Read,{at * 4096},4096,40\n" for at in range(50)))
    typed = plimsoll(*words, "-t", "null:", "--json").json
    run = call()
    assert [experiment.to_json() for experiment in run.experiments] == typed["experiments"]
    assert json.loads(json.dumps(run.conclusions)) == typed["conclusions"]
    assert [result.place for result in run.results] == [result["place"] for result in typed["results"]]
    assert open_run(run.path).meta["fingerprint"] == open_run(sorted(here.glob("results/*"))[0].as_posix()).meta["fingerprint"]


def test_every_verb_is_typed_documented_and_compared_with_its_command() -> None:
    verbs = {name for name in package.__all__ if inspect.isfunction(getattr(package, name))} - {
        "open",
        "compare",
        "preview",
        "size",
        "choose",
    }
    assert {words[0] for words, _ in CALLS} == verbs - {"check"}
    for name in verbs - {"check"}:
        function = getattr(package, name)
        assert function.__doc__ and inspect.signature(function).return_annotation == "Run", name


def test_options_are_those_of_the_commands() -> None:
    # A function takes one price or a table of them; what is asked for has all.
    named = {"prices" if name == "price" else name for name in Options.__annotations__}
    assert set(Arguments.unsaid()) == named - {"target", "progress"} == (set(EXPERIMENT) | {"objective"}) - SHOWING


def test_an_option_that_is_not_known_is_named() -> None:
    with pytest.raises(InputError, match=r"option 'tarket' is not known; did you mean 'target'\?"):
        package.run("small.toml", tarket="null:")  # type: ignore[call-arg]


def test_settings_and_axes_are_written_as_they_are_typed() -> None:
    typed = complete({"settings": {"trace_skip": ["write"], "direct": False}}, {"over": ()})
    assert typed["settings"] == ('trace_skip=["write"]', "direct=false")
    assert complete({"over": {"target": ["concat:a,b", "c"], "x": [1, 2]}}, {"over": ()})["over"] == (
        *("target=concat:a,b", "target=c"),
        "x=1,2",
    )


def test_bad_input_and_refusals_are_raised_with_the_sentence_of_the_command(engine: ScriptedEngine) -> None:
    with pytest.raises(InputError, match="queue_deep"):
        package.run("small.toml", targets="null:", settings={"queue_deep": 1})
    engine.inspection = {"kind": "device", "exists": True, "size_bytes": 1 << 30, "parts": [], "write_refusal": "it is mounted."}
    with pytest.raises(SafetyRefusal, match="it is mounted"):
        package.run("random-write-4k", targets="/dev/sdx")


def test_the_same_call_goes_on_and_says_so(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    first = package.run("small.toml", targets="null:", repeat=3)
    path = here / first.path / "run.json"
    meta = json.loads(path.read_text())
    path.write_text(json.dumps({**meta, "status": "interrupted"}))
    heard: list[str] = []
    again = package.run("small.toml", targets="null:", repeat=3, listener=Listener(remark=heard.append))
    assert again.path == first.path and len(engine.jobs) == 3
    assert heard == [f"resuming {first.path}: 3 points are there (--fresh starts anew)"]


def test_a_verb_can_be_called_from_any_thread() -> None:
    # Python hands signals to the main thread alone, and lets no other ask for them.
    with ThreadPoolExecutor(1) as threads:
        run = threads.submit(package.run, "small.toml", targets="null:").result()
    assert [result.status for result in run.results] == ["complete"]


def test_importing_the_package_imports_nothing_of_it() -> None:
    code = "import plimsoll, sys; print([name for name in sys.modules if name.startswith('plimsoll.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_what_is_no_verb_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="'flight'"):
        package.flight  # noqa: B018
    assert measurement.run is package.run
