"""What the page may start and stop, and what it must never."""

import json
import os
import signal
import subprocess
import sys

import pytest

from plimsoll import catalog
from plimsoll.errors import InputError, SafetyRefusal
from plimsoll.store.writer import identity_of, is_alive, own_identity
from plimsoll.web.control import Control
from plimsoll.web.grants import grants
from report.synthetic import PROFILES, Array, write_run
from support.patience import wait_until
from web.served import PATIENCE_S, GoingOn, cookie_of, events, served

QUEUE = "queue:?service=exp:100us"


@pytest.fixture
def disks(tmp_path):
    """Two files that Plimsoll did not make."""
    found = [tmp_path / "precious", tmp_path / "spare"]
    for path in found:
        path.write_bytes(os.urandom(1 << 20))
    return [str(path) for path in found]


def test_permission_belongs_to_the_target_that_it_names_and_to_no_other(disks):
    precious, spare = grants(disks, [disks[1]])
    assert (precious.destroys, spare.destroys) == (None, disks[1])
    assert [grant.destroys for grant in grants(disks, [])] == [None, None]
    assert [grant.destroys for grant in grants(disks[:1], [""])] == [""]
    assert [grant.destroys for grant in grants(disks, [",".join(disks)])] == disks
    assert [grant.called for grant in grants([f"fast={disks[0]}"], [])] == ["fast"]


def test_permission_that_does_not_say_for_what_it_is_is_refused(disks):
    with pytest.raises(InputError, match=r"--destroy-data does not say which of 2 targets it is for"):
        grants(disks, [""])
    with pytest.raises(InputError, match=r"--destroy-data=WD-123 names none of the targets"):
        grants(disks, [disks[1], "WD-123"])
    with pytest.raises(InputError, match=r"is given twice; name each target once\."):
        grants([disks[0], disks[0]], [])


def test_permission_ends_when_the_path_leads_to_other_storage(disks):
    (grant,) = grants(disks[:1], [disks[0]])
    grant.check()
    os.unlink(disks[0])
    os.link(disks[1], disks[0])
    with pytest.raises(SafetyRefusal, match=r"no longer the storage that --destroy-data was given for"):
        grant.check()


@pytest.fixture
def begun(monkeypatch, tmp_path):
    """A `Control` whose suites are only written down."""
    commands, made = [], []

    class Process:
        def __init__(self, command, **_):
            commands.append(command)

        def poll(self):
            return None

    monkeypatch.setattr("plimsoll.web.control.subprocess.Popen", Process)

    def control(targets, typed):
        made.append(Control(str(tmp_path), grants(targets, typed)))
        return made[-1], commands

    yield control
    for one in made:
        one.close()


def _start(target, suite="four-corners", quick=True):
    return {"suite": suite, "target": target, "quick": quick}


def test_a_suite_may_destroy_only_what_the_command_line_gave_leave_for(begun, disks):
    control, commands = begun(disks, [disks[1]])
    for disk in disks:
        control.start(_start(disk), [])
    assert [[word for word in command if "--destroy" in word] for command in commands] == [[], [f"--destroy-data={disks[1]}"]]
    assert [command[command.index("--target") + 1] for command in commands] == disks


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (_start("queue:?service=exp:1ms"), "is no target of this page"),
        (_start(QUEUE, suite="mine.toml"), "'mine.toml' is no suite of Plimsoll's; there are analytics"),
        (_start(QUEUE, suite="four-corner"), "did you mean 'four-corners'?"),
        (_start(QUEUE, suite="--help"), "is no suite of Plimsoll's"),
        ({**_start(QUEUE), "destroy": True}, "a request has the fields suite, target, quick and no other."),
        ({**_start(QUEUE), "quick": 1}, "field quick is true or false."),
        ({**_start(QUEUE), "suite": ["four-corners"]}, "field suite is a text."),
        ([], "a request has the fields"),
        (None, "a request has the fields"),
    ],
)
def test_nothing_but_a_shipped_suite_on_a_given_target_is_started(begun, asked, said):
    control, commands = begun([QUEUE], [])
    with pytest.raises(InputError) as refused:
        control.start(asked, [])
    assert said in str(refused.value) and commands == []


def test_a_target_is_measured_by_one_suite_at_a_time(begun, disks, tmp_path):
    control, commands = begun(disks, [])
    control.start(_start(disks[0]), [])
    with pytest.raises(InputError, match="is being measured; wait for the end of that run, or stop it"):
        control.start(_start(disks[0]), [])
    elsewhere = {"name": "x", "status": "running", "targets": [disks[1]]}
    with pytest.raises(InputError, match="is being measured"):
        control.start(_start(disks[1]), [elsewhere])
    assert len(commands) == 1
    assert [target["busy"] for target in control.state([])["targets"]] == [True, False]


