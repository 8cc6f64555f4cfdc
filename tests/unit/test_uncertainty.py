"""What nobody has looked up is drawn from its range: the interval is the known one, and what two arrays share cancels."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.uncertainty.hypercube import BLOCK, share
from plimsoll.analysis.uncertainty.interval import DrawnValue, influences, interval, quantile
from plimsoll.catalog.arrays import array_names, described
from plimsoll.catalog.composition.merge import origin_of
from plimsoll.catalog.composition.sources import values_of
from plimsoll.catalog.ranges import implausible, key_of, rules, uncertain, with_values
from plimsoll.engine.block import native
from plimsoll.engine.protocol import Engine, Job
from plimsoll.errors import InputError
from plimsoll.target import Target, target_of
from plimsoll.uncertainty.draws import Draws
from plimsoll.uncertainty.figures import Plan, interval_of, spread

Json = dict[str, Any]
#: An array whose only slow station is the host, for which a millisecond per request is assumed.
STATION = """
title = "one station"
[host]
request_ns = 1000000
sources = { request_ns = "assumed" }
[[controller]]
name = "soft"
[[devices]]
name = "disk"
count = 1
model = { kind = "flash", capacity_bytes = 1073741824, over_provisioning_percent = 28.0, channels = 1, dies_per_channel = 1, \
planes_per_die = 1, page_bytes = 16384, pages_per_block = 256, page_read_us = 1, page_program_us = 1, block_erase_us = 1, channel_rate_bytes_per_s = 100000000000, \
interface_rate_bytes_per_s = 1000000000000, read_overhead_us = 0, write_overhead_us = 0, write_buffer_bytes = 0, \
power_loss_protection = false, translation = { kind = "analytic" } }
[[group]]
name = "vd"
controller = "soft"
members = ["disk"]
raid = { level = "raid0", devices = 1, strip_sectors = 128 }
[[volumes]]
name = "lun"
groups = ["vd"]
"""


def station(folder: Path, name: str = "station", changed: tuple[str, str] = ("", "")) -> Target:
    """The array of one station, with a passage of its file changed."""
    (folder / f"{name}.toml").write_text(STATION.replace(*changed) if changed[0] else STATION)
    return target_of(f"array:{folder / f'{name}.toml'}")


def rate(target: Target) -> float:
    """Requests per second, one at a time."""
    engine = native()
    workload = engine.check_workload({"stream": [{"block_size": 4096, "queue_depth": 1, "random_percent": 100}]}, "test")
    counted: list[tuple[int, int]] = []

    def take(kind: str, event: Json) -> None:
        if kind == "interval" and event["phase"] == "measure":
            counted.append((sum(cell["count"] for cell in event["cells"]), event["end_ns"] - event["start_ns"]))

    job: Job = {
        "workload": workload,
        "job": engine.check_job({"duration": "4s", "warmup": "0s", "interval": "4s"}),
        "target": target,
        "permission": None,
    }
    engine.run_job(job, take, engine.control())
    return sum(count for count, _ in counted) * 1e9 / sum(ns for _, ns in counted)


def test_of_one_station_the_interval_is_the_known_answer(tmp_path: Path) -> None:
    """An assumed time of the host is log-uniform between ÷ 1.5 and × 1.5: 90 % of the rates lie within 1.5^-0.9 and 1.5^0.9 of 1,000."""
    found = interval_of(station(tmp_path), rate, native(), Plan(jobs=2))
    assert found is not None
    assert found.low == pytest.approx(1000 * 1.5**-0.9, rel=0.01)
    assert found.high == pytest.approx(1000 * 1.5**0.9, rel=0.01)
    assert [(cause.of.name, cause.raises) for cause in found.mostly] == [("host's time per request", False)]
    assert found.mostly[0].share == pytest.approx(1.0, abs=1e-3)


def test_what_is_looked_up_is_drawn_no_longer(tmp_path: Path) -> None:
    looked_up = station(tmp_path, "looked-up", ('"assumed"', '"measured with perf"'))
    assert interval_of(looked_up, rate, native(), Plan(jobs=1)) is None
    typed = target_of(f"{station(tmp_path)}?host.request_ns=5us")
    assert uncertain(typed.document or {}) == []


def test_common_draws_cancel_what_two_arrays_share() -> None:
    """The same drives behind caches of two sizes: what the drives are uncertain by moves both alike."""
    engine = native()
    one, other = (target_of(f"array:msa50-sas-10k-raid5-8{ending}") for ending in ("", "?controller.raid.cache.size_bytes=128MiB"))

    def time(target: Target) -> float:
        document = target.document or {}
        model, cache = document["devices"][0]["model"], document["controller"][0]["cache"]
        return float(model["queue"]["age_limit_ms"] * document["controller"][0]["request_ns"] / cache["size_bytes"])

    first, second = (spread(target, lambda drawn: {"time": time(drawn)}, engine, Plan(jobs=2)) for target in (one, other))
    ratios = [b / a for a, b in zip(first.values["time"], second.values["time"], strict=True) if a is not None and b is not None]
    assert max(ratios) == min(ratios) == 2.0
    assert max(first.values["time"]) > 3 * min(first.values["time"])  # type: ignore[operator,type-var]


def test_equal_seeds_make_equal_draws_and_more_draws_go_on() -> None:
    engine, target = native(), target_of("array:msa50-sas-10k-raid5-8")
    once, again, other = Draws(target, engine), Draws(target, engine), Draws(target, engine, seed=2)
    assert once.fingerprint(BLOCK) == again.fingerprint(BLOCK) != other.fingerprint(BLOCK)
    assert [once.values(number) for number in range(2 * BLOCK)][:BLOCK] == [again.values(number) for number in range(BLOCK)]


def test_every_part_of_a_range_is_drawn_once_in_a_block() -> None:
    for block in range(3):
        drawn = sorted(share(7, "a value", block * BLOCK + number) for number in range(BLOCK))
        assert [int(one * BLOCK) for one in drawn] == list(range(BLOCK))
    assert len({share(7, "a value", number) for number in range(3 * BLOCK)}) == 3 * BLOCK


def test_a_refused_draw_is_made_again_and_counted_and_never_moved_to_the_limit() -> None:
    """A low watermark above the high one is refused; both are assumed, 15 points about 75 and 70."""
    engine = native()
    target = target_of("array:msa50-sas-10k-raid5-8")
    document = target.document or {}
    document["controller"][0]["cache"]["low_percent"] = 70
    draws = Draws(Target(target.text, document), engine)
    marks = [(cache["low_percent"], cache["high_percent"]) for cache in map(_cache, map(draws.target, range(3 * BLOCK)))]
    assert draws.redrawn(3 * BLOCK) > 0
    assert all(low <= high for low, high in marks)
    assert sum(low == high for low, high in marks) < 6, "draws stand at the limit"


def _cache(target: Target) -> Json:
    cache: Json = (target.document or {})["controller"][0]["cache"]
    return cache


def test_pages_longer_than_a_strip_are_drawn_for_no_array() -> None:
    draws = Draws(target_of("array:msa50-sas-10k-raid5-8"), native())
    assert all(implausible(draws.target(number).document or {}) is None for number in range(2 * BLOCK))


def test_ranges_that_allow_no_array_are_one_sentence(tmp_path: Path) -> None:
    target = station(tmp_path)

    class Refusing:
        def inspect_target(self, asked: Target) -> Json:
            if asked.document != target.document:
                raise InputError("host.request_ns: no")
            return {}

    engine: Engine = Refusing()  # type: ignore[assignment]
    with pytest.raises(InputError, match="of 100 draws from the ranges of its values none is an array"):
        Draws(target, engine).target(0)


def test_what_was_fitted_is_drawn_as_coarsely_as_fits_go(tmp_path: Path) -> None:
    fitted_to = station(tmp_path, "fitted", ('"assumed"', '"fitted to report 000"'))
    (one,) = uncertain(fitted_to.document or {})
    assert isinstance(one.value, int)
    assert one.ends() == pytest.approx((one.value / 1.18, one.value * 1.18), rel=1e-3)
    assert one.name == "host's time per request"


def test_every_value_that_nobody_has_looked_up_has_a_rule_with_a_reason() -> None:
    """Words and truth values are choices; a number is drawn unless its rule says why it is exact."""
    names = array_names()
    for name in names[:: max(1, len(names) // 60)]:
        document = described(f"array:{name}")
        drawn = {path for one in uncertain(document) for path in one.paths}
        for path, source in values_of(document):
            if source is None or not any(word in source for word in ("assumed", "from memory")) or path in drawn:
                continue
            rule = next(rule for rule in rules() if rule.fits(key_of(path)))
            value = _at(document, path)
            assert isinstance(value, str | bool) or value == 0 or rule.form == "exact" or path.startswith("link."), f"{name}: {path}"
    assert all(len(rule.reason) > 10 for rule in rules())


def _at(document: Any, path: str) -> Any:
    for step in path.split("."):
        document = next(one for one in document if one["name"] == step) if isinstance(document, list) else document[step]
    return document


def test_one_statement_of_the_catalog_is_one_value_wherever_it_is_used() -> None:
    found = {one.key: one for one in uncertain(described("array:msa2000-raid5"))}
    assert len(found["controller.request_ns"].paths) == 2, "both controllers are of one part"
    document = described("array:msa2000-raid5")
    changed = with_values(document, {one.identity: one.value for one in uncertain(document)}, uncertain(document))
    assert changed == document


def test_sources_know_the_file_that_they_stand_in() -> None:
    by_path = dict(values_of(described("array:msa50-sas-10k-raid5-8")))
    assert origin_of(by_path["controller.raid.command_ns"] or "") == "controllers/smart-array-p600"
    assert origin_of(by_path["group.raid.raid.strip_sectors"] or "") == "arrays/msa50"


def test_influences_find_what_was_planted_and_nothing_in_noise() -> None:
    generator = random.Random(5)
    columns = [[share(3, f"value {number}", draw) for draw in range(60)] for number in range(30)]
    figure = [10 * columns[4][draw] - 4 * columns[9][draw] + generator.random() for draw in range(60)]
    found = influences(figure, columns)
    assert [(number, raises) for number, _, raises in found] == [(4, True), (9, False)]
    assert found[0][1] > 0.7 > found[1][1] > 0.05
    noise = [influences([generator.random() for _ in range(60)], columns) for _ in range(40)]
    assert sum(map(bool, noise)) <= 6, "of forty figures that depend on nothing, two are expected to name a value"


def test_errors_of_the_ends_shrink_with_the_number_of_draws() -> None:
    values = [share(1, "a", number) for number in range(320)]
    few, many = interval(values[:20]), interval(values)
    assert few is not None and many is not None
    assert many.low_error < few.low_error / 2
    assert (many.low, many.high) == (pytest.approx(0.05, abs=0.01), pytest.approx(0.95, abs=0.01))


def test_draws_without_a_figure_are_counted_and_in_nothing_else() -> None:
    found = interval([1.0, None, 2.0, None, 3.0], [DrawnValue("x", ("a.b",), "assumed", 1, 0, 2, "why", (1.0, 9.0, 2.0, 9.0, 3.0))])
    assert found is not None
    assert (found.draws, found.failed) == (3, 2)
    assert interval([None, 1.0]) is None
    assert quantile([4.0], 0.5) == 4.0
