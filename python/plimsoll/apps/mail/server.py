"""Private mail servers in a directory on the target: started on the loopback, stopped, and never left running.

Model: Dovecot keeps the mailboxes and runs as a user without rights; its sockets are in a directory that only that user may enter. Postfix,
where it is used, has its queue on the target as well, runs as root requires it to, and hands letters to Dovecot by LMTP. Neither reads
nor changes any configuration of the system. Both are children of a guard (`plimsoll.apps.guard`), which stops them when this process
ends, however it ends; a note lets the next command stop what a killed guard has left (`plimsoll.orphans`). A server can be killed with all
its processes and started again, at the same port and on what it left on the disk.
Limits: ports are free ones of the loopback, open to whoever is on this machine and has the password, which is drawn for each start. LMTP
has no password, and is a socket that only the servers and this user reach.

    server = PrivateMail(home, "/mnt/array/mail", Choices(fsync="optimized"))
    server.start()
    server.imap, server.submission, server.lmtp       # ("127.0.0.1:10143", "127.0.0.1:10025", False)
    server.kill("dovecot"); server.revive("dovecot")
    server.stop()
"""

from __future__ import annotations

import grp
import os
import pwd
import random
import re
import resource
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from plimsoll.apps import guard
from plimsoll.apps.mail.accounting import Mark, marks_on_disk
from plimsoll.apps.mail.configuration import DOMAIN, DovecotChoices, PostfixChoices, dovecot_file, postfix_files
from plimsoll.apps.mail.programs import programs
from plimsoll.apps.mail.queue import put_off, taken
from plimsoll.apps.mail.reader import Door, Login, marks_by_imap
from plimsoll.apps.mail.room import Room
from plimsoll.apps.user import User, check_reachable, server_user
from plimsoll.displayed import displayed
from plimsoll.errors import Interrupted, TargetError
from plimsoll.orphans import Note, forget, note
from plimsoll.stored import Json

KIND = "mail"
#: Ports that the kernel gives to no connection of a client, which could take one that a server wants back (ip_local_port_range).
_PORTS = range(10_000, 32_000)
_USERS = ("dovecot", "nobody")
_PREFIX = "plimsoll-mail-"
_STARTING_S = 60.0
_LOOK_S = 0.02
#: How long a server may take to answer before a task has failed.
TIMEOUT_S = 120.0
_KILLING_S = 60.0
#: The part of the sockets that Postfix reaches.
_GATE = "gate"
_CALLED = {"dovecot": "Dovecot", "postfix": "Postfix"}
_GREETINGS = {"dovecot": b"* OK", "postfix": b"220 "}
#: What Dovecot ends with when it has said the reason before.
_HOLLOW = ("Failed to start listeners",)
_SAID = re.compile(r"(?:Fatal|fatal|Error|error|Panic|panic): (.*)")


@dataclass(frozen=True)
class Choices:
    """How Dovecot keeps mail: its mail_fsync, and its format of mailboxes."""

    fsync: str = "optimized"
    format: str = "maildir"


