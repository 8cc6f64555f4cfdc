"""The links that controllers and enclosures bring with them, and which devices hang on them.

Model: the part of an enclosure lists its links from the controller to a drive, the part of a controller those from the host to it. In an
array they are called ``OWNER-LINK``, and what the array's own list ``link`` says of that name is laid on what the part brings.
``in = "ENCLOSURE"`` puts devices into one: their way leads over its links. An enclosure has so many bays. What is left is plain: the lists
``link``, ``controller``, ``devices`` as `crates/array` knows them.

    [[enclosure]]
    name = "shelf"
    part = "msa50"                  # ten bays; links uplink and phy

    [[devices]]
    name = "disk"
    count = 10
    in = "shelf"                    # links = ["shelf-uplink", "shelf-phy"]

    [[link]]
    name = "shelf-phy"              # the part's, with another rate
    rate_bytes_per_s = 600_000_000
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from plimsoll.catalog.composition.merge import merged
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.stored import Json


def wired(document: Json) -> Json:
    """The document with the links of its parts among its own, and devices connected to them."""
    links = list(document.get("link", []))
    controllers = [_without_links(controller, links) for controller in document.get("controller", [])]
    enclosures = {str(entry["name"]): entry for entry in document.get("enclosure", [])}
    for enclosure in enclosures.values():
        _without_links(enclosure, links)
    _check_bays(document, enclosures)
    changed = {key: value for key, value in document.items() if key != "enclosure"}
    changed["link"] = links
    if controllers:
        changed["controller"] = controllers
    if "devices" in document:
        changed["devices"] = [_connected(devices, enclosures) for devices in document["devices"]]
    return changed


def with_own_links(document: Json) -> Json:
    """The document with what its list ``link`` says of links that parts bring in their owners, so that each link is in one place."""
    own = {link["name"]: link for link in document.get("link", [])}
    changed = dict(document)
    for key in ("controller", "enclosure"):
        if key in document:
            changed[key] = [_overlaid(owner, own) for owner in document[key]]
    return changed | ({"link": list(own.values())} if "link" in document else {})


def _overlaid(owner: Json, own: dict[str, Json]) -> Json:
    """The owner with its links as the array has them, which are taken out of ``own``."""
    if "link" not in owner:
        return owner
    said = [{**own.pop(_full_name(owner, link), {}), "name": link["name"]} for link in owner["link"]]
    return {**owner, "link": merged(owner["link"], said)}


def _full_name(owner: Json, link: Json) -> str:
    return f"{owner['name']}-{link['name']}"


def _without_links(owner: Json, links: list[Json]) -> Json:
    """The owner without its links, which are appended to ``links`` under their full names."""
    links += [{**link, "name": _full_name(owner, link)} for link in owner.get("link", [])]
    return {key: value for key, value in owner.items() if key != "link"}


def _connected(devices: Json, enclosures: dict[str, Any]) -> Json:
    if "in" not in devices:
        return devices
    enclosure = enclosures[devices["in"]]
    path = [_full_name(enclosure, link) for link in enclosure.get("link", [])]
    plain = {key: value for key, value in devices.items() if key != "in"}
    return {**plain, "links": path + devices.get("links", [])}


def _check_bays(document: Json, enclosures: dict[str, Any]) -> None:
    filled: Counter[str] = Counter()
    for devices in document.get("devices", []):
        if "in" not in devices:
            continue
        place = str(devices["in"])
        if place not in enclosures:
            raise InputError(
                f"devices.{devices['name']}.in: there is no enclosure {quoted(place)}; there are {', '.join(enclosures) or 'none'}."
            )
        filled[place] += int(devices.get("count", 1))
    for name, count in filled.items():
        bays = enclosures[name].get("bays")
        if bays is not None and count > bays:
            raise InputError(f"enclosure.{name}: {count} devices are in its {bays} bays; put the rest into another enclosure.")
