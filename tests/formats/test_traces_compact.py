"""The compact form of a trace: what goes in comes out, in bounded memory, and what had to change is counted."""

from __future__ import annotations

import io
import random
import struct

from plimsoll.formats.traces import TraceRequest, open_trace
from plimsoll.formats.traces.compact import PREFIX, RECORD
from support.trace_samples import written

MIB = 1 << 20
#: That of `crates/traces`.
WINDOW = 16_384
#: The same.
MOST_PLACES = 65_536


def read(content: bytes) -> list[TraceRequest]:
    return list(open_trace(io.BytesIO(content), "t").requests())


def some(count: int) -> list[TraceRequest]:
    generator = random.Random(3)
    at_ns, requests = 0, []
    for _ in range(count):
        at_ns += generator.randrange(1_000)
        op = generator.choice(["read", "write", "trim", "flush"])
        offset, length = (0, 0) if op == "flush" else (generator.randrange(1 << 40), generator.randrange(1, MIB))
        requests.append(TraceRequest(at_ns, op, offset, length, generator.choice("abc")))
    return requests


def test_what_goes_in_comes_out_with_times_from_the_first_request() -> None:
    requests = some(10_000)
    content, header = written(requests)
    first = requests[0].at_ns or 0
    assert read(content) == [request._replace(at_ns=(request.at_ns or 0) - first) for request in requests]
    assert (sum(header["ops"]), header["changed"]) == (10_000, {})
    assert header["span_ns"] == (requests[-1].at_ns or 0) - first
    assert [device["requests"] for device in header["devices"]] == [
        sum(request.target == device["name"] for request in requests) for device in header["devices"]
    ]


def test_requests_are_put_in_order_within_a_window_and_set_later_beyond_it() -> None:
    apart = [TraceRequest(at, "read", 0, 512, "a") for at in (5, 3, 4, 9, 1)]
    content, header = written(apart)
    assert [request.at_ns for request in read(content)] == [0, 2, 3, 4, 8]
    assert header["changed"] == {"put in order": 3}
    late = [TraceRequest(100 + at, "read", at, 1, "a") for at in range(WINDOW + 5)] + [TraceRequest(100, "write", 7, 1, "a")]
    content, header = written(late)
    found = read(content)
    assert [request.at_ns for request in found] == sorted(request.at_ns or 0 for request in found)
    assert (header["changed"]["set later"], [request.op for request in found].index("write")) == (1, 5)


def test_requests_of_equal_times_keep_their_order() -> None:
    content, _ = written([TraceRequest(7, "read", at, 1, "a") for at in range(1_000)])
    assert [request.offset for request in read(content)] == list(range(1_000))


def test_what_is_too_long_is_split_and_counted() -> None:
    content, header = written([TraceRequest(0, "write", 5, 40 * MIB, "a"), TraceRequest(1, "trim", 0, 5 << 30, "a")])
    found = read(content)
    assert [(request.offset, request.length) for request in found[:3]] == [(5, 16 * MIB), (5 + 16 * MIB, 16 * MIB), (5 + 32 * MIB, 8 * MIB)]
    assert [request.length for request in found[3:]] == [1 << 30] * 5
    assert header["changed"] == {"split": 2}


def test_a_trace_without_times_says_so() -> None:
    content, header = written([TraceRequest(None, "read", 4096, 512, "a"), TraceRequest(None, "flush", 0, 0, "a")])
    assert header["timed"] is False
    assert [request.at_ns for request in read(content)] == [None, None]


def test_named_devices_come_first_and_others_are_left_out() -> None:
    requests = some(100)
    content, header = written(requests, ("c", "a"))
    assert [device["name"] for device in header["devices"]] == ["c", "a"]
    assert [request.offset for request in read(content)] == [request.offset for request in requests if request.target != "b"]


def test_touched_places_stay_few_however_many_are_touched() -> None:
    generator = random.Random(5)
    touched = [(generator.randrange(3), generator.randrange(1 << 50)) for _ in range(200_000)]
    content, header = written(TraceRequest(0, "read", offset, 4096, str(device)) for device, offset in touched)
    _, _, header_at, _, places_at, places = PREFIX.unpack(content[: PREFIX.size])
    keys = set(struct.unpack(f"<{places}Q", content[places_at:header_at]))
    assert len(keys) == places <= MOST_PLACES and header["place_bytes"] > MIB
    numbers = {device["name"]: number for number, device in enumerate(header["devices"])}
    assert all(numbers[str(device)] << 48 | offset // header["place_bytes"] in keys for device, offset in touched)


def test_records_have_the_size_that_the_engine_reads() -> None:
    assert (PREFIX.size, RECORD.size) == (64, 24)
