"""What the bench does so that other processes do not decide on latencies: scheduling, and scripts of pgbench without statements."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("psycopg")


@contextmanager
def _bench() -> Iterator[None]:
    """The bench's own modules can be imported."""
    folder = str(Path(__file__).parents[2] / "dev")
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def test_a_server_and_what_it_starts_come_first_and_go_back_to_the_others() -> None:
    with _bench():
        from speed.foremost import foremost
    command = "import subprocess; print(1, flush=True); subprocess.run(['sleep', '60'])"
    with subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None and server.stdout.readline()
            with foremost(server.pid) as alone:
                if not alone:
                    pytest.skip("real-time scheduling is not allowed here")
                assert {os.sched_getscheduler(pid) for pid in (0, server.pid)} == {os.SCHED_RR}
            assert {os.sched_getscheduler(pid) for pid in (0, server.pid)} == {os.SCHED_OTHER}
        finally:
            server.kill()


def test_scripts_without_statements_draw_the_same_values(tmp_path: Path) -> None:
    with _bench():
        from speed import pgbench
    asked = pgbench.Asked(warehouses=2, clients=1, seconds=1.0, warmup_s=0.0)
    whole = {path.name: path.read_text() for path, _, _ in pgbench._written(tmp_path, asked)}
    drawn = {path.name: path.read_text() for path, _, _ in pgbench._written(tmp_path, asked, with_statements=False)}
    assert whole.keys() == drawn.keys() and len(whole) > 10
    for name, text in drawn.items():
        assert ";" not in text and text.count("\\set") == whole[name].count("\\set") > 0
        assert text.count("\\if") == text.count("\\endif") == whole[name].count("\\endif")


@pytest.mark.parametrize(
    ("apart", "chance", "is_judged"),
    [(4.0, 1.0, True), (9.0, 1.0, True), (9.0, 60.0, False), (90.0, 60.0, True)],
    ids=["near and sure", "apart and sure", "within what chance makes", "beyond what chance makes"],
)
def test_a_percentile_is_left_out_only_where_chance_alone_makes_such_a_difference(apart: float, chance: float, is_judged: bool) -> None:
    with _bench():
        from speed.orders import judged
    assert judged(apart, chance) is is_judged


def test_queries_are_compared_by_the_median_of_each_and_not_of_whole_rounds() -> None:
    with _bench():
        from speed.harness import Asked, _seconds
    rounds = [Asked((1.0, 2.0), 0.1, 0.0), Asked((5.0, 2.0), 0.1, 0.0), Asked((1.0, 9.0), 0.1, 0.0)]
    assert _seconds(rounds) == pytest.approx(3.1)
