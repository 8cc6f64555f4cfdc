"""TOML documents as users write them, changed by a seed, and given to whole verbs: every one is taken, or refused in a sentence.

Model: a document is read, one to three of its values are replaced, dropped, renamed, repeated or nested, and it is written again; sometimes the
text is changed instead. The verbs run in this process on models in virtual time, for an instant.

    said = tried(Random(7), plimsoll)          # raises AssertionError with the document where it ended in a mistake of ours
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import tomli_w

from plimsoll.errors import EXIT_CODES, EXIT_MISTAKE
from support.said import Plimsoll

#: Values that stand where others should.
ODD: tuple[Any, ...] = (
    *(True, "", "x", "a\x1b[2J\nb", "array:nvme", 0, -1, 1, 2**63, 10**40, 0.5, -0.0, 1e308, float("nan"), float("inf"), [], {}, [[]]),
    *([{}], {"a": 1}, {"a": {"b": []}}, ["x"], [1, "a"], [{"name": "x"}], "1e400", "5%", "-3ms", "4KiB..1KiB", "A" * 5_000, "µ", "../x"),
)
WORKLOAD = """
title = "Mine"
tags = ["a"]
[[stream]]
name = "data"
block_size = "8KiB"
read_percent = 70
random_percent = 50
queue_depth = 4
arrival = "poisson"
rate = 500
[[stream]]
name = "log"
read_percent = 0
distribution = "zipf"
think_time = "1ms"
access = [{ size = "4KiB", weight = 1, read_percent = 50 }]
"""
EXPERIMENTS = """
[[experiment]]
name = "depths"
kind = "steps"
workloads = ["mine"]
over = { queue_depth = [1, 2] }
duration = "20ms"
warmup = 0
objective = "p99 <= 5s"
targets = ["queue:?service=const:1ms&servers=2&size=16MiB"]
[[experiment]]
name = "more"
kind = "ramp"
workloads = ["mine"]
over = { "data.queue_depth" = "1..4" }
objective = "mean <= 2ms"
duration = "20ms"
warmup = 0
[[experiment.configuration]]
name = "two"
target = "queue:?service=const:1ms&servers=2&size=16MiB"
set = { block_size = "4KiB" }
[workload.mine]
[[workload.mine.stream]]
name = "data"
read_percent = 50
"""
FILES = """
driver = "files"
[[tree]]
name = "a"
depth = 1
width = 3
files = 10
sizes = "4KiB"
[[stream]]
operation = { read = 50, write = 20, create = 15, delete = 15 }
"""
MODEL = "queue:?service=const:1ms&servers=2&size=16MiB"
_TIMES = ("-d", "20ms", "-w", "0s", "-q")
#: What is changed, and the words of the verbs that take it from ``d.toml``.
_SHAPES: tuple[tuple[Callable[[], str], tuple[tuple[str, ...], ...]], ...] = (
    (
        lambda: WORKLOAD,
        (
            ("run", "d.toml", "-t", MODEL, *_TIMES),
            ("show", "d.toml"),
            ("steps", "d.toml", "--over", "data.queue_depth=1,2", "-t", MODEL, *_TIMES),
        ),
    ),
    (lambda: EXPERIMENTS, (("suite", "d.toml", "-q"), ("show", "d.toml"))),
    (lambda: FILES, (("show", "d.toml"), ("run", "d.toml", "-t", "array:nvme", *_TIMES))),
    *(
        (lambda name=name: shipped("arrays", name), (("show", "array:./d.toml"), ("show", "array:./d.toml", "--json")))
        for name in ("nvme", "msa50")
    ),
    (lambda: shipped("arrays", "msa2000"), (("show", "array:./d.toml"),)),
    (lambda: shipped("suites", "four-corners"), (("show", "d.toml"),)),
)


def tried(random: Random, plimsoll: Plimsoll) -> int:
    """Change one document and give it to its verbs; the last exit code."""
    source, verbs = random.choice(_SHAPES)
    text = changed(source(), random)
    Path("d.toml").write_bytes(text)
    code = 0
    for words in verbs:
        said = plimsoll(*words)
        code = said.code
        told = f"{' '.join(words)}: exit code {code}\n{said.err[-800:]}\n--- d.toml\n{text.decode(errors='replace')[:3000]}"
        assert code in EXIT_CODES and code != EXIT_MISTAKE, told
        assert "Traceback" not in said.err + said.out and "\x1b" not in said.err + said.out, told
        assert code in (0, 1) or said.err.strip() or said.out.strip(), told
    return code


def changed(text: str, random: Random) -> bytes:
    """The document with one to three changes."""
    if random.random() < 0.15:
        return _text_changed(text, random)
    document = copy.deepcopy(tomllib.loads(text))
    for _ in range(random.choice((1, 1, 2, 3))):
        _change(document, random)
    try:
        return tomli_w.dumps(document).encode()
    except (TypeError, ValueError, RecursionError):
        return _text_changed(text, random)


def _text_changed(text: str, random: Random) -> bytes:
    content = bytearray(text.encode())
    place = random.randrange(len(content))
    more = random.choice((b"\xff", b"[" * 5_000, b"9" * 5_000, b"\x00", b"= ", b'"', b"\n[a.b]\n", b"{a={" * 300))
    if random.random() < 0.3:
        # A value that is nested, or endless, where a value may stand.
        at = content.find(b"= ", place)
        place = at + 2 if at >= 0 else place
        more = random.choice((b"[" * 20_000 + b"]" * 20_000 + b" #", b"[" * 60 + b"]" * 60 + b" #", b"9" * 5_000 + b" #", b"nan #"))
    content[place:place] = more
    return bytes(content)


def _change(document: dict[str, Any], random: Random) -> None:
    places = list(_places(document))
    if not places:
        return
    holder, key = random.choice(places)
    kind = random.choice(("other", "other", "other", "drop", "rename", "repeat", "nest"))
    if kind == "drop":
        del holder[key]
    elif kind == "rename" and isinstance(holder, dict):
        holder[f"{key}x"] = holder.pop(key)
    elif kind == "repeat" and isinstance(holder[key], list):
        holder[key] = holder[key] * 2
    elif kind == "nest":
        holder[key] = random.choice(([holder[key]], {"name": holder[key]}))
    else:
        holder[key] = copy.deepcopy(random.choice(ODD))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        yield from _places(inner)


def shipped(kind: str, name: str) -> str:
    """A file of the catalog."""
    return (files("plimsoll") / "catalog" / kind / f"{name}.toml").read_text()
