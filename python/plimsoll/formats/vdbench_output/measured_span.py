"""How long a run was measured, as and on what, as a comment of the flatfiles that Plimsoll writes; Vdbench's own do not say.

Model: Vdbench's intervals are whole seconds, ours need not be. The comment names the instant at which the measured phase began and how long
it was, so that counts read back are those that were written; and the target, which says whether it was a model.

    span_line("rd1", Span("10:00:01.000", 0.083))       # "* Run rd1 began at 10:00:01.000 and was measured for 0.083000 s."
    span_line("rd1", Span("10:00:01.000", 0.083, "/dev/sdb"))                            # "… for 0.083000 s on /dev/sdb."
    stated_spans(text)["rd1"].seconds                   # 0.083
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(
    r"^\* Run (\S+) began at (\d\d:\d\d:\d\d\.\d{3}) and was measured for (\d{1,9}\.\d{1,9}) s(?: on (.+))?\.$", re.MULTILINE
)


@dataclass(frozen=True)
class Span:
    """The measured phase: the time of day at which it began, its length, and what was measured; no target where that is not known."""

    began: str
    seconds: float
    target: str = ""


def span_line(name: str, span: Span) -> str:
    """The comment for one run."""
    on = f" on {span.target}" if span.target else ""
    return f"* Run {name} began at {span.began} and was measured for {span.seconds:.6f} s{on}.\n"


def stated_spans(text: str) -> dict[str, Span]:
    """What the comments of a flatfile say, by run."""
    return {found[1]: Span(found[2], float(found[3]), found[4] or "") for found in _LINE.finditer(text) if float(found[3]) > 0}
