"""A modelled server that hangs during the measured time: no objective is held, no mark rests on it, every form says so. Virtual time.

Eight servers of 1 ms answer nothing from second 2 to second 32; of what is due until second 5 nothing comes back in time.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Command = Callable[..., CompletedProcess[str]]
HANGING = ("-t", "queue:?service=const:1ms&servers=8&stall=2s+30s", "-d", "5s", "-w", "0s")
LOADS = {
    "open": '[[stream]]\nname = "o"\nread_percent = 100\narrival = "constant"\nrate = 500\nqueue_depth = 64\n',
    "closed": '[[stream]]\nname = "o"\nread_percent = 100\nqueue_depth = 64\n',
    "thinking": '[[stream]]\nname = "o"\nread_percent = 100\nqueue_depth = 64\nthink_time = "20ms"\n',
    "held": '[[stream]]\nname = "o"\nread_percent = 100\nqueue_depth = 64\nrefill_depth = 8\n',
    "bursts": '[[stream]]\nname = "o"\nread_percent = 100\narrival = "burst"\nrate = 500\nburst_size = 50\nqueue_depth = 64\n',
    "schedule": '[[stream]]\nname = "o"\nread_percent = 100\narrival = "schedule"\nschedule = [{ at = 0, rate = 500 }]\nqueue_depth = 64\n',
    "writes, too": '[[stream]]\nname = "o"\nread_percent = 50\narrival = "poisson"\nrate = 500\nqueue_depth = 64\n',
}


@pytest.fixture(autouse=True)
def loads(plimsoll: Command) -> None:
    for name, text in LOADS.items():
        Path(f"{name}.toml").write_text(text)


@pytest.mark.parametrize("load", LOADS)
def test_an_objective_fails_on_a_target_that_hangs(load: str, plimsoll: Command) -> None:
    for objective in ("max <= 1s", "max <= 20s", "p99.9 <= 1s"):
        ended = plimsoll("run", f"{load}.toml", *HANGING, "--objective", objective, "--assert", "--json")
        assert ended.returncode == 1, (objective, ended.stderr)
        document = json.loads(ended.stdout)
        (point,) = document["objective"]["points"]
        assert (point["holds"], point["settled"]) == (False, True) and "≥ 30" in point["failed_by"]
        assert "unanswered" in [flag["name"] for flag in document["results"][0]["flags"]]


def test_no_mark_rests_on_a_level_that_hung(plimsoll: Command) -> None:
    words = ("--objective", "p99 <= 50ms", *HANGING, "--json")
    ended = plimsoll("ramp", "open.toml", "--over", "o.rate=100..2000", *words)
    mark = json.loads(ended.stdout)["mark"]
    assert mark is None or mark["level"] < 1, "at 1/s a request is due while the target hangs"
    ended = plimsoll("steps", "open.toml", "--over", "o.rate=100,200,400", *words, "--assert")
    assert ended.returncode == 1 and "mark" not in json.loads(ended.stdout)


def test_what_was_stored_says_it_in_every_form(plimsoll: Command) -> None:
    said = plimsoll("run", "open.toml", *HANGING, "--objective", "p99 <= 50ms")
    told = " ".join(said.stdout.split())
    assert "p99 ≥ 30.0 s" in told.split("workload")[0], "the answer says it first"
    assert "failed: read p99 was at least 30.0 s" in told
    (run,) = Path("results").iterdir()
    rows = list(csv.DictReader(plimsoll("export", str(run), "--as", "csv", "--long").stdout.splitlines()))
    (count,) = [row["value"] for row in rows if row["scope"] == "outstanding" and (row["op"], row["metric"]) == ("read", "count")]
    assert count == "1500"
    told = plimsoll("export", str(run), "--as", "fio-json")
    assert "fio-json has no place for it: in 0001-open 1,500 of 2,500 requests had no answer" in told.stderr
    assert "plimsoll_outstanding{" in plimsoll("export", str(run), "--as", "prometheus").stdout
