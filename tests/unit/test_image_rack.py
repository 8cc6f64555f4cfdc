"""Which machine of a rack this is, what it may do there, and what machines of a rack do for each other."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.errors import InputError, SafetyRefusal
from plimsoll.gang.lineup import HOSTS_MAX
from plimsoll.image.course import Course, Home
from plimsoll.image.disks import Disk
from plimsoll.image.machine import handed, taken
from plimsoll.image.plan import plan_of
from plimsoll.image.rack import Rack, admitted, rack_of, sshd
from plimsoll.image.settings import read
from plimsoll.image.together import GATHER_S, Clock, Gathering
from plimsoll.lab.document import read_lab

HOSTS = ("10.0.0.11", "10.0.0.12", "db3")
A, B = (Disk(f"vd{name}", f"/dev/disk/by-id/virtio-{name.upper()}", "QEMU", name.upper(), 10**9) for name in "ab")
ASKED = (
    "plimsoll.suite=four-corners plimsoll.quick plimsoll.target=serial:A,B,C plimsoll.destroy=A,B,C plimsoll.hosts=10.0.0.11,10.0.0.12,db3"
)


def _resolved(name: str) -> Collection[str]:
    return {"db3": {"10.0.0.13"}}.get(name, {name})


@pytest.mark.parametrize(("own", "rank"), [({"10.0.0.11"}, 0), ({"fd00::7", "10.0.0.12"}, 1), ({"10.0.0.13"}, 2), ({"db3"}, 2)])
def test_a_machine_finds_itself_by_an_address_or_its_name(own: set[str], rank: int) -> None:
    rack = rack_of(read(ASKED), own, "/s", _resolved)
    assert (rack.hosts, rack.rank, rack.leads) == (HOSTS, rank, rank == 0)
    assert rack.others == tuple(host for host in HOSTS if host != HOSTS[rank])


def test_a_machine_that_nobody_named_measures_nothing() -> None:
    with pytest.raises(InputError, match=r"this machine \(10.0.0.9\) is none of 10.0.0.11, 10.0.0.12, db3; it measures nothing"):
        rack_of(read(ASKED), {"10.0.0.9"}, "/s", _resolved)


def test_one_machine_that_was_named_twice_is_refused() -> None:
    with pytest.raises(InputError, match=r"10.0.0.11 and db3 are both this machine"):
        rack_of(read(ASKED), {"10.0.0.11", "10.0.0.13"}, "/s", _resolved)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("plimsoll.hosts=10.0.0.11", "plimsoll.hosts: 1 named; name 2 to 64 machines, with commas between them."),
        ("plimsoll.hosts=a,a", "plimsoll.hosts: a is named twice; name each machine once."),
        ("plimsoll.hosts=a,-oProxyCommand=x", "plimsoll.hosts: '-oProxyCommand=x' is no address and no name"),
        ("plimsoll.hosts=a,b", "plimsoll.hosts is given, plimsoll.suite and plimsoll.target are not; give them, the same on each machine."),
        ("plimsoll.share=full", "plimsoll.share is given and plimsoll.hosts is not; a machine by itself shares nothing."),
        (
            "plimsoll.hosts=a,b,c plimsoll.suite=check plimsoll.target=serial:A,B",
            "plimsoll.target names 2 disks for 3 machines; name one for each, in their order, or one for all.",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(typed: str, said: str) -> None:
    (problem,) = read(typed).problems
    assert said in problem


def test_as_many_machines_can_be_named_as_a_gang_has() -> None:
    named = [f"h{number}" for number in range(HOSTS_MAX + 1)]
    what = "plimsoll.suite=check plimsoll.target=serial:A"
    assert read(f"{what} plimsoll.hosts={','.join(named[:-1])}").problems == ()
    assert "65 named; name 2 to 64" in read(f"{what} plimsoll.hosts={','.join(named)}").problems[0]


def test_settings_of_a_rack_are_handed_over_whole() -> None:
    settings = read(f"{ASKED} plimsoll.share=slices")
    assert settings.problems == ()
    assert taken(handed(settings)) == settings


def test_each_machine_looks_at_its_own_disk_and_the_first_measures_on_all() -> None:
    first, second = (rack_of(read(ASKED), {host}, "/s", _resolved) for host in HOSTS[:2])
    plan = plan_of(read(ASKED), [A, B], second)
    assert plan.disk is B
    base = ["--quick", "--destroy-data=A,B,C", "--label", "10.0.0.11, 10.0.0.12, db3", "--out", "r"]
    assert plan.rehearsal("r") == ["plimsoll", "suite", "four-corners", "--target", B.path, *base, "--dry-run"]
    leading = plan_of(read(ASKED), [A, B], first)
    assert leading.measure("r") == ["plimsoll", "suite", "four-corners", "--target", "{target}", "--hosts", "/s/rack.toml", *base]
    assert leading.identity("m") != replace(leading, rack=None).identity("m")


def test_one_disk_that_all_reach_is_the_same_for_each_and_says_how_it_is_shared() -> None:
    settings = read("plimsoll.suite=check plimsoll.target=serial:A plimsoll.hosts=10.0.0.11,10.0.0.12 plimsoll.share=slices")
    for host in HOSTS[:2]:
        plan = plan_of(settings, [A, B], rack_of(settings, {host}, "/s"))
        assert plan.disk is A
        assert plan.measure("r")[2:8] == ["--target", "{target}", "--hosts", "/s/rack.toml", "--share", "slices"]


@pytest.mark.parametrize("destroy", ["A", "A,B", "A,B,D", "B,A,C", "A,B,C,D"])
def test_permission_to_write_is_for_all_disks_that_were_named_or_for_none(destroy: str) -> None:
    settings = read(ASKED.replace("destroy=A,B,C", f"destroy={destroy}"))
    with pytest.raises(SafetyRefusal, match=rf"plimsoll.destroy names '{destroy}' and plimsoll.target 'A,B,C'; nothing is written"):
        plan_of(settings, [A, B], rack_of(settings, {"10.0.0.11"}, "/s", _resolved))


def test_the_file_of_the_lab_reaches_each_machine_with_the_racks_key_alone_over_ssh(tmp_path: Path) -> None:
    path = tmp_path / "rack.toml"
    path.write_text(Rack(HOSTS, 0, "/s").lab([A.path, B.path, '/dev/disk/by-id/odd"name']))
    lineup = read_lab(str(path))
    assert (lineup.names, lineup.carrier, lineup.launcher) == (HOSTS, "ssh", "ssh")
    assert dict(lineup.targets) == {HOSTS[0]: A.path, HOSTS[1]: B.path, HOSTS[2]: '/dev/disk/by-id/odd"name'}
    assert {(seat.user, seat.key, seat.known_hosts) for seat in lineup.seats} == {("root", "/s/rack", "/s/rack-known-hosts")}
    assert tomllib.loads(path.read_text())["carrier"] == "ssh"


def test_who_is_reached_has_the_racks_key_and_who_is_let_in_can_only_run_commands() -> None:
    words = Rack(HOSTS, 0, "/s").over_ssh("10.0.0.12", "cat", "/s/a b")
    options = {words[place + 1] for place, word in enumerate(words) if word == "-o"}
    wanted = {"StrictHostKeyChecking=yes", "UserKnownHostsFile=/s/rack-known-hosts", "GlobalKnownHostsFile=/dev/null", "IdentitiesOnly=yes"}
    assert wanted < options
    assert words[-3:] == ["--", "10.0.0.12", "cat '/s/a b'"]
    assert admitted("ssh-ed25519 AAAA") == "restrict ssh-ed25519 AAAA\n"
    assert sshd("/s/rack", "/plimsoll").splitlines() == ["HostKey /s/rack", "SetEnv XDG_STATE_HOME=/plimsoll/state"]


class Machines:
    """The other machines, as ssh shows them: ``offers`` come in turn, an exit code or what the file of the offer says."""

    def __init__(self, rack: Rack, offers: dict[str, list[object]]) -> None:
        self.rack, self.offers = rack, offers
        self.commands: list[list[str]] = []
        self.over: list[str] = []
        self.now_s = 0.0

    def run(self, words: Sequence[str], heard: Callable[[str], None]) -> int:
        self.commands.append(list(words))
        if words[0] != "ssh":
            return 0
        host, command = words[-2], words[-1]
        if command.startswith("touch "):
            self.over.append(host)
            return 0
        if not command.startswith("cat "):
            return 0
        turns = self.offers[host]
        answer = turns.pop(0) if len(turns) > 1 else turns[0]
        if isinstance(answer, int):
            heard("Permission denied (publickey)." if answer == 255 else "cat: no such file")
            return answer
        heard(json.dumps(answer))
        return 0

    def output(self, words: Sequence[str]) -> str:
        return "[]"

    def clock(self) -> Clock:
        def wait(time_s: float) -> None:
            self.now_s += time_s

        return Clock(lambda: self.now_s, wait)


def _gathered(tmp_path: Path, **offers: list[object]) -> tuple[bool, list[str], Machines]:
    rack = Rack(tuple(offers), 0, str(tmp_path))
    machines = Machines(rack, dict(offers))
    lines: list[str] = []
    return Gathering(rack, machines, lines.append, machines.clock()).gather(), lines, machines


def test_all_machines_are_waited_for_and_then_the_file_of_the_lab_is_there(tmp_path: Path) -> None:
    fine, lines, _ = _gathered(tmp_path, a=[{"path": "/dev/a"}], b=[255, 255, 1, {"path": "/dev/b"}])
    assert fine
    assert lines == [
        "Waiting for a, b.",
        "a is ready: /dev/a",
        "b is not ready yet: Permission denied (publickey).",
        "b is not ready yet: it has not looked at itself yet.",
        "b is ready: /dev/b",
    ]
    assert read_lab(str(tmp_path / "rack.toml")).targets == {"a": "/dev/a", "b": "/dev/b"}


def test_one_machine_that_refuses_ends_it_before_anything_is_measured(tmp_path: Path) -> None:
    fine, lines, _ = _gathered(tmp_path, a=[{"path": "/dev/a"}], b=[{"refused": "it is in use\x1b[2J."}])
    assert not fine
    assert "b refuses: it is in use" in lines[-1]
    assert "\x1b" not in lines[-1]
    assert not (tmp_path / "rack.toml").exists()


def test_a_machine_that_never_comes_is_not_waited_for_longer_than_an_hour(tmp_path: Path) -> None:
    fine, lines, machines = _gathered(tmp_path, a=[{"path": "/dev/a"}], b=[255])
    assert not fine
    assert lines[-1] == "Not all machines were ready within 60 min."
    assert GATHER_S < machines.now_s < GATHER_S + 30


class Carried(Machines):
    """The same, on the machine that commands: what is asked of `plimsoll` succeeds, and a measurement leaves a run with parts."""

    def __init__(self, rack: Rack, offers: dict[str, list[object]], store: Path, rehearsal: int = 0) -> None:
        super().__init__(rack, offers)
        self.silent = 0
        self.store, self.rehearsal, self.runs = store, rehearsal, list[dict[str, object]]()

    def run(self, words: Sequence[str], heard: Callable[[str], None]) -> int:
        if words[0] == "plimsoll" and "--dry-run" in words:
            self.commands.append(list(words))
            heard("plimsoll: it is in use.") if self.rehearsal else None
            return self.rehearsal
        if words[:2] == ["plimsoll", "suite"] and self.silent:
            self.commands.append(list(words))
            self.silent -= 1
            heard("plimsoll: b: it has not answered for 30 s.")
            return 4
        if words[:2] == ["plimsoll", "suite"]:
            for host in self.rack.hosts:
                (self.store / "2026_run" / "hosts" / host).mkdir(parents=True)
            facts = {"name": "2026_run", "created": "2026", "status": "complete", "complete": 4, "planned": 4}
            self.runs.append({**facts, "command": list(words)})
        return super().run(words, heard)

    def output(self, words: Sequence[str]) -> str:
        return json.dumps([] if words[1] == "doctor" else self.runs)


def _course(tmp_path: Path, host: str, rehearsal: int = 0) -> tuple[Course, Carried, list[str]]:
    settings = read("plimsoll.suite=four-corners plimsoll.target=serial:A plimsoll.hosts=a,b plimsoll.share=full plimsoll.send=file:/home")
    rack = rack_of(settings, {host}, str(tmp_path / "secret"), lambda name: {name})
    home = Home(str(tmp_path), str(tmp_path / "secret"), host)
    machines = Carried(rack, {"a": [{"path": "/dev/a"}], "b": [{"path": "/dev/b"}]}, Path(home.store), rehearsal)
    lines: list[str] = []
    return Course(plan_of(settings, [A], rack), settings, home, machines, lines.append, machines.clock()), machines, lines


def test_the_first_measures_sends_home_gives_each_its_part_and_says_that_it_is_over(tmp_path: Path) -> None:
    course, machines, lines = _course(tmp_path, "a")
    assert course.carry_out()
    assert json.loads((tmp_path / "secret" / "rack-offer.json").read_text()) == {"path": A.path}
    assert [words[1] for words in machines.commands if words[0] == "plimsoll"] == ["suite", "suite", "send"]
    (copy,) = [words for words in machines.commands if words[0] == "scp"]
    assert copy[-2:] == [f"{tmp_path}/results/2026_run/hosts/b", f"root@b:{tmp_path}/results/.part-2026_run"]
    assert machines.over == ["b"]
    assert "There is: 2026_run, complete, 4 of 4 points." in lines


@pytest.mark.parametrize(("silent", "fine"), [(1, True), (3, True), (4, False)])
def test_machines_that_did_not_answer_in_time_are_asked_again(tmp_path: Path, silent: int, fine: bool) -> None:
    course, machines, lines = _course(tmp_path, "a")
    machines.silent = silent
    assert course.carry_out() is fine
    assert lines.count("The machines could not be brought together; it is tried again.") == min(silent, 3)
    assert ("There is no result to send." in lines) is not fine
    assert machines.over == ["b"]


def test_the_others_measure_nothing_and_send_nothing_and_wait_until_it_is_over(tmp_path: Path) -> None:
    course, machines, lines = _course(tmp_path, "b")
    wait = course.clock.wait

    def is_over_after_a_while(time_s: float) -> None:
        wait(time_s)
        if machines.now_s > 100:
            (tmp_path / "secret" / "rack-over").touch()

    course.clock.wait = is_over_after_a_while
    assert course.carry_out()
    assert ["--dry-run" in words for words in machines.commands] == [True]
    assert lines[-2:] == ["a commands; this machine waits for it.", "a says that it is over."]


@pytest.mark.parametrize("host", ["a", "b"])
def test_a_machine_whose_disk_may_not_be_measured_says_why_to_the_first(tmp_path: Path, host: str) -> None:
    course, machines, _ = _course(tmp_path, host, rehearsal=3)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "rack-over").touch()
    assert not course.carry_out()
    assert json.loads((tmp_path / "secret" / "rack-offer.json").read_text()) == {"refused": "plimsoll: it is in use."}
    assert not [words for words in machines.commands if words[:2] == ["plimsoll", "suite"] and "--dry-run" not in words]
    assert machines.over == (["b"] if host == "a" else [])
