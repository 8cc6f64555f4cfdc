"""The claims of the reports: all sixty, about arrays and workloads that exist, and true of the reports' own figures."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from plimsoll import catalog
from plimsoll.catalog import claims as module
from plimsoll.catalog.arrays import array_document, described
from plimsoll.catalog.claims import Claim, Run, claim_files, claims
from plimsoll.catalog.composition.sources import values_of
from plimsoll.catalog.expression import ReadOff
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.experiments.document import read_experiments
from plimsoll.points.point import changed, defined

CLAIMS = Path(module.__file__).parent / "claims"
SCORED = [claim for claim in claims() if claim.checks]
#: The label under which the figures of an array were published.
LABELS = {"se6920-raid5": "SE6920 RAID 5", "se6920-raid1": "SE6920 RAID 1", "dl580-local": "DL580 local disks, RAID 5"}
LABELS |= {"se6920-raid5-200g": LABELS["se6920-raid5"], "dl580-local-raw": LABELS["dl580-local"]}


def runs_of(claim: Claim) -> set[Run]:
    return {run for check in claim.checks for case in check.cases() for run in case.runs.values()}


ALL_RUNS = sorted({run for claim in SCORED for run in runs_of(claim)}, key=repr)


def published_value(run: Run, read_off: ReadOff) -> float:
    """What the report measured at a run."""
    for name in ("se6920", "dd-cp"):
        for row in catalog.rows_for(catalog.published(name), str(run.workload), dict(run.settings)):
            if row["match"] is not None and row["label"] == LABELS[run.array] and row["metric"] == read_off.what:
                return float(row["value"])
    raise AssertionError(f"nothing was published of {run}")


def test_all_sixty_claims_are_there_by_number():
    assert [claim.number for claim in claims()] == list(range(1, 61))
    assert [(claim.number, claim.report) for claim in claims() if claim.number in (1, 17, 18, 29, 30, 32, 33, 41, 42, 60)] == [
        (1, "000"), (17, "000"), (18, "001"), (29, "001"), (30, "002"), (32, "002"), (33, "003"), (41, "003"), (42, "004"), (60, "004")
    ]  # fmt: skip


def test_every_claim_says_what_was_published_and_is_scored_or_says_why_not():
    for claim in claims():
        assert claim.title and claim.published and claim.kind in module.KINDS
        assert bool(claim.checks) != bool(claim.not_scored)
        assert (claim.basis in module.BASES) == bool(claim.checks)
    assert [claim.number for claim in claims() if claim.not_scored] == [1, 2, 4, 26, 55, 56]


@pytest.mark.parametrize("claim", [claim for claim in SCORED if claim.basis != "constant"], ids=lambda claim: str(claim.number))
def test_a_claim_is_fitted_where_its_arrays_have_values_fitted_to_its_report(claim):
    sources = {source or "" for run in runs_of(claim) for _, source in values_of(described(f"array:{run.array}"))}
    given = any(source.startswith(f"fitted to report {claim.report}") for source in sources)
    assert given == (claim.basis == "fitted"), claim.title


@pytest.mark.parametrize("array", sorted({run.array for run in ALL_RUNS}))
def test_what_is_named_exists_and_takes_the_options_set(array):
    assert described(f"array:{array}")["group"]
    engine = native()
    for run in [run for run in ALL_RUNS if run.workload and run.array == array]:
        workload, job = changed(*defined(str(run.workload), engine), engine, [(key, str(value)) for key, value in run.settings])
        assert workload["name"] == run.workload and job["duration"], run


@pytest.mark.parametrize("claim", SCORED, ids=lambda claim: str(claim.number))
def test_every_component_read_is_in_its_array(claim):
    for check in claim.checks:
        for case in check.cases():
            for expression in case.expressions:
                for read_off in expression.read_offs:
                    if read_off.of is not None:
                        document = array_document(case.runs[read_off.run].array)
                        assert read_off.of in {link["name"] for link in document["link"]}


def test_ramps_and_levels_are_those_of_experiments():
    for run in ALL_RUNS:
        kind = (
            {"kind": "ramp", **{key: dict(value) if isinstance(value, tuple) else value for key, value in run.ramp}} if run.ramp else None
        )
        kind = {"kind": "steps", "over": dict([run.over])} if run.over else kind
        if kind:
            document = {"title": "x", "experiment": [{"name": "x", "workloads": [run.workload], **kind}]}
            assert read_experiments(document, "claims", quick=False, targets=("null:1GiB",))


@pytest.mark.parametrize(
    "claim", [claim for claim in claims() if 47 <= claim.number <= 54 or 57 <= claim.number <= 59], ids=lambda claim: str(claim.number)
)
def test_a_claim_about_ratios_is_true_of_the_figures_of_its_report(claim):
    slack = 0.01  # bounds are written with two digits
    for check in claim.checks:
        for case in check.cases():
            values = [
                expression.value(lambda read_off, runs=case.runs: published_value(runs[read_off.run], read_off))
                for expression in case.expressions
            ]
            if check.form == "ordering":
                assert all(first >= second * (1 + check.margin_percent / 100) for first, second in pairwise(values))
            if check.at_least is not None:
                assert values[0] >= check.at_least - slack * abs(check.at_least), (case.bindings, values)
            if check.at_most is not None:
                assert values[0] <= check.at_most + slack * abs(check.at_most), (case.bindings, values)
            if case.published is not None:
                assert values[0] == pytest.approx(case.published, rel=slack)


def test_the_note_on_raw_devices_says_where_the_report_contradicts_itself():
    (claim,) = (claim for claim in claims() if claim.number == 60)
    rows = [row for row in catalog.published("dd-cp")["rows"] if row["label"].startswith("SE6920 RAID 5")]
    through = sorted((row["value"] / 1e6 for row in rows if "lost" in row["label"]), reverse=True)
    one = {"threads": 1}
    raw = {
        kind: row["value"] / 1e6
        for row in rows
        for kind in ("read", "write")
        if row.get("match") == {"workload": f"dd-raw-{kind}", "settings": one}
    }
    assert f"test 6 has {through[0]:.0f} and {through[1]:.0f} MB/s" in claim.note
    assert f"test 8 has {raw['read']:.0f} read and {raw['write']:.0f} written" in claim.note
    # Whether it is the reads or the writes: the faster of them is faster than either was raw.
    assert through[0] > max(raw.values()) and through[1] < min(raw.values())


def test_the_sixty_rows_of_the_se6920_are_taken_from_their_data_and_typed_nowhere_else():
    rows = [case.published for claim in claims() if 42 <= claim.number <= 46 for check in claim.checks for case in check.cases()]
    figures = [row["value"] for row in catalog.published("se6920")["rows"] if row["metric"] == "iops"]
    assert rows == figures and len(rows) == 60
    text = (CLAIMS / "se6920.toml").read_text()
    typed = {int(number) for number in re.findall(r"(?<![\w.])\d{3,}(?![\w.])", text)}
    assert not typed & {int(figure) for figure in figures} - {296}


def test_figures_are_in_the_units_of_results():
    claim = next(claim for claim in claims() if claim.number == 37)
    assert [check.published for check in claim.checks] == [1150e6, 1.15]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ('kind = "fact"', "claim 1: kind 'fact' is unknown"),
        ('kind = "bound"\nchecks = [{ value = "a.iops", at_most = 1 }]\nnot_scored = "why"', "either checks or the reason"),
        ('kind = "bound"', "either checks or the reason"),
        (
            'kind = "bound"\nbasis = "luck"\nchecks = [{ value = "a.iops", at_most = 1 }]',
            "basis is predicted, assumed, fitted or constant",
        ),
        ('kind = "bound"\nbasis = "fitted"\nnot_scored = "why"', "leave basis out where nothing is scored"),
        ('kind = "bound"\nchecks = [{ value = "b.iops", at_most = 1 }]', "check 1: there is no run or value called 'b'"),
        ('kind = "bound"\nchecks = [{ at_most = 1 }]', "check 1: a check has an order or a value"),
        ('kind = "bound"\nchecks = [{ value = "a.iops" }]', "compared with what was published"),
        ('kind = "bound"\nchecks = [{ value = "a.speed", at_most = 1 }]', "check 1: `a.speed` in `a.speed` is no read-off"),
        ('kind = "bound"\nchecks = [{ value = "a.iops", most = 1, at_most = 1 }]', "check 1: key 'most' is unknown"),
        ('kind = "quantity"\nchecks = [{ value = "a.iops", published = 1 }]', "a published figure needs a tolerance_percent"),
        ('kind = "quantity"\nchecks = [{ value = "a.iops", published = 1, unit = "mb", tolerance_percent = 1 }]', "unit 'mb' is unknown"),
        (
            'kind = "quantity"\nchecks = [{ rows = { of = "se6920", label = "x", workload = "y", metric = "iops" }, value = "a.iops" }]',
            "it matches no row",
        ),
        (
            'kind = "quantity"\njudge = "mean"\nchecks = [{ value = "a.iops", published = 1, tolerance_percent = 1 }]',
            "mean with a tolerance_percent",
        ),
    ],
)
def test_a_wrong_claim_is_refused_in_a_sentence_that_names_it(tmp_path, monkeypatch, changed, sentence):
    head = 'report = "000"\n[run.a]\narray = "nvme"\nworkload = "oltp-db"\n[[claim]]\nnumber = 1\ntitle = "t"\npublished = "p"\n'
    given = "" if "basis" in changed or "not_scored" in changed else 'basis = "predicted"\n'
    (tmp_path / "mine.toml").write_text(head + given + changed)
    monkeypatch.setattr(module, "_CLAIMS", module.Folder(str(tmp_path), "set of claims"))
    module._read.cache_clear()
    with pytest.raises(InputError) as refused:
        claims("mine")
    module._read.cache_clear()
    assert str(refused.value).startswith("claims mine: claim 1") and sentence in str(refused.value)


def test_every_report_has_its_file():
    assert claim_files() == ["hp-sas", "msa2000", "msa2040", "proliant", "se6920"]
