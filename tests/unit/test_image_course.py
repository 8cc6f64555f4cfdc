"""What the live image does, in which order, and what it does after a power cut."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from plimsoll.image.course import ROOM, Course, Home
from plimsoll.image.disks import Disk
from plimsoll.image.machine import Log, handed, network, taken
from plimsoll.image.plan import plan_of
from plimsoll.image.settings import Address, read

DISK = Disk("vdc", "/dev/disk/by-id/virtio-EMPTY-1", "QEMU", "EMPTY-1", 2 * 10**9)
ASKED = (
    "plimsoll.suite=proliant-generations plimsoll.quick plimsoll.target=serial:EMPTY-1 plimsoll.destroy=EMPTY-1 plimsoll.poweroff"
    " plimsoll.send=https://lab7:8642/?token=Zk3q9"
)
CHECKS = [
    {"name": "a", "status": "ok", "finding": "Fine.", "advice": None},
    {"name": "b", "status": "warn", "finding": "Slow.", "advice": "Wait."},
]


class Scripted:
    """Programs that do nothing but answer; ``codes`` are exit codes by verb, in turn."""

    def __init__(self, **codes: list[int]) -> None:
        self.codes = codes
        self.commands: list[list[str]] = []
        self.runs: list[dict[str, object]] = []
        self.secrets: list[str] = []
        self.status = "complete"

    def run(self, words: Sequence[str], heard: Callable[[str], None]) -> int:
        self.commands.append(list(words))
        verb = "rehearsal" if "--dry-run" in words else words[1]
        heard(f"{verb} says Zk3q9")
        if "--token-file" in words:
            self.secrets.append(Path(words[words.index("--token-file") + 1]).read_text())
        code = self.codes.get(verb, [0]).pop(0) if self.codes.get(verb) else 0
        if verb == "suite" and not self.runs:
            self.runs.append({"name": "2026_run", "command": list(words), "created": "2026", "status": "", "complete": 12, "planned": 12})
        if verb == "suite":
            self.runs[0]["status"] = "incomplete" if code < 0 else self.status
        return code

    def output(self, words: Sequence[str]) -> str:
        return json.dumps(CHECKS if words[1] == "doctor" else self.runs)

    @property
    def verbs(self) -> list[str]:
        return ["rehearsal" if "--dry-run" in words else words[1] for words in self.commands]


def _carried_out(folder: Path, programs: Scripted, asked: str = ASKED, free_bytes: int = ROOM) -> tuple[bool, list[str]]:
    lines: list[str] = []
    settings = read(asked)
    home = Home(str(folder), str(folder / "secret"), "machine 1", lambda _: free_bytes)
    return Course(plan_of(settings, [DISK]), settings, home, programs, lines.append).carry_out(), lines


def test_doctor_is_first_and_stored_then_measuring_sending_and_power_off(tmp_path: Path) -> None:
    programs = Scripted()
    fine, lines = _carried_out(tmp_path, programs)
    assert fine
    assert programs.verbs == ["rehearsal", "suite", "send", "poweroff"]
    (stored,) = (tmp_path / "doctor").iterdir()
    assert json.loads(stored.read_text()) == CHECKS
    assert "warning: Slow. Wait." in lines
    assert "There is: 2026_run, complete, 12 of 12 points." in lines


def test_what_is_refused_before_it_begins_is_not_begun(tmp_path: Path) -> None:
    programs = Scripted(rehearsal=[3])
    fine, lines = _carried_out(tmp_path, programs)
    assert (fine, programs.verbs) == (False, ["rehearsal", "poweroff"])
    assert "Nothing was begun." in lines
    assert "There is no result to send." in lines


def test_nothing_is_begun_where_its_results_would_not_be_kept(tmp_path: Path) -> None:
    programs = Scripted()
    fine, lines = _carried_out(tmp_path, programs, free_bytes=ROOM - 1)
    assert (fine, programs.verbs) == (False, ["poweroff"])
    assert any(line.startswith("Less than 16 MiB is free where results are kept, which a run needs; delete runs") for line in lines)
    assert "Nothing was begun." in lines


def test_what_was_measured_before_is_sent_from_a_partition_that_is_full(tmp_path: Path) -> None:
    first = Scripted(send=[4])
    _carried_out(tmp_path, first)
    second = Scripted()
    second.runs = first.runs
    fine, _ = _carried_out(tmp_path, second, free_bytes=0)
    assert (fine, second.verbs) == (True, ["send", "poweroff"])


def test_a_partition_that_fills_up_meanwhile_ends_nothing(tmp_path: Path) -> None:
    # A file where the directories have to be: nothing can be kept, as on a full disk.
    for name in ("doctor", "plans"):
        (tmp_path / name).write_text("")
    programs = Scripted()
    fine, lines = _carried_out(tmp_path, programs)
    assert (fine, programs.verbs) == (True, ["rehearsal", "suite", "send", "poweroff"])
    assert any(line.startswith("warning: plans/") and line.endswith("could not be kept (file exists).") for line in lines)
    assert "Doctor: 2 checks, 1 findings; not stored." in lines


def test_a_log_that_takes_no_more_is_told_once(tmp_path: Path) -> None:
    log = Log(str(tmp_path / "logs" / "progress.log"))
    assert log.kept("one\n") == ()
    (tmp_path / "logs" / "progress.log").unlink()
    (tmp_path / "logs" / "progress.log").mkdir()
    assert log.kept("two\n") == (f"warning: from here on nothing is kept in {tmp_path}/logs/progress.log (is a directory).\n",)
    assert log.kept("three\n") == ()


def test_a_measurement_that_a_signal_ended_is_resumed(tmp_path: Path) -> None:
    programs = Scripted(suite=[-9, 0])
    fine, lines = _carried_out(tmp_path, programs)
    assert fine
    assert programs.verbs[:3] == ["rehearsal", "suite", "suite"]
    assert programs.commands[1] == programs.commands[2]
    assert "The measurement was ended by signal 9; it is resumed." in lines


def test_after_a_power_cut_in_measuring_the_same_command_goes_on(tmp_path: Path) -> None:
    cut = Scripted(suite=[-9, -9])
    _carried_out(tmp_path, cut, ASKED.replace("plimsoll.send=https://lab7:8642/?token=Zk3q9", ""))
    again = Scripted()
    _carried_out(tmp_path, again)
    assert again.commands[1] == cut.commands[1]


def test_after_a_power_cut_in_sending_nothing_is_measured_again(tmp_path: Path) -> None:
    first = Scripted(send=[4])
    fine, lines = _carried_out(tmp_path, first)
    assert not fine
    assert "Not sent to https://lab7:8642/; the results stay here." in lines
    second = Scripted()
    second.runs = first.runs
    fine, lines = _carried_out(tmp_path, second)
    assert (fine, second.verbs) == (True, ["send", "poweroff"])
    third = Scripted()
    third.runs = first.runs
    fine, lines = _carried_out(tmp_path, third)
    assert (fine, third.verbs) == (True, ["poweroff"])
    assert "https://lab7:8642/ has it already." in lines


def test_another_label_or_another_machine_is_measured_anew(tmp_path: Path) -> None:
    _carried_out(tmp_path, Scripted())
    programs = Scripted()
    _carried_out(tmp_path, programs, f"{ASKED} plimsoll.label=second")
    assert "suite" in programs.verbs


def test_what_cannot_be_measured_further_is_sent_as_it_is(tmp_path: Path) -> None:
    programs = Scripted(suite=[4])
    programs.status = "failed"
    fine, lines = _carried_out(tmp_path, programs)
    assert not fine
    assert programs.verbs == ["rehearsal", "suite", "send", "poweroff"]
    assert "The measurement ended with exit code 4." in lines


def test_a_secret_is_in_no_line_no_command_and_nothing_that_is_kept(tmp_path: Path) -> None:
    programs = Scripted()
    _, lines = _carried_out(tmp_path, programs)
    assert programs.secrets == ["Zk3q9"]
    assert "suite says ***" in lines
    assert "Zk3q9" not in "\n".join(lines) + repr(programs.commands)
    assert (tmp_path / "secret" / "token-file").stat().st_mode & 0o777 == 0o600
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and "secret" not in path.parts]
    assert kept
    assert not [path for path in kept if "Zk3q9" in path.read_text()]


def test_a_key_on_the_stick_is_used_for_ssh_alone(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "identity").write_text("key")
    programs = Scripted()
    _carried_out(tmp_path, programs, f"{ASKED} plimsoll.send=sftp://me@lab8/in")
    https, sftp = (words for words in programs.commands if words[1] == "send")
    assert "--identity" not in https
    assert sftp[-2:] == ["--identity", str(tmp_path / "secret" / "identity")]


def test_settings_are_handed_over_whole() -> None:
    settings = read(f"{ASKED} plimsoll.ip=10.0.0.7/24 plimsoll.for=1h plimsoll.nonsense=1")
    assert taken(handed(settings)) == settings


def test_the_network_is_dhcp_or_the_given_address() -> None:
    assert "DHCP=yes" in network(None, "en0")
    assert network(Address("10.0.0.7/24", "10.0.0.1", "10.0.0.2"), "en0").splitlines() == [
        *("[Match]", "Name=en0", "", "[Network]", "Address=10.0.0.7/24", "Gateway=10.0.0.1", "DNS=10.0.0.2"),
    ]
