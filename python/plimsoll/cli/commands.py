"""The commands by what they are for, the other names that they had, and the six to begin with.

Model: `GROUPS` is the one list: help, documents and completion follow from it. A word of `OTHER_NAMES` means the words beside it, wherever
it stands as the command; it is in no list.

    VERBS["run"]                    # "Measure a target under one or more workloads."
    OTHER_NAMES["search"]           # ("ramp", "--settle")
"""

from __future__ import annotations

from collections.abc import Mapping

#: Headings of help with their commands, each with its line; the command itself is ``command`` in `plimsoll.cli.program.module_of`.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "Measure": {
        "check": "Find out what a target can do and what load it carries.",
        "run": "Measure a target under workloads, at one load or at several levels.",
        "suite": "Run a published test procedure or your own experiment file.",
        "replay": "Replay a block trace at its recorded times or as fast as possible.",
    },
    "Find the limit": {
        "ramp": "Raise the load until the objective fails, and find the mark.",
        "curve": "Measure the load line at percentages of the maximum.",
        "scale": "Measure speed-up with concurrency.",
        "steady": "Measure in rounds until the storage reaches steady state.",
        "matrix": "Measure every combination of options.",
    },
    "Compare and report": {
        "compare": "Compare stored runs, or the configurations of one, point by point.",
        "report": "Make a report of stored runs: HTML, a table, JSON, Markdown or JUnit.",
        "size": "Find storage that carries a demand: stored load lines, targets or modelled arrays.",
        "choose": "Find the cheapest modelled array that carries a demand, also with a drive missing.",
        "list": "List the shipped workloads, suites and arrays, or the stored runs.",
        "send": "Send stored runs to another machine.",
        "receive": "Store runs that arrived as files or mails.",
        "forget": "Remove stored runs.",
        "show": "Show one workload, suite, array or stored run.",
        "serve": "Show stored and running measurements in a browser.",
    },
    "Arrays without hardware": {
        "reproduce": "Test the claims of published reports on modelled arrays.",
        "fit": "Turn a trace or a demand into a workload, or calibrate a modelled array.",
        "serve-array": "Serve a modelled array to other programs in real time.",
    },
    "Other tools": {
        "translate": "Convert another tool's job file.",
        "export": "Write a stored run as another tool's results.",
        "import": "Store results that another tool measured.",
    },
    "This host": {
        "doctor": "Check this host for anything that would distort results.",
        "layout": "Lay storage out for measuring, and take it away again.",
        "hosts": "Check hosts that measure together, and collect what they measured.",
        "watch": "Watch the load on live devices.",
        "journal": "Keep the power-cut journal of another host.",
        "completion": "Print a completion script for your shell.",
        "help": "Explain a command or the common options.",
    },
}
#: Every command with its line.
VERBS: Mapping[str, str] = {verb: line for verbs in GROUPS.values() for verb, line in verbs.items()}
#: What commands were called that are options now.
OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "steps": ("run", "--steps"),
    "search": ("ramp", "--settle"),
    "runs": ("list", "--runs"),
    "calibrate": ("doctor", "--calibrate"),
}
#: What ``plimsoll`` alone shows.
FIRST = ("check", "run", "ramp", "compare", "report", "doctor")

#: What 'plimsoll help' explains besides commands.
TOPICS = ("options",)
