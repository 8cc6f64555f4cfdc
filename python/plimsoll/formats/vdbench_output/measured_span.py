"""How long a run was measured, as a comment of the flatfiles that Plimsoll writes; Vdbench's own leave it to the rows.

Model: Vdbench's intervals are whole seconds, ours need not be. The comment names the instant at which the measured phase began and how long
it was, so that counts read back are those that were written.

    span_line("rd1", Span("10:00:01.000", 0.083))       # "* Run rd1 began at 10:00:01.000 and was measured for 0.083000 s."
    stated_spans(text)["rd1"].seconds                   # 0.083
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(r"^\* Run (\S+) began at (\d\d:\d\d:\d\d\.\d{3}) and was measured for (\d{1,9}\.\d{1,9}) s\.$", re.MULTILINE)


@dataclass(frozen=True)
class Span:
    """The measured phase: the time of day at which it began, and its length."""

    began: str
    seconds: float


def span_line(name: str, span: Span) -> str:
    """The comment for one run."""
    return f"* Run {name} began at {span.began} and was measured for {span.seconds:.6f} s.\n"


def stated_spans(text: str) -> dict[str, Span]:
    """What the comments of a flatfile say, by run."""
    return {found[1]: Span(found[2], float(found[3])) for found in _LINE.finditer(text) if float(found[3]) > 0}
