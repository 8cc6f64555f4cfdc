"""`import plimsoll` for notebooks and programs: typed, documented, silent, with one family of exceptions."""

from __future__ import annotations

import inspect
import json
import signal
import sys
from pathlib import Path

import pytest

import plimsoll
from plimsoll.errors import EngineError
from plimsoll.foreground import served
from plimsoll.store.reader import open_run
from support.scripted_engine import Script, ScriptedEngine

pytestmark = pytest.mark.usefixtures("engine")
DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_public_name_is_there_and_documented() -> None:
    assert sorted(plimsoll.__all__) == list(plimsoll.__all__)
    for name in plimsoll.__all__:
        assert inspect.getdoc(getattr(plimsoll, name)), name
    assert set(plimsoll.__all__) <= set(dir(plimsoll))


def test_every_public_method_says_what_it_gives() -> None:
    for kind in (plimsoll.Comparison, plimsoll.Run, plimsoll.Store, plimsoll.StoredRun, plimsoll.Table):
        for name, member in vars(kind).items():
            if not name.startswith("_") and (callable(member) or isinstance(member, property)):
                assert inspect.getdoc(getattr(kind, name)), f"{kind.__name__}.{name}"


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(plimsoll.__file__).parent / "py.typed").exists()


def test_every_error_is_of_one_family() -> None:
    for name in plimsoll.__all__:
        if name.endswith(("Error", "Refusal", "Interrupted")):
            assert issubclass(getattr(plimsoll, name), plimsoll.PlimsollError)


def test_a_run_becomes_a_data_frame() -> None:
    run = plimsoll.steps("small.toml", target="null:", over={"queue_depth": [1, 2]}, duration=30)
    frame = run.to_pandas()
    assert frame[frame.operation == "all"][["set_queue_depth", "iops"]].to_numpy().tolist() == [[1, 1000], [2, 1000]]
    assert run.to_polars().height == run.to_arrow().num_rows == len(run.table()) == 4
    assert run.results[0].job.duration_s == 30


def test_a_target_is_one_or_several_and_numbers_stand_for_texts() -> None:
    assert {result.job.target for result in plimsoll.run("small.toml", target="null:").results} == {"null:"}
    with pytest.raises(plimsoll.InputError, match="options 'target' and 'targets' are the same; give one of them"):
        plimsoll.run("small.toml", target="null:", targets="null:")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"duration": ["30s"]}, "option 'duration' is ['30s']; give a text or a number."),
        ({"duration": True}, "option 'duration' is True; give a text or a number."),
        ({"repeat": "3"}, "option 'repeat' is '3'; give a whole number."),
        ({"keep": 1}, "option 'keep' is 1; give True or False."),
        ({"target": 7}, "option 'target' is 7; give a text, several, or a table."),
        ({"label": 7}, "option 'label' is 7; give a text."),
        ({"progress": "yes"}, "option 'progress' is 'yes'; give a function that takes a plimsoll.Step."),
        ({"durations": 7}, "option 'durations' is not known; did you mean 'duration'?"),
    ],
)
def test_a_value_that_cannot_be_meant_is_an_input_error(options: dict[str, object], said: str) -> None:
    with pytest.raises(plimsoll.InputError) as raised:
        plimsoll.run("small.toml", **{"target": "null:", **options})  # type: ignore[arg-type]
    assert str(raised.value) == said


def test_progress_hears_of_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[plimsoll.Step] = []
    run = plimsoll.run("small.toml", target="null:", repeat=2, progress=heard.append)
    stages = [step.stage for step in heard]
    assert stages.count("begin") == stages.count("end") == 2 and stages.count("interval") == 2 * 12
    assert [(step.point, step.points) for step in heard if step.stage == "begin"] == [(1, 2), (2, 2)]
    ends = [step for step in heard if step.stage == "end"]
    assert [step.result for step in ends] == run.results and ends[0].per_s == 1000
    assert str(ends[0]) == "[1/2] small on null:: complete 1,000 requests/s"
    assert {round(step.per_s or 0) for step in heard if step.stage == "interval"} == {1000}
    assert capsys.readouterr() == ("", "")


def test_what_the_callback_raises_ends_the_run_and_passes_on(here: Path) -> None:
    def enough(step: plimsoll.Step) -> None:
        if step.stage == "interval" and step.seconds > 0.5:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        plimsoll.run("small.toml", target="null:", progress=enough)
    assert json.loads(next(here.glob("results/*/run.json")).read_text())["status"] == "failed"


