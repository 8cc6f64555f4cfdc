"""Readers of block traces: fio iolog, blkparse text, blktrace binary, MSR-Cambridge CSV, Alibaba CSV, MQSim, CloudPhysics.

trace = open_trace(file, "hm_0.csv")
"""

from plimsoll.formats.traces.request import Reading, TraceRequest
from plimsoll.formats.traces.trace import FORMATS, Trace, open_trace, recognised

__all__ = ["FORMATS", "Reading", "Trace", "TraceRequest", "open_trace", "recognised"]
