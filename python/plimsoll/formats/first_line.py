"""The first line of a file of command lines, by which the tool is recognised that it is for.

Limits: longer introductions than fifty lines are nobody's.

    first_line("# nightly\\n\\ndiskspd -b8K ...")     # "diskspd -b8K ..."
"""

from __future__ import annotations

_LINES = 50


def first_line(head: str) -> str:
    """The first that is neither empty nor a comment (``#``), without blanks at its ends; empty when there is none."""
    lines = (line.strip() for line in head.splitlines()[:_LINES])
    return next((line for line in lines if line and not line.startswith("#")), "")
