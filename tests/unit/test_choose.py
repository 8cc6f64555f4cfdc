"""``plimsoll choose``: the answer first, the contract of its JSON, and what it does with one candidate after the other."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

import plimsoll
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.choice.candidates import Candidate, Considered
from plimsoll.choice.demand import KEPT_UP, DemandedLoad, Part
from plimsoll.choice.neighbours import Surge, surges
from plimsoll.choice.prices import Cost
from plimsoll.choice.ranking import Entry, in_turn, ranked
from plimsoll.choice.selection import Chosen, Selection
from plimsoll.choice.trial import DEGRADED, HEALTHY, REBUILDING, Outcome, Response, Trial, examine, in_state, judged, measured, point_of
from plimsoll.choice.view import view_of
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.points import balance
from plimsoll.reports.terminal.choice import answer, choice_lines, response_words
from plimsoll.target import target_of
from support.choices import demand

ASKED = {"objective": "p99 <= 5ms", "capacity": "500GB", "jobs": 1, "finalists": 1}
AMONG = "nvme-raid10?drives=2,4 msa50-sas-10k-raid5-8 sata-ssd"


@pytest.fixture(scope="module")
def chosen() -> plimsoll.Chosen:
    return plimsoll.choose("oltp-db@300", among=AMONG, **ASKED)  # type: ignore[arg-type]


def test_the_answer_comes_first_and_names_what_to_buy(chosen: plimsoll.Chosen) -> None:
    said = list(choice_lines(chosen))
    assert said[0] == answer(chosen)
    assert answer(chosen) == (
        "Buy nvme-raid10?drives=2: it carries 300 requests/s (p99 <= 5ms) healthy, with a drive missing and while that is rebuilt "
        "(modelled); what it costs is not known, so it is first by the load that each drive carries."
    )


def test_the_json_has_what_was_promised_the_best_first(chosen: plimsoll.Chosen) -> None:
    found = view_of(chosen, answer(chosen))
    best, *others = found["candidates"]
    promised = {"name", "carries", "mark", "interval", "degraded", "rebuilding", "price", "limited_by", "rejected_because"}
    assert all(promised <= set(candidate) for candidate in found["candidates"])
    assert best["carries"] and best["rejected_because"] is None
    assert best["mark"] is not None and best["mark"] > 300
    assert best["rebuilding"] is not None and best["rebuilding"]["loss_per_year"] is not None
    assert found["uncertainty"] == "provenance"
    reasons = {candidate["name"]: candidate["rejected_because"] for candidate in others}
    assert reasons["sata-ssd"] == "survives no failure, fewer than 1"
    assert reasons["msa50-sas-10k-raid5-8"] == "holds 0.255 TB, less than 0.5 TB"
    assert reasons["nvme-raid10?drives=4"] == "not simulated: not fewer drives than the one that carries it"


BUSY = "array:msa50-sas-10k-raid5-10?controller.raid.rebuild.priority_percent=100"


def test_a_missing_drive_makes_reads_slower_and_its_rebuild_makes_them_slower_still() -> None:
    found = examine(Trial(BUSY, demand(400, 70, "8KiB", "read p99 <= 10s")))
    healthy, degraded, rebuilding = (found[state].responses[0].value or 0.0 for state in (HEALTHY, DEGRADED, REBUILDING))
    assert 1.2 * healthy < degraded < rebuilding
    assert found[REBUILDING].rebuild_hours is not None


def test_what_is_too_slow_with_a_drive_missing_is_not_bought() -> None:
    found = plimsoll.choose("oltp-db@400", among="msa50-sas-10k-raid5-10", objective="read p99 <= 43ms", jobs=1)
    (tried,) = found.entries
    assert [(state, outcome.carries) for state, outcome in tried.outcomes.items()] == [(HEALTHY, True), (DEGRADED, False)]
    assert (tried.rejected or "").startswith("degraded: read p99 <= 43ms: it was ")
    assert found.best is None
    assert answer(found).startswith("The only candidate is not shown to carry 400 requests/s (read p99 <= 43ms); 1 had to be simulated")


def test_a_missing_drive_is_missing_from_the_beginning_and_no_spare_takes_its_place() -> None:
    document = in_state(target_of("array:msa2000-raid5"), DEGRADED).document
    assert document is not None
    assert "spares" not in document
    assert document["group"][0]["failures"] == {"at": [{"time_s": 0.0, "member": 0}]}


def entry(name: str, price: float | None, drives: int, *, carries: bool = True) -> Entry:
    cost = Cost(price, "USD", price or 0.0, (), None, None, ())
    found = Considered(Candidate(name, f"array:{name}"), 1, 1, drives, (), cost)
    return Entry(found, simulated=carries, rejected=None if carries else "no")


def test_the_cheapest_is_tried_first_and_what_has_no_price_apart() -> None:
    waiting = [Entry(one.considered) for one in (entry("b", 20.0, 2), entry("a", 10.0, 9), entry("d", None, 8), entry("c", None, 4))]
    priced, unpriced = in_turn(waiting)
    assert [one.candidate.name for one in priced] == ["a", "b"]
    assert [one.candidate.name for one in unpriced] == ["c", "d"]


def test_what_carries_it_comes_first_and_a_price_before_none() -> None:
    entries = [entry("none", None, 1), entry("dear", 20.0, 2), entry("failed", 5.0, 1, carries=False), entry("cheap", 10.0, 4)]
    assert [one.candidate.name for one in ranked(entries)] == ["cheap", "dear", "none", "failed"]


def test_a_watched_demand_is_taken_at_its_percentile(tmp_path: Path) -> None:
    from plimsoll.choice.question import Question, selection_of

    columns = {name: [0.0] * 20 for name in ("r_await", "w_await", "d/s", "f/s", "aqu-sz", "%util")}
    columns |= {"r/s": [70.0] * 19 + [700.0], "w/s": [30.0] * 20, "rkB/s": [560.0] * 20, "wkB/s": [240.0] * 20}
    columns |= {"rareq-sz": [8.0] * 20, "wareq-sz": [8.0] * 20}
    device = {"name": "sda", "seconds": [1.0] * 20, "columns": columns}
    (tmp_path / "demand.json").write_text(json.dumps({"schema": "plimsoll.demand/1", "devices": [device]}))
    asked = Question(demands=(str(tmp_path / "demand.json"),), among=("nvme",), growth="10%")
    assert selection_of(asked).load.rate_per_s == pytest.approx(110)


@pytest.mark.parametrize(
    ("demands", "options", "said"),
    [
        ((), {"among": "nvme"}, "--demand: nothing is demanded"),
        (("oltp-db@5k",), {}, "--among: say what could be bought"),
        (("oltp-db",), {"among": "nvme"}, "it asks as fast as storage answers, so it demands no rate; give one: oltp-db@5k."),
        (("oltp-db@fast",), {"among": "nvme"}, "fast"),
        (("oltp-db@5k",), {"among": "nvme", "objective": "p98 <= 5ms"}, "'p98' is not a metric"),
        (("oltp-db@5k",), {"among": "nvme", "capacity": "much"}, "much"),
        (("oltp-db@5k",), {"among": "nvme", "budget": "little"}, "--budget: 'little' is not an amount"),
        (("oltp-db@5k",), {"among": "nvme", "cap": "oltp-db=1k"}, "--cap: a cap keeps one demand from disturbing another"),
        (("oltp-db@5k",), {"among": "nvme", "objective": "mail=p99 <= 5ms"}, "no demand is called 'mail'"),
        (("oltp-db@5k",), {"among": "nvme", "percentile": "95"}, "--percentile is for what 'plimsoll watch' kept"),
        (("oltp-db@5k",), {"among": "nvme", "prizes": "x"}, "option 'prizes' is not known; did you mean 'prices'?"),
    ],
)
def test_wrong_questions_are_answered_before_anything_is_simulated(demands: tuple[str, ...], options: dict[str, str], said: str) -> None:
    with pytest.raises(InputError) as problem:
        plimsoll.choose(*demands, **options)  # type: ignore[arg-type]
    assert said in str(problem.value)


def test_the_command_prints_the_document_and_fails_where_nothing_carries_it(capsys: pytest.CaptureFixture[str]) -> None:
    from plimsoll.cli.program import main

    asked = ["--demand", "oltp-db@300", "--objective", "p99 <= 5ms", "--among", "sata-ssd", "--jobs", "1", "--json", "--assert"]
    assert main(["choose", *asked]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "plimsoll.choice/1"
    assert document["candidates"][0]["rejected_because"] == "survives no failure, fewer than 1"


def test_several_demands_are_one_load_with_an_objective_and_a_part_of_the_array_each() -> None:
    from plimsoll.choice.question import Question, selection_of

    (one, two), workload = _two().parts, _two().workload
    assert (one.objective.text, two.objective.text) == ("p99 <= 5ms", "read p99 <= 20ms")
    assert [(stream["name"], stream["region_start"], stream["region_length"]) for stream in workload["stream"]] == [
        ("oltp-db", "0%", "50%"),
        ("random-read-4k", "50%", "50%"),
    ]
    assert two.let_through_per_s == 150
    assert _two().rate_per_s == 450
    # Twice as much of the capped one is no more than its cap; of the other it is twice as much.
    assert [stream["rate"] for stream in _two().at(2, of="random-read-4k")["stream"]] == [300, 150]
    assert [stream["rate"] for stream in _two().at(2, of="oltp-db")["stream"]] == [600, 150]
    with pytest.raises(InputError, match="--cap 2k: say whose requests it caps"):
        selection_of(Question(demands=("oltp-db@3", "random-read-4k@3"), among=("nvme",), caps=("2k",)))
    with pytest.raises(InputError, match="two demands are called 'oltp-db'"):
        selection_of(Question(demands=("oltp-db@3", "oltp-db@4"), among=("nvme",)))


def test_a_neighbour_that_asks_for_more_is_noticed_unless_it_is_capped() -> None:
    """Reads with a limit beside writes of a mirror of two drives that can carry no more of them."""
    loud = surges(Trial("array:dl360-g6-6g-10k-raid10-4-nocache", _loud(cap=None)))
    quiet = surges(Trial("array:dl360-g6-6g-10k-raid10-4-nocache", _loud(cap=150.0)))
    raised = {surge.raised: surge for surge in loud}
    assert not raised["loud"].holds
    assert (raised["loud"].rejection or "").startswith("calm: read p99 <= ")
    assert {surge.raised: surge.holds for surge in quiet}["loud"]


def test_of_several_conditions_that_do_not_hold_the_furthest_beyond_its_limit_is_named_and_shown() -> None:
    load = _two()
    one, two = (
        replace(part, objective=parse_objective(text))
        for part, text in zip(load.parts, ("read p99 <= 80us", "read p99 <= 20us"), strict=True)
    )
    load = replace(load, parts=(one, two))
    target = target_of("array:nvme")
    result = measured(point_of(Trial(target.text, load), target, load.workload), native(), load.rate_per_s)
    holds, rejection = judged(load, result)
    assert not holds
    assert (rejection or "").startswith("random-read-4k: read p99 <= 20us: it was ")
    # Near its limit is no reason: what does not hold is shown.
    near, missed = _response("oltp-db", 4.9e6, 5e6), replace(_response("random-read-4k", 0.9, 0.97), holds=False)
    assert response_words(Outcome(HEALTHY, False, 450.0, (near, replace(missed, text="achieved >= 97%")), None, None)) == "0.9"


def _two() -> DemandedLoad:
    from plimsoll.choice.question import Question, selection_of

    asked = Question(
        demands=("oltp-db@300", "random-read-4k@200"),
        among=("nvme",),
        objectives=("p99 <= 5ms", "random-read-4k=read p99 <= 20ms"),
        caps=("random-read-4k=150",),
    )
    return selection_of(asked).load


def _loud(cap: float | None) -> DemandedLoad:
    own = dict.fromkeys(("title", "purpose", "source", "rationale"), "a test")
    stream = {"arrival": "poisson", "queue_depth": 256, "block_size": "8KiB"}
    streams = [
        {**stream, "name": "calm", "rate": 50, "read_percent": 100, "region_length": "50%"},
        {**stream, "name": "loud", "rate": 150, "read_percent": 0, "region_start": "50%", "region_length": "50%"},
    ]
    workload = native().check_workload({"name": "d", **own, "stream": streams}, "a test")
    calm = Part("calm", "a test", ("calm",), parse_objective("read p99 <= 60ms"), 50)
    return DemandedLoad(workload, (calm, Part("loud", "a test", ("loud",), parse_objective(KEPT_UP), 150, cap)))


def test_each_stream_is_judged_by_its_own_figures() -> None:
    found = examine(Trial("array:dl360-g6-6g-10k-raid10-4-nocache", _loud(cap=None)), (HEALTHY,))[HEALTHY]
    calm, loud = found.responses
    assert (calm.part, loud.part) == ("calm", "loud")
    # Of all streams together more than the rate of the one would be achieved.
    assert loud.value == pytest.approx(100, abs=3)


def test_where_all_are_too_small_the_answer_says_that_nothing_was_simulated() -> None:
    chosen = plimsoll.choose("oltp-db@300", among="msa50-sas-10k-raid5-8 sata-ssd", **{**ASKED, "capacity": "80TB"})  # type: ignore[arg-type]
    assert answer(chosen) == (
        "None of 2 candidates is shown to carry 300 requests/s (p99 <= 5ms); arithmetic rules them out before anything is simulated "
        "(modelled)."
    )


def test_a_trace_and_a_stored_run_are_demands_wherever_they_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path with a folder in it was taken for a workload file."""
    from plimsoll.choice.question import Question, selection_of
    from plimsoll.cli.program import main

    monkeypatch.chdir(tmp_path)
    ticks = 128166372003061629
    rows = [f"{ticks + number * 100_000},host,0,{'Write' if number % 3 else 'Read'},{number * 8192},8192,9000" for number in range(300)]
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "mail.csv").write_text("\n".join(rows) + "\n")
    assert main(["run", "oltp-db", "-t", "array:nvme", "-d", "50ms", "-w", "0s", "--label", "db", "--quiet"]) == 0
    asked = Question(demands=("./traces/mail.csv", "db", "oltp-db@7"), among=("nvme",))
    parts = selection_of(asked).load.parts
    assert [part.name for part in parts] == ["mail", "db", "oltp-db"]
    assert [part.rate_per_s for part in parts] == [pytest.approx(100, rel=0.02), pytest.approx(parts[1].rate_per_s), 7]
    assert parts[1].rate_per_s > 10_000
    with pytest.raises(InputError, match=r"--demand \./traces/none\.csv: there is no such file"):
        selection_of(Question(demands=("./traces/none.csv",), among=("nvme",)))
    with pytest.raises(InputError, match="--demand dbb@5: workload 'dbb' is unknown"):
        selection_of(Question(demands=("dbb@5",), among=("nvme",)))


