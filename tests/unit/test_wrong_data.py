"""Wrong data and failed requests never look like success: status, objectives, marks, comparisons, exit codes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.comparison.comparison import compare
from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.load_line.mark import mark_of
from plimsoll.analysis.objective.judgement import judge, parse_objective
from plimsoll.analysis.point.verification import findings, verified
from plimsoll.errors import EXIT_CODES, SafetyRefusal, TargetError
from plimsoll.points.outcome import Outcome
from plimsoll.result import Result
from plimsoll.store.reader import StoredRun, list_runs
from plimsoll.stored import Json
from support.made_results import Load, made
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine

NONE = {"findings": 0, "sectors": 0}
RIGHT = {
    "sectors_read": 100,
    "sectors_checked": 100,
    **dict.fromkeys(("lost", "torn", "misdirected", "stale", "corrupt"), NONE),
    "examples": [],
}
EXAMPLES = [{"fault": "lost", "address": 8192}, {"fault": "lost", "address": 8192}, {"fault": "stale", "address": 4096}]
WRONG = {**RIGHT, "lost": {"findings": 2, "sectors": 2}, "stale": {"findings": 1, "sectors": 1}, "examples": EXAMPLES}
SENTENCE = "wrong data was read: 2 lost, 1 stale of 100 sectors checked, first at byte 8,192."
VERIFYING = '[[stream]]\nname = "main"\nread_percent = 50\nverify = "all"\n'


def script(verify: Json | None, **changes: Any) -> Script:
    return Script(outcome={"verify": verify, **changes.pop("outcome", {})}, **changes)


def only_run() -> StoredRun:
    (run,) = list_runs("results")
    assert isinstance(run, StoredRun)
    return run


def test_wrong_data_is_a_failed_point_with_its_own_exit_code(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [script(WRONG)]
    said = plimsoll("run", "small.toml", "-t", "null:", "--objective", "p99 <= 5s", "--assert")
    assert said.code == 6
    assert SENTENCE in said.text and "wrong data was read in the only point" in said.err
    result = only_run().points[0].result
    assert (only_run().status, result.status, result.error) == ("failed", "failed", SENTENCE)
    assert result.totals["read"].count == 1000, "what was measured stays visible"
    assert "1,000" in said.out
    assert "p99 <= 5s\n  small on null:: failed: the point failed: wrong data was read" in said.out


def test_a_report_of_wrong_data_is_written_and_says_so(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [script(WRONG), script(RIGHT), script(RIGHT, raises=TargetError("t: it is gone."))]
    assert plimsoll("run", "small.toml", "--repeat", "3", "-t", "null:").code == 6
    said = plimsoll("report", only_run().path)
    # Its own work is done; the run that measured ended with 6.
    assert said.code == 0 and said.out.strip().endswith("report.html")
    assert said.err == f"plimsoll: {only_run().name}: wrong data was read in 1 of 3 points; 1 of 3 points failed.\n"


def test_a_report_of_sound_runs_says_nothing_on_stderr(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [script(RIGHT)]
    plimsoll("run", "small.toml", "-t", "null:")
    said = plimsoll("report", only_run().path)
    assert (said.code, said.err) == (0, "")


def test_right_data_is_none(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [script(RIGHT)]
    assert plimsoll("run", "small.toml", "-t", "null:", "--objective", "p99 <= 5s", "--assert").code == 0


def test_what_should_be_stamped_and_is_not_is_wrong_data(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    (here / "found.toml").write_text('[[stream]]\nname = "main"\nverify = "found"\n')
    engine.scripts = [script({**RIGHT, "corrupt": {"findings": 100, "sectors": 100}})]
    said = plimsoll("run", "found.toml", "-t", "null:")
    assert said.code == 6 and "none of the 100 sectors read bears a stamp" in said.out


@pytest.mark.parametrize(
    ("scripts", "code"),
    [
        ([script(WRONG), Script(raises=TargetError("gone."), raises_at=2)], 6),
        ([Script(errors={"EIO": 1}), script(WRONG)], 6),
        ([script(WRONG, outcome={"stopped_by": "error", "first_error": {"message": "read failed"}})], 6),
        ([Script(raises=SafetyRefusal("not yours."), raises_at=0)], 3),
        ([Script(), Script(raises=SafetyRefusal("not yours."), raises_at=0)], 4),
        ([Script(), Script(errors={"EIO": 1})], 4),
        ([script(None, outcome={"first_error": {"message": "read failed in the warm-up"}})], 4),
    ],
    ids=["wrong before failed", "wrong before errors", "wrong and stopped", "alike", "some", "errors", "errors before"],
)
def test_of_several_exit_codes_the_gravest_counts(plimsoll: Plimsoll, engine: ScriptedEngine, scripts: list[Script], code: int) -> None:
    engine.scripts = scripts
    targets = [word for number in range(len(scripts)) for word in ("-t", f"null:?size={number + 1}GiB")]
    assert plimsoll("run", "small.toml", *targets, "--objective", "p99 <= 1ns", "--assert").code == code


def test_a_run_that_goes_on_past_errors_says_how_many_and_does_not_end_with_0(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [Script(errors={"EIO": 50})]
    said = plimsoll("run", "small.toml", "-t", "null:", "--set", "on_error=continue")
    assert said.code == 4
    assert "plimsoll: 500 of 1,500 requests failed in the only point; it went on, as on_error says" in said.err
    assert only_run().status == "complete"


def test_a_suite_ends_with_6_as_well(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [Script(), script(WRONG)]
    said = plimsoll("steps", "small.toml", "--over", "queue_depth=1,2", "-t", "null:", "--objective", "p99 <= 5s", "--assert", "--json")
    assert said.code == 6
    assert [result["status"] for result in said.json["results"]] == ["complete", "failed"]
    assert said.json["mark"]["level"] == 1


def test_a_ramp_names_no_mark_where_wrong_data_was_read(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [script(WRONG)]
    said = plimsoll("ramp", "small.toml", "--over", "queue_depth=1..4", "-t", "null:", "--objective", "p99 <= 5s", "--assert", "--json")
    assert (said.code, said.json["mark"]) == (6, None)


def test_repeats_with_wrong_data_do_not_keep_the_objective(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    (here / "twice.toml").write_text(
        '[[experiment]]\nname = "e"\nkind = "single"\nworkloads = ["small.toml"]\nrepeat = 2\nobjective = "p99 <= 5s"\n'
    )
    engine.scripts = [Script(), script(WRONG)]
    said = plimsoll("suite", "twice.toml", "-t", "null:", "--json")
    (found,) = said.json["conclusions"]
    assert said.code == 6 and found["figures"]["holds"] is False and found["sentences"][0] == "Misses 'p99 <= 5s'."


def wrong(result: Result) -> Result:
    return replace(result, engine={"verify": WRONG})


def test_a_result_stored_as_complete_is_read_back_as_failed(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    old = wrong(made(Load(100.0, 1e6)))
    assert (verified(old).status, verified(old).error) == ("failed", SENTENCE)
    assert verified(verified(old)) == verified(old)
    stopped = verified(replace(old, status="failed", error="read failed."))
    assert stopped.error == f"{SENTENCE} read failed."


def test_comparisons_and_marks_rest_on_no_wrong_data() -> None:
    good = [made(Load(1000.0, 1e6), level) for level in (1, 2, 4)]
    bad = [verified(wrong(made(Load(2000.0, 1e6), level))) for level in (1, 2, 4)]
    rows = compare([Side("good", good), Side("bad", bad)]).points
    assert all(row.ratio is None for row in rows)
    objective = parse_objective("p99 <= 5s")
    assert mark_of(good, objective) is not None and mark_of(bad, objective) is None


def test_an_objective_allows_no_failed_request_unless_it_says_how_many() -> None:
    result = made(Load(100.0, 1e6))
    failing = replace(result, totals={"read": replace(result.totals["read"], errors=3)})
    assert judge(parse_objective("p99 <= 5s"), result).holds
    judgement = judge(parse_objective("p99 <= 5s"), failing)
    assert (judgement.holds, judgement.settled, judgement.failed_by) == (False, True, "errors <= 0")
    assert judge(parse_objective("p99 <= 5s and errors <= 3"), failing).holds
    assert judge(parse_objective("p99 <= 5s and errors <= 2"), failing).failed_by == "errors <= 2"


def test_an_address_is_named_once() -> None:
    assert findings({"verify": WRONG}, {}).places == (("lost", 8192), ("stale", 4096))


def test_wrong_data_counts_also_when_a_signal_came() -> None:
    outcome = Outcome(interrupted=True)
    outcome.keep(verified(wrong(made(Load(1.0, 1.0)))))
    assert (outcome.status, outcome.exit_code) == ("interrupted", 6)


def test_every_exit_code_is_in_the_help(plimsoll: Plimsoll) -> None:
    said = " ".join(plimsoll("--help").out.split())
    assert all(f"{code} {meaning}" in said for code, meaning in EXIT_CODES.items())
    assert sorted(EXIT_CODES) == [0, 1, 2, 3, 4, 5, 6, 70, 130]
