"""Metrics as Prometheus reads them: its text format, and protobuf for those that ask for it, which alone carries native histograms.

Sources: the text format 0.0.4 and the messages of ``io.prometheus.client`` (Prometheus, "Exposition formats" and "Native histograms").
Model: protobuf needs few of its features here (varints, doubles, texts, messages), which are written below; the Python client of Prometheus
writes no native histograms (its issue 918). Both forms have classic buckets as well, for servers that keep no native ones.

    body, kind = exposition(families, accept="application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from itertools import accumulate

from plimsoll.metrics.families import CLASSIC_S, SCHEMA, Buckets, Family, Labels, Quantiles, Sample

TEXT = "text/plain; version=0.0.4; charset=utf-8"
PROTOBUF = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
_KINDS = {"counter": 0, "gauge": 1, "summary": 2, "histogram": 4}
#: What is not above this counts as zero: the usual width of the zero bucket.
_ZERO_S = 2.0**-128


def exposition(families: Sequence[Family], accept: str) -> tuple[bytes, str]:
    """The body of an answer and its type, in the form that ``accept`` would rather have."""
    if _weight(accept, _is_protobuf) > 0 and _weight(accept, _is_protobuf) >= _weight(accept, _is_text):
        return b"".join(_delimited(_family(family)) for family in families), PROTOBUF
    return "".join(line for family in families for line in _lines(family)).encode(), TEXT


def _is_protobuf(words: Sequence[str]) -> bool:
    return words[0] == "application/vnd.google.protobuf" and {"proto=io.prometheus.client.metricfamily", "encoding=delimited"} <= set(words)


def _is_text(words: Sequence[str]) -> bool:
    return words[0] in ("text/plain", "text/*")


def _weight(accept: str, wanted: object) -> float:
    """The greatest weight that the header gives to a form."""
    found = 0.0
    for one in accept.lower().split(","):
        words = [word.strip().replace('"', "") for word in one.split(";")]
        if callable(wanted) and wanted(words):
            given = next((word[2:] for word in words if word.startswith("q=")), "1")
            try:
                found = max(found, float(given))
            except ValueError:
                continue
    return found


def _lines(family: Family) -> Iterable[str]:
    name = family.prometheus
    yield f"# HELP {name} {family.declared.help}\n# TYPE {name} {family.declared.kind}\n"
    for sample in family.samples:
        value, labels = sample.value, sample.labels
        if isinstance(value, Buckets):
            for limit, count in zip((*CLASSIC_S, math.inf), accumulate(value.classic), strict=True):
                yield f"{name}_bucket{_text({**labels, 'le': _number(limit)})} {count}\n"
        elif isinstance(value, Quantiles):
            for share, value_s in value.values_s.items():
                yield f"{name}{_text({**labels, 'quantile': _number(share)})} {_number(value_s)}\n"
        else:
            yield f"{name}{_text(labels)} {_number(value)}\n"
            continue
        yield f"{name}_sum{_text(labels)} {_number(value.sum_s)}\n{name}_count{_text(labels)} {value.count}\n"


def _text(labels: Labels) -> str:
    def escaped(value: str) -> str:
        return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    return "{" + ",".join(f'{name}="{escaped(value)}"' for name, value in labels.items()) + "}" if labels else ""


def _number(value: float) -> str:
    return "+Inf" if value == math.inf else f"{value:.12g}"


def _family(family: Family) -> bytes:
    head = _bytes(1, family.prometheus.encode()) + _bytes(2, family.declared.help.encode()) + _integer(3, _KINDS[family.declared.kind])
    return head + b"".join(_bytes(4, _metric(family.declared.kind, sample)) for sample in family.samples)


def _metric(kind: str, sample: Sample) -> bytes:
    labels = b"".join(_bytes(1, _bytes(1, name.encode()) + _bytes(2, value.encode())) for name, value in sample.labels.items())
    value = sample.value
    if isinstance(value, Buckets):
        return labels + _bytes(7, _histogram(value))
    if isinstance(value, Quantiles):
        quantiles = b"".join(_bytes(3, _double(1, share) + _double(2, value_s)) for share, value_s in value.values_s.items())
        return labels + _bytes(4, _integer(1, value.count) + _double(2, value.sum_s) + quantiles)
    return labels + _bytes(3 if kind == "counter" else 2, _double(1, value))


def _histogram(buckets: Buckets) -> bytes:
    limits = zip(CLASSIC_S, accumulate(buckets.classic), strict=False)
    classic = b"".join(_bytes(3, _integer(1, count) + _double(2, limit)) for limit, count in limits)
    head = _integer(1, buckets.count) + _double(2, buckets.sum_s) + classic
    native = _integer(5, _zigzag(SCHEMA)) + _double(6, _ZERO_S) + _integer(7, buckets.zero)
    spans, deltas = _spans(buckets)
    offered = b"".join(_bytes(12, _integer(1, _zigzag(gap)) + _integer(2, length)) for gap, length in spans)
    return head + native + offered + b"".join(_integer(13, _zigzag(delta)) for delta in deltas)


def _spans(buckets: Buckets) -> tuple[list[tuple[int, int]], list[int]]:
    """Stretches of buckets that follow each other, by the gap before them and their length; and each count less the one before."""
    spans: list[tuple[int, int]] = []
    deltas: list[int] = []
    next_index, before = 0, 0
    for index, count in sorted(buckets.counts.items()):
        if spans and index == next_index:
            spans[-1] = (spans[-1][0], spans[-1][1] + 1)
        else:
            spans.append((index - next_index, 1))
        deltas.append(count - before)
        next_index, before = index + 1, count
    return spans, deltas


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def _zigzag(value: int) -> int:
    return value * 2 if value >= 0 else -value * 2 - 1


def _integer(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _double(number: int, value: float) -> bytes:
    return _varint(number << 3 | 1) + struct.pack("<d", value)


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _delimited(value: bytes) -> bytes:
    return _varint(len(value)) + value
