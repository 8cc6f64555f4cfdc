"""A server of FTP for one directory; run as a program, it prints its port.

Words: the directory, then ``port=N``, ``cert=FILE`` (TLS is demanded), ``implicit`` (TLS from the first byte), ``fault=…``: ``no-rename``, ``no-read``,
``full`` (the disk, until the file ``room`` is there), ``cut`` (the connection goes in the middle of the first upload), ``garble`` (the first
upload is stored with other bytes), ``echo`` (a refusal repeats the password). User ``lab``, password as in PASSWORD.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings

warnings.simplefilter("ignore")

from pyftpdlib.authorizers import AuthenticationFailed, DummyAuthorizer  # noqa: E402
from pyftpdlib.filesystems import AbstractedFS, FilesystemError  # noqa: E402
from pyftpdlib.handlers import DTPHandler, FTPHandler, TLS_DTPHandler, TLS_FTPHandler  # noqa: E402
from pyftpdlib.servers import FTPServer  # noqa: E402

PASSWORD = "canary-9f3e"


def main() -> None:
    logging.getLogger("pyftpdlib").setLevel(logging.ERROR)
    inbox, *words = sys.argv[1:]
    told = dict(word.partition("=")[::2] for word in words)
    fault = told.get("fault", "")
    handler = TLS_FTPHandler if "cert" in told else FTPHandler
    if "cert" in told:
        handler.certfile = told["cert"]
        handler.tls_control_required = handler.tls_data_required = True
    handler.authorizer = _Echoing() if fault == "echo" else DummyAuthorizer()
    handler.authorizer.add_user(
        "lab", PASSWORD, inbox, perm="elawd" + ("" if fault == "no-read" else "r") + ("" if fault == "no-rename" else "f")
    )
    if fault == "no-read":
        handler.authorizer.user_table["lab"]["perm"] = "elawdf"
    handler.abstracted_fs = type("Faulty", (_Faulty,), {"fault": fault})
    if fault in ("cut", "garble"):
        base = TLS_DTPHandler if "cert" in told else DTPHandler
        handler.dtp_handler = type("Dtp", (_Dtp, base), {"fault": fault})
    if fault == "full":
        handler = type("Full", (handler,), {"ftp_STOR": _storing(handler, os.path.join(os.path.dirname(inbox), "room"))})
    if "implicit" in told:
        handler = type("Implicit", (handler,), {"__init__": _secured_at_once(handler)})
    handler.auth_failed_timeout = 0
    server = FTPServer(("127.0.0.1", int(told.get("port", 0))), handler)
    print(server.socket.getsockname()[1], flush=True)
    server.serve_forever()


class _Echoing(DummyAuthorizer):
    def validate_authentication(self, username, password, handler):
        raise AuthenticationFailed(f"User {username} with {password} is not let in")


class _Faulty(AbstractedFS):
    fault = ""

    def rename(self, src, dst):
        if self.fault == "no-rename":
            raise FilesystemError("not here")
        return super().rename(src, dst)


def _storing(handler, room):
    """What a handler does with uploads where the disk is full."""

    def stored(self, file, mode="w"):
        if os.path.exists(room):
            return handler.ftp_STOR(self, file, mode)
        self.respond("552 No space left on device.")
        return None

    return stored


class _Dtp:
    """The first upload goes wrong."""

    fault = ""
    done = False

    def recv(self, size):
        piece = super().recv(size)
        if not piece or type(self).done:
            return piece
        type(self).done = True
        if self.fault == "garble":
            return bytes(len(piece))
        self.cmd_channel.close()
        return b""


def _secured_at_once(base):
    def begin(self, *arguments, **more):
        base.__init__(self, *arguments, **more)
        self.secure_connection(self.ssl_context)

    return begin


if __name__ == "__main__":
    main()
