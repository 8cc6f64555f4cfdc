"""``plimsoll reproduce`` on an engine by script: every feature of the claims' language, and what is said of the verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.catalog import claims as catalog_claims
from plimsoll.catalog.folder import Folder
from plimsoll.cli.program import main
from plimsoll.engine import block as block_engine
from plimsoll.engine.protocol import OnEvent
from plimsoll.stored import Json
from support.said import Plimsoll, Said, in_this_process
from support.scripted_engine import Script, ScriptedEngine

#: What every set of claims here has: two arrays under one load, of which `fast` is scripted to be twice as fast.
HEAD = """
report = "900"
set = { duration = "1s", warmup = "200ms" }
[run.fast]
array = "msa2000-raid5"
workload = "{load}"
[run.slow]
array = "msa2000-raid6"
workload = "{load}"
[run.link]
array = "msa2000x4-raid5"
[run.deep]
array = "msa2000-raid5"
workload = "oltp-db"
over = { queue_depth = "1..8" }
[run.mark]
array = "msa2000-raid5"
workload = "oltp-db"
ramp = { over = { queue_depth = "1..64" }, objective = "read mean <= 2ms" }
[[claim]]
number = 1
kind = "KIND"
title = "A title"
published = "what was published"
"""


class Arrays(ScriptedEngine):
    """Answers each job by a function of it."""

    def __init__(self, answer: Callable[[Json], Script]) -> None:
        super().__init__()
        self.answer = answer

    def inspect_target(self, spec: str) -> Json:
        return {"kind": "array", "exists": True, "size_bytes": 25_700_000_000_000, "logical_block_bytes": 512, "parts": []}

    def run_job(self, job: Json, on_event: OnEvent, control: Any) -> Json:
        self.scripts = [self.answer({**job, "target": job["target"].text})]
        return super().run_job(job, on_event, control)


def reads(count: int, latency_ns: int = 1_000_000, **changes: Any) -> Script:
    """So many reads in each tenth of a second."""
    return Script(latencies_ns=(latency_ns,) * count, **changes)


def usual(job: Json) -> Script:
    """100 reads a second from `fast`, 50 from `slow`."""
    return reads(10 if job["target"].startswith("array:msa2000-raid5") else 5)


def with_bases(text: str) -> str:
    """The set with a basis for each claim that is scored and names none."""
    first, *claims = text.split("[[claim]]\n")
    lacking = (claim if "not_scored" in claim or "basis" in claim else f'basis = "predicted"\n{claim}' for claim in claims)
    return "[[claim]]\n".join([first, *lacking])


@pytest.fixture
def tested(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Said]]:
    """Reproduces one claim, written out, on scripted arrays."""

    def run(kind: str, rest: str, answer: Callable[[Json], Script] = usual, *arguments: str) -> Said:
        (here / "mine.toml").write_text(with_bases(HEAD.replace("KIND", kind).replace("{load}", "oltp-db") + rest))
        monkeypatch.setattr(catalog_claims, "_CLAIMS", Folder(str(here), "set of claims"))
        (here / "small.toml").unlink(missing_ok=True)
        catalog_claims._read.cache_clear()
        run.engine = Arrays(answer)  # type: ignore[attr-defined]
        monkeypatch.setattr(block_engine, "native", lambda: run.engine)  # type: ignore[attr-defined]
        return in_this_process(capsys)("reproduce", "--json", "--quiet", "--jobs", "1", *arguments)

    yield run
    catalog_claims._read.cache_clear()


def claim_of(said: Said) -> Json:
    assert said.err == ""
    (claim,) = said.json["claims"]
    found: Json = claim
    return found


@pytest.mark.parametrize(("published", "verdict", "error"), [(100, "holds", 0.0), (96, "holds", 4.2), (50, "missed", 100.0)])
def test_a_quantity_holds_within_its_tolerance_and_a_wrong_expectation_is_caught(tested, published, verdict, error):
    claim = claim_of(tested("quantity", f'checks = [{{ value = "fast.iops", published = {published}, tolerance_percent = 5 }}]'))
    assert (claim["verdict"], claim["tolerance"]) == (verdict, 5)
    assert claim["cases"][0]["error_percent"] == pytest.approx(error, abs=0.05)
    assert claim["modelled"] == "100/s"
    assert (claim["reason"] or "") == ("" if verdict == "holds" else "100/s instead of 50.0/s, +100.0 %")


@pytest.mark.parametrize(
    ("order", "margin", "verdict"),
    [
        ('["fast.iops", "slow.iops"]', 0, "holds"),
        ('["slow.iops", "fast.iops"]', 0, "missed"),
        ('["fast.iops", "slow.iops"]', 100, "holds"),
        ('["fast.iops", "slow.iops"]', 101, "missed"),
        ('["fast.mean", "slow.mean"]', 0, "missed"),  # equal is not larger
    ],
)
def test_an_ordering_holds_when_every_value_is_larger_than_the_next_by_the_margin(tested, order, margin, verdict):
    assert claim_of(tested("ordering", f"checks = [{{ order = {order}, margin_percent = {margin} }}]"))["verdict"] == verdict


@pytest.mark.parametrize(
    ("bounds", "verdict"),
    [
        ("at_least = 2", "holds"),
        ("at_least = 2.1", "missed"),
        ("at_least = 2.1, tolerance_percent = 5", "holds"),
        ("at_most = 1.9", "missed"),
        ("at_most = 1.9, tolerance_percent = 6", "holds"),
    ],
)
def test_a_bound_is_widened_by_its_tolerance(tested, bounds, verdict):
    assert claim_of(tested("bound", f'checks = [{{ value = "fast.iops / slow.iops", {bounds} }}]'))["verdict"] == verdict


def test_a_bound_below_zero_is_widened_downwards(tested):
    # log2(50/100) is -1: at least -0.9 fails, and holds with a tolerance of 12 %, which reaches to -1.008.
    check = 'checks = [{{ value = "log(slow.iops / fast.iops) / log(2)", at_least = -0.9, tolerance_percent = {} }}]'
    assert [claim_of(tested("bound", check.format(percent)))["verdict"] for percent in (0, 12)] == ["missed", "holds"]


@pytest.mark.parametrize(("tolerance", "verdict"), [(26, "holds"), (24, "missed")])
def test_a_claim_judged_by_the_mean_may_have_figures_that_lie_further_off(tested, tolerance, verdict):
    checks = 'checks = [{ value = "fast.iops", published = 100, tolerance_percent = 1 }, '
    checks += '{ value = "slow.iops", published = 100, tolerance_percent = 1 }]'
    claim = claim_of(tested("quantity", f'judge = "mean"\ntolerance_percent = {tolerance}\n{checks}'))
    assert (claim["verdict"], claim["mean_error_percent"]) == (verdict, 25)
    assert claim["modelled"] == "mean error 25.0 % of 2 figures, at most 50.0 %"


def test_a_claim_that_is_not_scored_says_why_and_runs_nothing(tested):
    claim = claim_of(tested("quantity", 'not_scored = "the words are lost"'))
    assert (claim["verdict"], claim["reason"], claim["modelled"]) == ("not-scored", "the words are lost", "–")
    assert tested.engine.jobs == []


def test_each_makes_a_case_of_every_combination_and_one_that_fails_misses_the_claim(tested):
    def answer(job: Json) -> Script:
        return reads(1 if job["workload"]["stream"][0]["block_size"] == 16384 and "raid5" in job["target"] else 10)

    rest = '[run.sized]\narray = "msa2000-{level}"\nworkload = "oltp-db"\nset = { block_size = "{size}" }\n'
    head = rest + '[[claim]]\nnumber = 2\nkind = "bound"\ntitle = "t"\npublished = "p"\n'
    check = 'checks = [{ each = { level = ["raid5", "raid6"], size = ["8KiB", "16KiB"] }, value = "sized.iops", at_least = 100 }]'
    said = tested("quantity", f'not_scored = "no"\n{head}{check}', answer)
    claim = said.json["claims"][1]
    assert [case["holds"] for case in claim["cases"]] == [True, False, True, True]
    assert (claim["verdict"], claim["reason"]) == ("missed", "raid5 16KiB: 10.0/s, ought to be at least 100/s")


def test_rows_take_what_was_published_from_the_set_of_figures(tested):
    rest = '[run.row]\narray = "se6920-raid5"\nworkload = "se6920-random"\n'
    rest += 'set = { region_length = "{region_length}", block_size = "{block_size}" }\n'
    rest += '[[claim]]\nnumber = 2\nkind = "quantity"\ntitle = "t"\npublished = "p"\njudge = "mean"\ntolerance_percent = 10\n'
    rows = '{ of = "se6920", label = "SE6920 RAID 5", workload = "se6920-random", metric = "iops" }'
    said = tested("quantity", f'not_scored = "no"\n{rest}checks = [{{ rows = {rows}, value = "row.iops" }}]', lambda _: reads(500))
    cases = said.json["claims"][1]["cases"]
    assert len(cases) == 12
    assert cases[0]["where"] == {"region_length": "2GiB", "block_size": "8KiB"}
    assert (cases[0]["published"], cases[0]["values"]) == (5975, [5000])  # the report's first row of test 1


def test_a_run_over_levels_is_the_one_that_moved_most_bytes(tested):
    def answer(job: Json) -> Script:
        depth = job["workload"]["stream"][0]["queue_depth"]
        return reads({1: 1, 2: 3, 4: 9, 8: 5}[depth])

    claim = claim_of(tested("quantity", 'checks = [{ value = "deep.iops", published = 90, tolerance_percent = 0.1 }]', answer))
    assert claim["verdict"] == "holds"
    assert claim["cases"][0]["levels"] == {"deep": 4}
    assert [job["workload"]["stream"][0]["queue_depth"] for job in tested.engine.jobs] == [1, 2, 4, 8]


def proportional(job: Json) -> Script:
    """Mean latency of 99 µs for each request outstanding: 2 ms lie between 20 and 21."""
    depth = job["workload"]["stream"][0]["queue_depth"]
    return reads(depth, depth * 99_000)


def test_a_ramp_is_the_highest_level_that_held_and_beyond_it_the_first_that_did_not(tested):
    checks = 'checks = [{ value = "mark.iops", at_least = 200, at_most = 200 }, '
    checks += '{ value = "mark.beyond.read_mean", at_least = 2.079, at_most = 2.079, unit = "ms", tolerance_percent = 0.2 }]'
    claim = claim_of(tested("bound", checks, proportional))
    assert claim["verdict"] == "holds", claim["reason"]
    assert claim["cases"][0]["levels"] == {"mark": 20}


def test_a_ramp_that_nothing_held_misses_its_claim_and_says_so(tested):
    claim = claim_of(tested("bound", 'checks = [{ value = "mark.iops", at_least = 1 }]', lambda _: reads(1, 9_000_000)))
    assert claim["verdict"] == "missed"
    assert "no level held" in claim["reason"] and "read mean <= 2ms" in claim["reason"]


def test_nothing_beyond_a_ramp_that_always_held_misses_its_claim_and_says_so(tested):
    claim = claim_of(tested("bound", 'checks = [{ value = "mark.beyond.iops", at_least = 1 }]', lambda _: reads(100, 1_000)))
    assert (claim["verdict"], claim["reason"]) == ("missed", "no level of mark was too much for its objective")


def components(*shares: float) -> Json:
    known = {"set": "disk", "kind": "device", "operations": 1, "bytes": 1, "elapsed_ns": 1_000_000_000, "mean_queue": 1.0}
    return {"engine": {"components": [{**known, "name": f"disk {share}", "utilisation": share} for share in shares]}}


def test_the_use_of_a_component_is_that_of_the_busiest_of_its_set_and_what_limited_is_told(tested):
    check = "checks = [{ value = 'fast.use[\"disk\"]', at_most = 0.9 }]"
    claim = claim_of(tested("bound", check, lambda _: reads(1, outcome=components(0.4, 0.95))))
    assert (claim["cases"][0]["values"], claim["cases"][0]["limited_by"]) == ([0.95], {"fast": "disk"})
    assert claim["reason"] == "0.95, ought to be at most 0.9 (limited: fast by disk)"


def test_an_unknown_component_misses_its_claim_and_says_which_there_are(tested):
    check = "checks = [{ value = 'fast.use[\"dusk\"]', at_most = 0.9 }]"
    claim = claim_of(tested("bound", check, lambda _: reads(1, outcome=components(0.4))))
    assert (claim["verdict"], claim["reason"]) == ("missed", "no component is called dusk; there are disk")


def test_the_time_of_a_rebuild_is_the_mean_of_all(tested):
    check = "checks = [{ value = 'fast.rebuild_s', published = 150, tolerance_percent = 1 }]"
    claim = claim_of(tested("quantity", check, lambda _: reads(1, outcome={"engine": {"facts": {"rebuild_s": "100.0, 200.0"}}})))
    assert (claim["verdict"], claim["cases"][0]["values"]) == ("holds", [150])
    claim = claim_of(tested("quantity", check))
    assert (claim["verdict"], claim["reason"]) == ("missed", "fast has no rebuild_s")


def test_sizes_and_rates_of_links_are_read_without_a_run(tested):
    checks = 'checks = [{ value = "link.size_bytes", published = 25.7, unit = "TB", tolerance_percent = 0.1 }, '
    checks += '{ value = \'link.rate["a0-array-maximum"]\', published = 1.24, unit = "GB/s", tolerance_percent = 0.1 }]'
    said = tested("quantity", checks)
    claim = claim_of(said)
    assert (claim["verdict"], claim["modelled"]) == ("holds", "25.7 TB; 1.24 GB/s")
    assert tested.engine.jobs == []
    assert said.json["errors"]["all"] == {"figures": 0, "mean_absolute_percent": None}  # arithmetic is no accuracy


ORDERED = """not_scored = "no"
[run.step]
array = "msa2000-raid5"
workload = "oltp-db"
set = { block_size = "{size}" }
[[claim]]
number = 2
kind = "bound"
title = "t"
published = "p"
checks = [{ each = { size = ["8KiB", "16KiB", "32KiB"] }, value = "step.iops", at_least = 1, in_order = true }]
"""


def test_cases_in_order_are_one_job_with_a_stream_after_the_other(tested):
    tested("quantity", ORDERED, lambda _: reads(10, warmup_intervals=0, intervals=36))
    (job,) = tested.engine.jobs
    streams = job["workload"]["stream"]
    assert [stream["block_size"] for stream in streams] == [8192, 16384, 32768]
    assert [stream.get("start_after", 0) for stream in streams] == [0, 1.2, 2.4]
    assert [stream["end_after"] for stream in streams] == [1.2, 2.4, 3.6]
    assert (job["job"]["warmup"], job["job"]["duration"]) == (0, 3.6)


class Staged(Arrays):
    """Each stream is active in its own time only: ten, twenty and forty reads per interval, ten times as many while it warms up."""

    def run_job(self, job: Json, on_event: OnEvent, control: Any) -> Json:
        from support.scripted_engine import INTERVAL_NS, interval

        names = [stream["name"] for stream in job["workload"]["stream"]]
        on_event("start", {"monotonic_ns": 0, "wall_ns": 0})
        for index in range(36):
            place, into = divmod(index, 12)
            count = 10 * 2**place * (10 if into < 2 else 1)
            event = interval(reads(count, warmup_intervals=0), index, [names[place]])
            on_event("interval", event)
        end = {"end_ns": 36 * INTERVAL_NS, "stopped_by": "duration", "first_error": None}
        return {"backend": {"used": "array"}, "engine": {"workers": 1}, "cpu_ns": {"user": 0, "system": 0}, "verify": None, **end}


def test_cases_in_order_are_read_off_the_measured_time_of_their_own(tested, monkeypatch):
    monkeypatch.setitem(globals(), "Arrays", Staged)
    claim = tested("quantity", ORDERED).json["claims"][1]
    assert [case["values"] for case in claim["cases"]] == [[100], [200], [400]]


def test_a_run_that_failed_leaves_its_claim_unscored_and_fails_the_command(tested):
    from plimsoll.errors import EngineError

    check = 'checks = [{ value = "fast.iops", at_least = 1 }]'
    said = tested("bound", check, lambda _: Script(raises=EngineError("the model gave up.")))
    (claim,) = said.json["claims"]
    assert (said.code, claim["verdict"], claim["reason"]) == (4, "not-scored", "a run failed: the model gave up.")


@pytest.mark.parametrize(("arguments", "code"), [((), 0), (("--strict",), 1)])
def test_a_missed_claim_is_a_result_and_fails_only_a_strict_command(tested, arguments, code):
    assert tested("bound", 'checks = [{ value = "fast.iops", at_most = 1 }]', usual, *arguments).code == code


def test_equal_runs_are_made_once(tested):
    checks = 'checks = [{ value = "fast.iops / slow.iops", at_least = 1 }, { value = "fast.mean", at_least = 1 }]'
    tested("bound", checks)
    assert sorted(job["target"] for job in tested.engine.jobs) == ["array:msa2000-raid5", "array:msa2000-raid6"]


def test_the_sums_count_claims_and_comparisons_of_each_kind(tested):
    checks = 'checks = [{ order = ["fast.iops", "slow.iops"] }, { order = ["slow.iops", "fast.iops"] }]'
    second = '\n[[claim]]\nnumber = 2\nkind = "quantity"\ntitle = "t"\npublished = "p"\n'
    second += 'checks = [{ value = "fast.iops", published = 80, tolerance_percent = 30 }]'
    document = tested("ordering", checks + second).json
    ordering = {"holds": 0, "missed": 1, "not_scored": 0, "score_percent": 0, "cases": 2, "cases_percent": 50}
    assert document["sums"]["ordering"] == ordering
    assert document["sums"]["quantity"]["holds"] == 1
    assert document["errors"]["900"] == {"figures": 1, "mean_absolute_percent": pytest.approx(25)}


def test_claims_are_summed_by_what_they_rest_on_and_the_headline_is_of_those_predicted(tested, capsys):
    check = 'checks = [{ order = ["slow.iops", "fast.iops"] }]'
    held = check.replace('"slow.iops", "fast.iops"', '"fast.iops", "slow.iops"')
    more = [("predicted", held), ("fitted", held), ("fitted", check), ("constant", held)]
    claims = "".join(
        f'\n[[claim]]\nnumber = {number}\nkind = "ordering"\nbasis = "{basis}"\ntitle = "t"\npublished = "p"\n{said}'
        for number, (basis, said) in enumerate(more, 2)
    )
    document = tested("ordering", check + claims).json
    assert [claim["basis"] for claim in document["claims"]] == ["predicted", *(basis for basis, _ in more)]
    found = {basis: (sums["holds"], sums["missed"]) for basis, sums in document["bases"].items()}
    assert found == {"predicted": (1, 1), "assumed": (0, 0), "fitted": (1, 1), "constant": (1, 0)}
    assert main(["reproduce", "--quiet"]) == 0
    assert "\nOf 2 claims that the model predicts, 1 hold.\n" in capsys.readouterr().out


def test_the_document_says_modelled_and_has_what_each_claim_needs(tested):
    document = tested("bound", 'checks = [{ value = "fast.iops", at_most = 1 }]').json
    assert (document["schema"], document["modelled"]) == ("plimsoll.reproduction/1", True)
    assert {"number", "report", "kind", "basis", "published", "modelled", "tolerance", "verdict"} <= set(document["claims"][0])


def test_the_table_shows_a_missed_claim_with_its_reason(plimsoll: Plimsoll):
    # Claim 16 is arithmetic of links; 1 is not scored. Neither runs anything.
    said = plimsoll("reproduce", "000", "--claim", "1,16", "--quiet")
    assert said.code == 0 and said.err == ""
    assert "modelled" in said.out and "not-scored" in said.out and "holds" in said.out
    assert "not scored: a database, its queries and its" in said.out


@pytest.mark.parametrize("words", [["000"], ["hp-sas"], ["--claim", "1-17"]])
def test_reports_are_chosen_by_number_name_or_claims(words):
    from plimsoll.reproduction.selection import chosen

    found = chosen((), tuple(words[1:])) if words[0] == "--claim" else chosen(tuple(words), ())
    assert [claim.number for claim in found] == list(range(1, 18))


def test_progress_goes_to_stderr_and_says_modelled(tested, capsys):
    tested("bound", 'checks = [{ value = "fast.iops", at_least = 1 }]')
    main(["reproduce", "--json"])
    assert capsys.readouterr().err == "[1/1] array:msa2000-raid5  oltp-db  0.4 MB/s modelled\n"
