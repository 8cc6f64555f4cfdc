"""Private mail servers in a directory on the target: started on the loopback, stopped, and never left running.

Model: Dovecot keeps the mailboxes and runs as a user without rights; its sockets are in a directory that only that user may enter. Postfix,
where it is used, has its queue on the target as well, runs as root requires it to, and hands letters to Dovecot by LMTP. Neither reads
nor changes any configuration of the system. Both are children of a guard (`plimsoll.apps.guard`), which stops them when this process
ends, however it ends; a note lets the next command stop what a killed guard has left (`plimsoll.orphans`).
Limits: ports are free ones of the loopback, open to whoever is on this machine; the password is drawn for each start, and LMTP has none.

    server = PrivateMail(home, "/mnt/array/mail", fsync="optimized")
    server.start()
    server.imap, server.submission, server.lmtp       # ("127.0.0.1:40143", "127.0.0.1:40025", False)
    server.stop()
"""

from __future__ import annotations

import grp
import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress

from plimsoll.apps import guard
from plimsoll.apps.mail.programs import Programs, programs
from plimsoll.apps.user import User, check_reachable, server_user
from plimsoll.errors import Interrupted, TargetError
from plimsoll.orphans import Note, forget, note

KIND = "mail"
DOMAIN = "plimsoll.invalid"
_USERS = ("dovecot", "nobody")
_PREFIX = "plimsoll-mail-"
_STARTING_S = 60.0
_LOOK_S = 0.02
_SAID = re.compile(r"(?:Fatal|fatal|Error|error|Panic|panic): (.*)")


class PrivateMail:
    """Servers whose files are in ``home``, a directory of Plimsoll's own below the target's ``directory``; ``fsync`` is Dovecot's."""

    def __init__(self, home: str, directory: str, fsync: str) -> None:
        self.home = home
        self.directory = directory
        self.fsync = fsync
        self.password = secrets.token_hex(16)
        self.user: User = server_user(_USERS, "Dovecot")
        self.imap = self.submission = ""
        self.lmtp = True
        self._sockets: str | None = None
        self._guards: list[subprocess.Popen[bytes]] = []

    @property
    def mailboxes(self) -> str:
        """Where the users' mailboxes are."""
        return os.path.join(self.home, "mailboxes")

    @property
    def queue(self) -> str:
        """Where Postfix keeps letters that are on their way."""
        return os.path.join(self.home, "postfix", "queue")

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
        self._sockets = tempfile.mkdtemp(prefix=_PREFIX, dir="/tmp")
        for place in (self._sockets, f"{self._sockets}/base", f"{self._sockets}/state"):
            os.makedirs(place, mode=0o700, exist_ok=True)
            os.chown(place, self.user.uid, self.user.gid)
        note(Note(KIND, self.directory, {"sockets": self._sockets, "home": self.home}))
        ports = _free_ports(3)
        self.imap, delivery = f"127.0.0.1:{ports[0]}", f"127.0.0.1:{ports[1]}"
        try:
            self._run("dovecot", [found.dovecot, "-F", "-c", self._dovecot_file(ports)], self.user)
            self._await(ports[0], b"* OK", "Dovecot", stopped)
            self._await(ports[1], b"220 ", "Dovecot", stopped)
            self.submission, self.lmtp = delivery, found.postfix is None
            if found.postfix is not None:
                self._start_postfix(found, ports, stopped)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop everything, Postfix first, and wait until it has ended."""
        for one in reversed(self._guards):
            if one.stdin is not None:
                with suppress(OSError):
                    one.stdin.close()
            one.wait()
        self._guards.clear()
        if self._sockets is not None:
            shutil.rmtree(self._sockets, ignore_errors=True)
            self._sockets = None
        forget(self.directory)

    def queued(self) -> int:
        """Letters that Postfix has taken and not delivered."""
        folders = [os.path.join(self.queue, name) for name in ("maildrop", "incoming", "active", "deferred", "hold")]
        return sum(len(files) for folder in folders for _, _, files in os.walk(folder))

    def processes(self) -> list[int]:
        """The servers' master processes, for what they and their children use."""
        return [one.pid for one in self._guards]

    def facts(self) -> dict[str, str]:
        """Versions and settings, for the result; never the password."""
        found = programs()
        facts = {
            "dovecot": _version([found.dovecot, "--version"]),
            "mailbox format": "maildir",
            "mail_fsync": self.fsync,
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
        return found[-1] if found else ""

    def _run(self, name: str, command: list[str], user: User) -> None:
        """Start a server under a guard."""
        if self._sockets is None:
            raise TargetError(f"{self.directory}: the mail server is not started.")
        mine = os.path.join(self._sockets, f"{name}.guarded")
        wanted = [sys.executable, "-I", "-S", guard.__file__, f"{user.uid}:{user.gid}", mine, *command]
        environment = {"PATH": f"{os.defpath}:/usr/sbin", "LC_ALL": "C"}
        with open(os.path.join(self.home, f"{name}.log"), "wb") as log:
            os.chown(log.fileno(), user.uid, user.gid)
            self._guards.append(
                subprocess.Popen(wanted, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd="/", env=environment, start_new_session=True)
            )

    def _await(self, port: int, greeting: bytes, server: str, stopped: Callable[[], bool]) -> None:
        until = time.monotonic() + _STARTING_S
        while not _greets(port, greeting):
            if stopped():
                raise Interrupted(f"{self.directory}: stopped while its mail server was started")
            if self._guards[-1].poll() is not None or time.monotonic() > until:
                said = self.last_words(server.lower()) or "it said nothing"
                raise TargetError(f"{self.directory}: {server} did not start: {said}.")
            time.sleep(_LOOK_S)

    def _dovecot_file(self, ports: list[int]) -> str:
        base, uid, gid = f"{self._sockets}/base", self.user.uid, self.user.gid
        name, group = pwd.getpwuid(uid).pw_name, grp.getgrgid(gid).gr_name
        text = _DOVECOT.format(
            base=base,
            state=f"{self._sockets}/state",
            log=os.path.join(self.home, "dovecot.log"),
            name=name,
            group=group,
            uid=uid,
            gid=gid,
            mailboxes=self.mailboxes,
            mail_fsync=self.fsync,
            password=self.password,
            imap=ports[0],
            lmtp=ports[1],
            domain=DOMAIN,
        )
        return self._written("dovecot.conf", text, self.user)

    def _start_postfix(self, found: Programs, ports: list[int], stopped: Callable[[], bool]) -> None:
        place = os.path.join(self.home, "postfix")
        try:
            for part, owner in (("", 0), ("conf", 0), ("queue", 0), ("data", pwd.getpwnam("postfix").pw_uid)):
                os.makedirs(os.path.join(place, part), mode=0o755, exist_ok=True)
                os.chown(os.path.join(place, part), owner, -1)
        except (OSError, KeyError) as problem:
            raise TargetError(f"{place}: Postfix's directories cannot be made ({problem}).") from None
        root = User(0, 0)
        values = {"place": place, "domain": DOMAIN, "daemons": os.path.dirname(str(found.postfix)), "lmtp": ports[1], "smtp": ports[2]}
        self._written("postfix/conf/main.cf", _POSTFIX_MAIN.format(**values), root)
        self._written("postfix/conf/master.cf", _POSTFIX_MASTER.format(**values), root)
        checked = subprocess.run(
            ["/usr/sbin/postfix", "-c", f"{place}/conf", "check"],
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": f"{os.defpath}:/usr/sbin"},
        )
        if checked.returncode:
            raise TargetError(f"{self.directory}: Postfix refuses its configuration: {(checked.stderr.splitlines() or [''])[-1]}.")
        self._run("postfix", [str(found.postfix), "-c", f"{place}/conf", "-d"], root)
        self._await(ports[2], b"220 ", "Postfix", stopped)
        self.submission = f"127.0.0.1:{ports[2]}"

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
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(one.getsockname()[1]) for one in held]
    for one in held:
        one.close()
    return ports


