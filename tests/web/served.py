"""A server of the live page in a process of its own, and runs that it shows: ended ones, and one that goes on."""

from __future__ import annotations

import http.client
import json
import re
import signal
import ssl
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from plimsoll.store.writer import own_identity
from report.synthetic import PROFILES, Array, write_run

PATIENCE_S = 60


@dataclass
class Served:
    """A server that runs."""

    process: subprocess.Popen
    address: str

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2]

    @property
    def place(self) -> str:
        """``127.0.0.1:8642``"""
        return self.address.partition("://")[2].partition("/")[0]

    @property
    def port(self) -> int:
        return int(self.place.rpartition(":")[2])

    def ask(self, path, method="GET", *, bearer=True, headers=None, host=None, context=None, body=None):
        """Status, headers by lower-case name, and text of an answer."""
        kind = http.client.HTTPConnection if context is None else http.client.HTTPSConnection
        more = {} if context is None else {"context": context}
        connection = kind("127.0.0.1", self.port, timeout=PATIENCE_S, **more)
        brought = {"Authorization": f"Bearer {self.token}"} if bearer is True else ({"Authorization": f"Bearer {bearer}"} if bearer else {})
        connection.request(method, path, body, headers={"Host": host or self.place, **brought, **(headers or {})})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text

    def stop(self, how=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(PATIENCE_S)
        finally:
            self.process.kill()
            for stream in (self.process.stdout, self.process.stderr):
                stream.close()


def served(store, *words) -> Served:
    """`plimsoll serve` on a free port."""
    command = [sys.executable, "-m", "plimsoll", "serve", "--out", str(store), *(() if "--port" in words else ("--port", "0")), *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    assert address.startswith("http"), process.stderr.read()
    return Served(process, address)


def trusting(cert) -> ssl.SSLContext:
    """Trusts this certificate and no other."""
    return ssl.create_default_context(cafile=str(cert))


def events(server: Served, path, wanted, headers=None):
    """Events as ``(name, value)`` until ``wanted`` says that they suffice."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    connection.request("GET", path, headers={"Host": server.place, "Authorization": f"Bearer {server.token}", **(headers or {})})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    found, name = [], None
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        line = answer.readline().decode().rstrip("\n")
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            found.append((name, json.loads(line[6:])))
            if wanted(found):
                connection.close()
                return found
    raise AssertionError(f"it never came: {[name for name, _ in found]}")


class GoingOn:
    """A run whose last point is half measured, as its process, which is this one, would have left it so far."""

    def __init__(self, store: Path, label: str = "going on") -> None:
        self.path = write_run(store / "2026-11-23T10-00-00_going-on", Array("going", label=label, seconds=10), PROFILES[:3])
        self._meta = json.loads((self.path / "run.json").read_text())
        self._say(status="running", process=own_identity(), finished=None, points_planned=3)
        self._last = sorted((self.path / "points").iterdir())[-1]
        self._result = (self._last / "result.json").read_text()
        (self._last / "result.json").unlink()
        (self._last / "job.json").write_text(json.dumps(_skeleton(json.loads(self._result))))
        self._lines = (self._last / "intervals.jsonl").read_text().splitlines(keepends=True)
        self.written = 0
        (self._last / "intervals.jsonl").write_text("")

    def _say(self, **more) -> None:
        self._meta |= more
        (self.path / "run.json").write_text(json.dumps(self._meta))

    def intervals(self, count: int, torn: bool = False) -> None:
        """So many more; the last one only begun where it is torn."""
        with open(self._last / "intervals.jsonl", "a") as file:
            for line in self._lines[self.written : self.written + count]:
                file.write(line)
            self.written += count
            if torn:
                file.write(self._lines[self.written][:40])

    def hosts(self, hosts) -> None:
        """How far each of several hosts is."""
        beside = self._last / ".hosts.json"
        beside.write_text(json.dumps({"hosts": hosts}))
        beside.replace(self._last / "hosts.json")

    def end(self) -> None:
        (self._last / "intervals.jsonl").write_text("".join(self._lines))
        (self._last / "result.json").write_text(self._result)
        self._say(status="complete", process=None, finished="2026-11-23T10:01:00+00:00")


def _skeleton(result):
    """What ``job.json`` holds before a point is measured."""
    return {**result, "status": "incomplete", "totals": {}, "estimates": {}, "flags": [], "streams": {}, "parts": {}}


def cookie_of(headers) -> str:
    return re.match(r"[^;]+", headers["set-cookie"])[0]
