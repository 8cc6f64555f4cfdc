"""What can become a table: stored runs, the outcome of a call, comparisons.

class Run(Tabular):
    def table(self) -> Table: ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from plimsoll.tables.table import Table


class Tabular:
    """Whatever has a `Table`; ``docs/reference/results-table.md`` has the columns of results, with their units."""

    def table(self) -> Table:
        """The table itself: ``columns`` and ``rows``, for whom neither package is there."""
        raise NotImplementedError

    def to_arrow(self) -> pyarrow.Table:
        """The table for Arrow, shape rows × columns. Raises `plimsoll.InputError` where pyarrow is not installed."""
        return self.table().to_arrow()

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a data frame, shape rows × columns. Raises `plimsoll.InputError` where pandas is not installed."""
        return self.table().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars data frame, shape rows × columns. Raises `plimsoll.InputError` where polars is not installed."""
        return self.table().to_polars()
