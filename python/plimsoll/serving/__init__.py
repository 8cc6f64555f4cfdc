"""A modelled array in real time for other programs: sockets, the mount, and the session that is talked to over pipes.

Model: the array is served by threads of this process (``_core.serve_array``, `crates/serve`), over NBD and as a mounted file.
"""

from __future__ import annotations
