"""The tables of docs/arrays.md follow from the catalog, and the page's example works.

Renew with ``PLIMSOLL_RENEW=1 pytest tests/unit/test_array_reference.py`` and look at the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from plimsoll.catalog.arrays import array_document, array_names, described, families
from plimsoll.catalog.composition.reference import names_of_arrays, names_of_parts

PAGE = Path(__file__).resolve().parents[2] / "docs" / "arrays.md"


def with_section(text: str, name: str, content: str) -> str:
    return re.sub(
        rf"(<!-- {name} -->\n).*(<!-- /{name} -->)", lambda found: f"{found[1]}\n{content.rstrip()}\n\n{found[2]}", text, flags=re.DOTALL
    )


def test_the_tables_are_up_to_date():
    text = PAGE.read_text(encoding="utf-8")
    renewed = with_section(with_section(text, "names", names_of_arrays(families())), "parts", names_of_parts())
    if os.environ.get("PLIMSOLL_RENEW"):
        PAGE.write_text(renewed, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == renewed


def test_the_arrays_named_in_the_guide_exist():
    text = PAGE.read_text(encoding="utf-8").split("<!-- names -->")[0]
    named = re.findall(r"array:([a-z][\w-]+)", text) + re.findall(r'like = "([\w-]+)"', text)
    by_family = [target for target in re.findall(r"array:([a-z][\w-]+\?[\w.=&-]+)", text) if target.partition("?")[0] not in array_names()]
    assert len(named) >= 4 and set(named) <= {*array_names(), *(family.name for family in families())}
    assert by_family
    for target in by_family:
        assert described(f"array:{target}")["name"] in array_names()


def test_the_example_of_the_guide_is_an_array(tmp_path):
    example = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    path = tmp_path / "mine.toml"
    path.write_text(example[1])
    assert array_document(str(path))["devices"][0]["model"]["rotation_rpm"] == 15_000
