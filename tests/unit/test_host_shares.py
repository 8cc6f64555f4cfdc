"""A load is divided so that the parts are the whole; targets that hosts cannot have are refused before a host is asked."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.apps import check_workload
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.gang.driver import GangEngine
from plimsoll.gang.lineup import lineup_of
from plimsoll.gang.share import Rank, rate_of, share_of, target_of, users_of
from plimsoll.gang.shared_target import reach
from plimsoll.points.drivers import driver_of
from plimsoll.points.point import changed
from plimsoll.target import Target
from plimsoll.target import target_of as composed


@given(st.integers(1, 10**12), st.integers(1, 64))
def test_rates_of_hosts_add_up_exactly(thousandths: int, count: int) -> None:
    parts = [rate_of(thousandths / 1000, Rank(number, count)) for number in range(count)]
    # A float holds thousandths up to here without doubt.
    assert sum(Fraction(part).limit_denominator(1000) for part in parts) == Fraction(thousandths, 1000)
    assert max(parts) - min(parts) <= 0.0011


@given(st.integers(1, 10**6), st.integers(1, 64))
def test_mail_users_are_divided_one_by_one_and_no_host_has_none(users: int, count: int) -> None:
    if users < count:
        with pytest.raises(InputError, match="ask for more users, or fewer hosts"):
            users_of(users, Rank(0, count))
        return
    parts = [users_of(users, Rank(number, count)) for number in range(count)]
    assert sum(parts) == users
    assert max(parts) - min(parts) <= 1 and min(parts) >= 1


def test_the_engine_takes_every_host_s_share() -> None:
    engine = native()
    document = {"name": "x", "stream": [{"name": "s", "arrival": "poisson", "rate": 1000}, {"name": "t"}]}
    workload, options = engine.check_workload(document, "x"), engine.check_job({"duration": "1s", "warmup": "0s"})
    shares = [share_of(workload, options, Rank(number, 3)) for number in range(3)]
    assert [share[0]["stream"][0]["rate"] for share in shares] == [333.334, 333.333, 333.333]
    assert len({share[1]["seed"] for share in shares}) == 3
    for own, _ in shares:
        assert engine.check_workload(own, "x") == own
        assert own["stream"][1] == workload["stream"][1], "closed loops are each host's own"


def test_schedules_are_divided_at_every_step() -> None:
    workload: Any = {"name": "x", "stream": [{"name": "s", "schedule": [{"at": 0, "rate": 10}, {"at": 5, "rate": 0}]}]}
    shares = [share_of(workload, {}, Rank(number, 4))[0] for number in range(4)]
    assert [[entry["rate"] for entry in own["stream"][0]["schedule"]] for own in shares] == [[2.5, 0]] * 4


def test_a_target_carries_the_name_of_its_host() -> None:
    assert target_of("/mnt/{host}/file", "db1") == "/mnt/db1/file"


def test_no_open_file_is_handed_into_a_container() -> None:
    """A process with a file system or processes of its own reaches no socket of ours; without such spaces it does."""
    program = "from plimsoll.gang.shared_target import reach; print(reach())"

    def said(*spaces: str) -> str:
        done = subprocess.run([*spaces, sys.executable, "-c", program], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"namespaces are not allowed here: {done.stderr.strip()}")
        return done.stdout.strip()

    assert said() == reach()
    assert said("unshare", "--user", "--map-root-user", "--mount") != reach()


def test_a_lineup_names_its_workers() -> None:
    assert lineup_of("local:3").names == ("local1", "local2", "local3")
    with pytest.raises(InputError, match=r"'local:x' names no host that can be reached; write db1,db2,db3"):
        lineup_of("local:x")
    with pytest.raises(InputError, match=r"65 workers cannot be; write local:1 to local:64"):
        lineup_of("local:65")


class Nobody:
    """A gang that must not be asked."""

    hosts = ("local1", "local2")

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name}: a host was asked")


def engine() -> Any:
    nobody: Any = Nobody()
    return GangEngine(native(), nobody, lineup_of("local:2"), driver_of)


def test_a_path_that_is_the_same_for_all_workers_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"--target /data/x: local1 and local2 of local:2 reach the same file.*--share slices .*write \{host\}"
    ):
        engine().inspect_target(Target("/data/x"))


@pytest.mark.parametrize("text", ["queue:?service=const:1ms", "array:nvme"])
def test_what_is_asked_of_a_modelled_target_this_host_answers(text: str) -> None:
    found = engine().inspect_target(composed(text))
    assert found["modelled"]
    assert engine().driver_of({}).write_refusal(composed(text), None) is None


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("database-durability", "kills one server and looks at what it kept.*order-entry loads a server from several hosts"),
        ("filecopy", "a copy goes .* through one host; the driver files copies on each host"),
    ],
)
def test_a_driver_that_cannot_go_to_several_hosts_says_why_and_what_does(name: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        engine().driver_of({"driver": name})


def application(name: str, **stream: Any) -> Any:
    document = {"name": "x", "driver": name, "stream": [stream]}
    return engine().driver_of(check_workload(document, "x"))


@pytest.mark.parametrize(
    ("name", "stream", "target", "why"),
    [
        ("order-entry", {}, "sqlite:./db", r"SQLite works in the process that asks .*PostgreSQL server by its URL, or .* \{host\}"),
        ("decision-support", {}, "duckdb:./db", r"duckdb answers queries in processes of the host .* \{host\}"),
        ("decision-support", {"test": "power"}, "postgresql:new:/x", "the power test asks one query at a time"),
        ("decision-support", {"cache": "cold"}, "postgresql:new:/x", "is not started anew for each point"),
        ("analytics", {}, "./one", r"each host needs its own for analytics; write \{host\}"),
    ],
)
def test_what_hosts_cannot_ask_together_is_refused_with_what_they_can(name: str, stream: Any, target: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        application(name, **stream).inspect_target(Target(target))


def test_clients_of_one_server_share_it_without_being_told_how() -> None:
    nobody: Any = Nobody()
    asked = GangEngine(native(), nobody, lineup_of("local:2", "full"), driver_of)
    driver = asked.driver_of(check_workload({"name": "x", "driver": "order-entry"}, "x"))
    with pytest.raises(InputError, match=r"--share full: postgresql:new:/x is one server, and all hosts are its clients"):
        driver.inspect_target(Target("postgresql:new:/x"))


def test_a_private_server_has_no_clients_on_other_machines() -> None:
    nobody: Any = Nobody()
    asked = GangEngine(native(), nobody, lineup_of("db1,db2"), driver_of)
    driver = asked.driver_of(check_workload({"name": "x", "driver": "order-entry"}, "x"))
    with pytest.raises(
        InputError, match=r"a private server listens at a socket of this machine, which db1,db2 do not reach; name a server"
    ):
        driver.inspect_target(Target("postgresql:new:/x"))


def test_a_server_that_hosts_ask_together_does_not_start_cold() -> None:
    refusal = application("order-entry").cold_refusal(Target("postgresql:new:/x"))
    assert "is not started anew for each point" in refusal


def test_databases_of_their_own_are_the_hosts_own_matter() -> None:
    assert application("order-entry").default_target == "sqlite:./plimsoll-scratch-{host}.orders"


def test_what_is_about_words_is_asked_of_this_host() -> None:
    assert engine().driver_of({}).check_job({"duration": "1s", "warmup": "0s"})["duration"] == 1


def test_hosts_are_a_level_and_the_first_ones_take_part() -> None:
    driver = engine().driver_of({})
    workload = driver.check_workload({"name": "x", "stream": [{"name": "s"}]}, "x")
    options = driver.check_job({"duration": "1s", "warmup": "0s"})
    assert driver.hosts_of(options) == ("local1", "local2")
    workload, one = changed(workload, options, engine(), [("hosts", "1"), ("queue_depth", 4)])
    assert driver.hosts_of(one) == ("local1",)
    assert workload["stream"][0]["queue_depth"] == 4, "other options are set beside it"
    with pytest.raises(InputError, match=r"hosts=3: local:2 are 2 hosts; write 1 to 2"):
        changed(workload, options, engine(), [("hosts", 3)])
    with pytest.raises(InputError, match=r"hosts=2: this host measures alone; name several with --hosts"):
        changed(workload, options, native(), [("hosts", 2)])


def test_workers_on_one_machine_have_scratch_files_of_their_own() -> None:
    assert engine().driver_of({}).default_target == "./plimsoll-scratch-{host}.dat"
