"""The file around the view model: self-contained, closed to the network, and safe whatever names the data holds."""

import base64
import hashlib
import json
import re

import pytest

from plimsoll.errors import StoreError
from plimsoll.reports import html

HOSTILE = "</script><script>alert(1)</script><!-- ]]> & \u2028"


def model(label="run"):
    return {"answer": {"title": label}, "runs": [{"label": label}], "points": []}


def test_data_can_end_neither_its_element_nor_the_page():
    block = html.json_block({"name": HOSTILE})
    assert not set("<>&\u2028\u2029") & set(block)
    assert json.loads(block) == {"name": HOSTILE}


def test_no_name_turns_the_sentence_around_in_which_it_stands():
    read = json.loads(html.json_block({"label": "a\u202eb", "marks": "\u061c\u200e\u200f\u202a\u2066\u2069"}))
    assert read == {"label": r"a\u202eb", "marks": r"\u061c\u200e\u200f\u202a\u2066\u2069"}


def test_numbers_that_json_lacks_are_refused_rather_than_written():
    with pytest.raises(ValueError, match="Out of range"):
        html.json_block({"iops": float("nan")})


def test_the_policy_allows_exactly_the_style_and_the_script_inside():
    page = html.page(model())
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    for element in ("style", "script"):
        (content,) = re.findall(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_the_page_refers_to_nothing_outside_itself():
    page = html.page(model())
    assert not re.findall(r"""<[^>]+\s(?:src|href|on\w+)\s*=""", page.split("<script", 1)[0])
    assert "@import" not in page
    assert "url(" not in page.split("</style>")[0]


def test_the_title_is_text():
    assert "<title>Plimsoll: &lt;b&gt; &amp; co</title>" in html.page(model("<b> & co"))


def test_a_report_that_cannot_be_written_says_so_in_a_sentence(tmp_path):
    with pytest.raises(StoreError, match="cannot be written"):
        html.write_page(model(), tmp_path / "absent" / "report.html")
    assert list(tmp_path.iterdir()) == []
