"""What machines of a rack do for each other: each offers its disk; the first waits for all, measures on them and says when it is over.

Model: a machine that has looked at itself writes an offer: its disk's path, or why it refuses. The one that commands fetches all offers
over ssh, its own too, until the last is there; a refusal ends it before anything was measured anywhere. What the hosts of the gang measured
comes back to it; at the end each machine gets its own part for its own store, and is told that it is over.
Limits: a machine that does not come within an hour ends it; one that is lost in the middle is named in the result, as in every gang.

    Offering(rack, programs, said).offer("/dev/disk/by-id/…")
    Gathering(rack, programs, said).gather()            # the file of the lab is there
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plimsoll.displayed import displayed_in_line
from plimsoll.image.programs import Heard, Programs
from plimsoll.image.rack import Rack

#: How long all machines together may take to boot and to look at themselves, and between two looks at them.
GATHER_S = 3600.0
LOOK_S = 5.0
#: How often a machine is told that it is over, which may be rebooting.
_TOLD = 5


@dataclass
class Clock:
    """Time as it passes; tests have one of their own."""

    now: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep


@dataclass
class Offering:
    """The side of each machine: what it offers, and the wait for the end."""

    rack: Rack
    said: Heard
    clock: Clock

    def offer(self, path: str) -> None:
        """This disk may be measured."""
        self._write({"path": path})

    def refuse(self, sentence: str) -> None:
        """Nothing here may be measured, for this reason."""
        self._write({"refused": sentence})

    def wait_for_end(self) -> None:
        """Until the machine that commands has said that it is over."""
        self.said(f"{self.rack.leader} commands; this machine waits for it.")
        while not os.path.exists(self.rack.over):
            self.clock.wait(1.0)
        self.said(f"{self.rack.leader} says that it is over.")

    def _write(self, what: dict[str, str]) -> None:
        os.makedirs(self.rack.folder, mode=0o700, exist_ok=True)
        with open(f"{self.rack.offer}.part", "w", encoding="utf-8") as file:
            json.dump(what, file)
        os.replace(f"{self.rack.offer}.part", self.rack.offer)


@dataclass
class Gathering:
    """The side of the machine that commands."""

    rack: Rack
    programs: Programs
    said: Heard
    clock: Clock

    def gather(self) -> bool:
        """Whether every machine has offered its disk; then the file of the lab is written."""
        rack = self.rack
        self.said(f"Waiting for {', '.join(rack.hosts)}.")
        paths: dict[str, str] = {}
        last: dict[str, str] = {}
        until_s = self.clock.now() + GATHER_S
        while len(paths) < len(rack.hosts):
            for host in (host for host in rack.hosts if host not in paths):
                offered, why = self._offered(host)
                if "path" in offered:
                    paths[host] = displayed_in_line(str(offered["path"]))
                    self.said(f"{host} is ready: {paths[host]}")
                elif "refused" in offered:
                    self.said(f"{host} refuses: {displayed_in_line(str(offered['refused']))}")
                    return False
                elif last.get(host) != why:
                    last[host] = why
                    self.said(f"{host} is not ready yet: {why}")
            if len(paths) < len(rack.hosts):
                if self.clock.now() > until_s:
                    self.said(f"Not all machines were ready within {GATHER_S / 60:.0f} min.")
                    return False
                self.clock.wait(LOOK_S)
        with open(rack.targets[rack.targets.index("--hosts") + 1], "w", encoding="utf-8") as file:
            file.write(rack.lab([paths[host] for host in rack.hosts]))
        return True

    def release(self, store: str, run: str | None) -> bool:
        """Give each other machine its part of the run, and tell it that it is over; whether all have heard it."""
        told = [self._release(host, store, run) for host in self.rack.others]
        return all(told)

    def _release(self, host: str, store: str, run: str | None) -> bool:
        part = os.path.join(store, run, "hosts", host) if run is not None else ""
        if run is not None and os.path.isdir(part):
            beside, there = f"{store}/.part-{run}", f"{store}/{run}"
            script = 'if test -e "$1"; then rm -rf "$0"; else mv -T "$0" "$1"; fi'
            words = [
                self.rack.over_ssh(host, "sh", "-c", 'mkdir -p "$0" && rm -rf "$1"', store, beside),
                self.rack.copied(part, host, beside),
                self.rack.over_ssh(host, "sh", "-c", script, beside, there),
            ]
            if not all(self._tried(one, host) for one in words):
                self.said(f"{host} has not got its part of {run}; it is here, in {run}/hosts/{host}.")
        for left in reversed(range(_TOLD)):
            if self._tried(self.rack.over_ssh(host, "touch", self.rack.over), host):
                return True
            if left:
                self.clock.wait(LOOK_S)
        self.said(f"{host} could not be told that it is over.")
        return False

    def _tried(self, words: list[str], host: str) -> bool:
        return self.programs.run(words, lambda line: self.said(f"{host}: {line}")) == 0

    def _offered(self, host: str) -> tuple[dict[str, Any], str]:
        """What it offers, or why nothing is known of it."""
        heard: list[str] = []
        code = self.programs.run(self.rack.over_ssh(host, "cat", self.rack.offer), heard.append)
        try:
            found = json.loads(heard[-1]) if code == 0 and heard else {}
        except ValueError:
            found = {}
        if isinstance(found, dict) and found:
            return found, ""
        return {}, (heard[-1] if heard and code == _NOT_REACHED else "it has not looked at itself yet.")


#: What ssh ends with when it does not come as far as the command.
_NOT_REACHED = 255
