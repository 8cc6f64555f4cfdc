"""A replayed trace in the report: what was asked and what was achieved stand side by side in the point."""

from plimsoll.cli import main
from plimsoll.store.reader import list_runs
from report.browsing import open_point


def replayed(folder, monkeypatch, *arguments):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    lines = [f"{at * 100} disk read {at % 50 * 8192} 4096\n" for at in range(400)]
    (folder / "log").write_text("fio version 3 iolog\n" + "".join(lines))
    assert main(["replay", "log", *arguments]) == 0
    (run,) = list_runs("results")
    return folder / "results" / run.name / "report.html"


def table_of(report, opened):
    found = opened(report)
    point = found.page.locator("details.point").first
    open_point(point)
    table = point.locator("table", has=found.page.locator("caption", has_text="Replay of log"))
    rows = table.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.innerText.replace(/\\s/g, ' ')))"
    )
    assert found.problems == []
    return table.locator("caption").inner_text(), {row[0]: row[1:] for row in rows}


def test_lateness_gaps_and_outstanding_requests_are_shown(tmp_path, monkeypatch, opened):
    # One request at a time of 200 µs, one due each 100 µs: the last leaves 39.9 ms late.
    target = "queue:?service=const:200us&size=1GiB"
    caption, rows = table_of(replayed(tmp_path, monkeypatch, "-t", target, "-s", "queue_depth=1"), opened)
    assert caption == "Replay of log (fio iolog), as recorded: 400 of 400 requests (modelled)"
    assert rows["Lateness max"] == ["0 ns", "39.9 ms"]
    assert rows["Waited for a free slot"] == ["0 %", "99.8 %"]
    assert rows["Gap p50"] == ["100 µs", "200 µs"]
    assert rows["Distance of the gaps (0 to 1)"] == ["0", "1.00"]
    assert rows["Outstanding, mean"] == ["not known", "1.00"]
    assert rows["Lasted"] == ["0.04 s", "0.08 s"]


def test_as_fast_as_possible_nothing_is_late(tmp_path, monkeypatch, opened):
    caption, rows = table_of(replayed(tmp_path, monkeypatch, "-t", "queue:?size=1GiB", "--as-fast-as-possible"), opened)
    assert caption.startswith("Replay of log (fio iolog), as fast as possible: 400 of 400 requests")
    assert list(rows) == ["Outstanding, mean", "Response, mean (recorded)", "Lasted"]
