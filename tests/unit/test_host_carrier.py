"""What carries a gang: what it listens on is known, a line says why it is lost, wires and copies hold what they were given."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from plimsoll.errors import StoreError
from plimsoll.gang import exposure, switchboard
from plimsoll.gang import keeper as keeper_module
from plimsoll.gang.copies import fetch, files_of, piece_of
from plimsoll.gang.keeper import LEASE_S, STARTS_S, Keeper
from plimsoll.gang.line import LineLost
from plimsoll.gang.wire import Wire, connected, listening
from support.patience import HANGS_S


@pytest.mark.parametrize(
    ("address", "closed"),
    [
        ("127.0.0.1:80", True),
        ("127.9.9.9:80", True),
        ("::1:80", True),
        ("::ffff:127.0.0.1:80", True),
        ("0.0.0.0:80", False),
        ("10.1.27.1:80", False),
        (":::80", False),
        ("::ffff:10.0.0.1:80", False),
        ("fe80::127:80", False),
    ],
)
def test_only_loopback_is_closed_to_others(address: str, closed: bool) -> None:
    assert exposure._is_loopback(address) is closed


def test_listening_sockets_are_found_with_their_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        inode = os.readlink(f"/proc/self/fd/{server.fileno()}").removeprefix("socket:[").removesuffix("]")
        assert {found: address for address, found in exposure.listeners()}[inode] == f"127.0.0.1:{server.getsockname()[1]}"


def test_a_gang_that_others_could_reach_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exposure, "marked", lambda nest: [os.getpid()])
    with socket.create_server(("127.0.0.1", 0)) as server:
        switchboard._check_closed("nest", (), network=False, ask=list)
        port = server.getsockname()[1]
        theirs = [(f"0.0.0.0:{port}", inode) for address, inode in exposure.listeners() if address.endswith(f":{port}")]
        monkeypatch.setattr(exposure, "listeners", lambda: iter(theirs))
        with pytest.raises(Exception, match=rf"refused: the gang would listen on 0\.0\.0\.0:{port}"):
            switchboard._check_closed("nest", (), network=False, ask=list)


def test_a_line_whose_switchboard_is_gone_is_lost(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    server = listening(path)
    line = switchboard._Carried(path, "db1")
    threading.Thread(target=lambda: Wire(server.accept()[0]).close(), daemon=True).start()
    with pytest.raises(LineLost, match="what carries the calls to it has ended"):
        line.call("clock", within_s=5.0)
    line.close()
    server.close()


def test_a_socket_is_its_user_s_alone(tmp_path: Path) -> None:
    with listening(str(tmp_path / "s")):
        assert (tmp_path / "s").stat().st_mode & 0o077 == 0


def test_a_wire_that_nobody_reads_gives_its_connection_back_when_it_is_closed(tmp_path: Path) -> None:
    # Its descriptor stayed open until the garbage was collected, which warned in the middle of some other test.
    with listening(str(tmp_path / "s")) as server:
        here = connected(str(tmp_path / "s"))
        there = Wire(server.accept()[0])
        with pytest.raises(TimeoutError):
            here.received(0.001)
        here.close()
        assert there.received() is None
        there.close()
        assert (here._connection.fileno(), there._connection.fileno()) == (-1, -1)
        assert here.received() is None


def test_a_wire_that_is_closed_ends_the_wait_of_who_reads(tmp_path: Path) -> None:
    with listening(str(tmp_path / "s")) as server, connected(str(tmp_path / "s")) as here:
        there = Wire(server.accept()[0])
        found: list[object] = []
        reading = threading.Thread(target=lambda: found.append(here.received()))
        reading.start()
        here.close()
        reading.join(HANGS_S)
        there.close()
        assert (found, here._connection.fileno()) == ([None], -1)


def test_a_wire_carries_messages_and_tells_of_the_end(tmp_path: Path) -> None:
    with listening(str(tmp_path / "s")) as server, connected(str(tmp_path / "s")) as here:
        there = Wire(server.accept()[0])
        here.send({"say": "größer", "n": 1})
        assert there.received() == {"say": "größer", "n": 1}
        with pytest.raises(TimeoutError):
            there.received(0.01)
        here.close()
        assert there.received() is None
        there.close()


def test_a_keeper_waits_for_the_first_question_longer_than_for_the_next(tmp_path: Path) -> None:
    (tmp_path / "db1").mkdir()
    (tmp_path / "keeper.json").write_text(json.dumps({"workers": ["db1"], "carriers": []}))
    lease = tmp_path / "db1" / "lease"
    lease.touch()
    keeper = Keeper(str(tmp_path))
    assert not keeper._is_wanted(), "nobody is left to be wanted"
    keeper._workers = {1: "db1"}
    begun = keeper._begun
    # Everything takes its time to come up.
    keeper._begun = begun - LEASE_S - 10
    os.utime(lease, (keeper._begun - 1, keeper._begun - 1))
    assert keeper._is_wanted()
    # It was asked once, and not for longer than a lease.
    os.utime(lease, (keeper._begun + 1, keeper._begun + 1))
    assert not keeper._is_wanted()
    os.utime(lease, (begun, begun))
    assert keeper._is_wanted()
    keeper._begun = begun - STARTS_S - 10
    os.utime(lease, (keeper._begun - 1, keeper._begun - 1))
    assert not keeper._is_wanted(), "what never came up is given up"


def stored(folder: Path) -> str:
    point = folder / "runs" / "points" / "0001-x"
    point.mkdir(parents=True)
    (point / "result.json").write_text("{}")
    (point / "intervals.jsonl").write_bytes(b"line\n" * 500_000)
    (folder / "runs" / "run.json").write_text('{"status": "running"}')
    return "runs/points/0001-x"


def carried(folder: Path) -> object:
    verbs = {"files": lambda path: files_of(str(folder), path), "piece": lambda path, offset: piece_of(str(folder), path, offset)}
    return lambda verb, *arguments: verbs[verb](*arguments)


def test_a_copy_holds_every_byte_and_replaces_an_older_one(tmp_path: Path) -> None:
    theirs, into = tmp_path / "worker", tmp_path / "run" / "hosts" / "db1"
    point = stored(theirs)
    old = into / "points" / "0001-x"
    old.mkdir(parents=True)
    (old / "job.json").write_text("old")
    fetch(carried(theirs), point, str(into))
    assert sorted(path.name for path in old.iterdir()) == ["intervals.jsonl", "result.json"]
    assert (old / "intervals.jsonl").read_bytes() == (theirs / point / "intervals.jsonl").read_bytes()
    assert (into / "run.json").read_text() == '{"status": "running"}'
    assert (theirs / point / "result.json").is_file(), "the worker's own stays"


def test_nothing_outside_of_what_a_worker_stores_is_copied(tmp_path: Path) -> None:
    stored(tmp_path / "worker")
    (tmp_path / "secret").mkdir()
    (tmp_path / "worker" / "out").symlink_to(tmp_path / "secret")
    for path in ("../secret", "/etc", "out"):
        with pytest.raises(StoreError, match="is no file of this worker's"):
            files_of(str(tmp_path / "worker"), path)


def test_a_worker_that_ignored_its_first_word_to_leave_is_told_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Seen where another host was refused: a worker that had just been started stayed for two minutes.
    (tmp_path / "keeper.json").write_text(json.dumps({"workers": ["db1"], "carriers": []}))
    script = f"trap '' TERM; touch {tmp_path}/up; sleep 0.5; trap 'exit 0' TERM; while :; do sleep 0.02; done"
    process = subprocess.Popen(["sh", "-c", script])
    while not (tmp_path / "up").exists():
        time.sleep(0.01)
    keeper = Keeper(str(tmp_path))
    keeper._workers = {process.pid: "db1"}
    # Who is never told again goes some time all the same.
    patience = threading.Timer(20.0, process.kill)
    patience.start()
    said = []
    monkeypatch.setattr(keeper_module, "_note", lambda _path, note: said.append(note["how"]))
    keeper._end()
    patience.cancel()
    process.returncode = 0
    assert said == ["its worker ended with exit code 0"]