def _several(*surges: Surge) -> Chosen:
    outcome = Outcome(HEALTHY, True, 450.0, (_response("oltp-db", 3e6, 5e6), _response("random-read-4k", 9e6, 20e6)), None, None)
    slower = replace(outcome, state=DEGRADED, responses=(_response("oltp-db", 4e6, 5e6), _response("random-read-4k", 8e6, 20e6)))
    found = Entry(
        Considered(Candidate("a", "array:a"), 1, 1, 2), outcomes={HEALTHY: outcome, DEGRADED: slower}, surges=surges, simulated=True
    )
    return Chosen(Selection(_two(), ("a",), states=(HEALTHY, DEGRADED)), (found,), "USD")


def _response(part: str, value: float, limit: float) -> Response:
    return Response(f"p99 <= {limit / 1e6:g}ms", value, None, None, limit, holds=True, part=part)


def test_of_several_demands_the_answer_says_whose_objective_is_which_and_what_each_gets() -> None:
    quiet = Surge("oltp-db", 2.0, 600.0, holds=True, rejection=None)
    said = "\n".join(choice_lines(_several(quiet)))
    assert "it carries 450 requests/s (oltp-db: p99 <= 5ms; random-read-4k: read p99 <= 20ms) healthy" in " ".join(said.split())
    assert "each       oltp-db: 3 ms healthy, 4 ms with a drive missing (p99 <= 5ms)" in said
    assert "each       random-read-4k: 9 ms healthy, 8 ms with a drive missing (p99 <= 20ms)" in said
    assert "random-read-4k: 200 requests/s, of which 150 are let through" in said
    assert "would disturb" not in said


