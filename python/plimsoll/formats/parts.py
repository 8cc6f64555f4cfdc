"""Numbers of a target's parts, as the option ``parts`` of a stream is written.

parts_text([0, 2, 3, 4])        # "0,2-4"
"""

from __future__ import annotations

from collections.abc import Sequence


def parts_text(numbers: Sequence[int]) -> int | str:
    """One number, or several with runs of them shortened."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    if len(numbers) == 1:
        return numbers[0]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
