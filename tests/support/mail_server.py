"""A mail server that keeps each mail as a file; run as a program, it prints its port.

Words: the directory, then ``cert=FILE`` (STARTTLS is offered), ``implicit`` (TLS from the first byte), ``login`` (only user ``lab`` with
PASSWORD), ``size=BYTES``, ``fault=…``: ``refuse`` (5xx for the mail), ``later`` (4xx for the first), ``cut`` (the first is taken, but
the answer is lost), ``echo`` (a refusal repeats the password). A recipient called ``nobody`` is unknown.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import ssl
import sys
import warnings

warnings.simplefilter("ignore")

from aiosmtpd.smtp import SMTP, AuthResult  # noqa: E402

PASSWORD = "canary-9f3e"


class _Keeper:
    def __init__(self, inbox: str, fault: str) -> None:
        self._inbox, self._fault, self._numbers = inbox, fault, itertools.count()

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802  # as aiosmtpd calls it
        if address.startswith("nobody@"):
            return "550 5.1.1 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        number = next(self._numbers)
        if self._fault == "refuse":
            return "554 5.7.1 attachments are not taken"
        if self._fault == "later" and number == 0:
            return "452 4.3.1 the disk is full"
        with open(os.path.join(self._inbox, f"{number}.eml"), "wb") as file:
            file.write(envelope.original_content)
        if self._fault == "cut" and number == 0:
            server.transport.abort()
        return "250 OK"


def _let_in(fault):
    def judged(server, session, envelope, mechanism, given):
        if given.password == PASSWORD.encode() and given.login == b"lab":
            return AuthResult(success=True)
        if fault == "echo":
            return AuthResult(success=False, handled=False, message=f"535 5.7.8 {given.password.decode()} is wrong")
        return AuthResult(success=False, handled=False)

    return judged


async def main() -> None:
    logging.getLogger("mail.log").setLevel(logging.CRITICAL)
    inbox, *words = sys.argv[1:]
    told = dict(word.partition("=")[::2] for word in words)
    context = None
    if "cert" in told:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(told["cert"])
    options = {"data_size_limit": int(told.get("size", 50 << 20)), "hostname": "mail.test"}
    if "login" in told:
        options |= {
            "authenticator": _let_in(told.get("fault", "")),
            "auth_required": True,
            "auth_require_tls": context is not None and "implicit" not in told,
        }
    if "implicit" not in told:
        options["tls_context"] = context
    keeper = _Keeper(inbox, told.get("fault", ""))
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(keeper, loop=loop, **options), "127.0.0.1", 0, ssl=context if "implicit" in told else None
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
