"""Files as people write them, translated and carried out on a model in virtual time: every point ends, and issues what the file says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli import main
from support.foreign_seeds import SEEDS, Load

Json = dict[str, Any]

TARGET = "queue:?service=exp:2ms&servers=8&size=4TiB"


def loads_of(stream: Json) -> Iterator[Load]:
    """What a stream of a result was to issue."""
    for line in stream.get("access") or []:
        yield line["read_percent"], line["random_percent"], (int(line["size"]),)
    if not stream.get("access"):
        yield stream["read_percent"], stream["random_percent"], sizes_of(stream["block_size"])


def sizes_of(block_size: Any) -> tuple[int, ...]:
    """One size, those of a mix, or the ends of a range."""
    if isinstance(block_size, dict):
        return tuple(sorted(int(size) for size in block_size))
    return tuple(int(size) for size in re.findall(r"\d+", str(block_size)))


@pytest.mark.parametrize("name", SEEDS)
def test_a_file_is_carried_out_as_it_says(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = SEEDS[name]
    Path(name).write_text(found.text)
    assert main(["translate", "-t", TARGET, name]) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert main(["run", name, "-t", TARGET, "--json"]) == 0, capsys.readouterr().err
    results = json.loads(capsys.readouterr().out)["results"]
    assert [result["status"] for result in results] == ["complete"] * found.points
    assert all(total["count"] > 100 for result in results for total in result["totals"].values())
    loads = {load for result in results for stream in result["job"]["definition"]["stream"] for load in loads_of(stream)}
    assert loads == found.loads


def test_there_are_many_files() -> None:
    assert len(SEEDS) >= 20 and {name.rpartition(".")[2] for name in SEEDS} == {"vdb", "icf"}
