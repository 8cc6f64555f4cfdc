"""What one host measured is named behind its run; what cannot be named so is told in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from plimsoll.cli import completions
from plimsoll.errors import InputError
from plimsoll.store.host_runs import divided, host_path, hosts_of

META: dict[str, Any] = {"gang": {"stores": {"db2": "/x", "db1": "/y"}}}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two hosts, of which one has handed over what it stored."""
    made = tmp_path / "2026-11-21T10-00-00_oltp-db"
    (made / "hosts" / "db1").mkdir(parents=True)
    (made / "hosts" / "db1" / "run.json").write_text("{}")
    return made


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("latest/hosts/db1", ("latest", "db1")),
        ("results/r1/hosts/db1/", ("results/r1", "db1")),
        ("/srv/hosts/r1/hosts/db1", ("/srv/hosts/r1", "db1")),
        ("/srv/hosts/r1", ("/srv", "r1")),
        ("latest", None),
        ("latest/hosts/", None),
        ("hosts/db1", None),
        ("latest/hosts/db1/points", None),
    ],
)
def test_a_host_stands_behind_its_run(asked: str, found: tuple[str, str] | None) -> None:
    assert divided(asked) == found


def test_a_host_s_copy_is_found_and_others_are_told(run: Path) -> None:
    assert hosts_of(str(run), META) == ["db2", "db1"]
    assert host_path(str(run), META, "db1") == str(run / "hosts" / "db1")
    with pytest.raises(InputError, match=r"^'db9' is no host of '2026-11-21T10-00-00_oltp-db'; its hosts are 'db2' and 'db1'\.$"):
        host_path(str(run), META, "db9")


def test_a_host_that_handed_nothing_over_is_not_taken_for_unknown(run: Path) -> None:
    with pytest.raises(InputError, match=r"holds nothing that 'db2' stored; 'plimsoll hosts collect'"):
        host_path(str(run), META, "db2")


def test_a_run_of_one_host_has_none_behind_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"was measured by one host alone; name it without /hosts/db1\.$"):
        host_path(str(tmp_path), {}, "db1")


def test_hosts_are_offered_to_who_types_behind_a_run(monkeypatch: pytest.MonkeyPatch, run: Path) -> None:
    (run / "run.json").write_text("{}")
    stored: Any = type("Stored", (), {"path": str(run), "meta": META, "name": run.name})
    monkeypatch.setattr("plimsoll.store.reader.find_run", lambda name, out: stored if name == "latest" else None)
    context = click.Context(click.Command("show"))
    offered = [item.value for item in completions.runs(context, click.Argument(["runs"]), "latest/hosts/d") if item.type == "plain"]
    assert offered == ["latest/hosts/db2", "latest/hosts/db1"]
    assert [item.value for item in completions.runs(context, click.Argument(["runs"]), "other/") if item.type == "plain"] == []
