"""The driver of mail users: mailboxes on the target, real servers that keep them, and people who work with them.

Model: the target is a directory in which Plimsoll makes mailboxes, once; users who come with a higher level get theirs then, and the others
go on with what they have, as people do. Each point starts the servers, logs its users in, lets their working day pass, waits until nothing
is queued any more, stops the servers, and looks for every letter that was accepted (`plimsoll.apps.mail.accounting`). The work is done in
Rust (``crates/engine/src/mail.rs``); tasks are operations, groups of users are streams.
Limits: private servers on this host only. A level is a number of users; what they receive stays in their mailboxes from point to point.

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
import time
from collections.abc import Mapping
from contextlib import suppress
from email.utils import formatdate
from typing import Any, cast

from plimsoll.apps.mail.accounting import accounted
from plimsoll.apps.mail.address import Address, is_address, parse
from plimsoll.apps.mail.programs import programs
from plimsoll.apps.mail.score import Answers
from plimsoll.apps.mail.server import DOMAIN, PrivateMail
from plimsoll.engine import Control, Engine, Job, Json, OnEvent, OnProgress, native_files, native_mail
from plimsoll.errors import InputError, TargetError
from plimsoll.stored import Definition, EngineOutcome, Inspection, Options
from plimsoll.target import Target

NAME = "mail"
#: What a run without a target takes.
DEFAULT_TARGET = "mail:new:./plimsoll-scratch.mail"
#: How long a server may take to answer before a task has failed.
_TIMEOUT_S = 120.0
#: How long letters may be on their way after the last task.
_DELIVERY_S = 120.0
#: Options that decide what is in a mailbox in the beginning.
_LAID_OUT = ("folders", "folder_messages", "inbox_messages", "appointments", "sizes", "seed")
_NO_SIZE = "size: how large the mailboxes are is said by users, folders, inbox_messages and sizes; set those in place of size."


class Mail:
    """`plimsoll.engine.Engine` whose jobs are days of mail users; what is not about them is handed on to ``engine``."""

    default_target = DEFAULT_TARGET
    #: Its target is written to, whatever the workload says.
    fills_target = True

    def __init__(self, engine: Engine, definition: Mapping[str, object]) -> None:
        self._engine = engine
        self._definition = cast("Definition", definition)
        self._files = native_files()
        self._mail = native_mail()

    def control(self) -> Control:
        return self._engine.control()

    def check_workload(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form of groups of users."""
        return self._mail.check(workload, source)

    def check_job(self, options: Json) -> Options:
        return self._engine.check_job(options)

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
        return {**self._files.inspect(address.directory), "spec": address.text}

    def write_refusal(self, target: Target, permission: Json | None) -> str | None:
        """Why no mailboxes may be made there. Raises the sentence of a missing package."""
        found = self.inspect_target(target)
        programs()
        return found.get("write_refusal") if permission is None else None

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Json | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        """Give every user a mailbox who has none; all anew where the mailboxes that are there are of another kind."""
        if size_bytes is not None:
            raise InputError(_NO_SIZE)
        server = self._server(parse(target.text), permission)
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
        _write(note, wanted)
        found = self.inspect_target(target)
        return cast("Inspection", {**found, "size_bytes": laid["bytes"], "file_bytes": laid["bytes"], "changes_between_points": True})

    def remove_target(self, target: Target) -> list[str]:
        """Remove the mailboxes, and the directory if it was made for that."""
        return self._files.remove(_directory(target))

    def release_target(self, target: Target) -> None:
        """Note that the mailboxes stay and that no run uses them any more."""
        self._files.release(_directory(target))

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Let the day pass. Raises `TargetError` where the servers cannot be started, or refuse a user."""
        workload = job["workload"]
        server = self._server(parse(job["target"].text), job["permission"])
        run, since_ns = f"{time.time_ns():x}", time.time_ns()
        ledger = os.path.join(server.home, "ledger")
        with suppress(FileNotFoundError):
            os.unlink(ledger)
        answers = Answers(on_event)
        try:
            server.start(lambda: control.stopped)
            facts = server.facts()
            outcome = self._mail.run(
                {
                    "workload": workload,
                    "job": job["job"],
                    "server": _seen_by_users(server, sum(stream["users"] for stream in workload["stream"])),
                    "run": run,
                    "date": formatdate(),
                    "ledger": ledger,
                },
                answers.hear,
                control,
            )
            queued, delivered_s = _awaited(server)
        finally:
            server.stop()
        account = accounted(ledger, run, server.mailboxes, since_ns)
        mail: Json = {**cast("Json", outcome).get("mail", {}), "queued_at_end": queued, "queue_empty_after_s": delivered_s}
        weights = cast("Json", workload["stream"][0])["score_weights"]
        cast("Json", outcome)["mail"] = {**mail, **answers.score(weights), "account": account.to_json()}
        engine = outcome.get("engine")
        if engine is not None:
            engine["facts"] = {**facts, **_told(mail)}
        return outcome

    def calibrate(self, seconds: float) -> Json:
        return self._engine.calibrate(seconds)

    def probe_io_uring(self) -> Json:
        return self._engine.probe_io_uring()

    def _server(self, address: Address, permission: Json | None) -> PrivateMail:
        home = self._files.own(address.directory, permission, NAME)
        definition: Mapping[str, Any] = cast("Mapping[str, Any]", self._definition)
        return PrivateMail(home, os.path.abspath(address.directory), str(definition["mail_fsync"]))


def _seen_by_users(server: PrivateMail, users: int) -> Json:
    """The servers and accounts as the users' programs know them."""
    names = [f"u{number}" for number in range(users)]
    return {
        "imap": server.imap,
        "submission": server.submission,
        "lmtp": server.lmtp,
        "timeout_s": _TIMEOUT_S,
        "accounts": [{"name": name, "password": server.password, "address": f"{name}@{DOMAIN}"} for name in names],
    }


def _awaited(server: PrivateMail) -> tuple[int, float]:
    """Letters that were queued when the last task had ended, and the seconds until none was; raises when they stay."""
    begun = time.monotonic()
    queued = server.queued()
    while server.queued():
        if time.monotonic() > begun + _DELIVERY_S:
            raise TargetError(
                f"{server.directory}: letters are queued {_DELIVERY_S:g} s after the last task; {server.home}/postfix/maillog says why."
            )
        time.sleep(0.05)
    return queued, time.monotonic() - begun


def _told(mail: Json) -> dict[str, str]:
    """What became of the letters, as facts of the engine."""
    return {name: str(mail[key]) for name, key in (("letters accepted", "letters"), ("deliveries", "deliveries")) if key in mail}


def _laid_out(definition: Mapping[str, Any]) -> Json:
    """What decides how mailboxes begin. Users of the last group may become more: they come after those that are there."""
    streams = definition["stream"]
    groups = [{option: stream[option] for option in _LAID_OUT} for stream in streams]
    return {"groups": groups, "users": [stream["users"] for stream in streams[:-1]]}


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
