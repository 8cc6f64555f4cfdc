"""What ``plimsoll show`` says of an array: its components as a graph, what limits it, and where every value comes from.

show_array("array:msa2000-raid5", Plan(), as_json=False)
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from statistics import median
from typing import Any

import click

from plimsoll.analysis.point.array import SATURATED
from plimsoll.catalog.composition.merge import UNSOURCED
from plimsoll.catalog.levels import ERASURE, data_members, has_records, is_declustered, parities
from plimsoll.catalog.ranges import uncertain
from plimsoll.cli.screen import terminal_width
from plimsoll.displayed import as_document
from plimsoll.engine import block as block_engine
from plimsoll.points.array_outline import outlined
from plimsoll.reports.limits import ceiling_words, component_words
from plimsoll.reports.terminal.screen import folded
from plimsoll.reports.terminal.table import table
from plimsoll.reports.uncertainty import mostly_words
from plimsoll.stored import Json
from plimsoll.target import target_of
from plimsoll.uncertainty.figures import Plan
from plimsoll.units import binary, count, duration, megabytes, significant, within

_ABOUT = ("purpose", "source", "rationale")
_UNSAID = "not said"
#: Names of other tables, beside those of `UNSOURCED`.
_CONNECTING = {"mirror_link", "memory_link"}

#: Sets that allow so many times the least load bound it as well.
_ALIKE = 1.01

#: Hits of a cache from which they are told.
_HITS = 0.005

_READING = (
    "'With 16' is with so many requests outstanding, MB/s with the most. 'At most' is the bound of an even load of which caches answer "
    "and keep nothing, by the least positioning that the drives' queues can reach. 'Mean values' are of mean value analysis, exact for "
    "exponential service in order of arrival: service here varies less, so between one request and saturation they are somewhat low, "
    "and of disks that reorder much too low. 'Simulated' is a short run of the model, the same every time. 'Link arithmetic' follows from "
    "the rates of links alone and is an upper bound: controllers may move less, and what their data paths move is known only where it "
    "is said."
)


def show_array(target: str, plan: Plan | None, *, as_json: bool) -> None:
    """Print an ``array:`` target; simulated figures with the intervals that the draws of ``plan`` give."""
    array = target_of(target)
    document = array.document or {}
    outline = outlined(array, plan, block_engine.native())
    if as_json:
        click.echo(as_document({"document": document, **outline}, indent=1))
    else:
        click.echo("\n".join(_lines(document, outline, terminal_width())))


def _lines(document: Json, outline: Json, width: int) -> Iterator[str]:
    yield from _folded(f"{document['name']}: {document.get('title') or document['name']} (modelled)", width)
    for key in _ABOUT:
        if document.get(key):
            yield ""
            yield from folded(f"{key}: {document[key]}", width, rest="  ")
    yield ""
    for line in _graph(document, outline):
        yield from _folded(line, width)
    yield ""
    yield table(list(_limits(document, outline)), left=1, width=width)
    yield from folded(f"{_READING} {_drawn_words(outline)}".strip(), width)
    yield ""
    yield table([("value", "is", "source"), *_values(document, outline["sources"])], left=3, width=width)


def _drawn_words(outline: Json) -> str:
    """How the rows 'between' came about."""
    told = outline.get("uncertainty")
    if told is None:
        return ""
    if not told["draws"]:
        return f"Nothing was drawn: {told['why']}."
    ends = [one["interval"] for load in outline["loads"] for one in load["simulated"] if one.get("interval")]
    errors = [one[f"{end}_error"] / one[end] for one in ends for end in ("low", "high") if one[end] > 0]
    moved = significant(100 * median(errors) if errors else 0, 1)
    return (
        f"'Between' is where {round(100 * told['level'])} % of {told['draws']} draws lie, column by column, in which each of the "
        f"{told['values']} values that are assumed, from memory or derived has another value of its plausible range: its ends would move "
        f"by {moved} % with other draws. 'Mostly' names what most of the last one follows from: "
        "measure that, or look it up, and set it after a '?'. Ranges stand beside the values below."
    )


def _folded(line: str, width: int) -> list[str]:
    """A line, of the graph with its branches going on below where it is folded."""
    text = line.lstrip(" │├└─")
    stem = line[: len(line) - len(text)].replace("├─", "│ ").replace("└─", "  ")
    return textwrap.wrap(line, width, subsequent_indent=f"{stem}  ", break_on_hyphens=False)


def _graph(document: Json, outline: Json) -> Iterator[str]:
    """Host, volumes with their way, controllers, groups with theirs, devices."""
    links = {link["name"]: link for link in document.get("link", [])}
    host = document.get("host", {})
    yield f"host, {host.get('mode', 'direct')}" + _cost(host, ("request_ns", "request"), ("page_ns", "page")) + _moved(host)
    stripe = host.get("stripe_bytes", 0)
    how = f", striped by {binary(stripe)}" if stripe else ""
    yield f"└─ target of {binary(outline['size_bytes'])}: {_volumes(outline['volumes'])}{how}"
    for volumes in document["volumes"]:
        way = [*volumes.get("links", []), *([" | ".join(volumes["ports"])] if volumes.get("ports") else [])]
        owners = list(dict.fromkeys(group["controller"] for group in document["group"] if group["name"] in volumes["groups"]))
        yield f"   ├─ {volumes['name']} on {', '.join(volumes['groups'])}"
        for step in way:
            yield f"   │  │  over {_link(step, links)}"
        yield f"   │  └─ controller {', '.join(owners)}"
    for controller in document["controller"]:
        yield f"   ├─ controller {controller['name']}{_controller(controller)}{_memory(controller, links)}{_data_path(controller)}"
        for group in (group for group in document["group"] if group["controller"] == controller["name"]):
            yield f"   │  └─ {group['name']}: {_layout(group['raid'])}: {', '.join(group['members'])}{_flash_cache(group)}"
    for devices in document["devices"]:
        over = ", ".join(_link(link, links) for link in devices.get("links", []))
        yield f"   └─ {devices['count']} × {devices['name']}: {_device(devices['model'])}" + (f", over {over}" if over else "")


def _layout(raid: Json) -> str:
    """How a group lays out its data: ``RAID 5 over 4, strip 64 KiB``."""
    level, devices, strip = str(raid["level"]), raid["devices"], binary(raid.get("strip_sectors", 128) * 512)
    if level == ERASURE:
        own = int(raid.get("groups", 1))
        coding = parities(raid)
        return f"erasure coding {devices // own - coding}+{coding} over {devices}, strip {strip}"
    if not has_records(level):
        return f"{level.replace('raid', 'RAID ')} over {devices}, strip {strip}"
    own = raid.get("groups", 1)
    over = f"over {devices}" if own == 1 else f"{own} times over {devices // own}"
    records = f"records of {binary(raid.get('record_sectors', 256) * 512)} in sectors of {strip}"
    if is_declustered(level):
        name, spares = level.replace("draid", "dRAID"), raid.get("distributed_spares", 0)
        return f"{name} of {data_members(raid)} data {over}, {spares} distributed spare{'s' * (spares != 1)}, {records}"
    return f"{level.replace('raidz', 'RAIDZ')} {over}, {records}"


def _flash_cache(group: Json) -> str:
    """The flash before a group: ``, behind flash (cache, 186 GiB in extents of 64 KiB, write-through)``."""
    cache = group.get("flash_cache")
    if cache is None:
        return ""
    size = f"{binary(cache['size_bytes'])} in " if cache.get("size_bytes") else ""
    mode = f"write-{cache.get('writes', 'through')}"
    return f", behind flash ({cache['group']}, {size}extents of {binary(cache.get('extent_bytes', 65_536))}, {mode})"


def _moved(host: Json) -> str:
    pages = host.get("page_cache", {}) if host.get("mode") == "buffered" else {}
    return f", {duration(pages['moved_page_ns'])} per page moved" if pages.get("moved_page_ns") else ""


def _volumes(volumes: list[Json]) -> str:
    first, last = volumes[0], volumes[-1]
    if len(volumes) == 1:
        return str(first["name"])
    return f"{len(volumes)} volumes of {binary(first['size_bytes'])}, {first['name']} to {last['name']}"


def _link(names: str, links: dict[str, Json]) -> str:
    link = links[names.partition(" | ")[0]]
    duplex = ", half duplex" if link.get("duplex") == "half" else ""
    share = link.get("efficiency_percent", 100)
    efficiency = f" at {share} %" if share != 100 else ""
    each = " per device" if link.get("sharing") == "per_device" else ""
    return f"{names} ({megabytes(link['rate_bytes_per_s'])} MB/s{efficiency}{each}{duplex})"


def _cost(table_of: Json, *keys: tuple[str, str]) -> str:
    return "".join(f", {duration(table_of[key])} per {noun}" for key, noun in keys if table_of.get(key))


def _controller(controller: Json) -> str:
    text = _cost(controller, ("request_ns", "request"), ("write_ns", "write besides"), ("command_ns", "command"))
    cache = controller.get("cache")
    if cache is None:
        return text + ", no cache"
    word = cache.get("write_cache", "on")
    writes_back = word == "forced_on" or (word == "on" and cache.get("battery", True))
    text += f", cache of {binary(cache['size_bytes'])} ({'write-back' if writes_back else 'write-through'}"
    text += f", {cache.get('read_percent', 100)} % read, {cache.get('write_percent', 100)} % write)"
    ahead = controller.get("read_ahead")
    if ahead is not None:
        text += f", reads ahead {binary(ahead['initial_bytes'])} to {binary(ahead['max_bytes'])}"
    return text


def _memory(controller: Json, links: dict[str, Json]) -> str:
    name = controller.get("cache", {}).get("memory_link")
    return "" if name is None else f", writes pass {_link(name, links)}"


def _data_path(controller: Json) -> str:
    """What the processor moves at most, if it is known; of what it moves nothing else limits it."""
    if not controller.get("kib_ns"):
        return ", data path not known"
    return f", data path of {megabytes(1024e9 / controller['kib_ns'] * controller.get('cores', 1))} MB/s"


def _device(model: Json) -> str:
    size = f"{model['capacity_bytes'] / 1e9:,.0f} GB"
    if model["kind"] == "disk":
        rates = f"{megabytes(model['inner_rate_bytes_per_s'])} to {megabytes(model['outer_rate_bytes_per_s'])} MB/s"
        return f"disk of {size}, {model['rotation_rpm']:,} rpm, {rates}"
    return f"flash of {size}, {model['channels']} × {model['dies_per_channel']} dies"


def _limits(document: Json, outline: Json) -> Iterator[tuple[str, ...]]:
    """Of each load three rows: bounds, mean values and simulated ones, at each number of requests outstanding; then what limits it."""
    populations = [str(expected["population"]) for expected in outline["loads"][0]["expected"]]
    yield ("requests/s", *(f"with {population}" for population in populations), "MB/s")
    for load in outline["loads"]:
        expected, simulated = load["expected"], load["simulated"]
        analysed = [one["throughput_per_s"] for one in expected]
        yield (load["name"],)
        yield _row("  at most", [one["most_per_s"] for one in expected], load)
        if None not in analysed:
            yield _row("  mean values", analysed, load)
        yield _row("  simulated", [_allowed(one) for one in simulated], load)
        yield from _between(simulated)
        bound, found = (_limit_words(document, *limit) for limit in (_bounding(load), _saturated(simulated[-1])))
        hits, filled = simulated[-1]["hit_share"], simulated[-1]["filled"]
        seen = (f", {hits:.0%} hits" if hits >= _HITS else "") + ("" if filled else ", caches filling")
        ceiling = ceiling_words(expected[-1]["most_per_s"] * load["bytes"]) if load["kind"] == "link" else ""
        yield (f"  limited by {bound}{ceiling}; simulated{f' by {found}' if found else ', nothing is saturated'}{seen}",)


def _row(name: str, rates: list[float], load: Json) -> tuple[str, ...]:
    return (name, *map(count, rates), megabytes(rates[-1] * load["bytes"]))


def _allowed(simulated: Json) -> float:
    """A rate as exactly as its interval allows."""
    interval, rate = simulated.get("interval"), float(simulated["throughput_per_s"])
    return rate if interval is None else within(rate, interval["low"], interval["high"])


def _between(simulated: list[Json]) -> Iterator[tuple[str, ...]]:
    """The intervals in the order of the columns, and which values the last of them follows from."""
    intervals = [one["interval"] for one in simulated if one.get("interval")]
    if len(intervals) < len(simulated):
        return
    ends = [[count(within(one[end], one["low"], one["high"])) for end in ("low", "high")] for one in intervals]
    yield (f"  between {' · '.join('–'.join(pair) for pair in ends)}; {mostly_words(intervals[-1])}",)


def _bounding(load: Json) -> tuple[str, dict[str, int]]:
    """The kind of what bounds a load, and the sets of it that do so within a hundredth, each with how many components it has."""
    alike = [demand for demand in load["demands"] if demand["kind"] == load["kind"]]
    least = min(demand["servers"] / demand["least_ns"] for demand in alike)
    return load["kind"], {one["component"]: one["count"] for one in alike if one["servers"] / one["least_ns"] <= _ALIKE * least}


def _saturated(simulated: Json) -> tuple[str, dict[str, int]]:
    """The kind of the busiest component, and the sets of it that were saturated."""
    return simulated["kind"], {name: 1 for name, busiest in simulated["alike"].items() if busiest >= SATURATED}


def _limit_words(document: Json, kind: str, sets: dict[str, int]) -> str:
    """What limits, in words, with the groups that lie on it if not all do; empty when nothing does."""
    drives = {devices["name"]: int(devices.get("count", 1)) for devices in document["devices"]}
    if not sets:
        return ""
    words = component_words(kind, sorted(sets), several=any(drives.get(name, sets[name]) > 1 for name in sets), alone=len(drives) == 1)
    under = [group["name"] for group in document["group"] if {str(member).partition("[")[0] for member in group["members"]} & set(sets)]
    if kind not in ("disk", "flash") or len(under) in (0, len(document["group"])):
        return words
    return f"{words} (group{'s' if len(under) > 1 else ''} {', '.join(under)})"


def _values(document: Json, sources: list[Json]) -> Iterator[tuple[str, ...]]:
    """Every value with its source, and the range of those that nobody has looked up, below the table it is in; names that only connect
    components are left out if nobody gave a source."""
    said = {source["path"]: source["source"] for source in sources}
    drawn = {path: one.ends() for one in uncertain(document) for path in one.paths}
    last = None
    for path, value in _leaves(document, ""):
        table_of, _, key = path.rpartition(".")
        is_choice = isinstance(value, str) and key not in UNSOURCED | _CONNECTING
        if path in said or isinstance(value, (int, float)) or is_choice:
            if table_of != last:
                last = table_of
                yield (table_of or "the array",)
            ends = drawn.get(path)
            between = "" if ends is None else f" ({_text(ends[0], key)}–{_text(ends[1], key)})"
            yield f"  {key}", f"{_text(value, key)}{between}", said.get(path, _UNSAID)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key != "sources":
                yield from _leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{path}.{inner.get('name', number)}")
    else:
        yield path, value


def _text(value: Any, key: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, int) and not key.endswith("rpm"):
        return f"{value:,}"
    return str(value)
