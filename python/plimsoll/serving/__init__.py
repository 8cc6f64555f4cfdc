"""A modelled array in real time for other programs: sockets and nbdkit, the mount, and the session that is talked to over pipes.

Model: `Serving` runs the array in one of two places. With sockets that is nbdkit, which speaks NBD and has our plugin loaded
(`crates/nbdkit`); with a mount alone it is this process (``_core.serve_array``). Both do the same (`crates/serve`), and say the same.
"""

from __future__ import annotations
