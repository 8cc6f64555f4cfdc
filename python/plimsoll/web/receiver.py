"""Runs that other machines send: taken while there is room, checked, and stored whole or not at all.

Model: ``PUT /api/parcels/NAME`` with the parcel as body and the digest of its contents in ``X-Plimsoll-Digest``; the answer has the name
under which the run is stored, its digest, and whether it was known. Bodies go to a file as they come, a few at once, each held to the
limit.
Limits: what was stored is not deleted again from here, so whoever has the token can fill the disk up to what `KEPT_FREE` leaves.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from typing import IO

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from plimsoll.errors import InputError, PlimsollError
from plimsoll.store.parcel import Announced, Limits, Received, remove_leftovers, unpack
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
        self._limits = Limits(bytes=most_bytes)
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
            if self._free() - int(length) < KEPT_FREE:
                return PlainTextResponse("the store has no room left.\n", 507)
            return await self._taken(request, Announced(request.path_params["name"], digest), int(length))

    def _free(self) -> int:
        try:
            return shutil.disk_usage(self._out).free
        except FileNotFoundError:
            return shutil.disk_usage(".").free

    async def _taken(self, request: Request, announced: Announced, length: int) -> Response:
        with tempfile.TemporaryFile(prefix="plimsoll-parcel-") as parcel:
            try:
                await _spooled(request, parcel, length)
            except ClientDisconnect:
                return PlainTextResponse("the sender left.\n", 400)
            parcel.seek(0)
            try:
                found: Received = await run_in_threadpool(unpack, parcel, self._out, announced, self._limits)
            except InputError:
                raise
            except PlimsollError as problem:
                # Something here, which may be mended: the sender tries again.
                return PlainTextResponse(f"{problem}\n", 507)
        said = {"name": found.name, "digest": announced.digest, "known": found.known}
        return JSONResponse(said, 200 if found.known else 201)


async def _spooled(request: Request, parcel: IO[bytes], length: int) -> None:
    left = length
    async for piece in request.stream():
        left -= len(piece)
        if left < 0:
            raise InputError("the parcel is longer than was said; send it again.")
        await run_in_threadpool(parcel.write, piece)
