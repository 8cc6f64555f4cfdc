"""What a table of points has rows for: each point, or each of its streams, or each part of its target.

points_table(runs, by="stream")
"""

from __future__ import annotations

from typing import Literal, get_args

from plimsoll.tables.column import TEXT, Column

By = Literal["point", "stream", "part"]
SPLITS: tuple[By, ...] = get_args(By)
#: The column of the name, where points are split.
SPLIT = {
    "stream": Column("stream", TEXT, "", "the stream of the workload"),
    "part": Column("part", TEXT, "", "the part of a target of several, or the target"),
}
