"""Malformed ICF and result files: each gets one sentence with its line, what is wrong, and what would be right."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from formats.iometer.made import DEFAULT, header, icf, managers, setup, simple, specs, worker
from plimsoll.errors import InputError
from plimsoll.formats.iometer import read_results_csv, translate

SENTENCE = re.compile(r"(?:a\.icf|a\.csv):(\d+): .+[.?]", re.DOTALL)


def _setup(key: str, *values: str) -> str:
    return icf("\n".join([header("TEST SETUP"), f"'{key}", *(f"\t{value}" for value in values), "'END test setup", ""]))


def _line(row: str) -> str:
    return icf(specs([("Default", [row])]))


def _listed(*lines: str) -> str:
    return icf(managers("\n".join([*lines, ""])))


def _worker(*lines: str) -> str:
    return _listed("'Manager ID, manager name", "\t1,HOST", "'Worker", "\tWorker 1", *lines, "'End worker", "'End manager")


def _settings(*lines: str) -> str:
    return _worker("'Default target settings for worker", *lines, "'End default target settings for worker")


OUTSTANDING = "'Number of outstanding IOs,test connection rate,transactions per connection"
OLD = icf(f"{header('ACCESS SPECIFICATIONS')}\n\t2048 50 67 100 0 1\n\tROW\n'END access specifications\n", version="1998.03.02")

CASES: list[tuple[str, int, str]] = [
    ("", 1, "the file is empty"),
    ("\n\n \n", 1, "the file is empty"),
    ("[global]\nrw=read\n", 1, "'[global]' is not the version line"),
    ("Versions 1.1.0\n", 1, "is not the version line"),
    ("Version new\n", 1, "version 'new' is not like 1.1.0"),
    ("Version 1\n", 1, "version '1' is not like 1.1.0"),
    (icf(setup()) + "'more\n", 11, "ends the file, but more follows"),
    (icf("\tlost\n"), 2, "'lost' stands below no key"),
    (icf("x" * 20000 + "\n"), 2, "the line has 20000 characters"),
    (icf("'Stray key\n\t1\n"), 2, "stands outside of all sections"),
    (icf(setup(), setup()), 11, "section TEST SETUP stands twice; the first begins on line 2"),
    (icf(setup(end=False)), 2, "section TEST SETUP of line 2 has no end; write 'END test setup"),
    (icf(setup(end=False), specs([DEFAULT])), 10, "section TEST SETUP of line 2 has no end"),
    (icf(setup()).replace("'END test setup", "'END test setup\n\tnow"), 11, "'now' is a value, but 'END test setup takes none"),
    (icf(setup()).replace("====\n", "====\n\tnow\n", 1), 3, "'now' is a value, but 'TEST SETUP takes none"),
    (_setup("Run Tme", "0 1 0"), 3, "'Run Tme is not a key of the test setup; did you mean 'run time'?"),
    (_setup("Sound Card", "yes"), 3, "is not a key of the test setup"),
    (simple({"run time": "0 1 0"}), 10, "'run time stands twice; the first is on line 4"),
    (_setup("Run Time"), 3, "'Run Time has no value"),
    (_setup("Run Time", "0 1"), 4, "'0 1' has 2 values, not 3"),
    (_setup("Run Time", "0 one 0"), 4, "the run time in minutes is 'one', which is no number"),
    (_setup("Run Time", "24000 1 0"), 4, "the run time '24000 1 0' is longer than 1000 days"),
    (_setup("Run Time", "0 1 0", "0 2 0"), 5, "'0 2 0' is a second value of 'Run Time,"),
    (_setup("Ramp Up Time (s)", "-5"), 4, "the ramp-up time is '-5', which is no number"),
    (_setup("Ramp Up Time (s)", "1.5"), 4, "the ramp-up time is '1.5', which is no number"),
    (_setup("Default Disk Workers to Spawn", "many"), 4, "the number of workers is 'many'; write a number or NUMBER_OF_CPUS"),
    (_setup("Default Disk Workers to Spawn", "5000"), 4, "the number of workers is 5000; write a whole number from 0 to 4096"),
    (_setup("Record Results", "SOME"), 4, "'SOME' is not known"),
    (_setup("Test Type", "NORML"), 4, "'NORML' is not known; did you mean 'NORMAL'?"),
    (_setup("Test Type", "8"), 4, "test type 8 is not known; write 0 to 7"),
    (_setup("Worker Cycling", "1 1"), 4, "'1 1' has 2 values, not 3"),
    (_setup("Queue Depth Cycling", "1 2 EXPONENTIAL"), 4, "has 3 values, not 4"),
    (_setup("Queue Depth Cycling", "1 32 2 SQUARE"), 4, "'SQUARE' is not known; write one of LINEAR, EXPONENTIAL"),
    (_setup("Queue Depth Cycling", "1 100000 2 LINEAR"), 4, "the end of the cycling is 100000; write a whole number from 0 to 65536"),
    (simple({"Test Type": "CYCLE_OUTSTANDING_IOS", "Queue Depth Cycling": "0 8 2 LINEAR"}), 10, "the cycling starts at 0"),
    (simple({"Test Type": "CYCLE_OUTSTANDING_IOS", "Queue Depth Cycling": "1 8 0 LINEAR"}), 10, "has step 0, with which it never ends"),
    (simple({"Test Type": "CYCLE_OUTSTANDING_IOS", "Queue Depth Cycling": "9 8 1 LINEAR"}), 10, "starts at 9, above its end, 8"),
    (simple({"Test Type": "CYCLE_OUTSTANDING_IOS", "Queue Depth Cycling": "1 5000 1 LINEAR"}), 10, "has more than 1000 tests"),
    (simple({"Test Type": "CYCLE_WORKERS", "Worker Cycling": "2 1 LINEAR"}), 10, "starts at 2, above what the workers have, 1"),
    (_line("2048,100,67"), 6, "'2048,100,67' has 3 values, not 8"),
    (_line("2K,100,67,100,0,1,0,0"), 6, "the transfer size is '2K', which is no number"),
    (_line("0,100,67,100,0,1,0,0"), 6, "the transfer size is 0; write a whole number from 1"),
    (_line("1073741824,100,67,100,0,1,0,0"), 6, "the transfer size is 1073741824"),
    (_line("2048,0,67,100,0,1,0,0"), 6, "the percentage of size is 0; write a whole number from 1 to 100"),
    (_line("2048,100,101,100,0,1,0,0"), 6, "the percentage of reads is 101"),
    (_line("2048,100,67,150,0,1,0,0"), 6, "the percentage of random is 150"),
    (_line("2048,100,67,100,-1,1,0,0"), 6, "the delay in milliseconds is '-1'"),
    (_line("2048,100,67,100,0,0,0,0"), 6, "the burst length is 0"),
    (_line("2048,100,67,100,0,1,x,0"), 6, "the alignment is 'x'"),
    (_line("2048,100,67,100,0,1,0,"), 6, "the reply size is ''"),
    (_line("2048,99,67,100,0,1,0,0"), 6, "'Default' sum to 99; they must sum to exactly 100"),
    (icf(specs([("Big", ["512,1,0,0,0,1,0,0"] * 101)])), 106, "access specification 'Big' has more than 100 lines"),
    (icf(specs([("Default", [])])), 5, "access specification 'Default' has no lines"),
    (icf(specs([DEFAULT, DEFAULT])), 8, "access specification 'Default' stands twice"),
    (icf(specs([(",NONE", DEFAULT[1])])), 4, "',NONE' names no access specification"),
    (icf(specs([("Default,SOME", DEFAULT[1])])), 4, "'SOME' is not known"),
    (icf(specs([("Default,9", DEFAULT[1])])), 4, "default assignment 9 is not known"),
    (icf(specs([DEFAULT])).replace("'size,", "'sise,"), 5, "'sise,% of size"),
    (icf(specs([DEFAULT])).replace("'Access specification name,default assignment\n\tDefault,NONE\n", ""), 3, "stands where 'Access"),
    (
        icf(f"{header('ACCESS SPECIFICATIONS')}\n'Access specification name,default assignment\n\tA\n'END access specifications\n"),
        3,
        "no lines",
    ),
    (OLD.replace("ROW", "512 60 0 0 0 1"), 4, "the percentages of size reach 110 here"),
    (OLD.replace("ROW", "512 40 0 0 0 1"), 4, "the percentages of size of the last specification sum to 90"),
    (OLD.replace("ROW", "512,50,0,0,0,1"), 4, "has 1 values, not 6"),
    (_listed("'Worker", "\tWorker 1", "'End worker"), 3, "'Worker is not a key of a manager list"),
    (_listed("'Manager ID, manager name", "\tHOST", "'End manager"), 4, "'HOST' is not a number and a name of a manager"),
    (_listed("'Manager ID, manager name", "\tx,HOST", "'End manager"), 4, "the number of a manager is 'x'"),
    (_listed("'Manager ID, manager name", "'End manager"), 3, "has no value"),
    (_listed("'Manager ID, manager name", "\t1,HOST"), 3, "'Manager ID, manager name has no end; write 'End manager"),
    (_listed("'Manager ID, manager name", "\t1,A", "'Manager ID, manager name", "\t2,B", "'End manager"), 5, "stands before 'End manager"),
    (_worker("'Worker type", "\tTAPE"), 8, "'TAPE' is not known"),
    (_worker("'Worker type", "\tDISK", "'Worker type", "\tDISK"), 9, "'Worker type stands twice; the first is on line 7"),
    (_worker("'Worker typ", "\tDISK"), 7, "'Worker typ is not a key of 'Worker; did you mean 'worker type'?"),
    (_worker("'Target", "\tsdb"), 7, "'Target stands before 'End worker"),
    (_settings(OUTSTANDING, "\t0,DISABLED,1"), 9, "the number of outstanding I/Os is 0; write a whole number from 1 to 65536"),
    (_settings(OUTSTANDING, "\t1,DISABLED"), 9, "has 2 values, not 1 or 3 or 5"),
    (_settings(OUTSTANDING, "\t1,MAYBE,1"), 9, "'MAYBE' is not known; write one of ENABLED, DISABLED"),
    (_settings(OUTSTANDING, "\t1,DISABLED,1,ENABLED,x"), 9, "the fixed seed value is 'x'"),
    (_settings("'Disk maximum size,starting sector", "\t0"), 9, "'0' has 1 values, not 2 or 3"),
    (_settings("'Disk maximum size,starting sector,Data pattern", "\t0,0,7"), 9, "the data pattern is 7; write a whole number from 0 to 2"),
    (_settings("'Disk maximum size,starting sector", "\t9999999999999,0"), 9, "the maximum disk size in sectors is 9999999999999"),
    (_worker("'Default target settings for worker"), 8, "stands before 'End default target settings for worker"),
    (_worker("'Target assignments", "'Target", "'End target", "'End target assignments"), 8, "'Target has no value"),
    (_worker("'Target assignments", "'Target", "\tsdb", "'End target assignments"), 10, "stands before 'End target,"),
    (_worker("'Assigned access specs", "\tDefault", "'End target assignments"), 9, "stands before 'End assigned access specs"),
    (simple(None, worker(assigned=["Unheard of"])), 36, "access specification 'Unheard of' is not in the file"),
]

CSV = "'Results\n'Target Type,Target Name,Access Specification Name,IOps\nALL,All,4K,ROW\n"
CSV_CASES: list[tuple[str, int, str]] = [
    ("", 1, "there is no row of results"),
    ("a,b\n1,2\n", 1, "there is no row of results"),
    (CSV.replace("ROW", "fast"), 3, "'IOps' is 'fast', which is no number"),
    (CSV.replace("ROW", "nan"), 3, "'IOps' is 'nan', which is no number"),
    (CSV.replace("ROW", "1,2"), 3, "the row has 5 values for 4 columns"),
    (CSV.replace("ALL,", "SUM,").replace("ROW", "1"), 3, "'SUM' is not what a row is about"),
    (CSV.replace(",IOps", ",Speed"), 2, "there is no column 'IOps'"),
    (CSV.replace("IOps", "IOps,IOps"), 2, "column 'IOps' stands twice"),
    ("x" * 20000, 1, "the line has 20000 characters"),
]


def _check(run: Callable[[], object], line: int, said: str) -> None:
    with pytest.raises(InputError) as caught:
        run()
    sentence = str(caught.value)
    found = SENTENCE.fullmatch(sentence)
    assert found is not None and "\n" not in sentence, sentence
    assert said in sentence
    assert int(found[1]) == line, sentence


def test_there_are_at_least_fifty_malformed_files() -> None:
    assert len(CASES) >= 50


@pytest.mark.parametrize(("text", "line", "said"), CASES, ids=[f"{number}-{case[2][:40]}" for number, case in enumerate(CASES)])
def test_a_malformed_file_gets_a_sentence_with_its_line(text: str, line: int, said: str) -> None:
    _check(lambda: translate(text, "a.icf"), line, said)


@pytest.mark.parametrize(("text", "line", "said"), CSV_CASES)
def test_a_malformed_result_file_gets_a_sentence_with_its_line(text: str, line: int, said: str) -> None:
    _check(lambda: read_results_csv(text, "a.csv"), line, said)
