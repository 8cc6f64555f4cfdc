"""Which of two modelled arrays carries more, as a program. On real storage, name devices or files in their place."""

from __future__ import annotations

import sys

import plimsoll


def highest_held(run: plimsoll.Run) -> dict[str, float]:
    """Requests per second at the mark of each configuration; those that held the objective at no level are left out."""
    return {found["configuration"]: found["mark"]["iops"] for found in run.conclusions if found["mark"]}


def main() -> int:
    """Find the marks, and write the table of all points."""
    try:
        run = plimsoll.ramp(
            "oltp-db",
            target=["array:msa50-sas-10k-raid10-10", "array:msa30-u320-10k-raid10-10"],
            over={"threads": "1..16"},
            objective="read mean <= 10ms",
            duration="20s",
            warmup="10s",
            progress=lambda step: print(step, file=sys.stderr) if step.stage == "end" else None,
        )
    except plimsoll.PlimsollError as problem:
        print(problem, file=sys.stderr)
        return problem.exit_code
    for side, iops in highest_held(run).items():
        print(f"{side} carries {iops:,.0f} requests per second")
    with open("points.csv", "wb") as file:
        file.write(run.table().csv())
    return 0


if __name__ == "__main__":
    sys.exit(main())
