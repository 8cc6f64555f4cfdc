"""HTML report: one self-contained file with markup, style, script and data that needs no network.

Model: the page is a fixed skeleton; style and script are the built bundle in `page/` (made from the TypeScript in the
repository's `page/` directory, so no user needs Node), the data is the view model as a JSON block that the script draws.
Safety: a Content-Security-Policy allows exactly this style and this script, by hash, and no connection at all; the data cannot
leave its block because every `<`, `>` and `&` in it is written as a JSON escape. Data of more than a megabyte is packed (deflate, base64);
the page unpacks it before it draws.
Limits: without JavaScript the page shows only a sentence; `x.csv` holds every number for other tools.

    write([open_run("results/2026-11-21T03-36-29_proliant")], Path("report.html"))
"""

from __future__ import annotations

import base64
import gc
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.analysis.price.per_unit import Prices
from plimsoll.displayed import displayed, displayed_in_line, encoded
from plimsoll.histogram import distribution
from plimsoll.reports.view.point import Course
from plimsoll.reports.view.report import Heard, PointRecord, Report, RunRecord, Shown, outlined, view
from plimsoll.store.durable import replace_file
from plimsoll.store.reader import StoredRun

if TYPE_CHECKING:
    from plimsoll.reports.view.choice import ChoicePage

#: Data longer than this is packed.
PACKED_FROM = 1_000_000
#: How every page begins.
BEGINNING = "<!doctype html>\n<!-- Plimsoll -->\n"
_BYTES = re.compile("[\udc80-\udcff]")
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SKELETON = (
    BEGINNING
    + """<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Plimsoll">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript><p>This report draws its charts with the script inside this file: allow JavaScript to see them.</p></noscript>
{home}<div id="report"></div>
{data}
<script>{script}</script>
</body>
</html>
"""
)


def write(
    runs: Sequence[StoredRun], path: Path, *, comparison: Comparison | None = None, prices: Prices | None = None, heard: Heard | None = None
) -> None:
    """Write the report of `runs` to `path`; the file appears complete or not at all.

    ``comparison`` is that of `plimsoll.analysis.comparison.comparison`; the report then begins with its findings. ``prices`` are what its
    sides cost. ``heard`` is told how many points were drawn, and of how many.
    """
    with _collector_at_rest():
        found = outlined([_record(run) for run in runs], distribution, Shown(comparison, prices), heard)
        write_page(found.report, path, found.courses)


def model(
    runs: Sequence[StoredRun], *, comparison: Comparison | None = None, prices: Prices | None = None, heard: Heard | None = None
) -> Report:
    """The view model of the report of `runs`."""
    return view([_record(run) for run in runs], distribution, Shown(comparison, prices), heard)


def write_page(shown: Report, path: Path, courses: Iterable[Course] | None = None) -> None:
    """Write the page of a view model; ``courses`` are those of its points, where these have none yet."""
    replace_file(str(path), encoded(page(shown, courses)), durable=False)


def write_choice_page(shown: ChoicePage, path: Path) -> None:
    """Write the page of a choice."""
    replace_file(str(path), encoded(_whole(f"Plimsoll: {shown['title']}", _held(iter([json_block(shown)])))), durable=False)


def page(shown: Report, courses: Iterable[Course] | None = None, *, home: str | None = None) -> str:
    """The whole page around a view model, with a way back to the list of runs where it is served from there."""
    return _whole(_title(shown), data_element(shown, courses), f'<p class="home"><a href="{home}">All runs</a></p>\n' if home else "")


def _whole(title: str, data: str, home: str = "") -> str:
    bundle = files("plimsoll.reports") / "page"
    script = (bundle / "report.js").read_text(encoding="utf-8")
    style = (bundle / "report.css").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return _SKELETON.format(policy=policy, title=_text(title), style=style, home=home, data=data, script=script)


def data_element(shown: Report, courses: Iterable[Course] | None = None) -> str:
    """The element with the data: as JSON, or packed where it is long, so that reports of hundreds of points can be sent and opened."""
    return _held(_pieces(shown, courses))


def _held(pieces: Iterator[str]) -> str:
    begun: list[str] = []
    size = 0
    for piece in pieces:
        begun.append(piece)
        size += len(piece)
        if size > PACKED_FROM:
            return _packed(chain(begun, pieces))
    return f'<script type="application/json" id="data">{"".join(begun)}</script>'


def _packed(pieces: Iterable[str]) -> str:
    deflater = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    size, rest = 0, b""
    texts: list[str] = []
    for piece in pieces:
        whole = encoded(piece)
        size += len(whole)
        rest += deflater.compress(whole)
        # Three bytes make four letters.
        threes = len(rest) // 3 * 3
        texts.append(base64.b64encode(rest[:threes]).decode())
        rest = rest[threes:]
    texts.append(base64.b64encode(rest + deflater.flush()).decode())
    return f'<script type="application/x-deflate" id="data" data-length="{size}">{"".join(texts)}</script>'


def _pieces(shown: Report, courses: Iterable[Course] | None) -> Iterator[str]:
    """The JSON of a view model, its points one by one."""
    drawn: Iterator[Course] | None = None if courses is None else iter(courses)
    mark = "{"
    for name, value in shown.items():
        yield f"{mark}{json_block(name)}:"
        mark = ","
        if name != "points":
            yield json_block(value)
            continue
        for number, point in enumerate(shown["points"]):
            yield ("," if number else "[") + json_block(point if drawn is None else {**point, **next(drawn)})
        yield "]" if shown["points"] else "[]"
    yield "}"


def json_block(value: object) -> str:
    """JSON that can stand inside a script element: no character of it can end the element or start another."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # The page has no bytes that are no UTF-8, so it shows them as sentences do.
    text = _BYTES.sub(lambda found: "\\" + displayed(found[0]), text)
    # Nor does a name turn the direction of the sentence around in which it stands.
    text = _DIRECTIONS.sub(lambda found: "\\" + displayed(found[0]), text)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Nothing that is drawn refers back to what holds it, so Python's search for circles would go through all of it in vain."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _record(run: StoredRun) -> RunRecord:
    points = [PointRecord(point.result, point.intervals(), point.monitor()) for point in run.points]
    return RunRecord(run.label, run.status, run.meta, points)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(encoded(text)).digest()).decode()


def _title(shown: Report) -> str:
    return f"Plimsoll: {shown['answer']['title']}"


def _text(text: str) -> str:
    return displayed_in_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
