"""Keeps a process of Ray's off the network that would answer there in the clear.

Model: Python imports this before anything else where the gang puts this directory into its path. Of Ray's processes one serves HTTP without
TLS on the host's own address: that which sets up environments of jobs, which a gang has none of. It is bound to loopback instead; nobody
calls it. Every other process is left as it is.
"""

import socket
import sys

if any("runtime_env/agent/main.py" in word for word in sys.orig_argv):
    _bind = socket.socket.bind

    def _bind_here(self, address):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        """The same port, on loopback."""
        if self.family == socket.AF_INET:
            address = ("127.0.0.1", *address[1:])
        elif self.family == socket.AF_INET6:
            address = ("::1", *address[1:])
        return _bind(self, address)

    socket.socket.bind = _bind_here  # type: ignore[method-assign]
