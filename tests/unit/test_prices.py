"""Prices: what is typed or listed, of which side, and what one unit of what that side carried costs."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.analysis.price.headline import headlines
from plimsoll.analysis.price.per_unit import Prices, prices
from plimsoll.analysis.price.price import Price, money
from plimsoll.decision import BANNER
from plimsoll.decision.metrics import composite
from plimsoll.errors import InputError
from plimsoll.points.prices import priced_sides, read_price_list, typed_prices
from plimsoll.reports.terminal.price import prices_text
from plimsoll.result import Result
from plimsoll.store.reader import list_runs
from support.made_results import Load, Setting, failed, made
from support.said import Plimsoll
from support.scripted_engine import ScriptedEngine

LIST = """
currency = "USD"
years = 3

[[item]]
name = "Array with 24 drives"
amount = 221000

[[item]]
name = "Server"
amount = 33875.50
count = 2
"""


def composed(value: float, target: str = "A", scale: int = 300, **settings: object) -> Result:
    """A point of a driver that has a headline of its own."""
    result = made(Load(100.0, 1e6), setting=Setting("decision-support", "Decision support", "files", target))
    headline = {"value": value, "figure": f"composite at scale {scale}", "unit": f"composite@{scale}", "fair": BANNER}
    return replace(result, engine={"headline": headline}, place={"settings": settings} if settings else {})  # type: ignore[typeddict-item]


def side(label: str, *results: Result) -> Side:
    return Side(label, results, run=label)


def of_two(**amounts: float) -> Prices:
    a, b = side("A", made(Load(10_000.0, 1e6))), side("B", made(Load(12_500.0, 1e6)))
    return prices([a, b], {name: Price(amount) for name, amount in amounts.items()}, {})


@pytest.mark.parametrize(
    ("typed", "price"),
    [
        ("288751", Price(288751.0)),
        ("288,751.50", Price(288751.5)),
        ("288,751 USD", Price(288751.0, "USD")),
        ("EUR 1999", Price(1999.0, "EUR")),
        ("$12", Price(12.0, "$")),
        ("12€", Price(12.0, "€")),
    ],
)
def test_an_amount_may_have_separators_and_a_currency(typed: str, price: Price) -> None:
    assert typed_prices([f"A={typed}"]) == {"A": price}
    assert typed_prices([typed]) == {"": price}


@pytest.mark.parametrize("typed", ["", "cheap", "-5", "1,00", "1e9", "5 usd!", "$5 EUR", "0", "9999999999999"])
def test_what_is_no_amount_is_refused_in_a_sentence(typed: str) -> None:
    with pytest.raises(InputError, match=r"^--price A=.*(is no price; write for example A=288751|a price is above 0 and at most)"):
        typed_prices([f"A={typed}"])


def test_a_side_has_one_price() -> None:
    with pytest.raises(InputError, match="'A' has two prices; give one for each side"):
        typed_prices(["A=1", "A=2"])
    with pytest.raises(InputError, match="'A' has a price already"):
        priced_sides(typed_prices(["A=1", "/dev/sdb=2"]), [("A", "/dev/sdb")])


def test_a_side_may_be_called_by_its_name_or_its_target_and_not_at_all_where_it_is_alone() -> None:
    names = [("fast", "/dev/sdb"), ("slow", "/dev/sdc")]
    assert priced_sides(typed_prices(["/dev/sdc=2", "fast=1"]), names) == {1: Price(2.0), 0: Price(1.0)}
    assert priced_sides(typed_prices(["7"]), names[:1]) == {0: Price(7.0)}
    with pytest.raises(InputError, match=r"--price: there are 2 sides, 'fast', 'slow'; write --price fast=AMOUNT\."):
        priced_sides(typed_prices(["7"]), names)
    with pytest.raises(InputError, match=r"--price fsat=…: no side is called 'fsat'; there are 'fast', 'slow'\."):
        priced_sides(typed_prices(["fsat=7"]), names)


def test_of_several_sides_the_first_is_a_and_the_second_b_unless_one_has_that_name() -> None:
    runs = [("2026-11-28T12-15-58_dss",), ("2026-11-28T12-21-49_dss",)]
    assert priced_sides(typed_prices(["A=288751", "B=254586"]), runs) == {0: Price(288751.0), 1: Price(254586.0)}
    assert priced_sides(typed_prices(["A=1"]), [("B",), ("A",)]) == {1: Price(1.0)}
    for side, names in (("C", runs), ("AB", runs), ("A", runs[:1])):
        with pytest.raises(InputError, match=f"no side is called '{side}'"):
            priced_sides(typed_prices([f"{side}=1"]), names)


def test_the_items_of_a_list_are_summed_each_as_often_as_it_is_bought(tmp_path: Path) -> None:
    path = tmp_path / "a=b.toml"
    path.write_text(LIST)
    found = read_price_list(str(path))
    assert (found.amount, found.currency, found.years) == (288751.0, "USD", 3.0)
    assert [(item.name, item.amount, item.count) for item in found.items] == [("Array with 24 drives", 221000, 1), ("Server", 33875.5, 2)]
    assert found.words() == "288,751 USD for 3 years"
    assert Price.of_stored(found.to_json()) == found


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("years = 3", "a price list has items; write [[item]]"),
        ("item = 5", "a price list has items; write [[item]]"),
        ("[[item]]\namount = 5", "item 1: name is missing; write what is bought."),
        ('[[item]]\nname = "X"', "item 1 (X): amount is missing; write what one costs"),
        ('[[item]]\nname = "X"\namount = "5"', "item 1 (X): amount is '5'; write what one costs"),
        ('[[item]]\nname = "X"\namount = -5', "item 1 (X): amount is -5; write what one costs"),
        ('[[item]]\nname = "X"\namount = nan', "item 1 (X): amount is NaN; write what one costs"),
        ('[[item]]\nname = "X"\namount = true', "item 1 (X): amount is true; write what one costs"),
        ('[[item]]\nname = "X"\namount = 5\ncount = 0', "item 1 (X): count is 0; write how many are bought"),
        ('[[item]]\nname = "X"\namount = 0', "the items cost 0.00 together; a price is above 0"),
        ('[[item]]\nname = "X"\namuont = 5', "item 1: key 'amuont' is not known; did you mean 'amount'?"),
        ('curency = "USD"', "key 'curency' is not known; did you mean 'currency'?"),
        ('currency = "dollars"\n[[item]]\nname = "X"\namount = 5', "currency is 'dollars'; write its three letters"),
        ('years = 0\n[[item]]\nname = "X"\namount = 5', "years is 0; write a number of years above 0"),
        ("item = [", "not TOML ("),
    ],
)
def test_a_price_list_that_is_wrong_is_refused_with_its_place(text: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        typed_prices([f"A={path}"])
    assert str(refused.value).startswith(f"{path}: {sentence}")
    assert "\n" not in str(refused.value)


def test_a_price_list_that_is_not_there_is_said_to_be() -> None:
    with pytest.raises(InputError, match=r"absent\.toml: the price list cannot be read \(no such file or directory\)\."):
        typed_prices(["A=absent.toml"])


def test_a_file_of_another_kind_is_no_price_list(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("1")
    with pytest.raises(InputError, match=r"a price list is a TOML file, and '.*prices\.csv' does not end in \.toml"):
        typed_prices([f"A={path}"])


def test_the_published_prices_per_composite_come_out() -> None:
    # Report 000: TPC-H at 300 GB; the price of A is printed as 24.24 there, rounded up, that of B as 30.18, to the nearest.
    a, b = side("A", composed(composite(15504.0, 9157.2))), side("B", composed(composite(11511.2, 6181.1), "B"))
    found = prices([a, b], {"A": Price(288751.0, "USD"), "B": Price(254586.0, "USD")}, {})
    assert found.findings() == ["A costs 24.23 USD per composite@300; B 30.18 USD per composite@300, 1.25 × as much."]
    assert found.notes == (f"{BANNER[0].upper()}{BANNER[1:]}.",)
    assert [row.to_json()["per_unit"] for row in found.rows] == pytest.approx([24.23373, 30.18154], abs=1e-5)


def test_of_runs_of_a_driver_the_lower_headline_counts_and_of_settings_the_best() -> None:
    assert [one.value for one in headlines(side("A", composed(90.0), composed(80.0)), {})] == [80.0]
    stepped = [composed(90.0, streams=2), composed(70.0, streams=2), composed(75.0, streams=4)]
    assert [one.value for one in headlines(side("A", *stepped), {})] == [75.0]


def test_price_per_unit_is_price_over_rate_with_the_interval_turned_round() -> None:
    found = of_two(A=5000.0, B=5000.0)
    views = [row.to_json() for row in found.rows]
    assert [view["per_unit"] for view in views] == [0.5, 0.4]
    # The interval of the rate is ± 1 %.
    assert (views[0]["per_unit_low"], views[0]["per_unit_high"]) == (pytest.approx(0.5 / 1.01), pytest.approx(0.5 / 0.99))
    assert [view["ratio"] for view in views] == [None, pytest.approx(0.8)]
    assert found.findings() == ["A costs 0.50 per IOPS; B 0.40 per IOPS, 0.80 × of that."]


def test_large_requests_are_paid_per_megabyte_per_second() -> None:
    found = prices([side("A", made(Load(400.0, 1e6, block_bytes=1 << 20)))], {"A": Price(1000.0)}, {})
    (view,) = (row.to_json() for row in found.rows)
    assert (view["unit"], view["value"]) == ("MB/s", pytest.approx(400 * 1.048576))
    assert view["per_unit"] == pytest.approx(1000 / (400 * 1.048576))


def test_a_load_that_was_raised_is_paid_per_mark_where_it_has_an_objective() -> None:
    levels = [made(Load(1000.0 * level, 1e6 * level), level) for level in (1, 2, 4)]
    (mark,) = headlines(side("A", *levels), {"steps": parse_objective("read mean <= 3ms")})
    assert (mark.value, mark.unit, mark.figure, mark.at_least) == (2000.0, "IOPS", "mark at read mean <= 3ms", False)
    (rate,) = headlines(side("A", *levels), {})
    assert (rate.value, rate.figure) == (4000.0, "highest of 3 rates")


def test_a_mark_that_no_level_ended_makes_the_price_a_most() -> None:
    levels = [made(Load(1000.0 * level, 1e6 * level), level) for level in (1, 2)]
    found = prices([side("A", *levels)], {"A": Price(100.0)}, {"": parse_objective("read mean <= 1s")})
    assert found.findings() == ["A costs at most 0.0500 per IOPS."]
    assert "no level failed" in " ".join(found.notes)


def test_a_side_that_holds_no_level_has_no_price_per_unit() -> None:
    held = [made(Load(1000.0, 1e6), 1)]
    missed = [made(Load(1000.0, 1e9), 1)]
    found = prices(
        [side("A", *held), side("B", *missed)], {"A": Price(100.0), "B": Price(100.0)}, {"": parse_objective("read mean <= 2ms")}
    )
    assert found.rows[1].per_unit is None
    assert found.findings()[0].endswith("B no price per IOPS, since no level was held.")
    assert "none held" in prices_text(found)


def test_points_that_failed_and_conditioning_count_for_nothing() -> None:
    conditioning = replace(made(Load(9e6, 1e6), 1), place={"role": "precondition", "experiment": "steps"})  # type: ignore[typeddict-item]
    (one,) = headlines(side("A", made(Load(1000.0, 1e6), 1), failed(2), conditioning), {})
    assert one.value == 1000.0
    assert headlines(side("A", failed(1)), {}) == []


def test_each_load_has_a_price_of_its_own() -> None:
    other = Setting("mail", "Mail")
    found = prices([side("A", made(Load(1000.0, 1e6)), made(Load(500.0, 1e6), setting=other))], {"A": Price(1000.0)}, {})
    assert found.findings() == ["OLTP database: A costs 1.00 per IOPS.", "Mail: A costs 2.00 per IOPS."]


def test_prices_of_two_currencies_are_not_compared() -> None:
    with pytest.raises(InputError, match=r"prices are in USD \(A\) and EUR \(B\); give all of them in one currency"):
        prices([side("A"), side("B")], {"A": Price(1.0, "USD"), "B": Price(1.0, "EUR")}, {})


def test_a_side_without_a_price_and_prices_of_other_times_are_noted() -> None:
    assert of_two(A=1.0).notes == ("'B' has no price.",)
    a, b = side("A", made(Load(1.0, 1.0))), side("B", made(Load(1.0, 1.0)))
    found = prices([a, b], {"A": Price(1.0, years=3), "B": Price(1.0, years=5)}, {})
    assert found.notes == ("The prices cover different times: A 3 years and B 5 years.",)


def test_modelled_sides_are_said_to_be() -> None:
    found = prices([side("A", replace(made(Load(1000.0, 1e6)), modelled=True))], {"A": Price(1.0)}, {})
    assert "A (modelled)" in prices_text(found)
    assert found.rows[0].to_json()["modelled"] is True


@pytest.mark.parametrize(
    ("amount", "shown"), [(24.2336, "24.23"), (24.235, "24.24"), (1234.5, "1,234.50"), (0.1, "0.10"), (0.00123456, "0.00123")]
)
def test_an_amount_is_shown_as_on_a_bill(amount: float, shown: str) -> None:
    assert money(amount) == shown


@pytest.fixture
def measured(plimsoll: Plimsoll) -> Plimsoll:
    """Two runs, A and B."""
    for label in ("A", "B"):
        assert plimsoll("run", "small.toml", "-t", "null:", "-d", "1s", "-w", "0", "--fresh", "--label", label).code == 0
    return plimsoll


PRICED = ("--price", "A=288,751 USD", "--price", "B=254586")


def test_compare_says_what_an_iops_of_each_side_costs(measured: Plimsoll) -> None:
    said = measured("compare", "A", "B", *PRICED)
    assert said.code == 0
    assert "USD per IOPS" in said.text
    document = measured("compare", "A", "B", *PRICED, "--json").json
    found = document["prices"]
    assert [(one["side"], one["price"]["amount"], one["price"]["currency"]) for one in found["prices"]] == [
        ("A", 288751, "USD"),
        ("B", 254586, ""),
    ]
    rates = [row["value"] for row in found["rows"]]
    assert [row["per_unit"] for row in found["rows"]] == [288751 / rates[0], 254586 / rates[1]]
    assert "prices" not in measured("compare", "A", "B", "--json").json


def test_a_comparison_is_the_same_from_prices_that_its_runs_were_given(plimsoll: Plimsoll, here: Path) -> None:
    (here / "b.toml").write_text(LIST)
    for label, price in (("A", "288751"), ("B", "b.toml")):
        assert plimsoll("run", "small.toml", "-t", "null:", "-d", "1s", "-w", "0", "--fresh", "--label", label, "--price", price).code == 0
    stored = plimsoll("compare", "A", "B", "--json").json["prices"]
    (here / "b.toml").unlink()
    assert stored == plimsoll("compare", "A", "B", "--json").json["prices"]
    assert [one["price"]["amount"] for one in stored["prices"]] == [288751, 288751]
    assert [item["count"] for item in stored["prices"][1]["price"]["items"]] == [1, 2]
    typed = plimsoll("compare", "A", "B", "--price", "B=1", "--json").json["prices"]
    assert [one["price"]["amount"] for one in typed["prices"]] == [288751, 1]


def test_a_run_says_what_a_unit_of_its_own_rate_costs(plimsoll: Plimsoll) -> None:
    words = ("run", "small.toml", "-t", "fast=null:", "-d", "1s", "-w", "0", "--fresh", "--price", "fast=1000")
    assert "per IOPS" in plimsoll(*words).text
    found = plimsoll(*words, "--json").json["prices"]
    assert found["rows"][0]["per_unit"] == pytest.approx(1000 / found["rows"][0]["value"])


def test_a_price_of_a_side_that_is_not_measured_is_refused_before_anything_is(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    said = plimsoll("run", "small.toml", "-t", "fast=null:", "-d", "1s", "--price", "slow=1000")
    assert (said.code, said.out) == (2, "")
    assert "no side is called 'slow'; there are 'fast'" in said.err
    assert engine.jobs == [] and list_runs("results") == []


def test_a_report_has_the_prices_in_every_form_that_can_say_them(measured: Plimsoll, here: Path) -> None:
    for name in ("x.html", "x.json", "x.md"):
        assert measured("report", "A", "B", "-o", name, *PRICED).code == 0
        assert "USD per IOPS" in (here / name).read_text()
    assert json.loads((here / "x.json").read_text())["prices"]["currency"] == "USD"
    said = measured("report", "A", "-o", "x.xml", "--price", "5")
    assert said.code == 2
    assert "x.xml does not say what sides cost; write .html, .csv, .parquet, .json or .md" in said.err
    said = measured("report", "A", "-o", "x.csv", "--price", "5", "--long")
    assert said.code == 2
    assert "the long form has no prices" in said.err


def test_a_table_has_the_price_of_each_points_side(measured: Plimsoll, here: Path) -> None:
    assert measured("report", "A", "B", "-o", "x.csv", *PRICED).code == 0
    assert measured("report", "A", "B", "-o", "x.json", *PRICED).code == 0
    prices = json.loads((here / "x.json").read_text())["prices"]
    costs = {one["side"]: one["price"]["amount"] for one in prices["prices"]}
    of_units = {row["side"]: (row["per_unit"], row["unit"]) for row in prices["rows"]}
    rows = list(csv.DictReader(io.StringIO((here / "x.csv").read_text())))
    assert {row["currency"] for row in rows} == {"USD"}
    seen = {(float(row["price"]), float(row["price_per_unit"]), row["priced_unit"]) for row in rows}
    assert seen == {(costs[side], *of_units[side]) for side in costs}
    assert len(seen) == 2
    assert measured("report", "A", "-o", "y.csv").code == 0
    (row, *_) = csv.DictReader(io.StringIO((here / "y.csv").read_text()))
    assert (row["price"], row["price_per_unit"]) == ("", "")


def test_a_comparison_is_written_with_its_prices(measured: Plimsoll, here: Path) -> None:
    for name in ("c.html", "c.json", "c.md"):
        assert measured("compare", "A", "B", "-o", name, *PRICED).code == 0
        assert "USD per IOPS" in (here / name).read_text()


def test_a_table_of_a_comparison_has_what_its_sides_cost(measured: Plimsoll, here: Path) -> None:
    import plimsoll as library

    document = measured("compare", "A", "B", *PRICED, "--json").json["prices"]
    a, b = (row["per_unit"] for row in document["rows"])
    said = (288751.0, 254586.0, "USD", a, b, "IOPS")
    names = ("baseline_price", "price", "currency", "baseline_price_per_unit", "price_per_unit", "priced_unit")
    assert measured("compare", "A", "B", *PRICED, "-o", "c.csv").code == 0
    rows = list(csv.DictReader(io.StringIO((here / "c.csv").read_text())))
    assert rows and {tuple(row[name] for name in names) for row in rows} == {tuple(map(str, said))}
    compared = library.compare("A", "B", price={"A": "288751 USD", "B": 254586}).table().to_dicts()
    assert compared and {tuple(row[name] for name in names) for row in compared} == {said}
    one_sided = library.compare("A", "B", price={"B": 254586}).table().to_dicts()
    assert {tuple(row[name] for name in names) for row in one_sided} == {(None, 254586.0, None, None, b, "IOPS")}
    assert {row[name] for row in library.compare("A", "B").table().to_dicts() for name in names} == {None}
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    assert measured("compare", "A", "B", *PRICED, "-o", "c.parquet").code == 0
    assert {tuple(row[name] for name in names) for row in parquet.read_table(here / "c.parquet").to_pylist()} == {said}


def test_tables_of_the_library_have_the_prices_that_runs_were_given(plimsoll: Plimsoll) -> None:
    import plimsoll as library

    for label, price in (("A", "300 USD"), ("B", "200 EUR"), ("C", None)):
        typed = () if price is None else ("--price", price)
        assert plimsoll("run", "small.toml", "-t", "null:", "-d", "1s", "-w", "0", "--fresh", "--label", label, *typed).code == 0
    store = library.open("results")
    # Of a whole store each run has its own currency.
    rows = [row for row in store.table().to_dicts() if row["operation"] == "all"]
    assert [(row["label"], row["price"], row["currency"]) for row in rows] == [("A", 300.0, "USD"), ("B", 200.0, "EUR"), ("C", None, None)]
    assert [row["price_per_unit"] for row in rows[:2]] == [300 / float(str(rows[0]["iops"])), 200 / float(str(rows[1]["iops"]))]
    assert store["A"].table().to_dicts()[0]["price"] == 300.0
    run = library.run("small.toml", target="null:", duration=1, warmup=0, fresh=True, label="D", price=1000)
    assert {row["price"] for row in run.table().to_dicts()} == {1000.0}


def test_prices_are_options_of_the_functions_too(measured: Plimsoll) -> None:
    import plimsoll as library

    compared = library.compare("A", "B", price={"A": 288751, "B": "254586"})
    assert compared.prices is not None
    assert [price.amount for price in compared.prices.by_side.values()] == [288751, 254586]
    run = library.run("small.toml", target="null:", duration=1, warmup=0, fresh=True, label="C", price=1000)
    assert library.open("results")["C"] is not None and run.exit_code == 0
