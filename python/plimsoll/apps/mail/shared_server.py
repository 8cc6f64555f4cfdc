"""Mail servers whose users are on several hosts: started, watched and accounted for from the host that commands them.

Model: the users of each group are divided among the hosts (``crates/workload/src/mail/share.rs``). Mailboxes are made and servers started
here, once; each host is told where they are, what its users log in with, and how their letters are marked. It keeps a ledger of what the
server took from its users, which is fetched when it has ended. All ledgers together are held against all mailboxes.
Limits: of a host that was lost, letters that are not in its ledger, or none where that cannot be fetched, are accounted for
(`unaccounted` says of how many hosts). Private servers have ports of the loopback, so their users are on this machine.

    with driver.shared_server(job, on_event, control, count=3) as shared:
        shared.begin(t0_ns)                     # the hosts' users work
        shared.end()
        shared.take(0, fetch, whole=True)
    shared.section(hosts, failed=False)["account"]["lost"]
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress

from plimsoll.apps.mail.shift import Server, Shift
from plimsoll.engine.mail import NativeMail
from plimsoll.engine.protocol import Control, Job, OnEvent
from plimsoll.errors import TargetError
from plimsoll.stored import EngineOutcome, Json

#: The files that a host writes in the directory that is fetched of it.
_LEDGER, _AUTHORITIES = "ledger", "authorities.pem"


class SharedServer:
    """See the module. ``target`` is the address that the run was given."""

    #: The section of the outcome that it adds to.
    name = "mail"

    def __init__(self, target: str, server: Server, job: Job, count: int, stop: Callable[[], None]) -> None:
        self.target = target
        self.given: Json = {}
        self._workload = job["workload"]
        self._shift = Shift(server, job, stop)
        self._count = count
        self._unknown = set(range(count))

    def start(self, stopped: Callable[[], bool]) -> None:
        """Start the servers; ``stopped`` is asked meanwhile."""
        self._shift.start(stopped)
        self.given = {**self._shift.given(), "workload": self._workload, "facts": self._shift.facts}
        if (path := self.given["server"]["ca"]) is not None:
            with open(path, encoding="ascii") as file:
                self.given["authorities"] = file.read()

    def begin(self, t0_ns: int) -> None:
        """All hosts begin at this instant of the monotonic clock."""
        del t0_ns
        self._shift.begin()

    def end(self) -> None:
        """All hosts have ended."""
        self._shift.end()

    def take(self, number: int, fetch: Callable[[str], bool], *, whole: bool) -> None:
        """A host has ended, well if ``whole``; ``fetch`` copies what it wrote down to a directory, and is false where it cannot."""
        place = tempfile.mkdtemp(prefix="plimsoll-mail-")
        try:
            if not fetch(place):
                return
            with suppress(FileNotFoundError), open(os.path.join(place, _LEDGER), "rb") as own, open(self._shift.ledger, "ab") as all_:
                # The last line of a host that was lost may be cut.
                all_.writelines(line for line in own if line.endswith(b"\n"))
                if whole:
                    self._unknown.discard(number)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def why(self) -> str | None:
        """Why users could not go on, where that is the servers' doing."""
        return self._shift.why(waiting=True)

    def section(self, hosts: list[Json], *, failed: bool) -> Json:
        """What became of the letters of all hosts."""
        del failed
        end_ns = max(int(host["end_ns"]) for host in hosts)
        found = self._shift.closed(end_ns, self._unknown, self._count)
        return {**found, **({"unaccounted": len(self._unknown)} if self._unknown else {})}


def work_as_client(job: Job, mail: NativeMail, on_event: OnEvent, control: Control) -> EngineOutcome:
    """The day of one host's users; whoever commands the hosts starts and watches the servers, and looks for the letters."""
    clients = job["clients"]
    given, folder = dict(clients["given"]), clients["folder"]
    server = given["server"]
    if "authorities" in given:
        server = {**server, "ca": os.path.join(folder, _AUTHORITIES)}
        try:
            with open(server["ca"], "w", encoding="ascii") as file:
                file.write(given["authorities"])
        except OSError as problem:
            raise TargetError(f"{folder}: the certificates cannot be kept ({str(problem.strerror).lower()}).") from None
    asked = {
        "workload": given["workload"],
        "job": {**job["job"], "seed": clients["seed"], **given["options"]},
        "server": server,
        "run": given["run"],
        "date": given["date"],
        "ledger": os.path.join(folder, _LEDGER),
        "clients": {"number": clients["number"], "count": clients["count"]},
    }
    outcome = mail.run(asked, on_event, control)
    section = outcome.get("mail")
    if isinstance(section, dict):
        section["end_ns"] = outcome["end_ns"]
    if (engine := outcome.get("engine")) is not None:
        engine["facts"] = given["facts"]
    return outcome
