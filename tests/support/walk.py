"""How far a reader is led to and fro who follows one option of another tool's job through the code that translates it.

Model: a job is translated twice, with two values of the option. A function has the option in hand when what it is given or what it gives
back differs between the two. The reader goes from one such function to the next, in the order in which they are first called. A *stay* is a
run of them in one file; a stay in a file that was left before is a *step back*. A generator counts once. Properties of a record are its
fields, and no step.
Limits: what is handed on inside a larger value (a job, a list of lines) counts, whether it is looked at or not; so does a call that
nothing but a remark's text depends on. That is the strict count.

    walk = walked(of_fio, "[job]\\nrw=randrw\\nrwmixread={}\\n", "70", "30")
    walk.back, walk.files
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import plimsoll.formats
from plimsoll.formats import fio, vdbench
from plimsoll.formats.known_targets import KnownTargets

_PACKAGE = str(Path(plimsoll.formats.__file__).parent)


@dataclass
class _Call:
    file: str
    function: str
    given: tuple[str, ...]
    returned: str = ""


@dataclass(frozen=True)
class Walk:
    """The files that a reader goes through, one after the other, and the functions in them."""

    stays: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def files(self) -> set[str]:
        """The files, each once."""
        return {file for file, _ in self.stays}

    @property
    def back(self) -> int:
        """How often the reader comes back to a file that was left."""
        return len(self.stays) - len(self.files)

    def __str__(self) -> str:
        stays = "\n".join(f"  {file}: {', '.join(functions)}" for file, functions in self.stays)
        return f"{len(self.stays)} stays in {len(self.files)} files, {self.back} steps back\n{stays}"


def of_fio(text: str) -> None:
    """Translates a job of fio."""
    fio.translate(text, "job.fio", None, {}, KnownTargets(given=1 << 30))


def of_vdbench(text: str) -> None:
    """Translates a parameter file of Vdbench."""
    vdbench.translate(text, "job", None, {}, KnownTargets(given=1 << 30))


def walked(translate: Callable[[str], None], text: str, value: str, other: str) -> Walk:
    """The walk of the option whose value stands as ``{}`` in a job; the other value has to take the same way."""
    one, two = (_calls(translate, text.replace("{}", each)) for each in (value, other))
    blocks = difflib.SequenceMatcher(
        None, [(call.file, call.function) for call in one], [(call.file, call.function) for call in two], autojunk=False
    ).get_matching_blocks()
    same = {block.a + step: two[block.b + step] for block in blocks for step in range(block.size)}
    in_hand = [call for number, call in enumerate(one) if same.get(number) != call]
    stays: list[tuple[str, list[str]]] = []
    for call in in_hand:
        if not stays or stays[-1][0] != call.file:
            stays.append((call.file, []))
        if call.function not in stays[-1][1]:
            stays[-1][1].append(call.function)
    return Walk(tuple((file, tuple(functions)) for file, functions in stays))


def _calls(translate: Callable[[str], None], text: str) -> list[_Call]:
    """The functions of the package that are called while a job is translated."""
    calls: list[_Call] = []
    running: dict[FrameType, _Call] = {}
    fields = set(_properties())

    def profile(frame: FrameType, event: str, returned: Any) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(_PACKAGE) or code.co_name.startswith("<") or code in fields:
            return
        if event == "call" and frame not in running:
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            given = tuple(_shown(frame.f_locals.get(name)) for name in names)
            running[frame] = _Call(Path(code.co_filename).name, code.co_name, given)
            calls.append(running[frame])
        elif event == "return" and frame in running:
            running[frame].returned = _shown(returned)

    # Whatever is imported on the way is so before the walk.
    translate(text)
    sys.setprofile(profile)
    try:
        translate(text)
    finally:
        sys.setprofile(None)
    return calls


def _properties() -> Iterator[CodeType]:
    """The code of all properties of records."""
    modules = [module for name, module in sys.modules.items() if name.startswith("plimsoll.formats")]
    for module in modules:
        for kind in [kind for kind in vars(module).values() if isinstance(kind, type)]:
            yield from (found.fget.__code__ for found in vars(kind).values() if isinstance(found, property) and found.fget is not None)


def _shown(value: Any, above: frozenset[int] = frozenset()) -> str:
    """A value with everything in it, alike for values that are alike."""
    if isinstance(value, (str, bytes, int, float, bool)) or value is None:
        return repr(value)
    if id(value) in above:
        return "…"
    above |= {id(value)}
    if isinstance(value, dict):
        # Some tables are by identity, which differs from run to run.
        keys = ["" if isinstance(key, int) and key >> 16 else _shown(key, above) for key in value]
        return f"{{{','.join(f'{key}:{_shown(each, above)}' for key, each in zip(keys, value.values(), strict=True))}}}"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(_shown(each, above) for each in value)}]"
    if isinstance(value, (set, frozenset)):
        return f"[{','.join(sorted(_shown(each, above) for each in value))}]"
    members = getattr(value, "__dict__", {})
    return type(value).__name__ + ("" if callable(value) else _shown(members, above))
