"""A pass of stamped writes over everything, and who has stamped what lies there.

(tmp_path / "pass.toml").write_text(PASS)
stamped(tmp_path / "one.dat")                 # {b"run one": [0, 512, …], b"run two": […]}
"""

from __future__ import annotations

from pathlib import Path

PASS = """
[[stream]]
name = "pass"
block_size = "64KiB"
read_percent = 0
random_percent = 0
amount = "100%"
content = "stamps"
verify = "all"
"""


def stamped(path: Path) -> dict[bytes, list[int]]:
    """Where the sectors of each run lie that stamped them, by the run's number in the stamp (crates/workload/src/stamp.rs)."""
    content, found = path.read_bytes(), {}
    for place in range(0, len(content), 512):
        run = content[place + 16 : place + 24] if content[place : place + 8] == b"PLIMSOLL" else b""
        found.setdefault(run, []).append(place)
    return found
