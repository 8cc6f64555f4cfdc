"""What is told of a database whose server was killed: everything that was acknowledged is looked for, whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from plimsoll.analysis.point.durability import broken, faults
from plimsoll.apps.course import Course, Timing
from plimsoll.apps.databases.database import DatabaseError
from plimsoll.apps.decision.refresh import Sets
from plimsoll.apps.durability import account as account_module
from plimsoll.apps.durability import trial
from plimsoll.apps.durability.account import Account, Contents, Order, Refresh
from plimsoll.apps.durability.holder import broken_promises
from plimsoll.apps.durability.options import canonical
from plimsoll.apps.durability.trial import Plan, Trial
from plimsoll.errors import InputError
from plimsoll.reports.answer import answer
from support.made_drivers import killed

SCALE = 0.01
RF1, RF2 = Refresh(1, "rf1"), Refresh(1, "rf2")
PATIENT = Timing(warmup_ns=0, duration_ns=600_000_000_000, interval_ns=60_000_000_000)


def drawn(_scale: float, number: int) -> dict[int, Order]:
    """The orders that a set brings: four, with two to five items."""
    return {1000 * number + key: (Decimal(100 + key), 2 + key, Decimal(90 + key)) for key in range(4)}


def deleted(_scale: float, number: int) -> tuple[int, ...]:
    """The orders that go with a set."""
    return tuple(range(10 * number, 10 * number + 4))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets of a few orders, for those of the specification take seconds to be drawn."""
    monkeypatch.setattr(account_module, "_drawn", drawn)
    monkeypatch.setattr(account_module, "_deleted", deleted)
    monkeypatch.setattr(trial.data, "kept", nullcontext)


def loaded(number: int = 1) -> dict[int, Order]:
    """The orders that go with a set, as long as they are there; what they cost is not looked at."""
    return {key: (Decimal(1), 2, Decimal(3)) for key in deleted(SCALE, number)}


def contents(orders: Mapping[int, Order], inserted: int, deleted: int) -> Contents:
    return Contents(Sets(inserted, deleted), orders)


def account(*acknowledged: Refresh) -> Account:
    made = Account(SCALE)
    for refresh in acknowledged:
        made.acknowledge(refresh)
    return made


def test_what_was_acknowledged_and_is_there_whole_is_kept() -> None:
    verdict = account(RF1, RF2).judged(contents(drawn(SCALE, 1), 1, 1), None)
    assert verdict.is_kept
    assert verdict.under_way is None


def test_an_acknowledged_refresh_that_is_gone_is_lost_and_told_of_once() -> None:
    kept = account(RF1, RF2)
    verdict = kept.judged(contents(loaded(), 0, 0), None)
    assert verdict.lost == [RF1, RF2]
    assert kept.judged(contents(loaded(), 0, 0), None).is_kept


@pytest.mark.parametrize("damage", ["an order is missing", "an item is missing", "a price is another", "an order has items only"])
def test_half_a_refresh_is_never_right(damage: str) -> None:
    orders = dict(drawn(SCALE, 1))
    key = next(iter(orders))
    price, count, total = orders[key]
    match damage:
        case "an order is missing":
            del orders[key]
        case "an item is missing":
            orders[key] = (price, count - 1, total)
        case "a price is another":
            orders[key] = (price, count, total + 1)
        case _:
            orders[key] = (Decimal(-1), count, total)
    assert account(RF1).judged(contents(orders, 1, 0), None).halves == [RF1]
    assert account().judged(contents(orders, 1, 0), RF1).halves == [RF1]


def test_orders_that_went_by_half_are_found() -> None:
    gone = loaded()
    del gone[next(iter(gone))]
    assert account(RF2).judged(contents(gone, 0, 1), None).halves == [RF2]
    # The order's own row is gone, its items are there.
    torn = {key: (Decimal(-1), count, total) for key, (_, count, total) in loaded().items()}
    assert account().judged(contents(torn, 0, 0), RF2).halves == [RF2]


def test_what_had_no_answer_may_be_there_or_not_and_counts_from_then_on() -> None:
    kept = account()
    assert kept.judged(contents(drawn(SCALE, 1), 1, 0), RF1).under_way == "committed"
    assert kept.judged(contents({}, 1, 0), None).lost == [RF1]
    undone = account()
    assert undone.judged(contents({}, 0, 0), RF1).under_way == "undone"
    assert undone.judged(contents({}, 0, 0), None).is_kept


def test_a_database_that_counts_other_refreshes_than_it_holds_is_not_right() -> None:
    assert account(RF1).judged(contents(drawn(SCALE, 1), 2, 0), None).miscounted
    assert not Account(SCALE, Sets(7, 7)).judged(contents({}, 7, 7), None).miscounted


