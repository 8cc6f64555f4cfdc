"""The driver of mail users: mailboxes on the target, real servers that keep them, and people who work with them.

Model: the target is a directory in which Plimsoll makes mailboxes, once; users who come with a higher level get theirs then, and the others
go on with what they have, as people do. Each point starts the servers, logs its users in, lets their working day pass, waits until nothing
is queued any more, stops the servers, and looks for every letter that was accepted (`plimsoll.apps.mail.accounting`). The work is done in
Rust (``crates/engine/src/mail.rs``); tasks are operations, groups of users are streams.
Users are on this host, or divided among several that are clients of one server (`plimsoll.apps.mail.shared_server`).
Limits: private servers run on this host; one of the user's own is worked with as `plimsoll.apps.mail.own_server` says. A level is a number
of users; what they receive stays in their mailboxes from point to point.

    [workload file]  driver = "mail"
                     [[stream]]
                     users = 1200
                     tasks = { read = 80, send = 15 }

    engine = Mail(native(), definition)
    engine.prepare_target(Target("mail:new:/mnt/array/mail"), None, None, on_progress, control)
    job = {"workload": definition, "job": options, "target": Target("mail:new:/mnt/array/mail"), "permission": None}
    engine.run_job(job, on_event, control)
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, cast

from plimsoll.apps.application import Application
from plimsoll.apps.mail.address import Address, is_address, parse
from plimsoll.apps.mail.conversion import convert
from plimsoll.apps.mail.day import Day, telling
from plimsoll.apps.mail.own_server import OwnMail
from plimsoll.apps.mail.programs import programs
from plimsoll.apps.mail.server import Choices, PrivateMail
from plimsoll.apps.mail.shared_server import SharedServer, work_as_client
from plimsoll.apps.mail.users import users_of
from plimsoll.engine.files import native_files
from plimsoll.engine.mail import native_mail
from plimsoll.engine.protocol import Control, Engine, Job, OnEvent, OnProgress, Permission
from plimsoll.errors import InputError, SafetyRefusal
from plimsoll.stored import Definition, EngineOutcome, Inspection, Json, Options
from plimsoll.target import Target

NAME = "mail"
#: What a run without a target takes.
DEFAULT_TARGET = "mail:new:./plimsoll-scratch.mail"
#: Options that decide what is in a mailbox in the beginning.
_LAID_OUT = ("folders", "folder_messages", "inbox_messages", "appointments", "sizes", "seed")
_NO_SIZE = "size: how large the mailboxes are is said by users, folders, inbox_messages and sizes; set those in place of size."


class Mail(Application):
    """`plimsoll.engine.protocol.Engine` whose jobs are days of mail users; what is not about them is handed on to ``engine``."""

    default_target = DEFAULT_TARGET
    #: Its target is written to, whatever the workload says.
    fills_target = True

    #: What becomes of the target, in words.
    makes = "a mail server and a mailbox for every user are made and used"

    def __init__(self, engine: Engine, definition: Mapping[str, object]) -> None:
        super().__init__(engine)
        self._definition = cast("Definition", definition)
        self._files = native_files()
        #: Whether mailboxes of the user's were written to.
        self._wrote = False
        self._mail = native_mail()

    def check_workload(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form of groups of users."""
        return self._mail.check(workload, source)

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed: of the job, of the server, of every group of users, or of the one named before the dot."""
        if key == "size":
            raise InputError(_NO_SIZE)
        return self._mail.set_option(workload, options, key, value)

    def workload_schema(self) -> Json:
        return self._mail.schema()

    def inspect_target(self, target: Target) -> Inspection:
        """What is at the directory. Raises `InputError` for what is no address of a mail server."""
        address = parse(target.text)
        if address.own is not None:
            return {"kind": "server", "spec": target.text, "exists": True, "made_by_plimsoll": False}
        return {**self._files.inspect(address.directory), "spec": address.text}

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        """Why no mailboxes may be made there. Raises the sentence of a missing package."""
        address = parse(target.text)
        if address.own is not None:
            if permission is None:
                return _refusal(address)
            self._own(address)
            return None
        found = self.inspect_target(target)
        programs()
        return found.get("write_refusal") if permission is None else None

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Permission | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        """Give every user a mailbox who has none; all anew where the mailboxes that are there are of another kind."""
        if size_bytes is not None:
            raise InputError(_NO_SIZE)
        address = parse(target.text)
        if address.own is not None:
            return self._prepare_own(address, permission, on_progress, control)
        server = self._server(address, permission)
        server.make()
        note = os.path.join(server.home, "mailboxes.json")
        wanted = _laid_out(self._definition)
        if _read(note) != wanted:
            with suppress(FileNotFoundError):
                os.unlink(note)
            shutil.rmtree(server.mailboxes)
            server.make()
        owner = None if server.user.name is None else (server.user.uid, server.user.gid)
        laid = self._mail.lay_out(self._definition, server.mailboxes, owner, on_progress, control)
        if server.choices.format != "maildir":
            convert(server, lambda percent: on_progress(laid["bytes"] * percent // 100, laid["bytes"]), control)
        _write(note, wanted)
        found = self.inspect_target(target)
        return cast("Inspection", {**found, "size_bytes": laid["bytes"], "file_bytes": laid["bytes"], "changes_between_points": True})

    def _prepare_own(self, address: Address, permission: Permission | None, on_progress: OnProgress, control: Control) -> Inspection:
        if permission is None:
            raise SafetyRefusal(_refusal(address))
        own = self._own(address)
        own.check()
        self._wrote = True
        own.prepare(on_progress, control)
        found: Inspection = {"kind": "server", "spec": address.text, "exists": True, "made_by_plimsoll": False}
        return {**found, "scratch": [address.text], "changes_between_points": True}

    def remove_target(self, target: Target) -> list[str]:
        """Remove the mailboxes, and the directory if it was made for that."""
        if is_address(target.text) and (address := parse(target.text)).own is not None:
            return self._own(address).clear() if self._wrote else []
        return self._files.remove(_directory(target))

    def schema_state(self, target: Target) -> str:
        """Nothing stays in mailboxes of the user's unless they ask for it."""
        return "absent"

    def release_target(self, target: Target) -> None:
        """Note that the mailboxes stay and that no run uses them any more."""
        if not is_address(target.text) or parse(target.text).own is None:
            self._files.release(_directory(target))

    def serves(self, target: Target) -> bool:
        """Whether several hosts can be clients of one server there. Raises `InputError` for what is no address of a mail server."""
        parse(target.text)
        return True

    @contextmanager
    def shared_server(self, job: Job, on_event: OnEvent, control: Control, count: int) -> Iterator[SharedServer]:
        """The servers of a job whose users are on ``count`` hosts: they run, are watched, and accounted for from here."""
        server = self._server_of(job)
        try:
            shared = SharedServer(job["target"].text, server, job, count, control.stop)
            shared.start(telling(on_event, control))
            yield shared
        finally:
            server.stop()
            server.close()

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Let the day pass. Raises `TargetError` where the servers cannot be started, or refuse a user."""
        if "clients" in job:
            return work_as_client(job, self._mail, on_event, control)
        return Day(self._server_of(job), self._mail).pass_(job, on_event, control)

    def _server_of(self, job: Job) -> OwnMail | PrivateMail:
        """The server of a job. Raises `SafetyRefusal` for one of the user's that may not be written to."""
        address = parse(job["target"].text)
        if address.own is not None and job["permission"] is None:
            raise SafetyRefusal(_refusal(address))
        return self._server(address, job["permission"]) if address.own is None else self._own(address)

    def _own(self, address: Address) -> OwnMail:
        """The user's own server, with the users of its file."""
        assert address.own is not None
        return OwnMail(address.own, users_of(address), cast("Mapping[str, Any]", self._definition))

    def _server(self, address: Address, permission: Permission | None) -> PrivateMail:
        home = self._files.own(address.directory, permission, NAME)
        definition: Mapping[str, Any] = cast("Mapping[str, Any]", self._definition)
        choices = Choices(str(definition["mail_fsync"]), str(definition["mailbox_format"]))
        return PrivateMail(home, os.path.abspath(address.directory), choices)


def _refusal(address: Address) -> str:
    """Why a server of the user's is not worked with unasked."""
    assert address.own is not None
    return f"the mailboxes of the users in {address.own.users} are written to at {address.own.imap}; add --destroy-data if that may be."


def _laid_out(definition: Mapping[str, Any]) -> Json:
    """What decides how mailboxes begin. Users of the last group may become more: they come after those that are there."""
    streams = definition["stream"]
    groups = [{option: stream[option] for option in _LAID_OUT} for stream in streams]
    return {"groups": groups, "users": [stream["users"] for stream in streams[:-1]], "format": definition["mailbox_format"]}


def _read(path: str) -> Json | None:
    with suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
        return cast("Json", json.load(file))
    return None


def _write(path: str, document: Json) -> None:
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(document, file)
    os.rename(f"{path}.new", path)


def _directory(target: Target) -> str:
    """Of an address, or a directory that is named by its path, as those are that a killed run left behind."""
    return parse(target.text).directory if is_address(target.text) else target.text
