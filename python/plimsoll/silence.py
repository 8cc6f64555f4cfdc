"""Who hears that a target gives no answer while it is looked at.

Model: the engine asks a target through a process of its own before it touches it (``crates/engine/src/target/scout.rs``), so signals are
served meanwhile and Ctrl-C ends the program although the kernel would not let go. Whoever is installed last hears from the fifth second on,
once a second; what it raises ends the wait.
Limits: one hearer per process at a time, as there is one terminal.

    with heard(lambda target, seconds: print(f"no answer from {target} for {seconds:.0f} s")):
        engine.inspect_target("/mnt/dead/file")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Hearer = Callable[[str, float], None]

_hearers: list[Hearer] = []


@contextmanager
def heard(hearer: Hearer) -> Iterator[None]:
    """Tell ``hearer`` of the target and the seconds, for the time of the block."""
    _hearers.append(hearer)
    try:
        yield
    finally:
        _hearers.remove(hearer)


def no_answer(target: str, seconds: float) -> None:
    """The target has given no answer for so long."""
    if _hearers:
        _hearers[-1](target, seconds)
