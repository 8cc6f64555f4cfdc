"""Lines of a text trace, numbered, without blank lines and comments.

Model: the file is read as bytes, so that a line which is no text is an error with its number and not a failure of the whole file. A comment
begins with ``#`` or ``//``; a byte order mark before the first line is skipped.
Limits: a line may have 4096 bytes; no trace format comes near.

    for words in lines(file, reading): ...      # reading.line is its number
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from plimsoll.formats.traces.request import Reading

LONGEST_BYTES = 4096
_MARK = b"\xef\xbb\xbf"


def lines(file: BinaryIO, reading: Reading) -> Iterator[str]:
    """Every line that says something, without white space around it."""
    while content := file.readline(LONGEST_BYTES):
        reading.line += 1
        if len(content) >= LONGEST_BYTES:
            raise reading.error(f"the line has {LONGEST_BYTES} bytes or more; give a trace with one request per line.")
        if reading.line == 1:
            content = content.removeprefix(_MARK)
        try:
            line = content.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise reading.error("the line is not text; give the trace as its tool wrote it.") from None
        if "\0" in line:
            raise reading.error("the line holds a zero byte; give the trace as its tool wrote it.")
        if line and not line.startswith(("#", "//")):
            yield line
