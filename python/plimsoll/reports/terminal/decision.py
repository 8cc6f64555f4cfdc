"""Decision support on a terminal: a row per run with its metrics, then a row per test and per query of the reported run.

Model: the metrics of a run stand beside what was loaded and what the engine could use; the banner closes the table. Queries show how long
they took alone and, on average, in streams, and what storage did while they were alone.
Limits: what ran beside other streams has no bytes of its own, so none are shown there.

    print(runs(results)); print(phases(results)); print(queries(results))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.analysis.comparison.names import names_of
from plimsoll.analysis.decision.limit import busy_share, limit, locks_share
from plimsoll.analysis.decision.runs import METRICS, Standing, asks_queries, section, standings
from plimsoll.analysis.point.metric import ALL, metric
from plimsoll.decision import BANNER
from plimsoll.reports.decision import shown
from plimsoll.reports.phrases import bounded
from plimsoll.reports.progress import settings_text
from plimsoll.reports.terminal.points import marks_of
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.reports.terminal.table import table
from plimsoll.result import Result
from plimsoll.units import binary, brief_duration, count, megabytes, seconds

_HOUR_S = 3600.0
_RUN = ("scale", "streams", "run", *METRICS, "queries/h", "mean", "p95", "load", "data", "memory", "spilled", "")
_STORAGE = ("MB read", "written", "spilled", "a read", "a write", "r_await", "w_await", "queue")
_PHASE = ("test", "took", "waiting", "locks", "busy", *_STORAGE, "limited by")
_QUERY = ("query", "alone", "in streams", "waiting", *_STORAGE, "CPU user", "system", "iowait", "answer")


def runs(results: Sequence[Result], screen: Screen = ANY) -> str:
    """A row per point of decision support that measured something, and the banner; empty without such."""
    own = [result for result in results if asks_queries(result) and result.totals]
    if not own:
        return ""
    names, placed = names_of(results), any(settings_text(result) for result in own)
    lower = {id(standing.reported.result) for standing in standings(own) if len(standing.runs) > 1}
    head = ("target", "point") if placed else ("target",)
    rows = [
        (names[result.side], *((settings_text(result),) if placed else ()), *_run(result, screen, is_lower=id(result) in lower))
        for result in own
    ]
    return f"{table([(*head, *_RUN), *rows], left=len(head), screen=screen)}\n{screen.wrapped(f'{BANNER[0].upper()}{BANNER[1:]}.')}"


def _run(result: Result, screen: Screen, *, is_lower: bool) -> tuple[str, ...]:
    said: Mapping[str, Any] = section(result) or {}
    load, metrics = said.get("load") or {}, said.get("metrics") or {}
    rate = _queries_per_hour(result, said)
    remarks = (marks_of(result, screen), "lower" if is_lower else "", "" if result.status == "complete" else result.status)
    return (
        f"{said.get('scale', 0):g}",
        str(result.job.threads),
        str(result.job.repeat),
        *(shown(metrics.get(name)) for name in METRICS),
        count(rate) if rate is not None else "–",
        bounded(metric(result, ALL, "mean")),
        bounded(metric(result, ALL, "p95")),
        seconds(float(load["load_s"])) if load.get("load_s") else "–",
        _bytes(load.get("data_bytes")),
        _bytes(said.get("memory_bytes")),
        _bytes(_spilled(said)),
        " ".join(filter(None, remarks)),
    )


def _queries_per_hour(result: Result, said: Mapping[str, Any]) -> float | None:
    """Of the streams where they came to their end; else of the whole point, unless it was a power test as well."""
    throughput = (said.get("metrics") or {}).get("throughput")
    if throughput is not None:
        return float(throughput) / float(said["scale"])
    rate = metric(result, ALL, "iops")
    return None if rate is None or said.get("test") == "both" else rate.value * _HOUR_S


def queries(results: Sequence[Result], screen: Screen = ANY) -> str:
    """A row per query of each side's reported run; nothing where levels were measured, whose queries are in the report."""
    found = standings(results)
    if not found or any(standing.settings for standing in found):
        return ""
    names = names_of(results)
    texts = []
    for standing in found:
        title = f"{names.get(standing.side, standing.side)}\n" if len(found) > 1 else ""
        texts.append(title + table([_QUERY, *_queries(standing)], left=1, screen=screen))
    return "\n\n".join(texts)


