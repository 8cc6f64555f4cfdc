"""The reference page of the table of points (``docs/reference/results-table.md``), made from the columns themselves."""

from __future__ import annotations

from plimsoll.tables.column import Column
from plimsoll.tables.points import DOUBTS, FIGURES, HOST, IDENTITY, LOAD, PRICES, SET, VERDICTS, WORKFLOWS
from plimsoll.tables.split import SPLIT

_HOLDS = {"text": "text", "number": "number", "whole": "integer", "truth": "true/false"}
_PARTS = (
    ("What was measured", IDENTITY),
    ("With --by", tuple(SPLIT.values())),
    ("The load", LOAD),
    ("Figures", FIGURES),
    ("The objective", VERDICTS),
    ("The host meanwhile", HOST),
    ("Analytics workflows", WORKFLOWS),
    ("Doubts", DOUBTS),
    ("Prices", PRICES),
)
_INTRODUCTION = f"""# The table of results

<!-- Generated from python/plimsoll/tables/points.py; `make bless` writes it anew. -->

One row per point and operation. `operation == "all"` picks one row per point: all operations together.

```sh
plimsoll report RUN -o results.csv          # or results.parquet
plimsoll export RUN --as parquet > results.parquet
```

```python
import plimsoll

frame = plimsoll.open("results")["latest"].to_pandas()  # also to_polars(), to_arrow()
frame[frame.operation == "all"].pivot_table(index="threads", columns="side", values="iops")
```

Units stand in the names. MB are 10^6 bytes, KiB 1024 bytes. Latencies count from the intended instant. Intervals are 95 % ones. A value
that does not exist is empty in CSV and null elsewhere. An option that an experiment set has a column of its own between the load and the
figures, `{SET}NAME`: numbers where every value is a number, text otherwise.

`--by stream` gives each stream of a workload such rows instead, with a column `stream` behind `seed`; `--by part` each part of a target of
several (`stripe:`, `concat:`), with a column `part`. Figures without a value per stream or part, such as the intervals, are empty there.

```python
plimsoll.open("results")["latest"].table(by="stream").to_pandas()
```

`--long` writes every stored number as a row of its own instead, with all intervals, streams, parts of the target and samples of the host.
"""


def results_table_page() -> str:
    """The page as Markdown."""
    parts = [f"## {title}\n\n| column | holds | unit | meaning |\n|---|---|---|---|\n{_lines(columns)}\n" for title, columns in _PARTS]
    return "\n".join((_INTRODUCTION, *parts))


def _lines(columns: tuple[Column, ...]) -> str:
    return "\n".join(f"| `{one.name}` | {_HOLDS[one.holds]} | {one.unit} | {one.meaning} |" for one in columns)
