"""What ``plimsoll run`` is told to measure: workloads as they stand, the job file of another tool, or a command line of one.

run_undertaking(("oltp-db", "mine.toml"), options, remark)
run_undertaking(("job.fio",), options, remark)
run_undertaking(("fio", "--name=x", "--rw=randread"), options, remark)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from plimsoll import catalog
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.tools import WITH_COMMANDS
from plimsoll.points.arguments import ExperimentArguments
from plimsoll.points.foreign import is_command, is_foreign
from plimsoll.points.listener import Remark
from plimsoll.points.short_document import short_undertaking
from plimsoll.points.undertaking import Undertaking

#: The shortest command line of each tool that measures something.
_COMMAND_LINES = {
    "fio": "fio --name=x --rw=randread --filename=/mnt/disk/x --size=1g",
    "vdbench": "vdbench -f parmfile",
    "orion": "orion -run simple -testname mytest",
    "diskspd": "diskspd -c1G -d10 -r /mnt/disk/x",
}


def run_undertaking(words: Sequence[str], arguments: ExperimentArguments, remark: Remark) -> Undertaking:
    """The experiments that ``words`` stand for; what reads other tools' files is imported for one of theirs."""
    if is_command(words):
        _check_asked(f"the {words[0]} command line", arguments)
        from plimsoll.points.suites import command_suite

        return command_suite(words, arguments, remark)
    foreign = [name for name in words if is_foreign(name)]
    if not foreign:
        return short_undertaking(_kind(arguments), replace(arguments, workloads=tuple(_workloads(words))))
    if len(words) > 1:
        raise InputError(f"{foreign[0]} is a job file of another tool and runs alone; give the other workloads to a run of their own.")
    _check_asked(foreign[0], arguments)
    from plimsoll.points.suites import suite_of

    return suite_of(foreign[0], arguments, remark)


def _kind(arguments: ExperimentArguments) -> str:
    """Points as they stand; levels of one load; or combinations of whatever is varied."""
    if not arguments.over:
        return "steps" if arguments.steps else "single"
    from plimsoll.points.short_document import is_load

    return "steps" if arguments.steps or is_load(arguments.over) else "matrix"


def _workloads(words: Sequence[str]) -> Sequence[str]:
    """The words, none of which is a tool whose command line is missing."""
    tool = next((word for word in words if word in WITH_COMMANDS), None)
    if tool is None or os.path.exists(tool) or tool in catalog.all_tags():
        return words
    raise InputError(
        f"{quoted(tool)} is no workload; write the command line of {tool} behind it, for example 'plimsoll run {_COMMAND_LINES[tool]}', "
        f"or name a job file of it."
    )


def _check_asked(name: str, arguments: ExperimentArguments) -> None:
    if arguments.over or arguments.steps:
        raise InputError(f"--over has no effect on {name}, which says itself what is varied; leave it out.")
    if arguments.objective is not None:
        raise InputError(f"--objective has no effect on {name}, which says itself what has to hold; leave it out.")
