"""Metrics as OpenTelemetry's collectors take them: the JSON form of OTLP.

Source: OTLP 1.x, ``ExportMetricsServiceRequest`` in proto3's JSON, in which whole numbers of 64 bits are texts.
Model: everything is cumulative from one instant on, so that what a collector did not get is in what it gets next. Latency is an exponential
histogram with the buckets of the native one.
Limits: OTLP's own SDK does the same with ten packages more; nothing here needs what it adds.

    request(families, begun_ns, time.time_ns())        # {"resourceMetrics": [...]}
"""

from __future__ import annotations

import socket
from collections.abc import Sequence

from plimsoll import __version__
from plimsoll.metrics.families import SCHEMA, Buckets, Family, Labels, Quantiles, Sample
from plimsoll.stored import Json

_CUMULATIVE = 2


def request(families: Sequence[Family], begun_ns: int, now_ns: int) -> Json:
    """What is posted to a collector."""
    times = {"startTimeUnixNano": str(begun_ns), "timeUnixNano": str(now_ns)}
    resource = {"service.name": "plimsoll", "service.version": __version__, "host.name": socket.gethostname()}
    metrics = [_metric(family, times) for family in families if family.samples]
    scope = {"scope": {"name": "plimsoll", "version": __version__}, "metrics": metrics}
    return {"resourceMetrics": [{"resource": {"attributes": _attributes(resource)}, "scopeMetrics": [scope]}]}


def _metric(family: Family, times: Json) -> Json:
    declared = family.declared
    points = [{**times, "attributes": _attributes(sample.labels), **_value(sample)} for sample in family.samples]
    data: Json = {"dataPoints": points}
    if declared.kind in ("counter", "histogram"):
        data["aggregationTemporality"] = _CUMULATIVE
    if declared.kind == "counter":
        data["isMonotonic"] = True
    form = {"counter": "sum", "gauge": "gauge", "histogram": "exponentialHistogram", "summary": "summary"}[declared.kind]
    return {"name": f"plimsoll.{declared.name}", "description": declared.help, "unit": declared.ucum, form: data}


def _value(sample: Sample) -> Json:
    value = sample.value
    if isinstance(value, Buckets):
        return {"count": str(value.count), "sum": value.sum_s, "scale": SCHEMA, "zeroCount": str(value.zero), "positive": _positive(value)}
    if isinstance(value, Quantiles):
        quantiles = [{"quantile": share, "value": value_s} for share, value_s in value.values_s.items()]
        return {"count": str(value.count), "sum": value.sum_s, "quantileValues": quantiles}
    return {"asDouble": value}


def _positive(buckets: Buckets) -> Json:
    """All buckets from the first on; theirs are numbered by the lower limit, ours by the upper one."""
    if not buckets.counts:
        return {}
    first, last = min(buckets.counts), max(buckets.counts)
    return {"offset": first - 1, "bucketCounts": [str(buckets.counts.get(index, 0)) for index in range(first, last + 1)]}


def _attributes(labels: Labels) -> list[Json]:
    return [{"key": name, "value": {"stringValue": value}} for name, value in labels.items()]
