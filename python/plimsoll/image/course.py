"""The course of a plan: doctor, measuring, sending, power off; after a power cut it goes on where it was.

Model: each step is a ``plimsoll`` command. What was done is noted in ``plans/IDENTITY.json`` beside the results, in one step each time, so
that the same plan on the same machine neither measures nor sends twice. A measurement that was cut short is resumed by the command itself.
One that a signal ended is resumed at once, one time. What cannot be measured any further is sent as it is. In a rack one machine measures
for all, and the others wait for it (`together`).
Where results are kept there has to be room before anything is begun. What cannot be noted any more because the disk there is full is
said, and the course goes on: what was measured is sent, and the machine switches off.
Limits: without a partition for results all of it is in memory, and a power cut loses it. What was not noted is measured or sent once more.

    Course(plan, settings, home, Processes(), print).carry_out()
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from plimsoll.errors import StoreError
from plimsoll.image.plan import Delivery, Plan
from plimsoll.image.programs import Heard, Programs
from plimsoll.image.settings import Settings, shown
from plimsoll.image.together import LOOK_S, Clock, Gathering, Offering
from plimsoll.store.durable import replace_file
from plimsoll.stored import Json
from plimsoll.units import binary

#: Files beside plimsoll.conf that `plimsoll send` takes, as options of that name, for which schemes.
BESIDE = {"identity": ("sftp", "scp"), "known-hosts": ("sftp", "scp"), "ca": ("https", "ftps", "ftp", "smtps", "smtp")}
#: Exit codes behind which there is something to send: done, objective, failed points, wrong data, interrupted.
_MEASURED = (0, 1, 4, 6, 130)
#: The exit code of a machine that did not answer, among others; and how often a rack is brought up anew where that left no run.
_FAILED = 4
_BROUGHT_UP = 3
#: Bytes; with less nothing is begun. Chosen.
ROOM = 16 << 20


@dataclass(frozen=True)
class Home:
    """Where things are kept: ``folder`` on the stick or in memory, ``secret`` in memory; ``machine`` tells this machine from others."""

    folder: str
    secret: str
    machine: str
    #: How many bytes are free in a directory.
    free_bytes: Callable[[str], int] = lambda folder: shutil.disk_usage(folder).free

    @property
    def store(self) -> str:
        """The directory of runs."""
        return os.path.join(self.folder, "results")


@dataclass
class Course:
    """One plan, carried out once; ``said`` hears every line of progress, without secrets."""

    plan: Plan
    settings: Settings
    home: Home
    programs: Programs
    said: Heard
    clock: Clock = field(default_factory=Clock)
    _done: Json = field(default_factory=dict)

    def carry_out(self) -> bool:
        """Whether everything was measured and sent. Never raises for what a command did."""
        self._done = self._noted()
        rack = self.plan.rack
        fine = self._measured_and_sent() if rack is None or rack.leads else self._waited(Offering(rack, self._say, self.clock))
        if self.plan.poweroff:
            self._say("Powering off.")
            self.programs.run(["systemctl", "poweroff"], self._say)
        return fine

    def _measured_and_sent(self) -> bool:
        fine = self._measured()
        run = self._run()
        if run is None:
            self._say("There is no result to send.")
        else:
            self._say(f"There is: {run['name']}, {run['status']}, {run['complete']} of {run['planned']} points.")
            fine = self._sent(run["name"]) and fine
        if (rack := self.plan.rack) is None:
            return fine
        return (
            Gathering(rack, self.programs, self._say, self.clock).release(self.home.store, None if run is None else str(run["name"]))
            and fine
        )

    def _waited(self, offering: Offering) -> bool:
        """On a machine of a rack that does not command."""
        fine = self._permitted(offering)
        offering.wait_for_end()
        return fine

    def _permitted(self, offering: Offering | None) -> bool:
        """Whether this machine's disk may be measured as was asked, and what comes of it kept; of a rack, the others are told."""
        self._examine()
        if (full := self._full()) is not None:
            self._say(full)
            if offering is not None:
                offering.refuse(full)
            return False
        heard: list[str] = []

        def said(line: str) -> None:
            heard.append(line)
            self._say(line)

        fine = self.programs.run(self.plan.rehearsal(self.home.store), said) == 0
        if offering is not None and fine:
            offering.offer(self.plan.disk.path)
        elif offering is not None:
            offering.refuse(self.settings.masked(next((line for line in reversed(heard) if line), "it says nothing")))
        return fine

    def _measured(self) -> bool:
        plan = self.plan
        if self._done.get("measured"):
            self._say(f"{self._done['measured']} was measured before; it is not measured again. Another plimsoll.label measures anew.")
            return True
        rack = plan.rack
        fine = self._permitted(None if rack is None else Offering(rack, self._say, self.clock))
        if fine and rack is not None:
            fine = Gathering(rack, self.programs, self._say, self.clock).gather()
        if not fine:
            self._say("Nothing was begun.")
            return False
        code = self.programs.run(plan.measure(self.home.store), self._say)
        if code < 0:
            self._say(f"The measurement was ended by signal {-code}; it is resumed.")
            code = self.programs.run(plan.measure(self.home.store), self._say)
        for _ in range(_BROUGHT_UP if rack is not None else 0):
            if code != _FAILED or self._run() is not None:
                break
            self._say("The machines could not be brought together; it is tried again.")
            self.clock.wait(LOOK_S)
            code = self.programs.run(plan.measure(self.home.store), self._say)
        run = self._run()
        if code in _MEASURED and run is not None and run["status"] in ("complete", "failed"):
            self._note(measured=run["name"])
        if code != 0:
            self._say(f"The measurement ended with exit code {code}.")
        return code == 0

    def _full(self) -> str | None:
        """What is said where results would not be kept."""
        if self.home.free_bytes(self.home.folder) >= ROOM:
            return None
        return (
            f"Less than {binary(ROOM)} is free where results are kept, which a run needs; delete runs that came home"
            f" ('s' in the menu: {self.home.store}), or make the partition larger."
        )

    def _examine(self) -> None:
        """Doctor first, stored beside the results."""
        self._say(f"Doctor looks at this machine and {self.plan.disk.described()}.")
        said = self.programs.output(["plimsoll", "doctor", "--target", self.plan.disk.path, "--json"])
        try:
            checks = json.loads(said)
            findings = [check for check in checks if check["status"] in ("warn", "fail")]
        except (ValueError, KeyError, TypeError):
            self._say("Doctor gave no answer.")
            return
        name = f"{time.strftime('%Y-%m-%dT%H-%M-%S', time.gmtime())}_{self.plan.identity(self.home.machine)}.json"
        stored = self._write(os.path.join(self.home.folder, "doctor", name), checks)
        for check in findings:
            self._say(f"{'error' if check['status'] == 'fail' else 'warning'}: {check['finding']} {check['advice'] or ''}".rstrip())
        self._say(f"Doctor: {len(checks)} checks, {len(findings)} findings; {f'stored as doctor/{name}' if stored else 'not stored'}.")

    def _sent(self, run: str) -> bool:
        fine = True
        for delivery in self.plan.deliveries:
            there = self._done.get("sent", {})
            if there.get(shown(delivery.url)) == run:
                self._say(f"{shown(delivery.url)} has it already.")
            elif self._deliver(run, delivery):
                self._note(sent={**there, shown(delivery.url): run})
            else:
                self._say(f"Not sent to {shown(delivery.url)}; the results stay here.")
                fine = False
        return fine

    def _deliver(self, run: str, delivery: Delivery) -> bool:
        files = {}
        for option, secret in (("token-file", delivery.token), ("password-file", delivery.password)):
            if secret is not None:
                files[option] = path = os.path.join(self.home.secret, option)
                os.makedirs(self.home.secret, mode=0o700, exist_ok=True)
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                    file.write(secret)
        for option, schemes in BESIDE.items():
            path = os.path.join(self.home.secret, option)
            if delivery.url.partition(":")[0] in schemes and os.path.exists(path):
                files[option] = path
        return self.programs.run(self.plan.send(run, self.home.store, delivery, files), self._say) == 0

    def _run(self) -> Json | None:
        """The run of this very command, the newest if there are several."""
        command = self.plan.measure(self.home.store)
        try:
            runs = json.loads(self.programs.output(["plimsoll", "list", "--runs", "--json", "--out", self.home.store]))
            ours = [run for run in runs if run["command"][1:] == command[1:]]
        except (ValueError, KeyError, TypeError):
            return None
        return max(ours, key=lambda run: str(run["created"]), default=None)

    def _noted(self) -> Json:
        try:
            with open(self._notes(), encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _note(self, **what: Any) -> None:
        self._done = {**self._done, **what}
        self._write(self._notes(), self._done)

    def _notes(self) -> str:
        return os.path.join(self.home.folder, "plans", f"{self.plan.identity(self.home.machine)}.json")

    def _write(self, path: str, document: Any) -> bool:
        """Whether it could be kept; what cannot is said, and ends nothing."""
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            replace_file(path, json.dumps(document, indent=1).encode())
        except (OSError, StoreError) as problem:
            reason = str(problem.strerror).lower() if isinstance(problem, OSError) else str(problem).rstrip(".")
            self._say(f"warning: {os.path.relpath(path, self.home.folder)} could not be kept ({reason}).")
            return False
        return True

    def _say(self, line: str) -> None:
        self.said(self.settings.masked(line))
