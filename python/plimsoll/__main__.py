"""``python -m plimsoll``: the same as the ``plimsoll`` command."""

import sys

from plimsoll.cli import main

if __name__ == "__main__":
    sys.exit(main())
