"""What a PostgreSQL server or its client says, as one sentence with what to do, and which kind of trouble that is.

Model: a statement's trouble is told by its SQLSTATE (PostgreSQL, appendix A), one of connecting by the words of libpq, which has no code
for it. Of a private server, what it wrote last tells why it is gone.
Limits: words are those of an English server or client; others are told as they are. No sentence has a password in it.

    told(problem, "postgresql://me@db1/test", alive=False)       # DatabaseError("…: the server refuses the password of …", "refused")
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plimsoll.apps.databases.database import DatabaseError, Trouble
from plimsoll.passwords import masked

if TYPE_CHECKING:
    import psycopg

_LONGEST = 300
_FULL = "there is no space left for the database ({said}); make room, or name another directory"
_REFUSED = "the server refuses: {said}"
#: Kinds by the beginning of a SQLSTATE, the longer first, and the sentence for each.
_STATES: tuple[tuple[str, Trouble, str], ...] = (
    ("53100", "full", _FULL),
    ("53200", "memory", "the server has no memory left for this ({said}); raise memory"),
    ("53300", "refused", "the server takes no further connection ({said}); use fewer streams or terminals, or raise max_connections"),
    ("57014", "cancelled", "the statement was cancelled ({said})"),
    ("57P01", "lost", "the server was stopped, or ended the connection ({said})"),
    ("57P", "lost", "the server died or was stopped ({said})"),
    ("40001", "conflict", "the transaction met another one ({said})"),
    ("40P01", "conflict", "the transaction met another one ({said})"),
    ("55P03", "conflict", "the transaction met another one ({said})"),
    ("25006", "refused", "this server takes no writes ({said}); name one that does"),
    ("28", "refused", _REFUSED),
    ("42501", "refused", _REFUSED),
    ("58", "lost", "the server could not read or write its files ({said})"),
    ("08", "lost", "the connection to the server is gone ({said})"),
)
#: The same by what libpq says of a connection that was not made.
_WORDS: tuple[tuple[str, Trouble, str], ...] = (
    (
        r"password authentication failed|no password supplied",
        "refused",
        "the server refuses the password ({said}); give the right one in the file that PGPASSFILE names, in PGPASSWORD or in the URL",
    ),
    (
        r"too many clients|connection slots|too many connections",
        "refused",
        "the server takes no further connection ({said}); use fewer streams or terminals, or raise max_connections",
    ),
    (r"no pg_hba.conf entry|role \".*\" is not permitted|role \".*\" does not exist", "refused", _REFUSED),
    (r"database \".*\" does not exist", "refused", "the server refuses: {said}; make it (createdb), or name another"),
    (
        r"could not translate host name|failed to resolve host|name or service not known",
        "lost",
        "the host is not known ({said}); correct its name",
    ),
    (
        r"connection refused|no such file or directory|timeout expired|no route to host|network is unreachable",
        "lost",
        "no server answers ({said}); start it, or correct host and port",
    ),
    (r"no space left on device", "full", _FULL),
    (
        r"terminating connection|server closed the connection|connection reset|broken pipe",
        "lost",
        "the server died or was stopped ({said})",
    ),
)
_PREFIXES = re.compile(
    r"^(consuming input failed: |sending query failed: |connection failed: |connection is bad: )?"
    r"(connection to server (at|on) .*? failed: )?((FATAL|ERROR|PANIC):\s+)?"
)

#: Of an error of the operating system, as Python writes it.
_NUMBER = re.compile(r"\[Errno -?\d+\] ")


def told(problem: psycopg.Error, shown: str, *, alive: bool, ended: str = "") -> DatabaseError:
    """The trouble; ``alive`` says whether the connection lives, ``ended`` is what a private server wrote of its end."""
    trouble = told_of(_said(problem), problem.sqlstate or "", alive=alive, ended=ended)
    return DatabaseError(f"{shown}: {trouble}", trouble.trouble)


def told_of(said: str, state: str, *, alive: bool, ended: str = "") -> DatabaseError:
    """The same of words and their SQLSTATE, without the target."""
    found = next(((kind, sentence) for begin, kind, sentence in _STATES if state.startswith(begin)), None)
    kind, sentence = found or _by_words(said, alive=alive)
    if kind == "lost" and ended:
        said = ended
        if re.search(r"no space left", ended, re.IGNORECASE):
            kind, sentence = "full", _FULL
    return DatabaseError(masked(f"{sentence.format(said=_cleaned(said)[:_LONGEST])}."), kind)


def _by_words(said: str, *, alive: bool) -> tuple[Trouble, str]:
    for words, kind, sentence in _WORDS:
        if re.search(words, said, re.IGNORECASE):
            return kind, sentence
    return ("statement", "PostgreSQL says: {said}") if alive else ("lost", "the connection to the server is gone ({said})")


def _said(problem: psycopg.Error) -> str:
    """What was said, in one line."""
    primary = problem.diag.message_primary
    lines = [line.strip() for line in (primary or str(problem)).splitlines() if line.strip()]
    first = lines[0] if lines else "it says nothing of why"
    if not primary and len(lines) > 1 and not _PREFIXES.match(first):
        # Of several tries to connect, the last line has the reason.
        first = next((line for line in lines if re.search(r"failed|refused|FATAL", line)), first)
    return _cleaned(first)


def _cleaned(said: str) -> str:
    plain = _NUMBER.sub("", _PREFIXES.sub("", said))
    return " ".join(plain.split()).replace("{", "(").replace("}", ")").rstrip(".")
