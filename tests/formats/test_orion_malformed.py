"""Wrong command lines and files of ORION: one sentence with the place, whatever is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.orion import translate, translate_command
from plimsoll.formats.orion.table import read_table

FOLDER = Path(__file__).parent / "orion"


def include(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


COMMANDS = [
    ("", "-run is missing"),
    ("-testname one", "-run is missing"),
    ("orion", "-run is missing"),
    ("-run", "word 1: -run has no value"),
    ("-run fast", "word 2: -run is 'fast'; write one of simple, normal"),
    ("-run Simple", "word 2: -run is 'Simple'"),
    ("-run simple -run normal", "word 3: -run stands a second time, first as word 1"),
    ("-rum simple", "word 1: '-rum' is not an option of ORION; did you mean -run?"),
    ("-run simple -num_disk 4", "word 3: '-num_disk' is not an option of ORION; did you mean -num_disks?"),
    ("-run simple -xyzzy", "word 3: '-xyzzy' is not an option of ORION; there are -run,"),
    ("-run simple stray", "word 3: 'stray' is not an option"),
    ("-run simple -", "word 3: '-' is not an option"),
    ("-run simple –write 0", "word 3: '–write' begins with a dash that is not the minus sign; write '-write'"),
    ("-run simple -num_disks four", "word 4: -num_disks is 'four'; write a whole number from 1 to 10000"),
    ("-run simple -num_disks 0", "word 4: -num_disks is '0'"),
    ("-run simple -num_disks 10001", "word 4: -num_disks is '10001'"),
    ("-run simple -num_disks -4", "word 4: -num_disks is '-4'"),
    ("-run simple -num_disks 4.5", "word 4: -num_disks is '4.5'"),
    ("-run simple -size_small 8K", "word 4: -size_small is '8K'; write a whole number from 1 to 1048576 without a unit"),
    ("-run simple -size_large 0", "word 4: -size_large is '0'"),
    ("-run simple -write 101", "word 4: -write is '101'; write a whole number from 0 to 100"),
    ("-run simple -type sequential", "word 4: -type is 'sequential'; write one of rand, seq"),
    ("-run simple -simulate raid5", "word 4: -simulate is 'raid5'; write one of concat, raid0"),
    ("-run simple -duration 0", "word 4: -duration is '0'"),
    ("-run simple -duration 1m", "word 4: -duration is '1m'"),
    ("-run simple -duration", "word 3: -duration has no value; write for example -duration 60"),
    ("-run advanced -matrix column -testname one", "word 4: -matrix is 'column'; write one of basic, detailed"),
    ("-run advanced -matrix row -testname one", "-matrix row needs -num_large; write for example -num_large 0"),
    ("-run advanced -matrix col -testname one", "-matrix col needs -num_small"),
    ("-run advanced -matrix point -num_small 4 -testname one", "-matrix point needs -num_large"),
    ("-run simple -storax raw", "word 4: -storax is 'raw'"),
    ("-run simple -testname -num_disks 4", "word 4: -testname is '-num_disks'; write a name"),
    ("-run simple -testname missing", "missing.lun cannot be read (No such file or directory); put it beside"),
    ("-run simple -cache_size 12GB", "word 4: -cache_size is '12GB'"),
    ("-run simple -num_disks ٤", "word 4: -num_disks is '٤'"),
    ("-run simple -num_disks " + "9" * 5000, "word 4: -num_disks is"),
]


@pytest.mark.parametrize(("typed", "said"), COMMANDS, ids=[typed[:40] or "nothing" for typed, _ in COMMANDS])
def test_a_wrong_command_line_names_the_word(typed: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        translate_command(typed.split(), "command line", include)
    message = str(caught.value)
    assert message.startswith(f"command line: {said}") and message.endswith((".", "?")) and "\n" not in message


FILES = [
    ("job.orion", "", "job.orion: there is no command line"),
    ("job.orion", "# only\n\n", "job.orion: there is no command line"),
    ("job.orion", "-run simple -testname one\n-run fast\n", "job.orion:2: word 2: -run is 'fast'"),
    ("job.orion", "-run simple -testname 'one\n", "job.orion:1: a quotation mark is not closed"),
    ("bad.lun", "\n\n", "bad.lun: it names no LUN"),
    ("bad.lun", "/dev/sdb\n/dev/sdc\n/dev/sdb\n", "bad.lun:3: '/dev/sdb' stands on line 1 already"),
    ("bad.lun", "# disks\n/dev/sdb\n", "bad.lun:1: '# disks' looks like a comment"),
    ("bad.lun", "/dev/sdb\x00\n", "bad.lun:1: '/dev/sdb\\u0000' holds characters that cannot be printed"),
]


@pytest.mark.parametrize(("name", "text", "said"), FILES, ids=[said[:40] for _, _, said in FILES])
def test_a_wrong_file_names_the_line(name: str, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        translate(text, name, include, {})
    assert str(caught.value).startswith(said) and str(caught.value).endswith(".")


TABLES = [
    ("x_iops.csv", "", "x_iops.csv: there is no line that begins with 'Large/Small,'"),
    ("x_iops.csv", "Large/Small, 1, two\n 0, 5, 6\n", "x_iops.csv:1: 'two' is not a number of outstanding requests"),
    ("x_iops.csv", "\nLarge/Small, 1, 2\n zero, 5, 6\n", "x_iops.csv:3: 'zero' is not a number of outstanding requests"),
    ("x_iops.csv", "Large/Small, 1, 2\n 0, 5, fast\n", "x_iops.csv:2: 'fast' is not a measured value"),
    ("x_iops.csv", "Large/Small, 1\n 0, 5, 6\n", "x_iops.csv:2: there are 2 values for 1 columns"),
    ("x_iops.csv", "Large/Small, 1\n 0, 5\n 0, 6\n", "x_iops.csv:3: the point small 1, large 0 stands twice"),
    ("x_mbps.csv", "Large/Small, 0\n 1, nan\n", "x_mbps.csv:2: 'nan' is not a measured value"),
    ("x_lat.csv", "Large/Small, 1\n 0, -1\n", "x_lat.csv:2: '-1' is not a measured value"),
    ("x_trace.csv", "Large/Small, 1\n 0, 1\n", "x_trace.csv: not a name of ORION's tables"),
]


@pytest.mark.parametrize(("name", "text", "said"), TABLES, ids=[said[:50] for _, _, said in TABLES])
def test_a_wrong_table_names_the_line(name: str, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_table(text, name)
    assert str(caught.value).startswith(said) and str(caught.value).endswith(".")
