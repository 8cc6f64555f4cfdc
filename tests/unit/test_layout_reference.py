"""The reference page and the schema of layouts follow from the declarations, and hold for every shipped layout.

Renew both with ``PLIMSOLL_RENEW=1 pytest tests/unit/test_layout_reference.py`` and look at the difference.
"""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from plimsoll.catalog.layouts import layout_document, layout_names
from plimsoll.layouts.document import read_layout
from plimsoll.layouts.kinds import LAYERS, TABLES
from plimsoll.layouts.reference import EXAMPLE, layout_schema, layouts_page

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("layouts.md", layouts_page()),
        ("layout.schema.json", json.dumps(layout_schema(), indent=2, ensure_ascii=False) + "\n"),
    ],
)
def test_the_generated_documents_are_up_to_date(name: str, text: str) -> None:
    path = REFERENCE / name
    if os.environ.get("PLIMSOLL_RENEW"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_the_page_names_every_kind_and_every_key() -> None:
    page = layouts_page()
    for kind in (*LAYERS.values(), *TABLES.values()):
        assert f"`{kind.name}`" in page or f"`[{kind.name}]`" in page
        assert all(f"\n| `{option.name}` |" in page for option in kind.options)
    assert "None" not in page


@pytest.mark.parametrize("name", layout_names())
def test_every_shipped_layout_keeps_the_schema(name: str) -> None:
    jsonschema.validate(layout_document(name), layout_schema())


@pytest.mark.parametrize(
    "document",
    [
        {"layer": [{"kind": "lvn"}]},
        {"layer": [{"kind": "raid"}]},
        {"layer": [{"kind": "raid", "level": "7"}]},
        {"layer": [{"kind": "raid", "level": "5", "stripe_size": "64KiB"}]},
        {"filesystem": {}},
        {"volumes": []},
    ],
)
def test_what_the_reader_refuses_the_schema_refuses(document: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, layout_schema())


def test_the_example_is_read() -> None:
    layout = read_layout(tomllib.loads(EXAMPLE), "example")
    assert [layer.kind for layer in layout.layers] == ["raid", "lvm"]
    jsonschema.validate(tomllib.loads(EXAMPLE), layout_schema())
