"""``openflags`` and what they mean here: page cache, durability, and state of the caches.

Model: the run's flags come before the WD's, and these before the SD's. A device without any is opened with ``O_DIRECT``.

    opened(use, verdicts)        # {'direct': True, 'dsync': False}
"""

from __future__ import annotations

from typing import Any

from plimsoll.formats.vdbench.access import Use
from plimsoll.formats.vdbench.parameter import Parameter
from plimsoll.formats.vdbench.verdicts import Verdicts

Json = dict[str, Any]

_DIRECT = ("o_direct", "directio")
_DURABLE = {
    "o_dsync": "",
    "o_sync": "o_sync is dsync here, which leaves out times and other metadata of the file",
}
_WITHOUT = {
    "o_rsync": "reads do not wait for writes that are pending",
    "fsync": "nothing is flushed when a run ends; the nearest thing is flush_every",
}


def flags_of(use: Use) -> Parameter | None:
    """The parameter that decides."""
    return use.run.get("openflags") or use.workload.get("openflags") or use.storage.definition.get("openflags")


def opened(use: Use, verdicts: Verdicts) -> Json:
    """Options of a stream that follow from the flags."""
    parameter = flags_of(use)
    flags = [] if parameter is None else [text.lower() for text in parameter.texts if text.lower() != "none"]
    options = {"direct": use.storage.device if not flags else any(flag in _DIRECT for flag in flags)}
    if use.storage.device and parameter is not None and not options["direct"]:
        verdicts.native(parameter, "flags without o_direct leave the page cache in between")
    if not options["direct"]:
        why = "without o_direct a run measures this host's page cache as well, in Vdbench as here"
        verdicts.surprise(parameter or use.storage.lun, why)
    for flag in flags:
        assert parameter is not None, "flags stand in a parameter"
        _said(parameter, flag, verdicts)
    if any(flag in _DURABLE for flag in flags):
        options["dsync"] = True
    return options


def empties_cache(use: Use) -> bool:
    """Whether the page cache is to be dropped before each run."""
    parameter = flags_of(use)
    return parameter is not None and "clear_cache" in [text.lower() for text in parameter.texts]


def _said(parameter: Parameter, flag: str, verdicts: Verdicts) -> None:
    if flag in _DIRECT:
        verdicts.native(parameter, "direct = true")
    elif flag == "clear_cache":
        verdicts.native(parameter, 'cache = "cold"')
    elif flag in _DURABLE:
        (verdicts.ignored if _DURABLE[flag] else verdicts.native)(parameter, _DURABLE[flag] or "dsync = true")
    elif flag in _WITHOUT:
        verdicts.ignored(parameter, _WITHOUT[flag])
    elif flag.startswith("0x"):
        verdicts.unsupported(parameter, f"bits of open() cannot be given; the nearest things are o_direct and o_dsync in place of {flag}")
    else:
        raise parameter.wrong(f"{flag!r} is not a flag; there are o_direct, directio, o_sync, o_dsync, o_rsync, fsync and clear_cache.")
