"""What tests cost is told, and one that costs too much fails."""

from __future__ import annotations

import subprocess
import sys

from support.processor_time import MOST_S, longest, processor_s, table, too_dear


def test_processor_time_is_that_of_this_process_and_of_children_that_were_waited_for() -> None:
    began = processor_s()
    while processor_s() - began < 0.05:
        pass
    before = processor_s()
    burning = "import time\nwhile time.process_time() < 0.2: pass"
    subprocess.run([sys.executable, "-c", burning], check=True)
    assert processor_s() - before >= 0.2


def test_a_test_that_costs_too_much_is_told_so_but_in_the_long_suite() -> None:
    assert too_dear("tests/unit/test_store.py", MOST_S) is None
    assert too_dear("tests/long/test_kills.py", 10 * MOST_S) is None
    said = too_dear("tests/unit/test_store.py", MOST_S + 1)
    assert said is not None and said.startswith(f"{MOST_S + 1:.0f} s of processor time") and "tests/long" in said


def test_costs_are_told_by_folder_and_for_the_dearest() -> None:
    tests = [
        ("tests/unit/test_a.py::test_b", 1.5, 2.0),
        ("tests/unit/test_a.py::test_c[x]", 0.5, 9.0),
        ("tests/web/test_d.py::test_e", 4.0, 4.0),
    ]
    lines = [line.split() for line in table(tests)]
    assert lines[1:4] == [["4.0", "4.0", "1", "tests/web"], ["2.0", "11.0", "2", "tests/unit"], ["6.0", "15.0", "3", "all"]]
    assert [line[-1] for line in lines[4:]] == [
        "tests/web/test_d.py::test_e",
        "tests/unit/test_a.py::test_b",
        "tests/unit/test_a.py::test_c[x]",
    ]


def test_the_group_that_takes_longest_stands_first() -> None:
    lines = list(longest([("a browser", 1.0), ("quiet machine", 2.5), ("a browser", 2.0)]))
    assert [line.split(maxsplit=1) for line in lines] == [
        ["3.0", "a browser, one after the other"],
        ["2.5", "quiet machine, one after the other"],
    ]
