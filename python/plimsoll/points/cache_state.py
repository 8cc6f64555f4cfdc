"""What the caches hold when a point begins: brought about where it can be, and said in words that the result keeps.

Model: ``cold`` drops the page cache of the target, ``warm`` is a warm-up as long as the measurement (`planning.warmed`), otherwise the
caches are as found. Direct I/O bypasses the page cache, which is said as well, because then cold and warm differ only in
what the device and its controller keep. A modelled array is made anew for every point and begins as its file says, with
empty caches or with its host's page cache filled.

    cache_state(point, inspection)       # {"state": "cold", "how": "The page cache of the target was dropped (posix_fadvise)."}
"""

from __future__ import annotations

from plimsoll.analysis.point.definition import is_direct, streams
from plimsoll.host.target import target_paths
from plimsoll.points.point import PlannedPoint
from plimsoll.stored import Cache, Inspection, Json
from plimsoll.units import binary

AS_FOUND = "as found"
COLD, WARM = "cold", "warm"
#: What can be asked for.
STATES = (COLD, WARM, AS_FOUND)


def cache_state(point: PlannedPoint, inspection: Inspection, files: list[str] | None = None) -> Cache:
    """The state as `Result.cache` keeps it; for a cold point the page cache is dropped now: of ``files``, where they are known."""
    if point.target.document is not None:
        return _modelled(point, point.target.document)
    paths = target_paths(inspection) if files is None else files
    if not paths:
        return {"state": AS_FOUND, "how": "The target has no page cache."}
    state, how = _brought_about(point, paths)
    direct = [is_direct(stream) for stream in streams(point.workload)]
    if direct and all(direct):
        how.append("Direct I/O bypasses the page cache.")
    return {"state": state, "how": " ".join(how)}


def _brought_about(point: PlannedPoint, paths: list[str]) -> tuple[str, list[str]]:
    if point.cache == COLD:
        from plimsoll.host.page_cache import drop_pages

        found = drop_pages(paths)
        return (COLD if found.cold else AS_FOUND), [found.how]
    if point.cache == WARM:
        return WARM, [_warmed_up(point)]
    return AS_FOUND, []


def _modelled(point: PlannedPoint, array: Json) -> Cache:
    """Of an array, which nothing from before the point can have touched."""
    host = array.get("host", {})
    filled_bytes = host.get("page_cache", {}).get("warm_range_bytes", 0) if host.get("mode") == "buffered" else 0
    flash = [group["flash_cache"] for group in array.get("group", []) if group.get("flash_cache")]
    warm = any(cache.get("warm", True) for cache in flash)
    began = "A modelled array begins every point with empty caches."
    if warm:
        began = "The modelled array began with its flash cache filled from all over what is addressed; all other caches began empty."
    if filled_bytes:
        began = f"The modelled host began with its page cache filled from the first {binary(filled_bytes)}; all other caches began empty."
    if point.cache == WARM:
        return {"state": WARM, "how": f"{_warmed_up(point)} {began}"}
    return {"state": COLD if point.cache == COLD and not filled_bytes and not warm else AS_FOUND, "how": began}


def _warmed_up(point: PlannedPoint) -> str:
    measured = f"{'at most ' if point.precision else ''}{point.options['duration']:g} s"
    return f"The load ran for {point.options['warmup']:g} s before it was measured for {measured}."