def _greets(port: int, greeting: bytes) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=10.0) as client:
        return client.recv(512).startswith(greeting)
    return False


def _version(command: list[str]) -> str:
    with suppress(OSError):
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30).stdout.split()
        return said[0] if said else "unknown"
    return "unknown"


_DOVECOT = """\
base_dir = {base}
state_dir = {state}
log_path = {log}
instance_name = plimsoll
protocols = imap lmtp
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
default_internal_user = {name}
default_internal_group = {group}
default_login_user = {name}
first_valid_uid = 1
first_valid_gid = 1
mail_location = maildir:{mailboxes}/%n
mail_uid = {uid}
mail_gid = {gid}
mail_fsync = {mail_fsync}
mail_max_userip_connections = 1000
auth_mechanisms = plain
auth_username_format = %Ln
default_process_limit = 5000
default_client_limit = 50000
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={mailboxes}/%n allow_all_users=yes
}}
service anvil {{
  chroot =
}}
service imap-login {{
  chroot =
  service_count = 0
  client_limit = 10000
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service imap {{
  service_count = 0
  client_limit = 50
}}
service lmtp {{
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {lmtp}
  }}
}}
"""

_POSTFIX_MAIN = """\
compatibility_level = 3.6
queue_directory = {place}/queue
data_directory = {place}/data
command_directory = /usr/sbin
daemon_directory = {daemons}
mail_owner = postfix
setgid_group = postdrop
maillog_file = {place}/maillog
maillog_file_prefixes = {place}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
myhostname = {domain}
mydestination =
virtual_mailbox_domains = {domain}
virtual_transport = lmtp:inet:127.0.0.1:{lmtp}
smtpd_recipient_restrictions = permit_mynetworks, reject
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_client_connection_count_limit = 0
smtpd_client_connection_rate_limit = 0
smtpd_peername_lookup = no
default_process_limit = 500
alias_maps =
alias_database =
local_recipient_maps =
message_size_limit = 0
mailbox_size_limit = 0
virtual_mailbox_limit = 0
disable_dns_lookups = yes
in_flow_delay = 0
minimal_backoff_time = 1s
maximal_backoff_time = 5s
queue_run_delay = 1s
"""

_POSTFIX_MASTER = """\
127.0.0.1:{smtp} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
lmtp unix - - n - - lmtp
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
"""
