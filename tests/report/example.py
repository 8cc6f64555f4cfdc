"""Write an example report to look at: PYTHONPATH=tests python -m report.example OUT.html [one|two|odd|long|planned]."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from plimsoll.reports import html
from plimsoll.store.reader import open_run
from report.planned import PUBLISHED, Run, curve, matrix, ramp, scaling, single, steady, steps, write_planned
from report.synthetic import Array, write_run

ARRAYS = {
    "one": [Array("2026-11-21-0344", seconds=40, flags=(("oltp-db", "not-steady"), ("workstation", "cpu-governor")))],
    "two": [
        Array("10K SAS", label="10K SAS", seconds=60, repeats=3, flags=(("oltp-db", "not-steady"),)),
        Array("15K SAS", label="15K SAS", speed=1.4, seconds=60, repeats=3, parts=("0:/dev/sdb", "1:/dev/sdc")),
    ],
    "long": [Array("first", label="first", seconds=120), Array("second", label="second", speed=1.3, seconds=120)],
    "odd": [
        Array(
            "disk",
            flags=(("oltp-db", "sparse-target"), ("oltp-db", "cpu-governor"), ("workstation", "not-steady")),
            broken=(("os-paging", "failed"), ("exchange-server", "interrupted"), ("workstation", "incomplete")),
        ),
        Array("model", target="queue:?service=exp:1ms", speed=1.2, modelled=True, open_loop=True),
    ],
}


PLANNED = (single(), steps(), ramp(), curve(), scaling(), matrix(), steady(), steady(attained=False))


def main(out: Path, scenario: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if scenario == "planned":
            runs = [open_run(str(write_planned(Path(folder) / "planned", PLANNED, Run(suite=PUBLISHED))))]
        else:
            runs = [open_run(str(write_run(Path(folder) / array.name, array))) for array in ARRAYS[scenario]]
        begun = time.monotonic()
        html.write(runs, out)
        print(f"{out}: {out.stat().st_size / 1e6:.2f} MB in {time.monotonic() - begun:.1f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "one")
