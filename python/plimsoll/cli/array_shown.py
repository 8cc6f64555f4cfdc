"""What ``plimsoll show`` says of an array: its components as a graph, what limits it, and where every value comes from.

show_array("array:msa2000-raid5", as_json=False)
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

import click

from plimsoll import engine as engines
from plimsoll.analysis.components import SATURATED
from plimsoll.catalog.arrays import described
from plimsoll.reports.figures import binary, count, duration, megabytes
from plimsoll.reports.limits import component_words
from plimsoll.reports.terminal import table

Json = dict[str, Any]

_ABOUT = ("purpose", "source", "rationale")
_WIDTH = 96
_UNSAID = "not said"

#: Hits of a cache from which they are told.
_HITS = 0.005

_READING = (
    "'With 16' is with so many requests outstanding, MB/s with the most. 'At most' is the bound of an even load of which caches answer "
    "and keep nothing, by the least positioning that the drives' queues can reach. 'Mean values' are of mean value analysis, exact for "
    "exponential service in order of arrival: service here varies less, so between one request and saturation they are somewhat low, "
    "and of disks that reorder much too low. 'Simulated' is a short run of the model, the same every time."
)


def show_array(target: str, *, as_json: bool) -> None:
    """Print an ``array:`` target."""
    document = described(target)
    outline = engines.native().describe_array(target, simulate=True)
    if as_json:
        click.echo(json.dumps({"document": document, **outline}, ensure_ascii=False, indent=1))
    else:
        click.echo("\n".join(_lines(document, outline)))


def _lines(document: Json, outline: Json) -> Iterator[str]:
    yield f"{document['name']}: {document.get('title') or document['name']} (modelled)"
    for key in _ABOUT:
        if document.get(key):
            yield ""
            yield from textwrap.wrap(f"{key}: {document[key]}", _WIDTH, subsequent_indent="  ")
    yield ""
    yield from _graph(document, outline)
    yield ""
    yield table(list(_limits(outline)), left=3)
    yield from textwrap.wrap(_READING, _WIDTH)
    yield ""
    yield table([("value", "is", "source"), *_values(document, outline["sources"])], left=3)


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
        yield f"   ├─ controller {controller['name']}{_controller(controller)}"
        for group in (group for group in document["group"] if group["controller"] == controller["name"]):
            raid = group["raid"]
            level = f"{raid['level'].replace('raid', 'RAID ')} over {raid['devices']}"
            yield f"   │  └─ {group['name']}: {level}, strip {binary(raid.get('strip_sectors', 128) * 512)}: {', '.join(group['members'])}"
    for devices in document["devices"]:
        over = ", ".join(_link(link, links) for link in devices.get("links", []))
        yield f"   └─ {devices['count']} × {devices['name']}: {_device(devices['model'])}" + (f", over {over}" if over else "")


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
    text = _cost(controller, ("request_ns", "request"), ("command_ns", "command"))
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


def _device(model: Json) -> str:
    size = f"{model['capacity_bytes'] / 1e9:,.0f} GB"
    if model["kind"] == "disk":
        rates = f"{megabytes(model['inner_rate_bytes_per_s'])} to {megabytes(model['outer_rate_bytes_per_s'])} MB/s"
        return f"disk of {size}, {model['rotation_rpm']:,} rpm, {rates}"
    return f"flash of {size}, {model['channels']} × {model['dies_per_channel']} dies"


def _limits(outline: Json) -> Iterator[tuple[str, ...]]:
    """Of each load three rows: bounds, mean values and simulated ones, at each number of requests outstanding."""
    populations = [str(expected["population"]) for expected in outline["loads"][0]["expected"]]
    yield ("load", "requests/s", "limited by", *(f"with {population}" for population in populations), "MB/s")
    for load in outline["loads"]:
        expected, simulated = load["expected"], load["simulated"]
        yield _row(
            (load["name"], "at most", component_words(load["kind"], [load["limited_by"]])), [one["most_per_s"] for one in expected], load
        )
        analysed = [one["throughput_per_s"] for one in expected]
        if None not in analysed:
            yield _row(("", "mean values", ""), analysed, load)
        deepest = simulated[-1]
        saturated = deepest["utilisation"] >= SATURATED
        limit = component_words(deepest["kind"], [deepest["busiest"]]) if saturated else "nothing saturated"
        answered = f", {deepest['hit_share']:.0%} hits" if deepest["hit_share"] >= _HITS else ""
        absorbed = "" if deepest["filled"] else ", caches filling"
        yield _row(("", "simulated", limit + answered + absorbed), [one["throughput_per_s"] for one in simulated], load)


def _row(words: tuple[str, ...], rates: list[float], load: Json) -> tuple[str, ...]:
    return (*words, *map(count, rates), megabytes(rates[-1] * load["bytes"]))


def _values(document: Json, sources: list[Json]) -> Iterator[tuple[str, str, str]]:
    """Every value with its source; names and choices that only connect components are left out if nobody gave a source."""
    said = {source["path"]: source["source"] for source in sources}
    for path, value in _leaves(document, ""):
        key = path.rpartition(".")[2]
        if path in said or isinstance(value, (int, float)):
            yield path, _text(value, key), said.get(path, _UNSAID)


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
