"""Every array of today stands in the guide, with a figure that was not used to set it or a word that none was found; what coverage counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.analysis.products import Coverage, HeldFigure
from plimsoll.catalog.arrays import families
from plimsoll.catalog.products import PATH, ProductFigure, product_figures, read_product_figures
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.reports.terminal.products import coverage_words, page_text, products_text
from plimsoll.reproduction.products import held_figure
from plimsoll.uncertainty.figures import Plan

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "products.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
TODAY = [family for family in families() if "today" in family.tags()]


def test_there_are_ten_products_of_today_and_all_stand_in_the_guide():
    named = [family.name for family in TODAY]
    assert all(f"| `{name}` |" in GUIDE for name in named)
    # Drives by model, controllers, volumes by class; md, NVMe/TCP and the store count once each.
    axes = {"model", "controller", "volume"}
    assert sum(len(axis.values) for family in TODAY for axis in family.axes if axis.name in axes) + 3 >= 10


def test_a_product_is_held_against_a_published_figure_or_the_guide_says_that_none_was_found():
    held = {figure.array for figure in product_figures()}
    missing = GUIDE.partition("**No figure was found**")[2].partition("##")[0]
    for family in TODAY:
        for name in family.names():
            words = {name, family.name, *name.split("-")}
            is_like = any(array.split("-")[:2] == name.split("-")[:2] for array in held)
            assert is_like or any(f"`{word}`" in missing for word in words) or family.name == "cloud", name


def test_every_figure_says_where_it_was_published_and_stands_on_the_page():
    for figure in product_figures():
        assert any(word in figure.source for word in ("201", "202", "specification", "slideshare"))
        assert f"| `{figure.array}` | {figure.what} |" in PAGE


def one(published: float, low: float | None = 90.0, high: float | None = 110.0, miss: str = "") -> HeldFigure:
    return HeldFigure("a", None, "reads", "iops", published, 100.0, low, high, 40, ("depth",), "x, 2024", None, miss)


def test_coverage_counts_the_intervals_that_hold_and_leaves_out_what_has_none():
    found = Coverage([one(90), one(110), one(111, miss="because"), one(5, None, None), one(100)])
    assert (found.held, found.drawn, found.share, found.enough) == (3, 4, 0.75, False)
    assert found.to_json()["coverage"] == {"held": 3, "drawn": 4, "share": 0.75, "asked": 0.8, "enough": False}
    assert coverage_words(found).startswith("3 of 4 intervals of 90 % hold what was published (75 %); at least 80 % ought to, so ranges")
    assert "a, reads: because." in products_text(found)
    assert "- `a`, reads: because." in page_text(found) and "| `a` | 4 | 3 |" in page_text(found)
    assert Coverage([one(100)] * 4 + [one(200)]).enough


def test_a_figure_is_worked_out_on_its_array_and_drawn():
    reads = ProductFigure("ssd-s4500", "reads", "mean", 110_000, "2017", workload="random-read-4k", set={"queue_depth": 1}, duration="20ms")
    found = held_figure(reads, native(), Plan(draws=20, jobs=1))
    assert found.low is not None and found.high is not None
    assert found.low < found.modelled < found.high
    assert found.mostly[0] == "time of reading a page of flash"
    # Of an array against itself all that is drawn cancels.
    same = held_figure(replace(reads, against="ssd-s4500"), native(), Plan(draws=20, jobs=1))
    assert (same.modelled, same.low, same.high) == (1.0, 1.0, 1.0)
    assert held_figure(replace(reads, exact="why"), native(), Plan(draws=20)).holds is None


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('array = "ssd-pm9a3"', 'array = "ssd-pm9a4"', "figure 1: there is no array 'ssd-pm9a4'; did you mean 'ssd-pm9a3'?"),
        ('metric = "iops"', 'metric = "iopz"', "figure 1: there is no metric 'iopz'; did you mean 'iops'?"),
        ("published = 200_000\n", "", "figure 1: published is missing"),
        ('workload = "random-write-4k"\n', "", "figure 1: give either a workload or its streams."),
        ("published = 200_000", "publiched = 200_000", "figure 1: there is no key 'publiched'; did you mean 'published'?"),
    ],
)
def test_what_is_wrong_in_the_list_is_told_in_a_sentence(tmp_path: Path, before: str, after: str, said: str):
    wrong = tmp_path / "products.toml"
    wrong.write_text(Path(PATH).read_text(encoding="utf-8").replace(before, after, 1), encoding="utf-8")
    with pytest.raises(InputError) as problem:
        read_product_figures(str(wrong))
    assert said in str(problem.value)


def test_other_options_of_claims_are_refused_with_products(capsys: pytest.CaptureFixture[str]):
    from plimsoll.cli.program import main

    assert main(["reproduce", "003", "--products"]) == 2
    assert "--products: all figures of arrays of today are worked out on this machine" in capsys.readouterr().err
