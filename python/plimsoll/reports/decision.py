"""Decision support in words: the sentence and the JSON of its metrics, always with what they are derived from.

Model: `plimsoll.analysis.decision.runs` says what each side has; the lower run is reported and the other stands beside it. A metric
carries its scale in its name, ``composite@10``, since figures of two scales cannot be compared.
Limits: nothing is judged here.

    sentence(standings(results))     # "a does composite@10 11,042 (power 12,345, throughput 9,876), the lower of 2 runs (other 11,300); …"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.analysis.decision.runs import METRICS, Run, Standing, section, standings
from plimsoll.analysis.price.price import Price
from plimsoll.decision import BANNER
from plimsoll.decision.metrics import price_per_composite, spec_price
from plimsoll.result import Result
from plimsoll.stored import Json
from plimsoll.units import count


def at_scale(metric: str, scale: float) -> str:
    """``composite@10``."""
    return f"{metric}@{scale:g}"


def shown(value: float | None) -> str:
    """A metric with four or more digits whole, with fewer to three."""
    return "–" if value is None else count(value)


def sentence(found: Sequence[Standing], names: Mapping[str, str]) -> str:
    """What was found of one side, or of several beside the first; without full stop."""
    first = found[0]
    if len({one.side for one in found}) == 1 or any(one.scale != first.scale for one in found):
        return f"{names.get(first.side, first.side)} reaches {_of_run(first, first.reported)}{_beside(first)}; {BANNER}"
    metric = next((name for name in ("composite", "throughput", "power") if getattr(first.reported, name) is not None), "composite")
    sides = [f"{names.get(one.side, one.side)} {shown(getattr(one.reported, metric))}{_ratio(one, first, metric)}" for one in found]
    return f"{at_scale(metric, first.scale)}: {', '.join(sides)}; {BANNER}"


def _of_run(standing: Standing, run: Run) -> str:
    known = {name: value for name in METRICS if (value := getattr(run, name)) is not None}
    if "composite" in known:
        others = ", ".join(f"{name} {shown(value)}" for name, value in known.items() if name != "composite")
        return f"{at_scale('composite', standing.scale)} {shown(known['composite'])} ({others})"
    return " and ".join(f"{at_scale(name, standing.scale)} {shown(value)}" for name, value in known.items())


def _beside(standing: Standing) -> str:
    other = standing.other
    return "" if other is None else f", the lower of {len(standing.runs)} runs (the other {shown(other.decides)})"


def _ratio(one: Standing, first: Standing, metric: str) -> str:
    mine, base = getattr(one.reported, metric), getattr(first.reported, metric)
    return f" ({mine / base:.2f} ×)" if one is not first and mine is not None and base else ""


def document(results: Sequence[Result], prices: Mapping[str, Price]) -> Json:
    """The keys of ``--json``: metrics and queries of the first side's reported run, and all sides; empty for other loads.

    ``prices`` are by side.
    """
    found = standings(results)
    if not found:
        return {}
    sides = [_side(standing, prices.get(standing.side)) for standing in found]
    first = {key: sides[0][key] for key in ("metrics", "queries", "refreshes", "phases")}
    return {"derived": BANNER, "scale": found[0].scale, **first, "sides": sides}


def _side(standing: Standing, price: Price | None) -> Json:
    run = standing.reported
    said = section(run.result) or {}
    return {
        "side": standing.side,
        "scale": standing.scale,
        "settings": dict(standing.settings),
        "metrics": {**{name: getattr(run, name) for name in METRICS}, "price_per_composite": _per_composite(standing, price)},
        "runs": [each.to_json() for each in standing.runs],
        "queries": list(said.get("queries") or ()),
        "refreshes": list(said.get("refreshes") or ()),
        "phases": [_loaded(said.get("load") or {}), *(said.get("phases") or ())],
    }


def _per_composite(standing: Standing, price: Price | None) -> float | None:
    """What a unit of the composite costs; None without a price or a composite."""
    run = standing.reported
    if price is None or not run.composite:
        return None
    exact = price_per_composite(price.amount, run.composite)
    return float(spec_price(exact) if (section(run.result) or {}).get("spec_rounding") else exact)


def _loaded(load: Mapping[str, Any]) -> Json:
    """The load as a phase."""
    return {"name": "load", "seconds": load.get("load_s"), "bytes_read": None, "bytes_written": load.get("bytes_written")}