def phases(results: Sequence[Result], screen: Screen = ANY) -> str:
    """A row per test of each side's reported run, with what the devices did and what limited it; empty without such."""
    found, names, rows = standings(results), names_of(results), []
    several, placed = len({standing.side for standing in found}) > 1, any(settings_text(one.reported.result) for one in found)
    for standing in found:
        side = (names.get(standing.side, standing.side),) if several else ()
        where = (*side, *((settings_text(standing.reported.result),) if placed else ()))
        rows += [(*where, *_phase(phase)) for phase in (section(standing.reported.result) or {}).get("phases") or ()]
    head = (*(("target",) if several else ()), *(("point",) if placed else ()))
    return table([(*head, *_PHASE), *rows], left=len(head) + 1, screen=screen) if rows else ""


def _phase(phase: Mapping[str, Any]) -> tuple[str, ...]:
    found = limit(phase)
    return (
        str(phase["name"]),
        seconds(float(phase["seconds"])),
        _or_dash(phase.get("waiting_share"), "{:.0%}"),
        _or_dash(locks_share(phase), "{:.0%}"),
        _or_dash(busy_share(phase), "{:.0%}"),
        *_storage(phase),
        "not known" if found is None else found.words(),
    )


def _storage(seen: Mapping[str, Any]) -> tuple[str, ...]:
    """What the devices did: bytes, mean sizes of requests, how long these took, and how many waited."""
    moved = (None if seen.get(name) is None else megabytes(seen[name]) for name in ("bytes_read", "bytes_written", "spill_bytes"))
    sizes = (_bytes(seen.get(f"{op}_request_bytes")) for op in ("read", "write"))
    times = (_or_dash(seen.get(name), "{:.2f} ms") for name in ("r_await_ms", "w_await_ms"))
    return (*(value or "–" for value in moved), *sizes, *times, _or_dash(seen.get("queue_mean"), "{:.2f}"))


def _queries(standing: Standing) -> list[tuple[str, ...]]:
    said = section(standing.reported.result) or {}
    asked = [*(said.get("queries") or ()), *(said.get("refreshes") or ())]
    named: dict[str, list[Mapping[str, Any]]] = {}
    for one in asked:
        named.setdefault(_name(one), []).append(one)
    return [_query(name, named[name]) for name in sorted(named, key=_order)]


def _query(name: str, times: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    alone = next((one for one in times if one["phase"] == "power"), None)
    beside = [float(one["seconds"]) for one in times if one["phase"] == "throughput"]
    cpu = (alone or {}).get("cpu") or {}
    validated = next((one.get("validated") for one in times), None)
    return (
        name,
        brief_duration(alone["seconds"] * 1e9) if alone else "–",
        brief_duration(sum(beside) / len(beside) * 1e9) if beside else "–",
        _or_dash((alone or {}).get("waiting_share"), "{:.0%}"),
        *_storage(alone or {}),
        *(_or_dash(cpu.get(f"{state}_percent"), "{:.0f} %") for state in ("user", "system", "iowait")),
        {True: "right", False: "WRONG", None: ""}[validated],
    )


def _name(one: Mapping[str, Any]) -> str:
    return str(one["refresh"]).upper() if "refresh" in one else f"Q{one['number']}"


def _order(name: str) -> tuple[str, int]:
    return ("Q" if name[0] == "Q" else "R", int(name.lstrip("QRF")))


def _or_dash(value: Any, form: str) -> str:
    return "–" if value is None else form.format(value)


def _bytes(value: Any) -> str:
    return "–" if value is None else binary(int(value))


def _spilled(said: Mapping[str, Any]) -> int | None:
    known = [phase["spill_bytes"] for phase in said.get("phases") or () if phase.get("spill_bytes") is not None]
    return sum(known) if known else None
