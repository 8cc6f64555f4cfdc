"""The menu on a console: plain text, a line typed for each step, the same on a screen and on a serial line.

Model: it shows the disks and asks; what was chosen becomes the same settings that the kernel command line could have given, so that every
rule is in one place (`plan`). Nothing is written to a disk unless its serial number was typed, letter by letter, after the warning.
Limits: two consoles show the same machine; what one started the other follows, and neither starts anything beside it.

    Menu(terminal, machine).show()
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from plimsoll import __version__
from plimsoll.errors import PlimsollError
from plimsoll.image.disks import Disk, size
from plimsoll.image.plan import CHECK, plan_of
from plimsoll.image.settings import SERIAL, Settings

_SUITES = (
    (CHECK, False, "check: what the disk can do; reads only"),
    ("proliant-generations", True, "proliant-generations, quick: twelve profiles, about two minutes; WRITES"),
    ("proliant-generations", False, "proliant-generations, full: twelve profiles, an hour; WRITES"),
)
_WAIT_S = 1.0


class Terminal(Protocol):
    """A console."""

    def say(self, text: str) -> None:
        """Show a line."""

    def ask(self, question: str) -> str | None:
        """What was typed, without blanks around it; None when the line is gone."""

    def pressed(self, within_s: float) -> bool:
        """Whether Enter came within this time."""


class Machine(Protocol):
    """What the menu can see and do."""

    def name(self) -> str:
        """The host's name, and its addresses."""

    def kept(self) -> str:
        """Where results are kept, in a sentence."""

    def asked(self) -> Settings:
        """What the command line and the file asked for."""

    def disks(self) -> list[Disk]:
        """The disks, looked at now."""

    def going(self) -> bool:
        """Whether something is carried out at the moment."""

    def start(self, settings: Settings) -> None:
        """Carry it out, without waiting."""

    def progress(self, after: int) -> Sequence[str]:
        """The lines of progress since the first ``after``."""

    def results(self) -> str:
        """The stored runs, as text."""

    def doctor(self) -> str:
        """What doctor says, as text."""

    def shell(self) -> None:
        """A shell on this console, until it ends."""

    def power_off(self) -> None:
        """Switch the machine off."""


class Menu:
    """The menu of one console."""

    def __init__(self, terminal: Terminal, machine: Machine) -> None:
        self._terminal = terminal
        self._machine = machine
        self._say = terminal.say

    def show(self) -> None:
        """Until the line is gone."""
        asked = self._machine.asked()
        for problem in asked.problems:
            self._say(f"! {problem}")
        if asked.problems:
            self._say("! Nothing was begun by itself.")
        if self._machine.going() or (asked.unattended and not asked.problems):
            self._follow()
        while self._once():
            pass

    def _once(self) -> bool:
        found = self._disks()
        self._say("")
        for line in _heading(self._machine, found):
            self._say(line)
        typed = self._terminal.ask("> ")
        if typed is None:
            return False
        if typed.isdecimal() and 1 <= int(typed) <= len(found):
            self._choose(found[int(typed) - 1])
        else:
            self._do(typed.lower())
        return True

    def _do(self, typed: str) -> None:
        match typed:
            case "":
                return  # look again
            case "d":
                self._say(self._machine.doctor())
            case "r":
                self._say(self._machine.results())
            case "f":
                self._follow()
            case "s":
                self._say("A root shell; 'exit' leads back to the menu.")
                self._machine.shell()
            case "p":
                if self._terminal.ask("Power off? Type yes: ") == "yes":
                    self._machine.power_off()
            case _:
                self._say("! There is no such choice; type the number of a disk or one of the letters.")

    def _disks(self) -> list[Disk]:
        try:
            return self._machine.disks()
        except PlimsollError as problem:
            self._say(f"! {problem}")
            return []

    def _choose(self, disk: Disk) -> None:
        if self._machine.going():
            self._say("! Something is being measured; f follows it.")
            return
        if disk.users:
            self._say(f"! {disk.described()} is in use: {', '.join(disk.users)}; it is not measured.")
            return
        if not disk.serial:
            self._say(f"! {disk.described()} tells no serial number, so it cannot be told from others; use the shell for it.")
            return
        settings = self._chosen(disk)
        if settings is None:
            self._say("Nothing was begun.")
            return
        try:
            plan_of(settings, self._machine.disks())
        except PlimsollError as problem:
            self._say(f"! {problem}")
            return
        self._machine.start(settings)
        self._follow()

    def _chosen(self, disk: Disk) -> Settings | None:
        """What shall be done with ``disk``; None to go back."""
        self._say(f"{disk.described()}: {disk.contents}")
        for number, (_, _, line) in enumerate(_SUITES, 1):
            self._say(f"  {number}  {line}")
        typed = self._terminal.ask("Which? A number, the name of another suite, or nothing to go back: ")
        if not typed:
            return None
        if typed.isdecimal():
            if not 1 <= int(typed) <= len(_SUITES):
                self._say(f"! There are 1 to {len(_SUITES)}.")
                return None
            suite, quick, _ = _SUITES[int(typed) - 1]
        else:
            suite, quick = typed, self._terminal.ask("Its quick form? yes or no: ") == "yes"
        if suite != CHECK and not self._permitted(disk):
            return None
        label = self._terminal.ask("Label for the reports (nothing: model and serial number): ")
        asked = self._machine.asked()
        return replace(
            asked,
            suite=suite,
            quick=quick,
            target=f"{SERIAL}{disk.serial}",
            destroy=None if suite == CHECK else disk.serial,
            label=label or asked.label,
            send=asked.send or self._destination(),
            hosts=(),
            share=None,
            problems=(),
        )

    def _permitted(self, disk: Disk) -> bool:
        self._say(f"ALL DATA on {disk.described()} can be lost. On it: {disk.contents}.")
        typed = self._terminal.ask("To write to it, type its serial number; nothing to go back: ")
        if typed == disk.serial:
            return True
        if typed:
            self._say("! That is not its serial number.")
        return False

    def _destination(self) -> tuple[str, ...]:
        typed = self._terminal.ask("Send the results to (URL; nothing: keep them here): ")
        return (typed,) if typed else ()

    def _follow(self) -> None:
        """Show progress until it ends or Enter is pressed."""
        self._say("Progress follows; Enter leads back to the menu and lets it go on.")
        shown = 0
        while True:
            # Asked before the lines are read, so that the last ones are not missed.
            going = self._machine.going()
            lines = self._machine.progress(shown)
            for line in lines:
                self._say(line)
            shown += len(lines)
            if not going or self._terminal.pressed(_WAIT_S):
                return


def _heading(machine: Machine, disks: Sequence[Disk]) -> Iterator[str]:
    """What is there, 80 columns wide where names allow it."""
    yield f"Plimsoll {__version__} live image on {machine.name()}"
    yield machine.kept()
    if hosts := machine.asked().hosts:
        yield f"Of the rack {', '.join(hosts)}; what is chosen here is measured by this machine alone."
    yield ""
    for number, disk in enumerate(disks, 1):
        yield f" {number:2}  /dev/{disk.name:<9} {size(disk.size_bytes):>9}  {disk.serial or '(no serial number)':<22} {disk.model}"
        yield f"     {disk.contents}"
    if not disks:
        yield "     There is no disk."
    yield ""
    yield "Type the number of a disk to measure it, or a letter:"
    yield " d doctor  r results  f follow progress  s shell  p power off  Enter look again"
