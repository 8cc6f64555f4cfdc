"""The programs of the live image: ``python3 -m plimsoll.image prepare``, ``menu`` or ``run``; units of systemd start them."""

from __future__ import annotations

import sys

from plimsoll.image.machine import Console, Here, carry_out, prepare
from plimsoll.image.menu import Menu


def main(words: list[str]) -> int:
    """The exit code."""
    match words:
        case ["prepare"]:
            prepare()
        case ["menu"]:
            Menu(Console(), Here()).show()
        case ["run"]:
            return 0 if carry_out() else 1
        case _:
            print("plimsoll.image: give prepare, menu or run.", file=sys.stderr)  # noqa: T201
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
