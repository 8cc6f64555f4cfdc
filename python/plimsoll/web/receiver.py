"""Runs that other machines send: taken while there is room, checked, and stored whole or not at all.

Model: ``PUT /api/parcels/NAME`` with the parcel as body and the digest of its contents in ``X-Plimsoll-Digest``; the answer has the name
under which the run is stored, its digest, and whether it was known. Bodies go to a file as they come, a few at once, each held to the
limit and lies on the disk of the store meanwhile. A disk that is full, or would be, is status 507; the sender tries again later.
Limits: what was stored is not deleted again from here, so whoever has the token can fill the disk up to what `KEPT_FREE` leaves.
"""

from __future__ import annotations

import asyncio
import os
import re
from typing import IO

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from plimsoll.errors import InputError, PlimsollError, StoreError
from plimsoll.store.durable import store_error
from plimsoll.store.parcel import Announced, Limits, NoRoom, Received, free_bytes, is_full, is_known, remove_leftovers, spool, unpack
from plimsoll.units import binary

#: So many come in at once; others are told to come later.
AT_ONCE = 4
#: No parcel is taken that would leave less than this free in the store, in bytes.
KEPT_FREE = 256 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Receiver:
    """Takes parcels into the store ``out``; each may have ``most_bytes``, packed and unpacked alike."""

    def __init__(self, out: str, most_bytes: int) -> None:
        self._out = out
        self._limits = Limits(bytes=most_bytes, kept_free=KEPT_FREE)
        self._places = asyncio.Semaphore(AT_ONCE)
        remove_leftovers(out)

    async def receive(self, request: Request) -> Response:
        """Store what comes."""
        digest = request.headers.get("x-plimsoll-digest", "")
        if not _DIGEST.fullmatch(digest):
            raise InputError("the header X-Plimsoll-Digest is missing or no SHA-256; send runs with 'plimsoll send'.")
        length = request.headers.get("content-length", "")
        if not length.isdecimal():
            return PlainTextResponse("the length of the parcel is missing; send runs with 'plimsoll send'.\n", 411)
        if int(length) > self._limits.bytes:
            return PlainTextResponse(
                f"the parcel has {binary(int(length))}; not more than {binary(self._limits.bytes)} are taken here.\n", 413
            )
        if self._places.locked():
            return PlainTextResponse("enough is coming in at the moment.\n", 503)
        async with self._places:
            try:
                return await self._taken(request, Announced(request.path_params["name"], digest), int(length))
            except ClientDisconnect:
                return PlainTextResponse("the sender left.\n", 400)
            except NoRoom as problem:
                return _no_room(problem.free_bytes)
            except OSError as problem:
                return _no_room(free_bytes(self._out)) if is_full(problem) else _later(store_error(self._out, problem))
            except StoreError as problem:
                return _later(problem)

    async def _taken(self, request: Request, announced: Announced, length: int) -> Response:
        if free_bytes(self._out) - length < KEPT_FREE:
            # Whose answer was lost need not wait for room.
            known = await run_in_threadpool(is_known, self._out, announced)
            return _no_room(free_bytes(self._out)) if known is None else _stored(known, announced)
        os.makedirs(self._out, exist_ok=True)
        with spool(self._out) as parcel:
            await _spooled(request, parcel, length)
            found: Received = await run_in_threadpool(unpack, parcel, self._out, announced, self._limits)
        return _stored(found, announced)


def _stored(found: Received, announced: Announced) -> Response:
    said = {"name": found.name, "digest": announced.digest, "known": found.known}
    return JSONResponse(said, 200 if found.known else 201)


def _no_room(free: int) -> Response:
    """What the sender hears, who cannot see the disk; it tries again."""
    return PlainTextResponse(f"its store has no room left ({binary(free)} free, {binary(KEPT_FREE)} of it are kept free).\n", 507)


def _later(problem: PlimsollError) -> Response:
    """Something here, which may be mended: the sender tries again."""
    return PlainTextResponse(f"{problem}\n", 507)


async def _spooled(request: Request, parcel: IO[bytes], length: int) -> None:
    left = length
    async for piece in request.stream():
        left -= len(piece)
        if left < 0:
            raise InputError("the parcel is longer than was said; send it again.")
        await run_in_threadpool(parcel.write, piece)
    parcel.seek(0)
