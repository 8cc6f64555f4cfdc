"""A target that is yet to be laid out, as text: which layout, on which devices, and what of it is measured.

Model: ``layout:NAME`` or ``layout:FILE.toml``; behind a ``?`` the devices (``on=/dev/sdb,/dev/sdc``) and, last, the target on it (``at=``),
in which ``{volumes}`` stands for the paths of all its volumes and ``{NAME}`` for that of one. Without ``on`` the devices are those of the
command line; without ``at`` everything that the layout gives is measured.
Limits: what the layout is, and whether the devices fit it, `plimsoll.layouts` says.

    layout_target("layout:raid5-lun?on=/dev/sdb,/dev/sdc").on          # ("/dev/sdb", "/dev/sdc")
    LayoutTarget("lvm-xfs", at="{saswork}/x.dat").text                 # "layout:lvm-xfs?at={saswork}/x.dat"
"""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.records import dataclass

PREFIX = "layout:"
_ON, _AT = "on=", "at="


@dataclass(frozen=True)
class LayoutTarget:
    """``layout`` is a shipped one or a file, ``on`` its devices, ``at`` what of it is measured; the last two may be empty."""

    layout: str
    on: tuple[str, ...] = ()
    at: str = ""

    @property
    def text(self) -> str:
        """As it is typed."""
        options = [*([_ON + ",".join(self.on)] if self.on else []), *([_AT + self.at] if self.at else [])]
        return f"{PREFIX}{self.layout}{'?' if options else ''}{'&'.join(options)}"

    @property
    def called(self) -> str:
        """What a side is called that nobody named: like the layout."""
        return self.layout.rpartition("/")[2].removesuffix(".toml")


def layout_target(text: str) -> LayoutTarget | None:
    """What ``text`` says of a layout; None of another target. Raises `InputError` for what is no such target."""
    text = text.strip()
    if not text.startswith(PREFIX):
        return None
    layout, _, options = text.removeprefix(PREFIX).partition("?")
    if not layout:
        raise InputError(f"target {quoted(text)} names no layout; write for example {PREFIX}raid5-lun, or {PREFIX}mine.toml.")
    on: tuple[str, ...] = ()
    while options:
        if options.startswith(_AT):
            return LayoutTarget(layout, on, options.removeprefix(_AT))
        option, _, options = options.partition("&")
        if not option.startswith(_ON):
            raise InputError(f"target {quoted(text)}: {quoted(option)} is not known; write ?on=/dev/sdb,/dev/sdc, and behind it &at=…")
        on = devices([option.removeprefix(_ON)])
    return LayoutTarget(layout, on)


def devices(typed: Iterable[str]) -> tuple[str, ...]:
    """The devices that were typed, separated by commas or one by one."""
    return tuple(path for text in typed for path in text.split(",") if path)
