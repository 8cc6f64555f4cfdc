"""The Prometheus exposition: valid lines, base units, every operation once."""

from __future__ import annotations

import re

from plimsoll.formats.prometheus import prometheus_text
from support.recorded_point import Load, drawn, recorded_point

LINE = re.compile(r'[a-z_]+\{([a-z]+="(?:[^"\\\n]|\\\\|\\"|\\n)*",?)+\} -?[\d.e+-]+$')
TEXT = prometheus_text("run 1", [recorded_point(Load("data", {"read": drawn(1)}), Load("log", {"write": (50_000,) * 10}))])


def values(name: str, **labels: str) -> list[float]:
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    lines = [line for line in TEXT.splitlines() if line.startswith(f"{name}{{") and all(label in line for label in wanted)]
    return [float(line.rpartition(" ")[2]) for line in lines]


def test_every_line_is_a_sample_or_says_what_follows():
    for line in TEXT.splitlines():
        assert line.startswith(("# HELP plimsoll_", "# TYPE plimsoll_")) or LINE.match(line), line


def test_each_metric_is_announced_once_before_its_samples():
    announced = re.findall(r"^# TYPE (\w+) \w+$", TEXT, re.MULTILINE)
    assert len(announced) == len(set(announced)) == 9
    for line in TEXT.splitlines():
        if not line.startswith("#"):
            name = line.partition("{")[0].removesuffix("_sum").removesuffix("_count")
            assert TEXT.index(f"# TYPE {name} ") < TEXT.index(line)


def test_rates_are_per_second_and_times_in_seconds():
    assert values("plimsoll_operations_per_second", op="write", stream="") == [20.0]
    assert values("plimsoll_bytes_per_second", op="write", stream="log") == [163840.0]
    assert 49e-6 < values("plimsoll_latency_seconds", op="write", stream="", quantile="0.5")[0] < 51e-6
    assert values("plimsoll_latency_seconds_count", op="read", stream="data") == [3000.0]
    assert values("plimsoll_point_ok") == [1.0]


def test_labels_are_escaped():
    assert '{run="a\\"b\\\\c\\nd"' in prometheus_text('a"b\\c\nd', [recorded_point()])
