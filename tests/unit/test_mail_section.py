"""The report's section of mail users: what stands beside what, and that what nobody tells is left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from plimsoll.reports.terminal.mail import kills, tasks, users
from plimsoll.reports.terminal.points import operations, points
from plimsoll.reports.view.drivers.mail import mail_users
from plimsoll.reports.view.experiments import Member
from plimsoll.result import Result
from support.made_results import Load, Setting, made

MS = 1e6
TOLD = {
    "letters": 40,
    "handover_ms": {"p95": 20.0},
    "delivery": {"count": 120, "per_s": 12.0, "delay_ms": {"p50": 50.0, "p95": 90.0}, "mean_ms": {"taking": 10.0, "storing": 30.0}},
    "queue": {"mean": 1.5, "max": 7, "course": [[0.25, 1]]},
    "kills": [{"server": "dovecot", "at_s": 3.0, "down_s": 0.5, "queued": 2}],
    "account": {"taken": 120, "repeated": 2},
}


def point(users: int, told: dict[str, Any], **more: Any) -> Result:
    result = made(Load(100.0, 10 * MS), setting=Setting(place={"settings": {"users": users}, **more}))
    stream = {"name": "s", "users": users, "tasks": {"read": 1, "search": 1}, "score_weights": {"read": 10}}
    facts = {"mail_fsync": "always", "mailbox format": "sdbox", "letters accepted": "40"}
    devices = {"sda": {"w_per_s": 100.0, "w_await_ms": 2.0, "flushes_per_s": 5.0}, "sdb": {"w_per_s": 300.0, "w_await_ms": 4.0}}
    return replace(
        result,
        job=replace(result.job, definition={"name": "office", "driver": "mail", "stream": [stream]}),
        engine={"mail": told, "engine": {"facts": facts}},
        monitor={"devices": devices} if told else {},
    )


def sides(*results: Result) -> list[Any]:
    found = mail_users([Member(index, 0, 0, result) for index, result in enumerate(results)])
    assert found is not None
    return found["sides"]


def test_a_side_has_its_tasks_with_weights_the_way_of_letters_and_what_storage_did() -> None:
    (side,) = sides(point(200, TOLD))
    assert (side["users"], side["letters"], side["kills"], side["taken"], side["repeated"]) == (200, 40, 1, 120, 2)
    assert [(task["op"], task["weight"]) for task in side["tasks"]] == [("read", 10)]
    assert (side["handover_p95_ns"], side["delay_p50_ns"], side["delay_p95_ns"]) == (20 * MS, 50 * MS, 90 * MS)
    assert side["way"] == [{"what": "taking", "mean_ns": 10 * MS}, {"what": "storing", "mean_ns": 30 * MS}]
    assert (side["queue_mean"], side["queue_max"], side["queue_course"]) == (1.5, 7, [(0.25, 1)])
    # 100 writes of 2 ms and 300 of 4 ms: 3.5 ms on average.
    assert side["storage"]["writes_per_s"] == 400 and side["storage"]["write_ns"] == 3.5 * MS and side["storage"]["flushes_per_s"] == 5
    assert side["facts"] == [("mailbox format", "sdbox"), ("mail_fsync", "always")] and side["astray"] is None


def test_levels_stand_below_each_other_and_what_nobody_tells_is_null() -> None:
    few, many = sides(point(100, {}), point(200, {"account": {"taken": 9, "lost": 1}}))
    assert (few["users"], many["users"]) == (100, 200)
    assert few["storage"] is few["queue_mean"] is few["delay_p95_ns"] is few["deliveries_per_s"] is None
    assert "1 lost of 9 deliveries" in many["astray"]


def test_the_terminal_shows_people_tasks_and_letters_and_no_requests() -> None:
    results = [point(100, TOLD), point(200, TOLD)]
    assert points(results) == operations(results) == ""
    shown = [line.split() for line in users(results).splitlines()]
    assert "score" in shown[0] and "IOPS" not in users(results)
    assert [row[3] for row in shown[2:]] == ["100", "200"] and all("120" in row for row in shown[2:])
    (task,) = tasks(results).splitlines()[2:]
    assert task.split()[1:4] == ["200", "read", "10"], "of the point with most users"
    assert users([made(Load(1.0, MS))]) == tasks([made(Load(1.0, MS))]) == ""


def test_kills_are_told_with_their_instants_and_what_became_of_letters() -> None:
    killed = point(200, {**TOLD, "account": {"taken": 120, "lost": 3, "doubled": 1, "damaged": 1, "repeated": 2, "copied": 4}})
    (side,) = sides(killed)
    assert side["kill_course"] == [{"server": "dovecot", "at_s": 3.0, "down_s": 0.5, "queued": 2}]
    assert side["account"] == {"taken": 120, "found": 117, "lost": 3, "repeated": 2, "copied": 4, "wrong": 2}
    row = kills([killed]).splitlines()[2].split()
    assert row[row.index("Dovecot") :] == ["Dovecot", "1", "500", "ms", "to", "500", "ms", "2", "120", "117", "3", "2", "2", "4"]
    assert kills([point(200, {})]) == ""


def test_points_whose_servers_were_killed_differently_are_no_repeats_of_each_other() -> None:
    one, other = point(200, TOLD), point(200, TOLD)
    other = replace(other, job=replace(other.job, definition={**other.job.definition, "kill": "postfix"}))
    assert [side["settings"] for side in sides(one, other)] == [{"users": 200}, {"users": 200, "kill": "postfix"}]
