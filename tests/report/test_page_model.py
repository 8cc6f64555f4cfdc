"""The types of the page follow from the records of the view model, and what a report holds is of those records.

Renew them with ``PLIMSOLL_RENEW=1 pytest tests/report/test_page_model.py`` and look at the difference.
"""

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

from plimsoll.histogram import distribution
from plimsoll.reports import html
from plimsoll.reports.view.report import PointRecord, Report, RunRecord, view
from plimsoll.store.reader import open_run
from report.planned import PUBLISHED, Run, curve, matrix, ramp, scaling, single, steady, steps, write_planned
from report.records import strangers
from report.synthetic import Array, write_run

ROOT = Path(__file__).resolve().parents[2]


def generator():
    spec = importlib.util.spec_from_file_location("page_model", ROOT / "dev" / "page_model.py")
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found


def test_the_types_of_the_page_are_those_of_the_view_model():
    made = generator()
    if os.environ.get("PLIMSOLL_RENEW"):
        made.MODEL.write_text(made.render(), encoding="utf-8")
    assert made.MODEL.read_text(encoding="utf-8") == made.render(), "page/src/model.ts is stale: make bless"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A module of ours with this text, as the generator reads it."""

    def write(text):
        made = generator()
        (tmp_path / "plimsoll").mkdir(exist_ok=True)
        (tmp_path / "plimsoll" / "records.py").write_text(text)
        monkeypatch.setattr(made, "PYTHON", tmp_path)
        monkeypatch.setattr(made, "STARTS", (("plimsoll.records", "Report"),))
        return made

    return write


def test_a_field_keeps_its_comment_and_whether_it_may_be_missing(written):
    made = written(
        "class Spot(TypedDict):\n    at: int\n\n\n"
        'class ReportView(Spot):\n    """All of it."""\n\n    #: In ``ns``.\n    mean: NotRequired[float | None]\n    spots: list[Spot | None]\n'
    )
    made.STARTS = (("plimsoll.records", "ReportView"),)
    assert made.render().split("\n\n", 2)[2] == (
        "/** All of it. */\nexport interface Report {\n  at: number;\n  /** In `ns`. */\n  mean?: number | null;\n"
        "  spots: (Spot | null)[];\n}\n\nexport interface Spot {\n  at: number;\n}\n"
    )


@pytest.mark.parametrize(
    ("annotation", "said"),
    [("set[int]", "there is no type of the page for set[int]"), ("Thing", "uses Thing, which is neither defined nor imported")],
)
def test_what_has_no_type_of_the_page_is_said(written, annotation, said):
    made = written(f"class Report(TypedDict):\n    found: {annotation}\n")
    with pytest.raises(made.UnknownForm, match=said.replace("[", r"\[")):
        made.render()


def shown(*runs):
    """What the page is given of these runs."""
    records = [
        RunRecord(run.label, run.status, run.meta, [PointRecord(point.result, point.intervals(), point.monitor()) for point in run.points])
        for run in map(open_run, map(str, runs))
    ]
    return json.loads(html.json_block(view(records, distribution)))


def test_a_report_of_two_runs_is_what_its_records_say(tmp_path):
    one = Array("disk", label="disk", seconds=20, repeats=2, flags=(("oltp-db", "not-steady"),), parts=("0:/dev/sdb", "1:/dev/sdc"))
    two = Array("model", label="model", seconds=20, target="queue:?service=exp:1ms", modelled=True, open_loop=True)
    assert strangers(shown(*(write_run(tmp_path / array.name, array) for array in (one, two))), Report) == []


def test_a_report_of_experiments_is_what_its_records_say(tmp_path):
    planned = (single(), steps(), ramp(), curve(), scaling(), matrix(), steady())
    report = shown(write_planned(tmp_path / "planned", planned, Run(suite=PUBLISHED)))
    assert {name for name in ("experiments", "published", "suite") if report[name]} == {"experiments", "published", "suite"}
    assert strangers(report, Report) == []