def test_settings_with_which_a_commit_need_not_survive_are_named() -> None:
    assert broken_promises({"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}) == []
    assert broken_promises({"version": "1.4.0"}) == []
    assert broken_promises({"fsync": "off", "synchronous_commit": "off"}) == [
        "fsync is off, so a commit is acknowledged before the storage has it",
        "synchronous_commit is off, so a commit is acknowledged before the storage has it",
    ]


class Holder:
    """`plimsoll.apps.durability.holder.Holder`: a database in memory. It is killed by itself after so many refreshes of a round, and keeps
    what ``forgets`` leaves of them."""

    def __init__(self, per_round: int, forgets: Callable[[list[Refresh]], list[Refresh]] = lambda done: done) -> None:
        self._per_round = per_round
        self._forgets = forgets
        self._left = 0
        self.done: list[Refresh] = []
        self.kills = 0
        self.killed: Callable[[], None] = lambda: None
        self.opens = True
        #: So many times nobody answers where the database is looked for.
        self.unanswered = 0

    def begin(self) -> Mapping[str, str]:
        self._left = self._per_round
        return {"version": "scripted", "fsync": "on"}

    def carry_out(self, op: str) -> int:
        if not self._left:
            self.killed()
            raise DatabaseError("the server died.", "lost")
        self._left -= 1
        self.done.append(Refresh(sum(one.op == op for one in self.done) + 1, op))  # type: ignore[arg-type]
        return 1

    def kill(self) -> None:
        self.kills += 1

    @contextmanager
    def reopened(self) -> Iterator[Any]:
        if self.done and not self.opens:
            raise DatabaseError("db: could not read WAL.", "statement")
        if self.done and self.unanswered:
            self.unanswered -= 1
            raise DatabaseError("db: no server answers.", "lost")
        self.done = self._forgets(self.done)
        yield self

    def end(self) -> None:
        """Nothing is open."""


def tried(holder: Holder, monkeypatch: pytest.MonkeyPatch, kills: int = 3) -> dict[str, Any]:
    """The section of a trial on a scripted database."""

    def sets(session: Holder) -> Sets:
        return Sets(*(sum(one.op == op for one in session.done) for op in ("rf1", "rf2")))

    def contents_of(session: Holder, _keys: object) -> Contents:
        there = {key: order for one in session.done if one.op == "rf1" for key, order in drawn(SCALE, one.number).items()}
        gone = {one.number for one in session.done if one.op == "rf2"}
        kept = {key: order for number in range(1, 20) if number not in gone for key, order in loaded(number).items()}
        return Contents(sets(session), {**there, **kept})

    monkeypatch.setattr(trial, "contents_of", contents_of)
    monkeypatch.setattr(trial.Sets, "of", classmethod(lambda _cls, session: sets(session)))
    load = Trial(Plan(kills, 60.0, SCALE, 1), holder)
    course = Course(PATIENT, lambda _kind, _event: None, _Brake(), tells_silence=False)
    holder.killed = lambda: load._kill(course)
    course.run(load)
    return load.section()


class _Brake:
    stopped = False

    def stop(self) -> None:
        self.stopped = True

    abort = stop


def test_every_round_ends_with_a_kill_and_a_look_at_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    section = tried(Holder(4), monkeypatch)
    assert [one["acknowledged"] for one in section["rounds"]] == [4, 4, 4]
    assert [one["under_way"] for one in section["rounds"]] == ["RF1 of set 3", "RF1 of set 5", "RF1 of set 7"]
    assert all(one["became"] == "undone" and not one["lost"] for one in section["rounds"])
    assert faults({"durability": section}) == []
    instants = [one[name] for one in section["rounds"] for name in ("begin_s", "kill_s", "open_s")]
    assert instants == sorted(instants), "each restart comes after its kill, and before the next round"


def test_a_trial_that_lost_something_is_answered_with_that_although_its_point_failed() -> None:
    lost = replace(killed("duckdb:/mnt/a", [{}, {"lost": ["RF1 of set 3"]}]), status="failed", error="wrong data")
    said = answer([lost])
    assert said.sentence.startswith("duckdb:/mnt/a does not keep what it acknowledges: 1 refresh is acknowledged and not there")
    assert (said.cards[0].value, said.cards[0].detail) == ("19 of 20", "over 2 kills; restarts took 500 ms to 500 ms")


def test_a_database_that_acknowledges_before_it_commits_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    section = tried(Holder(4, forgets=lambda done: done[:-1] if done else done), monkeypatch)
    assert section["rounds"][0]["lost"] == ["RF2 of set 2"]
    said = broken({"durability": section})
    assert said is not None
    assert said.startswith(
        "the database does not keep what it acknowledges: 3 refreshes are acknowledged and not there, first RF2 of set 2 "
    )


def test_a_database_that_does_not_open_again_ends_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    holder = Holder(4)
    holder.opens = False
    section = tried(holder, monkeypatch)
    assert section["kills"] == 1
    assert "it did not open again after kill 1 (db: could not read WAL)" in (broken({"durability": section}) or "")


def test_a_connection_that_is_lost_while_it_looks_is_no_loss_of_data(monkeypatch: pytest.MonkeyPatch) -> None:
    holder = Holder(4)
    holder.unanswered = 2
    section = tried(holder, monkeypatch)
    assert section["kills"] == 3 and broken({"durability": section}) is None


def test_a_database_that_nobody_could_look_at_is_not_said_to_lose_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    holder = Holder(4)
    holder.unanswered = 3
    section = tried(holder, monkeypatch)
    assert section["kills"] == 1 and "unopened" not in section["rounds"][0]
    assert broken({"durability": section}) is None


def test_the_moments_of_the_kills_come_from_the_seed() -> None:
    moments = Plan(10, 1.0, SCALE, 7).moments_s()
    assert moments == Plan(10, 1.0, SCALE, 7).moments_s()
    assert moments != Plan(10, 1.0, SCALE, 8).moments_s()
    assert len(set(moments)) == 10
    assert all(0.02 <= moment <= 1.0 for moment in moments)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kills": 0}, "kills: '0' is no number of kills; write a whole number from 1 to 100"),
        ({"kills": "many"}, "kills: 'many' is no number of kills"),
        ({"spread": "1ms"}, "spread: '1ms' is no time for a kill; write 50ms to 10m"),
        ({"kill": 3}, "database durability has no option 'kill'; did you mean 'kills'?"),
    ],
)
def test_an_option_that_cannot_be_is_one_sentence(given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as problem:
        canonical(given, "mine.toml: stream")
    assert said in str(problem.value)
