"""What a statement on PostgreSQL read is told where it ran alone, and only there."""

from __future__ import annotations

from plimsoll.apps.databases.postgresql_tally import Tally, spilled_bytes


def test_what_was_read_between_two_readings_belongs_to_the_statement_between_them() -> None:
    tally = Tally()
    tally.read(1000)
    turn = tally.begin()
    tally.end()
    assert tally.bytes_of(turn, 5096) == 4096


def test_what_was_read_beside_another_statement_belongs_to_nobody() -> None:
    tally = Tally()
    assert tally.bytes_of(tally.begin(), 1) is None, "nothing was read before it, and it has not ended"
    tally.end()
    tally.read(1000)
    one, other = tally.begin(), tally.begin()
    tally.end()
    assert tally.bytes_of(one, 2000) is None
    tally.end()
    assert (tally.bytes_of(one, 2000), tally.bytes_of(other, 2000)) == (None, None)
    # Nothing was read since they ended, so what comes next does not know where it began.
    after = tally.begin()
    tally.end()
    assert tally.bytes_of(after, 3000) is None


def test_a_statement_that_has_been_followed_by_another_is_not_given_what_that_read() -> None:
    tally = Tally()
    tally.read(0)
    turn = tally.begin()
    tally.end()
    tally.begin()
    tally.end()
    assert tally.bytes_of(turn, 100) is None


def test_the_size_of_a_temporary_file_is_read_from_what_the_server_says() -> None:
    assert spilled_bytes('temporary file: path "base/pgsql_tmp/pgsql_tmp4711.0", size 7853632') == 7853632
    assert spilled_bytes('relation "size 12" does not exist') == 0
