"""Reports and comparisons of stored runs as pages, as the commands write them into files; and what is shown where there is none.

page(report_page([open_run("latest")]))
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

from plimsoll.near import listed
from plimsoll.points.prices import prices_of_runs
from plimsoll.reports.html import model
from plimsoll.reports.view.report import Report
from plimsoll.store.reader import StoredRun, damage_named
from plimsoll.verbs.comparison import Comparison, ComparisonArguments


def report_page(runs: Sequence[StoredRun]) -> Report:
    """The view model of ``plimsoll report RUN...``."""
    with damage_named(point for run in runs for point in run.points):
        return model(runs, prices=prices_of_runs(runs, ()))


def compared_page(runs: Sequence[StoredRun], varying: Sequence[str]) -> Report:
    """The view model of ``plimsoll compare RUN... --varying WHAT``; raises `InputError` for what cannot be compared."""
    with damage_named(point for run in runs for point in run.points):
        found = Comparison(runs, ComparisonArguments(varying), ())
        return model(runs, comparison=found.compared, prices=found.prices)


_REFUSAL = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Plimsoll: {title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/live.css">
</head>
<body>
<main id="main">
<p class="back"><a href="/">All runs</a></p>
<h1>{title}</h1>
{text}
</main>
</body>
</html>
"""


def refusal_page(sentence: str) -> str:
    """A page with the sentence why there is no report."""
    return _REFUSAL.format(title="No report", text=_paragraphs(sentence))


def refused_comparison_page(sentence: str, names: Sequence[str], varying: Sequence[str]) -> str:
    """A page with the reasons why runs are not compared, and the way to compare them as they are where there is one."""
    words = [word for word in dict.fromkeys(re.findall(r"--varying (\w+)", sentence)) if word not in varying]
    text = _paragraphs(sentence)
    if words and names:
        asked = [*(("run", name) for name in names), *(("varying", word) for word in (*varying, *words))]
        offered = f"Compare them as they are: what differs is {listed(words, 'and')}"
        text += f'\n<p><a class="action" href="{escape(f"/compare?{urlencode(asked)}")}">{escape(offered)}</a></p>'
    return _REFUSAL.format(title="Not compared", text=text)


def _paragraphs(sentence: str) -> str:
    first, *others = (line.strip() for line in sentence.strip().splitlines())
    items = "".join(f"<li>{escape(line)}</li>" for line in others)
    return f'<p class="refused">{escape(first[:1].upper() + first[1:])}</p>' + (f'\n<ul class="refused">{items}</ul>' if items else "")
