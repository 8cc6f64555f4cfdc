"""Stored points of modelled arrays get intervals: their own figures again, draws that two sides share, and nothing drawn twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli.program import main
from plimsoll.engine.block import NativeEngine, native
from plimsoll.points.uncertainty import drawn_for
from plimsoll.store.reader import StoredRun, open_run
from plimsoll.uncertainty.figures import Plan

Json = dict[str, Any]
#: Twenty draws, as many at a time as two processors take.
FEW = Plan(draws=20, jobs=2)
ARRAY = "array:msa50-sas-10k-raid5-8"


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to measure in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def measured(*targets: str, label: str = "one", seconds: str = "4s") -> StoredRun:
    """A run of these targets, one after the other."""
    named = [word for target in targets for word in ("-t", target)]
    assert main(["run", "oltp-db", *named, "-d", seconds, "-w", "1s", "--set", "queue_depth=8", "--label", label, "--quiet"]) == 0
    return open_run(label)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many jobs the engine has run since."""
    ran = [0]
    run = NativeEngine.run_job

    def count(self: NativeEngine, *arguments: Any) -> Any:
        ran[0] += 1
        return run(self, *arguments)

    monkeypatch.setattr(NativeEngine, "run_job", count)
    return ran


def test_figures_of_a_stored_point_have_intervals_around_them_and_say_what_matters(there: Path) -> None:
    run = measured(ARRAY)
    assert drawn_for([run], FEW, native()) == []
    found = open_run("one").points[0].result.estimates["read"]["mean"]
    assert found.interval is not None
    assert found.interval.low < found.value * 1.05 and found.interval.high > found.value * 0.95
    assert (found.interval.draws, len(found.interval.values), found.interval.level) == (20, 20, 0.9)
    assert found.interval.mostly, "the mean of reads depends on the drives"
    assert all(cause["places"] and cause["source"] for cause in found.interval.mostly)


def test_draws_are_made_once_and_more_only_when_more_are_asked_for(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = measured(ARRAY)
    drawn_for([run], FEW, native())
    kept = (Path(run.path) / "uncertainty.json").read_bytes()
    ran = counted(monkeypatch)
    assert drawn_for([open_run("one")], FEW, native()) == []
    assert drawn_for([open_run("one")], Plan(budget_s=60.0, jobs=2), native()) == []
    assert ran == [0]
    assert (Path(run.path) / "uncertainty.json").read_bytes() == kept
    drawn_for([open_run("one")], Plan(draws=40, jobs=2), native())
    more = json.loads((Path(run.path) / "uncertainty.json").read_text())["points"]["0001-oltp-db"]
    assert more["count"] == 40
    assert more["figures"]["all"]["iops"]["values"][:20] == json.loads(kept)["points"]["0001-oltp-db"]["figures"]["all"]["iops"]["values"]


def test_an_array_against_itself_differs_by_exactly_nothing(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(f"a={ARRAY}", f"b={ARRAY}")
    capsys.readouterr()
    assert main(["compare", "one", "--uncertainty", "20", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["points"]
    assert row["interval"] == {"low": 1.0, "high": 1.0, "level": 0.9, "draws": 20}


def test_what_two_sides_share_cancels_and_what_they_do_not_stays(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half the drives behind the same controller: each side alone is uncertain by more than their ratio."""
    measured("a=array:msa50-sas-10k-raid0-6", "b=array:msa50-sas-10k-raid0-8", "c=array:msa30-u320-10k-raid0-6")
    capsys.readouterr()
    assert main(["compare", "one", "--uncertainty", "20", "--json"]) == 0
    compared = json.loads(capsys.readouterr().out)
    near, far = (row["interval"] for row in compared["points"])
    assert near["high"] / near["low"] < far["high"] / far["low"], "other drives and another bus have more of their own"
    assert near["low"] > 1, "eight drives are faster than six, whatever nobody knows of them"
    assert any("Under uncertainty oltp-db IOPS of b is" in note for note in compared["notes"])


def test_a_point_that_the_model_no_longer_gives_is_left_with_a_sentence(there: Path) -> None:
    """Its array was another when it was measured: here a file that was changed since."""
    (there / "mine.toml").write_text('like = "msa50-sas-10k-raid5-8"\n')
    run = measured("array:./mine.toml")
    (there / "mine.toml").write_text('like = "msa50-sas-10k-raid5-6"\n')
    (sentence,) = drawn_for([run], FEW, native())
    assert "measured again it gives other figures, so nothing was drawn" in sentence
    (there / "mine.toml").unlink()
    (sentence,) = drawn_for([open_run("one")], FEW, native())
    assert "the array is no longer there" in sentence
    assert not (Path(run.path) / "uncertainty.json").exists()


def test_what_takes_longer_than_the_budget_is_left_with_what_it_takes(there: Path) -> None:
    run = measured(ARRAY)
    (sentence,) = drawn_for([run], Plan(budget_s=1e-6), native())
    assert sentence.startswith("Intervals were not drawn, which takes about ")
    assert sentence.endswith("ask for them with --uncertainty 60.")


def test_reports_say_the_interval_beside_the_figure(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(ARRAY)
    assert main(["report", "one", "--uncertainty", "20", "-o", "one.md"]) == 0
    assert "- under uncertainty, oltp-db on array:msa50-sas-10k-raid5-8: " in (there / "one.md").read_text()
    assert main(["report", "one", "-o", "one.html"]) == 0
    assert "Given what nobody has looked up of the array, it is " in (there / "one.html").read_text()
    assert main(["report", "one", "-o", "one.json"]) == 0
    estimate = json.loads((there / "one.json").read_text())["runs"][0]["results"][0]["estimates"]["all"]["iops"]
    assert estimate["interval"].keys() >= {"low", "high", "level", "draws", "mostly"}


def test_an_array_is_shown_with_ranges_and_between_what_its_figures_lie(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "array:sata-ssd", "--uncertainty", "20"]) == 0
    text = capsys.readouterr().out
    assert "  between " in text
    assert "90 % of 20 draws lie" in text
    assert main(["show", "array:sata-ssd", "--uncertainty", "20", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    interval = document["loads"][0]["simulated"][0]["interval"]
    assert interval["low"] <= document["loads"][0]["simulated"][0]["throughput_per_s"] <= interval["high"]
    assert document["uncertainty"]["draws"] == 20
    assert main(["show", "array:sata-ssd"]) == 0
    assert "between" not in capsys.readouterr().out.split("Nothing", 1)[0].split("'With 16'")[0]


@pytest.mark.parametrize("typed", ["5", "0", "many", "60@x", "100000", "-1"])
def test_a_number_of_draws_that_is_none_is_one_sentence(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "array:nvme", "--uncertainty", typed]) == 2
    assert f"--uncertainty {typed}: write a number of draws from 20 to 10,000" in capsys.readouterr().err


def test_a_run_draws_what_it_is_asked_for_and_its_answer_has_the_interval(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["run", "oltp-db", "-t", ARRAY, "-d", "2s", "-w", "1s", "--quiet", "--json"]
    assert main([*asked, "--uncertainty", "20"]) == 0
    document = json.loads(capsys.readouterr().out)
    interval = document["results"][0]["estimates"]["all"]["iops"]["interval"]
    assert interval["draws"] == 20 and interval["low"] < interval["high"]
    assert "Given what nobody has looked up of the array" in document["answer"]
    assert main(asked) == 0
    (plain,) = json.loads(capsys.readouterr().out)["results"]
    assert plain["estimates"]["all"]["iops"].get("interval") is None
