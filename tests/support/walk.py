"""How far a reader is led to and fro who follows one value through the code of Python.

Model: something is done twice, with two values. A function has the value in hand when what it is given or what it gives back differs between
the two (`walked`: translations, which are pure), or when one of the two holds the value's own digits (`followed`: commands, whose clocks and
names differ as well). The reader goes from one such function to the next, in the order in which they are first called. A *stay* is a run of
them in one file; a stay in a file that was left before is a *step back*. A generator counts once. Properties of a record are its fields, and
no step.
Limits: what is handed on inside a larger value (a job, a list of lines) counts, whether it is looked at or not; so does a call that
nothing but a remark's text depends on. That is the strict count. What becomes another number on its way is followed until then. Threads
are followed where they begin after the walk does.

    walk = walked(of_fio, "[job]\\nrw=randrw\\nrwmixread={}\\n", "70", "30")
    walk.back, walk.files
    followed(lambda: main(["run", "oltp-db", "-t", "null:", "--set", "queue_depth=197"]), "197", "run_job")
"""

from __future__ import annotations

import difflib
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import plimsoll
import plimsoll.formats
from plimsoll.formats import fio, vdbench
from plimsoll.formats.known_targets import KnownTargets

_PACKAGE = Path(plimsoll.__file__).parent
_FORMATS = Path(plimsoll.formats.__file__).parent


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
    one, two = (_calls(lambda each=each: translate(text.replace("{}", each)), _FORMATS) for each in (value, other))
    blocks = difflib.SequenceMatcher(
        None, [(call.file, call.function) for call in one], [(call.file, call.function) for call in two], autojunk=False
    ).get_matching_blocks()
    same = {block.a + step: two[block.b + step] for block in blocks for step in range(block.size)}
    return _walk(call for number, call in enumerate(one) if same.get(number) != call)


def followed(act: Callable[[], object], digits: str, until: str, *, longest: int = 120) -> Walk:
    """The walk of a value through all of the package as far as the function ``until``, known by its ``digits``, which nothing else may have.

    A function that is given a whole document hands the value on unseen: what counts are values in texts of at most ``longest`` characters.
    """
    own = re.compile(rf"(?<![0-9.]){re.escape(digits)}(?![0-9])")
    calls = _calls(act, _PACKAGE)
    last = next(number for number, call in enumerate(calls) if call.function == until)
    short = ((call, [each for each in (*call.given, call.returned) if len(each) <= longest]) for call in calls[: last + 1])
    return _walk(call for call, texts in short if call.function == until or any(own.search(each) for each in texts))


def _walk(in_hand: Iterable[_Call]) -> Walk:
    stays: list[tuple[str, list[str]]] = []
    for call in in_hand:
        if not stays or stays[-1][0] != call.file:
            stays.append((call.file, []))
        if call.function not in stays[-1][1]:
            stays[-1][1].append(call.function)
    return Walk(tuple((file, tuple(functions)) for file, functions in stays))


def _calls(act: Callable[[], object], package: Path) -> list[_Call]:
    """The functions of the package that are called meanwhile."""
    calls: list[_Call] = []
    running: dict[FrameType, _Call] = {}
    # Whatever is imported on the way is so before the walk.
    act()
    fields = set(_properties())

    def profile(frame: FrameType, event: str, returned: Any) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(str(package)) or code.co_name.startswith("<") or code in fields:
            return
        if event == "call" and frame not in running:
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            given = tuple(_shown(frame.f_locals.get(name)) for name in names)
            running[frame] = _Call(str(Path(code.co_filename).relative_to(package)), code.co_name, given)
            calls.append(running[frame])
        elif event == "return" and frame in running:
            running[frame].returned = _shown(returned)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def _properties() -> Iterator[CodeType]:
    """The code of all properties of records."""
    modules = [module for name, module in sys.modules.items() if name.startswith("plimsoll.")]
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
