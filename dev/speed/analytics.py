"""Goals for analytics workflows: their sort beside GNU sort, rows made per core, many beside few, what watching and memory cost.

Model: a workflow sorts 2 GB of rows on one core with 256 MiB, and GNU sort sorts as many lines of 200 bytes by the same 56 bytes, on the
same core, disk and memory. Both are interleaved, and compared by the time that they took. Rows per core are those of a DATA step that makes
them, over its processor time, so other load does not change them. 16 and 64 workflows run on two cores with direct I/O, so that the disk is
what they wait for; all that they moved over the time it took is compared.
Limits: the step sort also checks every row before and after; GNU sort checks nothing.
"""

from __future__ import annotations

import os
import shutil
from binascii import hexlify
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from speed import process
from speed.row import Row
from speed.setting import Setting

SORTED_GOAL, MADE_GOAL, LOSS_GOAL, WATCHING_GOAL, MEMORY_GOAL = 0.8, 300.0, 5.0, 1.0, 1.1
SORTED_ROWS, SORTED_MEMORY = 10_000_000, "256MiB"
FEW, MANY = 16, 64
#: Rows of each of many workflows.
SHARED_ROWS = 100_000
_ROOM = 12 << 30


def rows(setting: Setting) -> list[Row]:
    """The goals of this group."""
    return [*_sorting(setting), *_many(setting)]


def _sorting(setting: Setting) -> list[Row]:
    what, made = "analytics: external sort, its MB/s over those of GNU sort (one core, 256 MiB)", "analytics: rows made per core"
    count = SORTED_ROWS // 10 if setting.quick else SORTED_ROWS
    memory = "48MiB" if setting.quick else SORTED_MEMORY
    place = setting.plimsoll.out.parent
    if shutil.which("sort") is None or shutil.disk_usage(place).free < _ROOM:
        return [Row(what, "at least", SORTED_GOAL, "×", None, "needs GNU sort and 12 GiB of room")]
    with _lines(place, count) as lines:
        contestants = {"plimsoll": lambda _: _steps(setting, count, memory), "sort": lambda _: {"sort": {"real_s": _gnu(lines, memory)}}}
        found = setting.interleaved("sorting", contestants, setting.long_rounds)
    ours = [steps["sort"]["real_s"] for steps in found["plimsoll"]]
    theirs = [steps["sort"]["real_s"] for steps in found["sort"]]
    ratio = median(other / own for other, own in zip(theirs, ours, strict=True))
    size = count * 200 / 1e6
    detail = f"{size / median(ours):,.0f} MB/s, GNU sort {size / median(theirs):,.0f} MB/s; {len(ours)} rounds of {size:,.0f} MB"
    cpu_s = median(steps["data-step"]["user_s"] + steps["data-step"]["system_s"] for steps in found["plimsoll"])
    written = f"with writing them, {len(ours)} rounds of {size:,.0f} MB"
    return [Row(what, "at least", SORTED_GOAL, "×", ratio, detail), Row(made, "at least", MADE_GOAL, "MB/s", size / cpu_s, written)]


def _many(setting: Setting) -> list[Row]:
    contestants = {str(number): lambda _, number=number: _together(setting, number) for number in (FEW, MANY)}
    found = setting.interleaved("workflows", contestants, setting.long_rounds)
    few, many = ([_rate(section) for section in found[str(number)]] for number in (FEW, MANY))
    loss = median(100 * (1 - more / less) for less, more in zip(few, many, strict=True))
    speeds = f"{median(few):,.0f} MB/s of {FEW}, {median(many):,.0f} MB/s of {MANY}; {len(few)} rounds"
    watched = [100 * one["watching_cpu_s"] / (2 * one["iterations"][0]["real_s"]) for one in found[str(MANY)]]
    sizes = [flow["max_rss_bytes"] / flow["memory_bytes"] for section in found[str(MANY)] for flow in section["workflows"]]
    return [
        Row(f"analytics: total MB/s lost by {MANY} workflows over {FEW} (two cores)", "at most", LOSS_GOAL, "%", loss, speeds),
        Row(f"analytics: processors that watching {MANY} workflows takes", "at most", WATCHING_GOAL, "%", median(watched), "of two cores"),
        Row("analytics: memory of a workflow over its cap", "at most", MEMORY_GOAL, "×", max(sizes), f"the most of {len(sizes)} processes"),
    ]


def _steps(setting: Setting, count: int, memory: str) -> dict[str, Any]:
    """The steps of one workflow on one core."""
    words = [f"rows={count}", f"memory={memory}", "loops=1", "input=generated"]
    (flow,) = _section(setting, "0", words)["workflows"]
    return {step["name"]: step for step in flow["steps"]}


def _together(setting: Setting, workflows: int) -> dict[str, Any]:
    """What so many workflows on two cores say; each has the same rows."""
    few = SHARED_ROWS // 4 if setting.quick else SHARED_ROWS
    words = [f"workflows={workflows}", f"rows={few}", "memory=48MiB", "loops=1", "input=generated", "direct=true"]
    return _section(setting, "0,1", words)


def _rate(section: dict[str, Any]) -> float:
    """All that was moved, in MB/s."""
    moved = sum(step["read_bytes"] + step["written_bytes"] for flow in section["workflows"] for step in flow["steps"])
    return float(moved / section["iterations"][0]["real_s"] / 1e6)


def _section(setting: Setting, cores: str, words: list[str]) -> dict[str, Any]:
    target = setting.plimsoll.out.parent / "workflows"
    command = ["taskset", "-c", cores, setting.plimsoll.command, "run", "sas-analytics", f"--target={target}"]
    ended = process.run([*command, *(f"--set={word}" for word in words), f"--out={setting.plimsoll.out}", "--fresh", "--json"])
    section: dict[str, Any] = setting.plimsoll.result(ended)["engine"]["analytics"]
    if section["failed"] or section["wrong_data"]:
        raise process.BenchError(f"a workflow failed: {next(flow['failure'] for flow in section['workflows'] if flow['failure'])}")
    return section


def _gnu(lines: Path, memory: str) -> float:
    """How long GNU sort takes, in seconds."""
    size = memory.removesuffix("iB")
    folder = lines.parent
    command = ["taskset", "-c", "0", "env", "LC_ALL=C", "sort", "--parallel=1", f"--buffer-size={size}", "--stable", "--key=1.1,1.56"]
    ended = process.run([*command, f"--temporary-directory={folder}", f"--output={folder / 'sorted'}", str(lines)])
    (folder / "sorted").unlink()
    return ended.wall_ns / 1e9


@contextmanager
def _lines(place: Path, count: int) -> Iterator[Path]:
    """Rows as lines of 200 bytes: what they are sorted by, then the rest as digits."""
    from plimsoll.engine.block import native
    from plimsoll.engine.rows import native_rows

    folder = place / "lines"
    folder.mkdir()
    source, lines = folder / "rows", folder / "lines"
    try:
        native_rows().write(str(source), (1, 1, count), False, None, native().control())
        with source.open("rb") as file, lines.open("wb") as out:
            while block := file.read(200 * 10_000):
                each = (block[at : at + 200] for at in range(0, len(block), 200))
                out.write(b"".join(row[32:88] + hexlify(row[88:160])[:143] + b"\n" for row in each))
            out.flush()
            os.fsync(out.fileno())
        source.unlink()
        yield lines
    finally:
        shutil.rmtree(folder)
