"""Data of the decision-support load as Python meets it; what the bytes are is tested in crates/dss."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator

import pytest

from plimsoll.decision import data
from plimsoll.decision.queries import qualification
from plimsoll.errors import InputError
from support.patience import wait_until


@pytest.fixture(scope="module", autouse=True)
def _source() -> Iterator[None]:
    with data.kept():
        yield


def test_rows_of_copy_text_have_a_value_for_every_column_and_are_as_many_as_promised():
    for table, count in data.tables(0.01).items():
        lines = b"".join(data.copy_text(table, 0.01)).decode().split("\n")
        assert lines.pop() == ""
        assert len(lines) == count
        assert {len(line.split("\t")) for line in lines} == {len(data.TABLES[table].columns)}


@pytest.mark.parametrize("table", data.TABLES)
def test_values_read_as_the_type_of_their_column(table: str) -> None:
    reads = {
        "bigint": r"\d+",
        "integer": r"\d+",
        "decimal(15,2)": r"-?\d+(\.\d\d)?",
        "date": r"199\d-[01]\d-[0-3]\d",
    }
    columns = data.TABLES[table].columns
    for line in next(iter(data.copy_text(table, 0.01))).decode().splitlines():
        for column, value in zip(columns, line.split("\t"), strict=True):
            width = re.search(r"char\((\d+)\)", column.type)
            assert len(value) <= int(width[1]) if width else re.fullmatch(reads[column.type], value), column


def test_tables_come_in_an_order_in_which_every_foreign_key_finds_its_table():
    seen: set[str] = set()
    for table in data.TABLES.values():
        seen.add(table.name)
        names = {column.name for column in table.columns}
        assert names >= set(table.primary_key)
        for columns, other in table.foreign_keys.items():
            assert names >= set(columns)
            assert other in seen
            assert len(columns) == len(data.TABLES[other].primary_key)


def test_a_refresh_set_has_as_many_orders_that_come_as_orders_that_go():
    whole = data.refresh(0.1, 5)
    parts = [data.refresh(0.1, 5, part=part, parts=2) for part in (1, 2)]
    assert whole.orders.count(b"\n") == len(whole.deletes) == 150
    assert whole.orders == parts[0].orders + parts[1].orders
    assert whole.lineitem == parts[0].lineitem + parts[1].lineitem
    assert whole.deletes == parts[0].deletes + parts[1].deletes


def test_parameters_of_a_seed_are_these_on_every_machine():
    # What this code drew when it was written. The description of the algorithm that it follows was held against the specification's parameter
    # files, at scales 1 and 300; those files are not here, and this code itself has not been held against them.
    drawn = data.parameters(1122093000, 0, 1.0)
    assert drawn[1] == {"delta": 78}
    assert data.parameters(1, 0, 1.0)[16] == {"brand": "Brand#41", "type": "MEDIUM BURNISHED", "sizes": [4, 22, 35, 31, 47, 44, 30, 11]}
    assert data.parameters(1, 0, 1.0)[8] == {"nation": "MOZAMBIQUE", "region": "AFRICA", "type": "PROMO POLISHED TIN"}
    assert data.parameters(1, 2, 1.0) == data.parameters(3, 0, 1.0)


def test_what_streams_ask_and_in_which_order_is_the_same_on_every_machine():
    """Two engines that are compared are asked the same: of the power test and of three streams, numbers and values in their order."""

    def asked(stream: int, seed: int = 7) -> str:
        drawn = data.parameters(seed, stream, 1.0)
        text = "\n".join(f"{number} {sorted(drawn[number].items())}" for number in data.order_of(stream))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    assert [asked(stream) for stream in range(4)] == ["fb71bab5864a", "e5021663c1fb", "fa422449eb78", "41026e0d7ef1"]
    assert asked(0, seed=8) != asked(0)


def test_parameters_have_the_names_and_kinds_of_the_qualification_values():
    drawn = data.parameters(1122093000, 3, 1.0)
    assert drawn.keys() == qualification().keys() == set(range(1, 23))
    for number, values in qualification().items():
        kinds = {name: type(value) for name, value in drawn[number].items()}
        assert kinds == {name: type(value) for name, value in values.items()}, number


def test_qualification_values_are_values_that_can_be_drawn():
    drawn = [data.parameters(seed, 0, 1.0) for seed in range(1, 3000)]
    for number, values in qualification().items():
        for name, value in values.items():
            if (number, name) == (18, "quantity"):
                continue  # 300 is meant for validation alone; 312 to 315 are drawn
            found = [item for values in drawn for item in _flat(values[number][name])]
            assert set(_flat(value)) <= set(found), (number, name)


def _flat(value: data.Value) -> list[int | str]:
    return list(value) if isinstance(value, list) else [value]


def test_streams_beyond_the_table_of_orders_begin_again_after_the_power_test():
    assert data.ORDER[0][:3] == (14, 2, 9)
    assert (data.order_of(0), data.order_of(40), data.order_of(41)) == (data.ORDER[0], data.ORDER[40], data.ORDER[1])


def test_only_sizes_of_published_results_are_standard():
    assert [scale for scale in (0.01, 1, 1.0, 2, 10, 300) if data.is_standard(scale)] == [1, 1.0, 10, 300]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda: data.tables(0.0), "scale 0: there is no such size; give 0.01 to 10000"),
        (lambda: data.tables(0.012), "a part would have one supplier twice"),
        (lambda: data.copy_text("order", 1.0), "table 'order' is not known; there are region, nation"),
        (lambda: data.copy_text("orders", 1.0, part=3, parts=2), "part 3 of 2: parts are counted from 1"),
        (lambda: data.refresh(1.0, 1001), "refresh set 1001: there are sets 1 to 1000"),
        (lambda: data.parameters(0, 0, 1.0), "seed 0: the seed plus the number of the stream"),
        (lambda: data.parameters(2**31 - 3, 2, 1.0), "seed 2147483645: the seed plus"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(asked, said):
    with pytest.raises(InputError, match=re.escape(said)):
        asked()


def _numbered(drawn: list[int], count: int) -> Iterator[bytes]:
    for number in range(count):
        drawn.append(number)
        yield b"%d" % number


def test_pieces_drawn_ahead_are_the_same_in_the_same_order():
    assert list(data.ahead(_numbered([], 50), 4)) == [b"%d" % number for number in range(50)]
    assert b"".join(data.ahead(data.copy_text("orders", 0.01))) == b"".join(data.copy_text("orders", 0.01))


def test_pieces_are_drawn_before_they_are_asked_for_and_no_more_than_said():
    drawn: list[int] = []
    pieces = data.ahead(_numbered(drawn, 50), 4)
    wait_until(lambda: len(drawn) == 4, "four pieces were not drawn ahead")
    assert next(pieces) == b"0"
    wait_until(lambda: len(drawn) == 5, "no piece was drawn for the one that was taken")
    assert drawn == [0, 1, 2, 3, 4]
    pieces.close()


def test_who_stops_early_leaves_no_thread_that_draws():
    pieces = data.ahead(_numbered([], 50), 4)
    next(pieces)
    pieces.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("plimsoll-rows")]


def test_what_fails_while_drawn_ahead_fails_at_its_place():
    def broken() -> Iterator[bytes]:
        yield b"0"
        raise InputError("no more")

    pieces = data.ahead(broken())
    assert next(pieces) == b"0"
    with pytest.raises(InputError, match="no more"):
        next(pieces)
