"""What ``plimsoll run`` is told to measure: workloads as they stand, the job file of another tool, or a command line of one.

run_undertaking(("oltp-db", "mine.toml"), options, remark)
run_undertaking(("job.fio",), options, remark)
run_undertaking(("fio", "--name=x", "--rw=randread"), options, remark)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.errors import InputError
from plimsoll.points.foreign import is_command, is_foreign
from plimsoll.points.listener import Remark
from plimsoll.points.short_document import short_undertaking
from plimsoll.points.undertaking import Undertaking


def run_undertaking(words: Sequence[str], typed: Mapping[str, Any], remark: Remark) -> Undertaking:
    """The experiments that ``words`` stand for; what reads other tools' files is imported for one of theirs."""
    if is_command(words):
        _check_asked(f"the {words[0]} command line", typed)
        from plimsoll.points.suites import command_suite

        return command_suite(words, typed, remark)
    foreign = [name for name in words if is_foreign(name)]
    if not foreign:
        return short_undertaking("single", {**typed, "workloads": words})
    if len(words) > 1:
        raise InputError(f"{foreign[0]} is a job file of another tool and runs alone; give the other workloads to a run of their own.")
    _check_asked(foreign[0], typed)
    from plimsoll.points.suites import suite_of

    return suite_of(foreign[0], typed, remark)


def _check_asked(name: str, typed: Mapping[str, Any]) -> None:
    if typed["objective"] is not None:
        raise InputError(f"--objective has no effect on {name}, which says itself what has to hold; leave it out.")
