"""The ``plimsoll`` command, also as ``python -m plimsoll``: from its first line on, Ctrl-C ends it with 130 and no traceback.

Limits: until the interpreter has come here (some 20 ms), a signal ends it as the system and the interpreter see fit.
"""

import os
import sys
from _signal import SIGINT, default_int_handler, signal  # type: ignore[import-not-found]  # `signal` itself takes milliseconds to import

#: As `plimsoll.errors` has it, which is yet to be imported.
_INTERRUPTED = 130

# While modules are imported there is nothing to keep, and nobody who could tell of the signal.
if __name__ == "__main__" or os.path.basename(sys.argv[0]) == "plimsoll":
    signal(SIGINT, lambda _number, _frame: os._exit(_INTERRUPTED))


def main() -> int:
    """Run the command line as typed."""
    # What others do is counted from here on, while what takes long is imported.
    from plimsoll.monitor.moment import moment

    begun = moment()
    from plimsoll.cli import main as answered

    try:
        signal(SIGINT, default_int_handler)
        return answered(begun=begun)
    except KeyboardInterrupt:
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
