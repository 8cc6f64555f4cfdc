"""Every error a user of Plimsoll can meet, and the exit code it ends the program with.

    PlimsollError                1   anything below
    ├── InputError               2   what was typed, or what stands in a file, is wrong
    ├── SafetyRefusal            3   the request could destroy data and was not confirmed
    ├── TargetError              4   the target cannot be opened, prepared or read
    ├── EngineError              4   the engine could not do the job
    ├── StoreError               5   results cannot be written or read
    └── Interrupted            130   the user stopped it

The message of each is one sentence: where, what is wrong, what would be right. ``crates/python/src/errors.rs`` raises
these classes for errors that arise in Rust. A mistake of our own is an ordinary Python exception, never one of these;
`plimsoll.cli.mistake` tells it in a sentence and ends the program with 70.

What was measured has an exit code, too: 6 where wrong data was read, 4 where a point or requests failed, 1 where the asserted
objective does not hold. Of several the first of this order counts: 6, 130, the code of the failure, 4, 1.

    >>> raise InputError("workload 'oltp-bd' is unknown; did you mean 'oltp-db'?")
"""


class PlimsollError(Exception):
    """The root: catch it to catch every error that Plimsoll reports in a sentence."""

    exit_code = 1


class InputError(PlimsollError):
    """What was typed or written in a file is wrong; nothing was touched."""

    exit_code = 2


class SafetyRefusal(PlimsollError):
    """The request could destroy data that Plimsoll did not make."""

    exit_code = 3


class TargetError(PlimsollError):
    """The target cannot be opened, prepared or read."""

    exit_code = 4


class EngineError(PlimsollError):
    """The engine could not do the job on this machine."""

    exit_code = 4


class StoreError(PlimsollError):
    """Results cannot be written or read; what was stored before is intact."""

    exit_code = 5


class Interrupted(PlimsollError):
    """The user stopped the program before it had anything to show."""

    exit_code = 130


#: Exit code of a command whose asserted objective does not hold.
EXIT_OBJECTIVE_FAILED = 1
#: Exit code of a sequence of points in which at least one failed, or requests failed and were passed over (``on_error = "continue"``).
EXIT_POINT_FAILED = 4
#: Exit code of a sequence of points in which data read back was not what had been written, whatever else happened.
EXIT_WRONG_DATA = 6
#: Exit code of a mistake of our own, as sysexits.h has it (EX_SOFTWARE).
EXIT_MISTAKE = 70
#: Exit code of a run that a signal ended.
EXIT_INTERRUPTED = 130

#: Every exit code with what it means, as ``--help`` says it.
EXIT_CODES = {
    0: "done",
    EXIT_OBJECTIVE_FAILED: "the asserted objective does not hold",
    InputError.exit_code: "wrong input",
    SafetyRefusal.exit_code: "refused for safety",
    EXIT_POINT_FAILED: "a target cannot be used, or a point or requests failed",
    StoreError.exit_code: "results cannot be stored or read",
    EXIT_WRONG_DATA: "wrong data was read",
    EXIT_MISTAKE: "a mistake of Plimsoll's own",
    EXIT_INTERRUPTED: "interrupted",
}