def test_a_neighbour_that_disturbs_others_stands_in_the_answer() -> None:
    loud = Surge("oltp-db", 2.0, 600.0, holds=False, rejection="random-read-4k: read p99 <= 20ms: it was 31 ms")
    assert "; but oltp-db at 2 × its rate would disturb others, unless --cap holds it back; what it costs" in answer(_several(loud))


def test_what_queues_up_for_as_long_as_it_is_asked_costs_no_trial_in_balance(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thirtieth more than eight drives carry: after 2 s reads take twice their limit at most, after 20 s far more."""
    asked = Trial("array:dl360-g8-6g-15k-raid5-8-nocache", demand(2000, 70, "8KiB", "read p99 <= 25ms"))
    monkeypatch.setattr("plimsoll.choice.trial._tried", lambda *_: pytest.fail("it was loaded until caches were in balance"))
    found = examine(asked)[HEALTHY]
    assert (found.rejection or "").startswith("screened: read p99 <= 25ms: it was ")
    assert found.far


def test_a_cache_that_is_never_seen_in_balance_says_how_long_it_was_loaded_and_what_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    # 30 pages of 16 KiB a second into a cache that begins to write out at 3 GiB.
    monkeypatch.setattr(balance, "REQUESTS_MAX", 2_000)
    found = examine(Trial("array:nearline-raid6", demand(100, 70, "8KiB", "read p99 <= 1s")), (HEALTHY,))[HEALTHY]
    assert not found.carries
    assert found.rejection == (
        "not shown: its write cache was still filling after 21 s of this load; a balance is waited for 2,000,000 requests or 24 h"
    )


def test_flash_that_keeps_writes_has_a_rebuild_and_a_risk_of_its_own() -> None:
    """A mirror of two drives is lost when one fails while the other is rebuilt: 2 / MTTF times the hours of that over MTTF, in a year."""
    from plimsoll.choice.prices import price_book
    from plimsoll.choice.selection import _with_risk, sifted
    from plimsoll.choice.trial import _further_hours

    short = native().check_job({"duration": "5s", "warmup": "1s", "interval": "auto"})
    found = {}
    for writes in ("writeback", "writearound"):
        trial = Trial(f"array:bcache-{writes}", demand(200, 70, "8KiB"))
        found[writes] = _further_hours(trial, target_of(trial.target), short)
    assert list(found["writeback"]) == ["cache"] and found["writearound"] == {}
    # 960 GB at no more than the 550 MB/s of the drive's interface, and at half of that at least.
    hours = found["writeback"]["cache"]
    assert hours is not None and 0.48 < hours < 1.0

    load = demand(200, 70, "8KiB")
    carried = Outcome(REBUILDING, True, 200.0, (), None, None, rebuild_hours=1e-4, further_hours={"cache": 1000.0})
    considered = sifted(Selection(load, ("bcache-writeback",)), Candidate("bcache-writeback", "array:bcache-writeback")).considered
    assert [(shape.group, shape.drive) for shape in considered.shapes] == [("raid", "nearline-16t"), ("cache", "sata-ssd-960g")]
    entry = _with_risk(Entry(considered, {REBUILDING: carried}, simulated=True), price_book())
    mttf_hours, unreadable = 2_000_000, 1 - math.exp(-960e9 * 8 / 1e17)
    expected = 8766 * 2 / mttf_hours * (1000 / mttf_hours + unreadable)
    assert entry.loss_per_year == pytest.approx(expected, rel=0.01)
