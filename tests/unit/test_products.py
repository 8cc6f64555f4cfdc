"""Every array of today stands in docs/products.md, with a figure that was not used to set it or a word that none was found."""

from __future__ import annotations

import tomllib
from pathlib import Path

from plimsoll.catalog.arrays import array_names, families

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "products.md").read_text(encoding="utf-8")
FIGURES = tomllib.loads((ROOT / "tests" / "support" / "products.toml").read_text(encoding="utf-8"))["figure"]
TODAY = [family for family in families() if "today" in family.tags()]


def test_there_are_ten_products_of_today_and_all_stand_in_the_guide():
    named = [family.name for family in TODAY]
    assert all(f"| `{name}` |" in PAGE for name in named)
    # Drives by model, controllers, volumes by class; md, NVMe/TCP and the store count once each.
    axes = {"model", "controller", "volume"}
    assert sum(len(axis.values) for family in TODAY for axis in family.axes if axis.name in axes) + 3 >= 10


def test_a_product_is_held_against_a_published_figure_or_the_guide_says_that_none_was_found():
    held = {figure["target"] for figure in FIGURES}
    missing = PAGE.partition("**No figure was found**")[2].partition("##")[0]
    for family in TODAY:
        for name in family.names():
            words = {name, family.name, *name.split("-")}
            is_like = any(target.split("-")[:2] == name.split("-")[:2] for target in held)
            assert is_like or any(f"`{word}`" in missing for word in words) or family.name == "cloud", name


def test_every_figure_names_an_array_and_where_it_was_published():
    for figure in FIGURES:
        assert {figure["target"], figure.get("against", figure["target"])} <= set(array_names())
        assert (
            any(year in figure["source"] for year in ("201", "202"))
            or "specification" in figure["source"]
            or "slideshare" in figure["source"]
        )
        assert f"| `{figure['target']}` | {figure['what']} |" in PAGE