class PrivateMail:
    """Servers whose files are in ``home``, a directory of Plimsoll's own below the target's ``directory``."""

    def __init__(self, home: str, directory: str, choices: Choices = Choices()) -> None:
        self.home = home
        self.directory = directory
        self.choices = choices
        self.password = secrets.token_hex(16)
        self.user: User = server_user(_USERS, "Dovecot")
        self.imap = self.submission = ""
        self.lmtp = True
        self._sockets: str | None = None
        #: Seconds of processors that servers have taken which were stopped; of those that were killed nobody knows.
        self.cpu_s = 0.0
        self._guards: dict[str, subprocess.Popen[bytes]] = {}
        self._commands: dict[str, tuple[list[str], User, int]] = {}

    @property
    def mailboxes(self) -> str:
        """Where the users' mailboxes are."""
        return os.path.join(self.home, "mailboxes")

    @property
    def queue(self) -> str:
        """Where Postfix keeps letters that are on their way."""
        return os.path.join(self.home, "postfix", "queue")

    @property
    def room(self) -> Room:
        """Where the servers write."""
        return Room(self.directory, self.home)

    def make(self) -> None:
        """The directories, for the user that the servers run as. Raises `TargetError` where that user does not reach them."""
        try:
            os.makedirs(self.mailboxes, mode=0o700, exist_ok=True)
            os.chmod(self.home, 0o711)  # noqa: S103 — the servers' user has to go through it
            os.chown(self.mailboxes, self.user.uid, self.user.gid)
        except OSError as problem:
            raise TargetError(f"{self.home}: mailboxes cannot be made ({str(problem.strerror).lower()}).") from None
        check_reachable(self.home, self.user)

    def start(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Start what is installed and wait until it answers. Raises `Interrupted` when ``stopped``."""
        found = programs()
        self.make()
        for name in _CALLED:
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(self.home, f"{name}.log"))
        self._sockets = tempfile.mkdtemp(prefix=_PREFIX, dir="/tmp")
        for part in ("", "base", "state", _GATE):
            place = os.path.join(self._sockets, part)
            os.makedirs(place, mode=0o700, exist_ok=True)
            os.chown(place, self.user.uid, self.user.gid)
        if found.postfix is not None:
            # Postfix passes through, and sees nothing else.
            os.chmod(self._sockets, 0o711)  # noqa: S103
            os.chown(self._gate, -1, pwd.getpwnam("postfix").pw_gid)
            os.chmod(self._gate, 0o710)  # noqa: S103
        note(Note(KIND, self.directory, {"sockets": self._sockets, "home": self.home}))
        imap, smtp = _free_ports(2)
        self.imap, self.submission, self.lmtp = f"127.0.0.1:{imap}", f"unix:{self._gate}/lmtp", found.postfix is None
        try:
            command = [found.dovecot, "-F", "-c", self._dovecot_file(imap)]
            self._commands["dovecot"] = (command, self.user, imap)
            self.revive("dovecot", stopped)
            if found.postfix is not None:
                self._configure_postfix(found.postfix, smtp)
                self._commands["postfix"] = ([found.postfix, "-c", f"{self.home}/postfix/conf", "-d"], User(0, 0), smtp)
                self.revive("postfix", stopped)
                self.submission = f"127.0.0.1:{smtp}"
        except BaseException:
            self.stop()
            raise

    @property
    def names(self) -> list[str]:
        """The servers that were started, as `kill` knows them."""
        return list(self._commands)

    def revive(self, name: str, stopped: Callable[[], bool] = lambda: False) -> None:
        """Start one of the servers, and wait until it answers."""
        command, user, port = self._commands[name]
        self._run(name, command, user)
        self._await(name, port, stopped)

    def kill(self, name: str) -> None:
        """Kill one of the servers with all its processes, at once, and wait until none is left."""
        one = self._guards.pop(name)
        until = time.monotonic() + _KILLING_S
        while (running := _of_session(one.pid)) and time.monotonic() < until:
            for pid in running:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)
        if one.stdin is not None:
            with suppress(OSError):
                one.stdin.close()
        one.wait()

    def died(self) -> str | None:
        """The sentence for a server that ended by itself; None while all run."""
        for name, one in self._guards.items():
            if one.poll() is not None:
                said = self.last_words(name) or "it said nothing"
                return f"{self.directory}: {_CALLED[name]} ended while users worked: {said}"
        return None

    def stop(self) -> None:
        """Stop everything, Postfix first, and wait until it has ended; what they took of processors is known then."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for one in reversed(self._guards.values()):
            if one.stdin is not None:
                with suppress(OSError):
                    one.stdin.close()
            one.wait()
        self._guards.clear()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu_s += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if self._sockets is not None:
            shutil.rmtree(self._sockets, ignore_errors=True)
            self._sockets = None
        forget(self.directory)

    @property
    def delivery_log(self) -> str:
        """Where Postfix says what became of letters."""
        return os.path.join(self.home, "postfix", "maillog")

    @property
    def read_when_stopped(self) -> bool:
        """Files of Maildir say all; of other formats the server knows what its files are."""
        return self.choices.format == "maildir"

    def marks(self, run: str, since_ns: int, users: int) -> Iterable[Mark]:
        """The letters of a run that are in the mailboxes."""
        if self.read_when_stopped:
            return marks_on_disk(self.mailboxes, run, since_ns)
        host, _, port = self.imap.rpartition(":")
        return marks_by_imap(Door(host, int(port), "none", None), [Login(f"u{number}", self.password) for number in range(users)], run)

    def seen_by_users(self, users: int) -> Json:
        """The servers and accounts as the users' programs know them."""
        plain = {"security": "none", "host": "localhost"}
        names = [f"u{number}" for number in range(users)]
        return {
            "imap": {"place": self.imap, **plain},
            "submission": {"place": self.submission, **plain},
            "lmtp": self.lmtp,
            "login": not self.lmtp,
            "ca": None,
            "prefix": "",
            "timeout_s": TIMEOUT_S,
            "accounts": [{"name": name, "password": self.password, "address": f"{name}@{DOMAIN}", "first_uid": 1} for name in names],
        }

    def stuck(self, seconds: float) -> str:
        """The sentence for letters that are not delivered."""
        said = displayed(put_off(self.delivery_log) or "nothing").rstrip(".")
        queued = f"{self.queued():,} letters are still queued {seconds:g} s after the last task"
        return f"{self.directory}: {queued}{self.room.beside}; Postfix says: {said}."

    def close(self) -> None:
        """What was written down stays with the mailboxes."""

    def queued(self) -> int:
        """Letters that Postfix has taken and not delivered."""
        return taken(self.queue)

    def processes(self) -> list[int]:
        """The servers' master processes, for what they and their children use."""
        return [one.pid for one in self._guards.values()]

    def facts(self) -> dict[str, str]:
        """Versions and settings, for the result; never the password."""
        found = programs()
        facts = {
            "dovecot": _version([found.dovecot, "--version"]),
            "mailbox format": self.choices.format,
            "mail_fsync": self.choices.fsync,
            "letters go by": "LMTP to Dovecot" if self.lmtp else "SMTP to Postfix",
        }
        if found.postfix is not None:
            facts["postfix"] = _version(["/usr/sbin/postconf", "-h", "mail_version"])
        return facts

    def last_words(self, name: str) -> str:
        """What a server said of its last failure; empty when nothing."""
        try:
            with open(os.path.join(self.home, f"{name}.log"), "rb") as file:
                lines = file.read()[-65536:].decode("utf-8", "replace").splitlines()
        except OSError:
            return ""
        found = [said[1].strip().rstrip(".") for said in map(_SAID.search, lines) if said]
        reasons = [words for words in found if words not in _HOLLOW]
        return (reasons or found or [""])[-1]

    def _run(self, name: str, command: list[str], user: User) -> None:
        """Start a server under a guard."""
        if self._sockets is None:
            raise TargetError(f"{self.directory}: the mail server is not started.")
        mine = os.path.join(self._sockets, f"{name}.guarded")
        wanted = [sys.executable, "-I", "-S", guard.__file__, f"{user.uid}:{user.gid}", mine, *command]
        environment = {"PATH": f"{os.defpath}:/usr/sbin", "LC_ALL": "C"}
        with open(os.path.join(self.home, f"{name}.log"), "ab") as log:
            os.chown(log.fileno(), user.uid, user.gid)
            self._guards[name] = subprocess.Popen(
                wanted, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd="/", env=environment, start_new_session=True
            )

    def _await(self, name: str, port: int, stopped: Callable[[], bool]) -> None:
        until = time.monotonic() + _STARTING_S
        while not _greets(port, _GREETINGS[name]):
            if stopped():
                raise Interrupted(f"{self.directory}: stopped while its mail server was started")
            if self._guards[name].poll() is not None or time.monotonic() > until:
                said = self.last_words(name) or "it said nothing"
                raise TargetError(f"{self.directory}: {_CALLED[name]} did not start: {said}.")
            time.sleep(_LOOK_S)

    @property
    def configured(self) -> str:
        """The path of Dovecot's configuration."""
        return os.path.join(self.home, "dovecot.conf")

    @property
    def _gate(self) -> str:
        return os.path.join(str(self._sockets), _GATE)

    def _dovecot_file(self, port: int) -> str:
        choices = DovecotChoices(
            sockets=str(self._sockets),
            gate=self._gate,
            log=os.path.join(self.home, "dovecot.log"),
            user=pwd.getpwuid(self.user.uid).pw_name,
            group=grp.getgrgid(self.user.gid).gr_name,
            uid=self.user.uid,
            gid=self.user.gid,
            mailboxes=self.mailboxes,
            location=f"{self.choices.format}:{self.mailboxes}/%n{'' if self.choices.format == 'maildir' else f'/{self.choices.format}'}",
            fsync=self.choices.fsync,
            password=self.password,
            port=port,
        )
        return self._written("dovecot.conf", dovecot_file(choices), self.user)

    def _configure_postfix(self, master: str, port: int) -> None:
        place = os.path.join(self.home, "postfix")
        try:
            for part, owner in (("", 0), ("conf", 0), ("queue", 0), ("data", pwd.getpwnam("postfix").pw_uid)):
                os.makedirs(os.path.join(place, part), mode=0o755, exist_ok=True)
                os.chown(os.path.join(place, part), owner, -1)
        except (OSError, KeyError) as problem:
            raise TargetError(f"{place}: Postfix's directories cannot be made ({problem}).") from None
        for name, text in postfix_files(PostfixChoices(place, self._gate, os.path.dirname(master), port)).items():
            self._written(f"postfix/conf/{name}", text, User(0, 0))
        environment = {"PATH": f"{os.defpath}:/usr/sbin"}
        check = ["/usr/sbin/postfix", "-c", f"{place}/conf", "check"]
        checked = subprocess.run(check, capture_output=True, text=True, check=False, env=environment)
        if checked.returncode:
            raise TargetError(f"{self.directory}: Postfix refuses its configuration: {(checked.stderr.splitlines() or [''])[-1]}.")

    def _written(self, name: str, text: str, user: User) -> str:
        path = os.path.join(self.home, name)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(file, "w", encoding="utf-8") as out:
            out.write(text)
            mode = 0o644 if name.endswith(".cf") else 0o600
            os.fchmod(out.fileno(), mode)
            os.fchown(out.fileno(), user.uid, user.gid)
        return path


def stop_orphan(server: Note) -> str | None:
    """Stop the servers that a killed run left, and take away what they had outside their directory; a sentence when there were some."""
    home, sockets = server.facts.get("home", ""), server.facts.get("sockets", "")
    stopped = []
    if home.startswith(server.directory + os.sep):
        for pid in (_pid(os.path.join(sockets, "base", "master.pid")), _pid(os.path.join(home, "postfix", "queue", "pid", "master.pid"))):
            if pid is not None and home in _command(pid):
                stopped.append(pid)
                _end(pid)
    if os.path.basename(sockets).startswith(_PREFIX) and not os.path.islink(sockets):
        shutil.rmtree(sockets, ignore_errors=True)
    forget(server.directory)
    told = ", ".join(map(str, stopped))
    return f"stopped the mail server in {server.directory} that a killed run had left running (pid {told})" if stopped else None


def _pid(path: str) -> int | None:
    with suppress(OSError, ValueError), open(path, encoding="ascii") as file:
        return int(file.read().split()[0])
    return None


def _command(pid: int) -> str:
    with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().decode("utf-8", "replace")
    return ""


def _end(pid: int) -> None:
    for number, seconds in ((signal.SIGTERM, 60.0), (signal.SIGKILL, 30.0)):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if not os.path.exists(f"/proc/{pid}"):
                return
            time.sleep(_LOOK_S)


def _free_ports(count: int) -> list[int]:
    """Ports of the loopback that nobody listens at."""
    held: list[socket.socket] = []
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
        with suppress(OSError):
            held.append(socket.create_server(("127.0.0.1", port)))
        if len(held) == count:
            break
    ports = [int(one.getsockname()[1]) for one in held]
    for one in held:
        one.close()
    if len(ports) < count:
        raise TargetError(f"no port from {_PORTS.start} to {_PORTS.stop} of the loopback is free; stop what listens there.")
    return ports


def _of_session(leader: int) -> list[int]:
    """Processes of the session that a process began, but not that one."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != leader:
            with suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                words = file.read().rpartition(b")")[2].split()
                if int(words[3]) == leader and words[0] != b"Z":
                    found.append(int(name))
    return found


def _greets(port: int, greeting: bytes) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=10.0) as client:
        return client.recv(512).startswith(greeting)
    return False


def _version(command: list[str]) -> str:
    with suppress(OSError):
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30).stdout.split()
        return said[0] if said else "unknown"
    return "unknown"
