"""What a browser is told while a run goes on."""

import http.client
import signal

from plimsoll.store.tail import Tail
from plimsoll.stored import Interval
from plimsoll.web.events import BrowserState, News
from plimsoll.web.listing import Entry, Listing
from plimsoll.web.live import Live
from report.records import strangers
from report.synthetic import PROFILES, Array, write_run
from web.served import PATIENCE_S, GoingOn, events


def _live(found):
    return [value for name, value in found if name == "live"]


def test_a_run_is_told_from_its_first_interval_to_its_end(serve, tmp_path):
    run = GoingOn(tmp_path)
    server = serve(tmp_path)
    path = f"/api/events?run={run.path.name}"
    first = events(server, path, _live)
    assert [name for name, _ in first] == ["hello", "runs", "live"]
    (live,) = _live(first)
    assert (live["status"], live["ended"], live["planned"]) == ("running", 2, 3)
    assert live["point"]["point"]["timeline"] is None and live["point"]["passed_s"] == 0
    assert strangers(live, Live) == [] and strangers(first[1][1], list[Entry]) == []

    run.intervals(4, torn=True)
    (*_, live) = _live(events(server, path, lambda found: _live(found)[-1:] and _live(found)[-1]["point"]["passed_s"] > 0))
    assert len(live["point"]["point"]["timeline"]["start_s"]) == 4
    assert live["point"]["point"]["host"] is not None
    assert live["left_s"] == live["point"]["planned_s"] - live["point"]["passed_s"]

    seen = []

    def ended(found):
        if not seen:
            run.end()
        seen.append(found[-1][0])
        return "report" in seen

    told = events(server, path, ended)
    assert _live(told)[-1]["status"] == "complete" and _live(told)[-1]["point"] is None
    (entry,) = [value for name, value in told if name == "runs"][-1]
    assert (entry["status"], entry["points"]) == ("complete", 3)


def test_a_line_that_is_not_whole_is_waited_for(tmp_path):
    path = tmp_path / "intervals.jsonl"
    tail = Tail(str(path), Interval, keep=480)
    assert tail.read() == []
    whole = '{"index":0,"phase":"measure","start_ns":0,"end_ns":1000,"cells":[]}\n'
    path.write_text(whole + whole[:20])
    assert len(tail.read()) == 1
    with open(path, "a") as file:
        file.write(whole[20:])
    assert len(tail.read()) == 1 and tail.read() == []


def test_nothing_is_told_twice():
    told = BrowserState()
    live = {"name": "a", "status": "running", "ended": 1}
    assert len(told.news(News([], live))) == 2
    assert told.news(News([], live)) == []
    assert [said.partition("\n")[0] for said in told.news(News([], {**live, "ended": 2}))] == ["event: live", "event: report"]
    assert len(told.problem("gone")) == 1 and told.problem("gone") == []
    assert told.news(News([], {**live, "ended": 2})) == [] and len(told.problem("gone")) == 1


def test_doubts_are_counted_afterwards_and_known_from_then_on(tmp_path):
    array = Array("doubtful", seconds=5, flags=((PROFILES[0].name, "not-steady"),))
    write_run(tmp_path / "2026-11-21T03-44-10_one", array, PROFILES[:2])
    listing = Listing(str(tmp_path))
    assert [entry["doubts"] for entry in listing.entries()] == [None]
    assert listing.count_doubts()
    assert [entry["doubts"] for entry in listing.entries()] == [1]
    assert not listing.count_doubts()


def test_a_damaged_run_is_listed_with_what_is_wrong(tmp_path):
    path = write_run(tmp_path / "2026-11-21T03-44-10_one", Array("one", seconds=5), PROFILES[:1])
    (path / "run.json").write_text("{")
    (tmp_path / "no-run").mkdir()
    (tmp_path / "file").write_text("")
    (entry,) = Listing(str(tmp_path)).entries()
    assert entry["status"] == "unreadable" and "not JSON" in entry["problem"]


def test_an_absent_store_has_no_runs_and_one_that_comes_is_seen(serve, tmp_path):
    server = serve(tmp_path / "absent")
    assert server.ask("/api/runs")[2].endswith('"runs":[]}')
    write_run(tmp_path / "absent" / "2026-11-21T03-44-10_one", Array("one", seconds=5), PROFILES[:1])
    events(server, "/api/events", lambda found: found[-1][0] == "runs" and len(found[-1][1]) == 1)
    assert server.process.stderr.readline() == f"plimsoll: shows {tmp_path / 'absent'}, which is not there yet, until Ctrl-C\n"


def test_a_run_that_is_gone_is_said_and_the_list_goes_on(serve, tmp_path):
    server = serve(tmp_path)
    told = events(server, "/api/events?run=absent", lambda found: found[-1][0] == "problem")
    assert told[-1][1] == {"sentence": "there is no run 'absent' in this store."}


def test_a_comparison_that_is_refused_says_why(serve, tmp_path):
    for name in ("a", "b"):
        write_run(tmp_path / f"2026-11-21T03-44-10_{name}", Array(name, seconds=5), PROFILES[:1] if name == "a" else PROFILES[1:2])
    server = serve(tmp_path)
    assert server.ask("/compare")[0] == 400
    status, headers, text = server.ask("/compare?run=2026-11-21T03-44-10_a&run=2026-11-21T03-44-10_b")
    assert (status, headers["content-type"]) == (400, "text/plain; charset=utf-8")
    assert text.endswith(".\n") and "Traceback" not in text
    asked = "/compare?run=2026-11-21T03-44-10_a&run=2026-11-21T03-44-10_b"
    status, headers, text = server.ask(asked, headers={"Accept": "text/html,*/*;q=0.8"})
    assert (status, headers["content-type"]) == (400, "text/html; charset=utf-8") and "<h1>Not compared</h1>" in text
    assert f'href="{asked.replace("&", "&amp;")}&amp;varying=workload"' in text
    assert "varying=" not in server.ask(f"{asked}&varying=nothing", headers={"Accept": "text/html"})[2]


def test_a_page_that_there_is_not_says_so_and_leads_back(serve, tmp_path):
    status, headers, text = serve(tmp_path).ask("/runs/%3Cscript%3E/report", headers={"Accept": "text/html"})
    assert (status, headers["content-type"]) == (404, "text/html; charset=utf-8") and "script-src 'self'" in headers[
        "content-security-policy"
    ]
    assert "There is no run &#x27;&lt;script&gt;&#x27; in this store." in text and '<a href="/">All runs</a>' in text


def test_ctrl_c_ends_a_server_that_is_being_listened_to_without_a_word(serve, tmp_path):
    server = serve(tmp_path)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    connection.request("GET", "/api/events", headers={"Host": server.place, "Authorization": f"Bearer {server.token}"})
    connection.getresponse().readline()
    server.process.send_signal(signal.SIGINT)
    _, said = server.process.communicate(timeout=PATIENCE_S)
    assert (server.process.returncode, said) == (0, f"plimsoll: shows {tmp_path} until Ctrl-C\n")
    connection.close()
