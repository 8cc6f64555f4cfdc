"""``ray start`` for the head of a gang, without the server of a dashboard, which Ray starts whatever ``--include-dashboard`` says.

Model: that server would take a second of a processor while the gang comes up, and everything else would wait for it. Ray's own function
that starts it is replaced by one that starts nothing; where a later Ray has no such function, it does as before.
Limits: Ray 2.60, whose node takes "no server was started" as an answer.

    python -m plimsoll.gang.ray_head start --head --include-dashboard=false --no-monitor
"""

from __future__ import annotations

from typing import Any


def main() -> None:
    """Ray's command."""
    from ray._private import services
    from ray.scripts import scripts

    def nothing(*_: Any, **__: Any) -> tuple[None, None]:
        """Neither an address nor a process."""
        return None, None

    services.start_api_server = nothing
    scripts.main()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
