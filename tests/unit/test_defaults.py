"""plimsoll.toml: defaults of a project, found upwards, and what is typed wins."""

from __future__ import annotations

from pathlib import Path

import pytest

import plimsoll as package
from plimsoll.cli.commands import VERBS
from plimsoll.cli.project import default_map
from plimsoll.defaults import Defaults, defaults, read
from plimsoll.errors import InputError
from plimsoll.store.reader import open_run
from support.said import Plimsoll
from support.scripted_engine import ScriptedEngine

PROJECT = 'store = "kept/runs"\nlabel = "rack 7"\n\n[targets]\nquick = "null:"\n"cache on" = "queue:?servers=2"\nfile = "./data.dat"\n'


@pytest.fixture
def project(here: Path) -> Path:
    path = here / "plimsoll.toml"
    path.write_text(PROJECT)
    return path


def test_the_nearest_file_above_counts_alone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = project.parent / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    found = defaults()
    assert found.path == str(project) and found.label == "rack 7"
    assert Path(found.store).resolve() == project.parent / "kept" / "runs"
    assert Path(found.targets["file"]).resolve() == project.parent / "data.dat"
    (below.parent / "plimsoll.toml").write_text('label = "nearer"\n')
    assert (defaults().label, defaults().targets) == ("nearer", {})


def test_without_a_file_nothing_changes(here: Path) -> None:
    assert defaults() == Defaults() and default_map() == {}


def test_a_target_is_called_by_its_name(project: Path) -> None:
    found = defaults()
    assert found.named("quick") == "quick=null:" and found.meant("quick") == "null:"
    assert found.named("x=quick") == "x=null:"
    for plain in ("./quick", "null:", "quick2", "array:quick", "queue:?servers=quick"):
        assert found.named(plain) == plain


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('stor = "x"\n', "key 'stor' is not known; did you mean 'store'?"),
        ("colour = 1\n", "key 'colour' is not known; there are store, label, targets."),
        ("store = 7\n", "store is 7; write a text."),
        ('label = ""\n', "label is ''; write a text."),
        ('targets = "x"\n', "'targets' is a table of names; write for example [targets] and below it fast = \"/dev/sdb\"."),
        ("[targets]\nfast = 1\n", "targets.fast is 1; write a text."),
        ('[targets]\n"/dev/sdb" = "x"\n', "'/dev/sdb' is no name for a target; use letters, digits, spaces, '-', '_' and '.'."),
        ("store = \n", "not TOML (invalid value (at line 1, column 9))."),
    ],
)
def test_what_is_wrong_in_the_file_is_one_sentence(here: Path, plimsoll: Plimsoll, text: str, said: str) -> None:
    path = here / "plimsoll.toml"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        read(str(path))
    assert str(raised.value) == f"{path}: {said}"
    answered = plimsoll("list")
    assert (answered.code, answered.err) == (2, f"plimsoll: {path}: {said}\n")
    assert plimsoll("--version").code == 0


def test_a_file_that_is_no_text_is_one_sentence(here: Path) -> None:
    (here / "plimsoll.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not TOML"):
        defaults()


def test_runs_go_to_the_store_under_the_label_on_the_named_target(project: Path, plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    assert plimsoll("run", "small.toml", "-t", "quick", "-q").code == 0
    (path,) = (project.parent / "kept" / "runs").iterdir()
    run = open_run(str(path))
    (result,) = [point.result for point in run.points]
    assert (run.label, result.job.target, result.place["configuration"]) == ("rack 7", "null:", "quick")
    assert path.name in plimsoll("list", "--runs").out
    assert plimsoll("report", path.name, "-o", "x.csv").code == 0
    assert plimsoll("export", path.name, "--as", "csv").out.startswith("run,")


def test_what_is_typed_wins(project: Path, plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    assert plimsoll("run", "small.toml", "-t", "null:", "-q", "-o", "here", "--label", "mine").code == 0
    (path,) = (project.parent / "here").iterdir()
    assert open_run(str(path)).label == "mine" and not (project.parent / "kept").exists()


def test_functions_have_the_same_defaults(project: Path, engine: ScriptedEngine) -> None:
    run = package.run("small.toml", target="quick")
    assert Path(run.path).parent == Path("kept/runs") and run.results[0].side == "quick"
    assert [stored.label for stored in package.open()] == ["rack 7"]
    assert Path(package.run("small.toml", target="quick", out="else").path).parent == Path("else")


def test_doctor_says_which_file_holds(project: Path, plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    (check,) = [check for check in plimsoll("doctor", "--json").json if check["name"] == "defaults"]
    assert check["finding"] == f"{project} holds here: store 'kept/runs', label 'rack 7', targets quick, cache on, file."
    project.unlink()
    (check,) = [check for check in plimsoll("doctor", "--json").json if check["name"] == "defaults"]
    assert check["finding"] == "There is no plimsoll.toml here or above: runs are kept in 'results'."


def test_every_command_that_has_a_store_takes_that_of_the_file(project: Path) -> None:
    from importlib import import_module

    from plimsoll.cli.program import module_of

    found = default_map()
    for verb in VERBS:
        command = import_module(module_of(verb)).command
        has_store = any(parameter.name == "out" and parameter.default == "results" for parameter in command.params)
        assert not has_store or found[verb]["out"] == "kept/runs", verb
