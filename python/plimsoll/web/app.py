"""What the live page asks for: the list, a run as it goes on, reports, comparisons, and the events that tell of changes.

Model: every answer is made from the store at that moment, in a thread. An error of the store is a sentence with status 404 or 409, never a
traceback.

    GET /                       the page                GET /runs/NAME/report      the report of a run
    GET /api/runs               the list                GET /compare?run=A&run=B   the comparison page of several
    GET /api/runs/NAME          answer, load lines      GET /api/events?run=NAME   changes as they come
    PUT /api/parcels/NAME       a run of another machine (`plimsoll.web.receiver`)
    GET /metrics                what is being measured, for Prometheus; /grafana.json is a dashboard of it
    POST /api/start, /api/stop  a suite, a run (`plimsoll.web.control`)
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from plimsoll import __version__
from plimsoll.displayed import displayed
from plimsoll.errors import InputError, PlimsollError, SafetyRefusal, StoreError
from plimsoll.metrics.progress import Measured
from plimsoll.metrics.prometheus import exposition
from plimsoll.reports.html import json_block, page
from plimsoll.store.reader import StoredRun, open_run
from plimsoll.web.control import Control
from plimsoll.web.events import BrowserState, News, event, hello
from plimsoll.web.listing import Entry, Listing, running
from plimsoll.web.live import Following, report_so_far
from plimsoll.web.pages import compared_page, refusal_page, refused_comparison_page, report_page
from plimsoll.web.receiver import Receiver

#: How often a browser is told what is new, in seconds, and how often that nothing is.
TICK_S = 1.0
QUIET_S = 15.0
#: A report brings the policy of its own script; the server adds who may show it in a frame.
_FRAMELESS = {"content-security-policy": "frame-ancestors 'none'"}
_ASSETS = {"live.js": "text/javascript", "live.css": "text/css"}

_COMPARE = "/compare"
#: A request that commands is short.
_ASKED_MAX = 4096

Handler = Callable[[Request], Awaitable[Response]]


@dataclass
class Ending:
    """The end of the one run that is shown: whether anybody ever followed it, and how many have not been told yet that it ended."""

    ended: threading.Event
    seen: bool = False
    following: int = 0


@dataclass(frozen=True)
class Offer:
    """What is served besides the store ``out``: with ``receives_bytes`` runs of other machines are taken, each of so many bytes at most;
    with ``control`` suites are started and runs stopped. ``only`` is the one run that is shown until its ``ending``."""

    out: str
    receives_bytes: int | None = None
    control: Control | None = None
    only: str | None = None
    ending: Ending | None = None


def application(offer: Offer) -> Starlette:
    """The pages of a store, without a guard: `plimsoll.web.guard` stands before them."""
    store = _Store(offer)
    routes = [
        Route("/", _index),
        Route("/assets/{name}", _asset),
        Route("/api/runs", _told(store.runs)),
        Route("/api/runs/{name}", _told(store.run)),
        Route("/api/events", store.events),
        Route("/runs/{name}/report", _told(store.report)),
        Route(_COMPARE, _told(store.compare)),
        Route("/metrics", _told(store.metrics)),
        Route("/grafana.json", _dashboard),
    ]
    if offer.receives_bytes is not None:
        routes.append(Route("/api/parcels/{name}", _told(Receiver(offer.out, offer.receives_bytes).receive), methods=["PUT"]))
    if offer.control is not None:
        routes.append(Route("/api/start", _told(store.commanded(offer.control.start)), methods=["POST"]))
        routes.append(Route("/api/stop", _told(store.commanded(offer.control.stop)), methods=["POST"]))
    return Starlette(routes=routes, exception_handlers={404: _nothing, 405: _nothing, 500: _broken})


class _Store:
    """The answers that come from the store."""

    def __init__(self, offer: Offer) -> None:
        self.out = offer.out
        self.control = offer.control
        self.ending = offer.ending
        self.listing = Listing(offer.out, offer.only)
        self.measured = Measured()
        # One reader of a run serves all browsers that follow it.
        self._followed: dict[str, Following] = {}
        self._lock = threading.Lock()

    async def runs(self, _: Request) -> Response:
        return JSONResponse({"version": __version__, "runs": await run_in_threadpool(self.listing.entries)})

    async def run(self, request: Request) -> Response:
        model = await run_in_threadpool(lambda: report_so_far(self._named(request.path_params["name"])))
        return Response(json_block(model), media_type="application/json")

    async def report(self, request: Request) -> Response:
        html = await run_in_threadpool(lambda: page(report_page([self._named(request.path_params["name"])]), home="/"))
        return Response(html, media_type="text/html", headers=_FRAMELESS)

    async def compare(self, request: Request) -> Response:
        names = list(dict.fromkeys(request.query_params.getlist("run")))
        varying = tuple(request.query_params.getlist("varying"))
        if not names:
            raise InputError("nothing is named that could be compared; add ?run=NAME&run=NAME.")
        html = await run_in_threadpool(lambda: page(compared_page([self._named(name) for name in names], varying), home="/"))
        return Response(html, media_type="text/html", headers=_FRAMELESS)

    async def metrics(self, request: Request) -> Response:
        """What is being measured, as Prometheus reads it."""

        def made() -> tuple[bytes, str]:
            return exposition(self.measured.families(running(self.listing)), request.headers.get("accept", ""))

        body, kind = await run_in_threadpool(made)
        return Response(body, headers={"content-type": kind})

    def commanded(self, act: Callable[[object, Sequence[Entry]], dict[str, Any]]) -> Handler:
        """`act` on what a request asks for in JSON."""

        async def acting(request: Request) -> Response:
            asked = await _asked(request)
            return JSONResponse(await run_in_threadpool(lambda: act(asked, self.listing.entries(anew=True))))

        return acting

    async def events(self, request: Request) -> Response:
        name = request.query_params.get("run")
        return StreamingResponse(self._changes(request, name), media_type="text/event-stream", headers={"x-accel-buffering": "no"})

    def _named(self, name: str) -> StoredRun:
        """A run of this store: names only, so that no path leads elsewhere."""
        if name not in {entry["name"] for entry in self.listing.entries()}:
            raise _Unknown(f"there is no run '{displayed(name)}' in this store.")
        return open_run(os.path.join(self.out, name))

    async def _changes(self, request: Request, name: str | None) -> AsyncIterator[str]:
        ending = self.ending
        if ending is None:
            async for said in self._news(request, name):
                yield said
            return
        ending.seen, ending.following = True, ending.following + 1
        try:
            async for said in self._news(request, name):
                yield said
        finally:
            ending.following -= 1

    async def _news(self, request: Request, name: str | None) -> AsyncIterator[str]:
        yield hello(__version__)
        told, quiet_s = BrowserState(), time.monotonic()
        while not await request.is_disconnected():
            begun_s = time.monotonic()
            # Asked before the look, which then holds the last state.
            is_last = self.ending is not None and self.ending.ended.is_set()
            try:
                news = told.news(await run_in_threadpool(self._look, name))
            except PlimsollError as problem:
                news = told.problem(str(problem))
            if not news and begun_s - quiet_s >= QUIET_S:
                news = [": nothing new\n\n"]
            if news:
                quiet_s = begun_s
                yield "".join(news)
            if is_last:
                yield event("end", {})
                return
            if not await run_in_threadpool(self.listing.count_doubts):
                await asyncio.sleep(max(0.1, TICK_S - (time.monotonic() - begun_s)))

    def _look(self, name: str | None) -> News:
        """The list, the run that is followed, and what can be started."""
        entries = self.listing.entries()
        control = None if self.control is None else self.control.state(entries)
        if name is None:
            return News(entries, None, control)
        with self._lock:
            if name not in self._followed:
                self._followed[name] = Following(self._named(name))
            return News(entries, self._followed[name].look(), control)


class _Unknown(InputError):
    """What is asked for is not there."""


def _told(handler: Handler) -> Handler:
    """`handler`, whose errors become sentences."""

    async def answering(request: Request) -> Response:
        try:
            return await handler(request)
        except PlimsollError as problem:
            status = 404 if isinstance(problem, _Unknown) else 409 if isinstance(problem, (StoreError, SafetyRefusal)) else 400
            return _refused(request, str(problem), status)

    return answering


def _refused(request: Request, sentence: str, status: int) -> Response:
    """The sentence; on a page of its own where somebody went there in a browser."""
    if "text/html" not in request.headers.get("accept", ""):
        return PlainTextResponse(f"{sentence}\n", status)
    if request.url.path != _COMPARE:
        return Response(refusal_page(sentence), status, media_type="text/html")
    asked = request.query_params
    shown = refused_comparison_page(sentence, list(dict.fromkeys(asked.getlist("run"))), asked.getlist("varying"))
    return Response(shown, status, media_type="text/html")


async def _asked(request: Request) -> object:
    """The JSON of a request that commands; raises `InputError` for what is none."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise InputError("a request that starts or stops is JSON; send Content-Type: application/json.")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _ASKED_MAX:
            raise InputError(f"a request that starts or stops has at most {_ASKED_MAX} bytes.")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise InputError('a request that starts or stops is JSON, for example {"run": "NAME"}.') from None


async def _index(_: Request) -> Response:
    return Response((files("plimsoll.web") / "page" / "index.html").read_bytes(), media_type="text/html")


async def _dashboard(_: Request) -> Response:
    return Response((files("plimsoll.web") / "grafana.json").read_bytes(), media_type="application/json")


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _ASSETS:
        return await _nothing(request, Exception())
    return Response((files("plimsoll.web") / "page" / name).read_bytes(), media_type=_ASSETS[name])


async def _nothing(request: Request, _: Exception) -> Response:
    return PlainTextResponse(f"there is nothing at {displayed(request.url.path)}; the page is at /.\n", 404)


async def _broken(_: Request, problem: Exception) -> Response:
    return PlainTextResponse(f"this is a fault of Plimsoll ({type(problem).__name__}); the terminal of 'plimsoll serve' says more.\n", 500)