def test_a_record_that_points_at_another_program_stops_nothing(tmp_path):
    store = tmp_path / "store"
    run = GoingOn(store)
    meta = json.loads((run.path / "run.json").read_text())
    other = subprocess.Popen([sys.executable, "-c", "print(flush=True); input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    other.stdout.readline()
    try:
        for process in (identity_of(other.pid), own_identity()):
            (run.path / "run.json").write_text(json.dumps({**meta, "process": process}))
            control = Control(str(store), grants([QUEUE], []))
            with pytest.raises(InputError, match="cannot be told for certain; stop it where it was started"):
                control.stop({"run": run.path.name}, [{"name": run.path.name}])
        assert other.poll() is None
    finally:
        other.communicate(b"\n")


def test_what_has_ended_is_not_stopped(tmp_path):
    path = write_run(tmp_path / "2026-11-21T03-44-10_one", Array("one", seconds=5), PROFILES[:1])
    control = Control(str(tmp_path), grants([QUEUE], []))
    with pytest.raises(InputError, match="is not being measured on this machine"):
        control.stop({"run": path.name}, [{"name": path.name}])
    with pytest.raises(InputError, match=r"there is no run '\.\./x' in this store"):
        control.stop({"run": "../x"}, [])


#: One on which real time passes, and one that Plimsoll did not make.
GIVEN = ("--allow-runs", "--target", "slow=null:", "--target", "mine=./disk")


@pytest.fixture
def allowing(tmp_path, monkeypatch):
    """A server that starts suites on a file, in the directory of the file."""
    monkeypatch.chdir(tmp_path)
    with open("disk", "wb") as file:
        file.write(os.urandom(1 << 20))
    started = []

    def start(*words):
        started.append(served(tmp_path / "store", *(words or GIVEN)))
        return started[-1]

    yield start
    for one in started:
        one.stop()
    for meta in (tmp_path / "store").glob("*/run.json"):
        process = json.loads(meta.read_text())["process"]
        if is_alive(process):
            os.kill(process["pid"], signal.SIGKILL)


def _post(server, path, asked, **more):
    return server.ask(path, "POST", body=json.dumps(asked), headers={"Content-Type": "application/json", **more.pop("headers", {})}, **more)


def _runs(server):
    return json.loads(server.ask("/api/runs")[2])["runs"]


def test_a_started_suite_goes_on_without_its_server_and_is_stopped_by_the_next(allowing, tmp_path):
    server = allowing()
    assert _post(server, "/api/start", _start("slow", quick=False))[0] == 200
    wait_until(lambda: [entry["status"] for entry in _runs(server)] == ["running"], "no run came")
    assert server.stop() == 0
    again = allowing()
    (entry,) = _runs(again)
    assert entry["status"] == "running"
    status, _, text = _post(again, "/api/start", _start("slow"))
    assert (status, "is being measured" in text) == (400, True)
    assert _post(again, "/api/stop", {"run": entry["name"]})[0] == 200
    status, _, text = _post(again, "/api/stop", {"run": entry["name"]})
    assert status == 400 and ("is being stopped already" in text or "nothing to stop" in text)
    wait_until(lambda: [one["status"] for one in _runs(again)] == ["interrupted"], "it did not stop")
    kept = tmp_path / "store" / entry["name"] / "points"
    assert [(point / "intervals.jsonl").stat().st_size > 0 for point in sorted(kept.iterdir())][:1] == [True]


def test_what_a_suite_refuses_is_told(allowing):
    server = allowing()
    assert _post(server, "/api/start", _start("mine"))[0] == 200

    def told(found):
        last = [value["started"] for name, value in found if name == "control"][-1:]
        return bool(last and last[0] and last[0][0]["status"] == "failed")

    control = [value for name, value in events(server, "/api/events", told) if name == "control"][-1]
    assert "was not made by Plimsoll, and this workload would overwrite it" in control["started"][0]["said"]
    assert control["targets"] == [{"name": name, "destroys": False, "busy": False} for name in ("slow", "mine")]
    assert {suite["name"] for suite in control["suites"]} == set(catalog.suite_names())


def test_another_page_starts_and_stops_nothing(allowing):
    server = allowing()
    _, headers, _ = server.ask(f"/?token={server.token}", bearer=None)
    for path in ("/api/start", "/api/stop"):
        _refuses_others(server, path, headers)
    assert _runs(server) == []


def _refuses_others(server, path, headers):
    cookie = {"Cookie": cookie_of(headers)}
    for origin in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
        assert _post(server, path, _start("slow"), bearer=None, headers={**cookie, **origin})[0] == 403
    assert _post(server, path, _start("slow"), bearer=None)[0] == 401
    assert server.ask(path, "GET")[0] == 404
    # A form of another page can send text, and no JSON.
    status, _, text = server.ask(path, "POST", body="{}", headers={"Content-Type": "text/plain"})
    assert (status, "Content-Type: application/json" in text) == (400, True)


def test_hostile_requests_are_answered_in_a_sentence(allowing):
    server = allowing()
    hostile = [
        b"",
        b"{",
        b"[" * 4000,
        b"\xff",
        b'{"run": "x"}' + b" " * 5000,
        b'{"run": NaN}',
        b'{"run": "\\ud800\\n"}',
        b'{"run": "../.."}',
    ]
    for body in hostile:
        status, _, text = server.ask("/api/stop", "POST", body=body, headers={"Content-Type": "application/json"})
        assert status == 400 and text.endswith(".\n") and text.count("\n") == 1 and "Traceback" not in text, body


def test_nothing_is_started_where_the_command_line_did_not_allow_it(allowing, tmp_path):
    server = allowing("--port", "0")
    assert _post(server, "/api/start", _start("slow"))[0] == 404 and _post(server, "/api/stop", {"run": "x"})[0] == 404


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--allow-runs",), "--allow-runs starts suites on the targets given here; add --target."),
        (("--target", "null:"), "--target is for suites that the page starts; add --allow-runs."),
        (("--destroy-data",), "--destroy-data is for suites that the page starts; add --allow-runs."),
        (("--allow-runs", "-t", "null:", "-t", "queue:", "--destroy-data"), "does not say which of 2 targets"),
        (("--allow-runs", "-t", "null:", "--destroy-data=WD-1"), "names none of the targets"),
        (("--allow-runs", "-t", ""), "the name is empty"),
    ],
)
def test_permissions_that_cannot_be_are_said_at_start(tmp_path, words, said):
    done = subprocess.run(
        [sys.executable, "-m", "plimsoll", "serve", "--out", str(tmp_path), *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
