"""Results of other tools that the readers are tried with, small enough to be changed often.

Model: what fio and Vdbench write is written by our own exporters from a recorded point; the rest stands in the tests of its reader.
"""

from __future__ import annotations

import json

from formats.test_iometer_malformed import CSV
from formats.test_sysstat import TEXT as IOSTAT
from formats.test_sysstat import iostat_json
from formats.test_vdbench_output import OLD
from formats.test_vdbench_output_files import THEIRS
from plimsoll.formats.fio.results import json_text, log_files
from plimsoll.formats.iometer import results_csv
from plimsoll.formats.vdbench.results import files
from support.recorded_point import Load, drawn, recorded_point

__all__ = ["FIO_DOCUMENT", "FIO_LOGS", "FLATFILE", "ICF_RESULTS", "IOSTAT", "ORION_TABLE", "SYSSTAT_DOCUMENTS"]

_POINT = recorded_point(Load(latencies_ns={"read": drawn(1, 12), "write": drawn(2, 5, 300_000), "flush": drawn(3, 2)}), intervals=2)

FIO_DOCUMENT = [json_text([_POINT], plus=plus) for plus in (False, True)]
#: One line of each log; the histogram's line is long.
FIO_LOGS = {name: text.split("\n")[0] + "\n" for name, text in log_files([_POINT]).items()}
FLATFILE = [OLD, THEIRS, files([_POINT])["flatfile.html"]]
ICF_RESULTS = [
    CSV.replace("ROW", "12.5") * 2,
    "'Test Type,Test Description\n0,x\n'Version\n2006.07.27 \n'Time Stamp\n2008-01-01\n" + CSV.replace("ROW", "1"),
    results_csv([_POINT.result], {}),
]
ORION_TABLE = "Mean latencies in microseconds.\n\nLarge/Small,      0,      1,      2\n          0,       ,    108,    215\n          1,     50,     96,       \n"
_SADF = {"disk-device": "sda", "tps": 300.0, "rkB": 800.0, "wkB": 400.0, "aqu-sz": 1.0, "await": 2.0, "util": 50.0}
SYSSTAT_DOCUMENTS = [
    iostat_json(),
    json.dumps(
        {
            "sysstat": {
                "hosts": [
                    {
                        "statistics": [
                            {"timestamp": {"date": "2026-11-21", "time": f"10:0{minute}:00", "utc": 1, "interval": 60}, "disk": [_SADF]}
                            for minute in (0, 1)
                        ]
                    }
                ]
            }
        }
    ),
]
