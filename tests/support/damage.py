"""Damage to a store: what disks, editors, kills and vandals do to its files, drawn from a seed.

Model: a damage changes one file of a run. Bytes are flipped, cut off, repeated or replaced; of a document a key is dropped, renamed or given
a value of another type, at any depth; the file becomes empty, a directory, a pipe, or is gone. What is damaged may still mean something; it
never may break the program.

    name = damaged(Path("results/run"), random.Random(7))        # "points/0001-small/result.json: job.threads = []"
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

#: Values that stand where others should.
ODD: tuple[Any, ...] = (
    *(None, True, "", "x", "\ud800", "a\x1b[2J\nb", 0, -1, -1e308, 0.5, 2**63, 10**40, [], {}, [[]], {"a": []}, [None], [1, "a"]),
    *("nan", 1e-320, "A" * 10_000, {"": 0}, [{}] * 3),
)


def damaged(run: Path, random: Random) -> str:
    """Damage one file of ``run``; what was done, for the message of a test that fails."""
    files = sorted(path for path in run.rglob("*") if path.is_file() and path.suffix in (".json", ".jsonl"))
    path = random.choice(files)
    done = random.choice((*[_value] * 6, *[_text] * 3, _whole))(path, random)
    return f"{path.relative_to(run)}: {done}"


def _whole(path: Path, random: Random) -> str:
    """The file itself."""

    def gone() -> None:
        path.unlink()

    def folder() -> None:
        path.unlink()
        path.mkdir()

    def pipe() -> None:
        path.unlink()
        os.mkfifo(path)

    def loop() -> None:
        path.unlink()
        path.symlink_to(path.name)

    def parent() -> None:
        if path.parent.name.startswith("0"):
            shutil.rmtree(path.parent)
            path.parent.write_text("not a directory")

    def empty() -> None:
        path.write_bytes(b"")

    done: Callable[[], None] = random.choice((gone, folder, pipe, loop, parent, empty))
    done()
    return done.__name__


def _text(path: Path, random: Random) -> str:
    """The bytes of the file."""
    content = bytearray(path.read_bytes())
    if not content:
        return "nothing"
    place = random.randrange(len(content))
    kind = random.choice(("flip", "cut", "zeros", "latin", "twice", "deep", "nan", "digits", "bom"))
    if kind == "flip":
        content[place] ^= 1 << random.randrange(8)
    elif kind == "cut":
        del content[place:]
    elif kind == "zeros":
        content[place : place + 512] = bytes(min(512, len(content) - place))
    elif kind == "latin":
        content[place] = random.randrange(0x80, 0x100)
    elif kind == "twice":
        content *= 2
    elif kind == "deep":
        content[place:place] = b"[" * random.choice((50, 5_000, 100_000))
    elif kind in ("nan", "digits"):
        digits = b"NaN" if kind == "nan" else b"9" * random.choice((40, 400, 5_000))
        content = bytearray(content.replace(b"0", digits, 1) if random.random() < 0.5 else content.replace(b": 1", b": " + digits))
    else:
        content[:0] = b"\xef\xbb\xbf"
    path.write_bytes(content)
    return f"{kind} at {place}"


def _value(path: Path, random: Random) -> str:
    """A value of a document, or of one line."""
    lines = path.suffix == ".jsonl"
    try:
        documents = [json.loads(line) for line in (path.read_text().splitlines() if lines else [path.read_text()])]
    except ValueError:
        return _text(path, random)
    places = [(holder, key, where) for document in documents[:40] for holder, key, where in _places(document, "")]
    if not places:
        return _text(path, random)
    holder, key, where = random.choice(places)
    kind = random.choice(("other", "other", "other", "drop", "rename", "nest"))
    said = ""
    if kind == "drop":
        del holder[key]
    elif kind == "rename" and isinstance(holder, dict):
        holder[f"{key}x"] = holder.pop(key)
    elif kind == "nest":
        for _ in range(random.choice((3, 60, 400))):
            holder[key] = [holder[key]]
    else:
        holder[key] = random.choice(ODD)
        said = f" = {holder[key]!r:.40}"
    texts = [json.dumps(document) for document in documents]
    path.write_text("\n".join(texts) + "\n")
    return f"{kind} {where}{said}"


def _places(value: Any, where: str) -> Iterator[tuple[Any, Any, str]]:
    """Every place in a document: its holder, its key there, its path."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        place = f"{where}.{key}"
        yield value, key, place
        yield from _places(inner, place)