def test_no_signal_is_handled_and_ctrl_c_keeps_what_was_measured(engine: ScriptedEngine, here: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def interrupted(index: int) -> None:
        seen.append(signal.getsignal(signal.SIGINT))

    engine.scripts = [Script(), Script(on_interval=interrupted)]

    def press(step: plimsoll.Step) -> None:
        if step.point == 2 and step.stage == "interval":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plimsoll.run("small.toml", target="null:", repeat=3, progress=press)
    assert set(seen) == {before}
    stored = open_run(str(next(here.glob("results/*"))))
    assert stored.status == "interrupted" and stored.points[0].result.status == "complete"
    # The same call goes on.
    again = plimsoll.run("small.toml", target="null:", repeat=3)
    assert again.path.endswith(stored.name) and [result.status for result in again.results] == ["complete"] * 3


def test_a_verb_of_the_engine_does_not_run_on_behind_a_keyboard_interrupt() -> None:
    gave_up = []

    def take(kind: str, event: object) -> None:
        raise KeyboardInterrupt

    def verb(push: object) -> None:
        push("tick", {})  # type: ignore[operator]
        # Ends only when it is told to.
        while not gave_up:
            pass

    with pytest.raises(KeyboardInterrupt):
        served(verb, take, give_up=lambda: gave_up.append(True))
    assert gave_up


def test_a_store_is_opened_and_looked_into(here: Path) -> None:
    first = plimsoll.run("small.toml", target="null:", label="before")
    second = plimsoll.run("small.toml", target="null:", label="after")
    store = plimsoll.open(here / "results")
    assert [run.label for run in store] == ["before", "after"] and len(store) == 2
    assert store["latest"].path.endswith(Path(second.path).name)
    assert store["before"].name == store[0].name == Path(first.path).name
    assert store[:1]["latest"].label == "before"
    assert len(store.table()) == 4 and set(store.to_pandas()["label"]) == {"before", "after"}
    assert store["after"].results == second.results
    assert len(store["after"].intervals(0)) == 12 == len(store["after"].intervals("0001-small"))
    with pytest.raises(plimsoll.InputError, match="it has no point 7; there are 0001-small"):
        store["after"].intervals(7)
    assert repr(store["after"]) == "<plimsoll run 'after': complete, 1 points>"
    with pytest.raises(plimsoll.InputError, match="'later' is not a run"):
        store["later"]


def test_a_directory_of_one_run_is_a_store_of_it(here: Path) -> None:
    run = plimsoll.run("small.toml", target="null:")
    (only,) = plimsoll.open(run.path)
    assert only.results == run.results


def test_a_damaged_run_is_left_out_and_named(here: Path) -> None:
    run = plimsoll.run("small.toml", target="null:")
    Path(run.path, "run.json").write_text("{")
    store = plimsoll.open("results")
    assert len(store) == 0 and list(store.damaged) == [Path(run.path).name]


def test_a_directory_that_is_not_there_is_an_input_error() -> None:
    with pytest.raises(plimsoll.InputError, match="nowhere: there is no such directory; name one where runs are kept"):
        plimsoll.open("nowhere")


def test_a_failed_point_is_a_result_and_no_exception(engine: ScriptedEngine) -> None:
    engine.scripts = [Script(raises=EngineError("the device went away."))]
    run = plimsoll.run("small.toml", target="null:")
    assert (run.exit_code, run.results[0].error) == (4, "the device went away.")
    assert run.table().to_dicts()[0]["error"] == "the device went away."


def test_a_store_needs_no_package_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    run = plimsoll.run("small.toml", target="null:")
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert run.table().to_dicts()[0]["operation"] == "all"
    with pytest.raises(plimsoll.InputError, match=r"to_pandas\(\) needs the package pandas"):
        run.to_pandas()


def test_the_guide_names_every_option_and_every_verb() -> None:
    from plimsoll.points.arguments import Arguments

    text = (DOCS / "python.md").read_text()
    assert all(f"`{name}`" in text for name in (set(Arguments.unsaid()) - {"targets", "prices"}) | {"target", "price"})
    verbs = [name for name in plimsoll.__all__ if inspect.isfunction(getattr(plimsoll, name))]
    assert all(f"`{name}" in text or f"plimsoll.{name}(" in text for name in verbs)
    assert all(f"`{name}`" in text for name in plimsoll.__all__ if name.endswith(("Error", "Refusal")) and name != "PlimsollError")


@pytest.mark.parametrize("path", sorted((DOCS / "examples").glob("*.py")), ids=lambda path: path.name)
def test_an_example_is_checked_by_mypy(path: Path) -> None:
    import tomllib

    settings = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["tool"]["mypy"]
    assert path.stem in settings["modules"]
