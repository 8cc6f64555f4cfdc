"""Metrics on their way to an OpenTelemetry collector, in a thread that nobody waits for.

Model: everything that is sent holds all that went before, so nothing is queued: what cannot be delivered is sent again as it stands by
then, after a second at first and at most a minute later on, or when the collector says. That it cannot be reached is said once, until it
can be. The headers that a collector asks for come from ``OTEL_EXPORTER_OTLP_HEADERS``, the interval from
``OTEL_METRIC_EXPORT_INTERVAL``, as for other senders.

    sender = Sender(collector("http://127.0.0.1:4318"), lambda: measured.families(paths), print)
    sender.run(ended)                # until the event is set, and once more
"""

from __future__ import annotations

import gzip
import http.client
import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit, urlunsplit

from plimsoll.displayed import displayed_in_line
from plimsoll.errors import InputError
from plimsoll.metrics.families import Family
from plimsoll.metrics.opentelemetry import request

#: How often is sent, in seconds; how long an answer may take; and the longest pause after a failure.
EVERY_S = 10.0
ANSWER_S = 3.0
PAUSE_MAX_S = 60.0
#: Answers after which the same may be sent again (OTLP, "Retryable Response Codes").
_RETRIED = (429, 502, 503, 504)
_SAID_MAX = 200


@dataclass(frozen=True)
class Collector:
    """Where metrics go."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    every_s: float = EVERY_S

    @property
    def place(self) -> str:
        """Without its path."""
        return self.url.removesuffix("/v1/metrics")


def collector(url: str) -> Collector:
    """The collector at ``url``, with what the environment says; raises `InputError` for what is no address."""
    try:
        parts = urlsplit(url)
        found = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        found = False
    if not found:
        raise InputError(f"--otlp {displayed_in_line(url)} is no address of a collector; write for example http://127.0.0.1:4318.")
    if parts.username or parts.password:
        raise InputError("--otlp: credentials belong in OTEL_EXPORTER_OTLP_HEADERS, and not in the address.")
    path = parts.path.rstrip("/")
    whole = urlunsplit(parts._replace(path=path if path.endswith("/v1/metrics") else f"{path}/v1/metrics", fragment=""))
    return Collector(whole, _headers(os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", "")), _every_s())


def _headers(text: str) -> tuple[tuple[str, str], ...]:
    pairs = [one.partition("=") for one in text.split(",") if one.strip()]
    found = tuple((name.strip(), unquote(value.strip())) for name, _, value in pairs)
    if any(not name or not value or not (name + value).isprintable() for name, value in found):
        raise InputError("OTEL_EXPORTER_OTLP_HEADERS is no list of headers; write NAME=VALUE, with commas between several.")
    return found


def _every_s() -> float:
    text = os.environ.get("OTEL_METRIC_EXPORT_INTERVAL", "")
    if text and not (text.isdecimal() and int(text) > 0):
        raise InputError(f"OTEL_METRIC_EXPORT_INTERVAL={displayed_in_line(text)} is no time in milliseconds; write for example 10000.")
    return int(text) / 1e3 if text else EVERY_S


class Sender:
    """Sends what ``families`` returns; ``say`` takes sentences for people."""

    def __init__(self, to: Collector, families: Callable[[], Sequence[Family]], say: Callable[[str], None]) -> None:
        self._to = to
        self._families = families
        self._say = say
        self._begun_ns = time.time_ns()
        self._failures = 0
        self._refused = False

    def run(self, ended: threading.Event) -> None:
        """Send until ``ended``, and once more then."""
        pause_s = 0.0
        while not ended.wait(pause_s):
            pause_s = self.send()
            if self._refused:
                return
        self.send()

    def send(self) -> float:
        """Send once; after how many seconds to send again."""
        body = json.dumps(request(self._families(), self._begun_ns, time.time_ns()), separators=(",", ":")).encode()
        headers = {**dict(self._to.headers), "Content-Type": "application/json", "Content-Encoding": "gzip"}
        asked = urllib.request.Request(self._to.url, gzip.compress(body, 1), headers, method="POST")  # noqa: S310  # http or https, see `collector`
        try:
            with _OPENER.open(asked, timeout=ANSWER_S) as answer:
                answer.read(_SAID_MAX)
        except urllib.error.HTTPError as problem:
            with problem:
                return self._answered(problem)
        except (OSError, http.client.HTTPException) as problem:
            reason = getattr(problem, "reason", problem)
            return self._failed(str(getattr(reason, "strerror", None) or reason).lower(), None)
        if self._failures:
            self._say(f"{self._to.place} takes metrics again.")
        self._failures = 0
        return self._to.every_s

    def _answered(self, problem: urllib.error.HTTPError) -> float:
        if problem.code in _RETRIED:
            after = problem.headers.get("Retry-After", "")
            return self._failed(f"answers {problem.code}", float(after) if after.isdecimal() else None)
        said = displayed_in_line(problem.read(_SAID_MAX).decode(errors="replace").strip())
        self._say(f"{self._to.place} refuses metrics ({problem.code}{f': {said}' if said else ''}); no more are sent.")
        self._refused = True
        return self._to.every_s

    def _failed(self, why: str, after_s: float | None) -> float:
        if not self._failures:
            self._say(f"{self._to.place} takes no metrics ({displayed_in_line(why)}); they are sent again until it does.")
        self._failures += 1
        return min(PAUSE_MAX_S, after_s if after_s is not None else 2.0 ** (self._failures - 1))


class _Unmoved(urllib.request.HTTPRedirectHandler):
    """Headers with credentials go to the collector that was named and to no other."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_Unmoved)
