"""The menu of the live image, typed at by a script."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from plimsoll.image.disks import Disk
from plimsoll.image.menu import Menu
from plimsoll.image.settings import Settings, read

FULL = Disk("vda", "/dev/vda", "QEMU HARDDISK", "FS-1", 10**9, ("ext4 'home'",), ())
USED = Disk("vdb", "/dev/vdb", "QEMU HARDDISK", "RAID-1", 10**9, ("member of a set (linux_raid_member)",), ("part of md0",))
EMPTY = Disk("vdc", "/dev/vdc", "QEMU HARDDISK", "EMPTY-1", 2 * 10**9)
NAMELESS = Disk("vdd", "/dev/vdd", "", "", 10**9)


class Typed:
    """A console at which a script types; Enter during progress comes at ``enter_after`` looks."""

    def __init__(self, *lines: str, enter_after: int = 99) -> None:
        self.lines, self.said, self.enter_after = list(lines), [], enter_after

    def say(self, text: str) -> None:
        self.said.append(text)

    def ask(self, question: str) -> str | None:
        self.said.append(question)
        return self.lines.pop(0) if self.lines else None

    def pressed(self, within_s: float) -> bool:
        self.enter_after -= 1
        return self.enter_after < 0


class Planted:
    """A machine with planted disks, on which a run takes three looks."""

    def __init__(self, asked: Settings | None = None, disks: Sequence[Disk] = (FULL, USED, EMPTY, NAMELESS)) -> None:
        self.was_asked, self.there = asked or Settings(), list(disks)
        self.started: list[Settings] = []
        self.off = False
        self.looks = 0

    def name(self) -> str:
        return "plimsoll-7 (10.0.0.7/24)"

    def kept(self) -> str:
        return "Results are in memory."

    def asked(self) -> Settings:
        return self.was_asked

    def disks(self) -> list[Disk]:
        return self.there

    def going(self) -> bool:
        return bool(self.started) and self.looks < 3

    def start(self, settings: Settings) -> None:
        self.started.append(settings)
        self.looks = 0

    def progress(self, after: int) -> Sequence[str]:
        self.looks += 1
        return [f"line {number}" for number in range(after, min(self.looks, 3))]

    def results(self) -> str:
        return "2026_run"

    def doctor(self) -> str:
        return "1 ok"

    def shell(self) -> None:
        pass

    def power_off(self) -> None:
        self.off = True


def _shown(*lines: str, machine: Planted | None = None) -> tuple[Planted, str]:
    machine = machine or Planted()
    terminal = Typed(*lines)
    Menu(terminal, machine).show()
    return machine, "\n".join(terminal.said)


def test_the_menu_shows_each_disk_with_model_serial_size_and_what_is_on_it() -> None:
    _, said = _shown()
    assert "  1  /dev/vda          1.0 GB  FS-1                   QEMU HARDDISK\n     ext4 'home'" in said
    assert (
        "  2  /dev/vdb          1.0 GB  RAID-1                 QEMU HARDDISK\n     member of a set (linux_raid_member) (in use: part of md0)"
        in said
    )
    assert "  3  /dev/vdc          2.0 GB  EMPTY-1                QEMU HARDDISK\n     nothing known" in said
    assert "(no serial number)" in said
    assert all(len(line) <= 80 for line in said.splitlines() if line.startswith(" "))


def test_what_writes_starts_only_after_the_serial_number_was_typed() -> None:
    machine, said = _shown("3", "2", "EMPTY-1", "rack 7", "")
    (started,) = machine.started
    assert (started.suite, started.quick, started.target, started.destroy) == ("proliant-generations", True, "serial:EMPTY-1", "EMPTY-1")
    assert started.label == "rack 7"
    assert "ALL DATA on /dev/vdc (QEMU HARDDISK, serial EMPTY-1, 2.0 GB) can be lost. On it: nothing known." in said
    assert "line 0\nline 1\nline 2" in said


@pytest.mark.parametrize("typed", ["", "yes", "y", "EMPTY", "empty-1", "FS-1", "/dev/vdc", "3"])
def test_anything_but_the_serial_number_begins_nothing(typed: str) -> None:
    machine, said = _shown("3", "2", typed, "label", "")
    assert machine.started == []
    assert "Nothing was begun." in said


def test_a_check_asks_for_no_permission_and_has_none() -> None:
    machine, _ = _shown("1", "1", "", "")
    (started,) = machine.started
    assert (started.suite, started.destroy, started.target) == ("check", None, "serial:FS-1")


def test_another_suite_needs_the_serial_number_too() -> None:
    machine, _ = _shown("3", "four-corners", "yes", "nothing", "", "")
    assert machine.started == []
    machine, _ = _shown("3", "four-corners", "yes", "EMPTY-1", "", "")
    assert (machine.started[0].suite, machine.started[0].quick) == ("four-corners", True)


def test_a_disk_in_use_or_without_a_serial_number_cannot_be_chosen() -> None:
    machine, said = _shown("2", "1", "", "", "")
    assert "/dev/vdb (QEMU HARDDISK, serial RAID-1, 1.0 GB) is in use: part of md0; it is not measured." in said
    machine, said = _shown("4", "1", "", "", "")
    assert "tells no serial number" in said
    assert machine.started == []


def test_results_go_where_the_command_line_said_or_where_one_types() -> None:
    machine, _ = _shown("1", "1", "", "https://lab7:8642/?token=a")
    assert machine.started[0].send == ("https://lab7:8642/?token=a",)
    machine, _ = _shown("1", "1", "", machine=Planted(read("plimsoll.send=file:/stick plimsoll.label=x")))
    assert (machine.started[0].send, machine.started[0].label) == (("file:/stick",), "x")


def test_what_was_asked_for_unattended_is_followed_at_once() -> None:
    _, said = _shown(machine=Planted(read("plimsoll.suite=check plimsoll.target=serial:FS-1")))
    assert said.startswith("Progress follows")


def test_a_wrong_word_is_said_and_nothing_begins_by_itself() -> None:
    _machine, said = _shown(machine=Planted(read("plimsoll.sute=check")))
    assert "! the kernel command line: there is no word 'plimsoll.sute'" in said
    assert "! Nothing was begun by itself." in said


def test_nothing_is_begun_beside_something_that_goes_on() -> None:
    machine = Planted()
    machine.started = [Settings()]
    terminal = Typed("", "1", enter_after=0)
    Menu(terminal, machine).show()
    assert "! Something is being measured; f follows it." in terminal.said
    assert len(machine.started) == 1


def test_power_off_wants_a_yes() -> None:
    assert not _shown("p", "y")[0].off
    assert _shown("p", "yes")[0].off


def test_letters_show_doctor_and_results_and_others_are_answered() -> None:
    _, said = _shown("d", "r", "x")
    assert "1 ok" in said
    assert "2026_run" in said
    assert "! There is no such choice" in said
