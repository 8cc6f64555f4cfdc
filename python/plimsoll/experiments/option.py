"""An option of an experiment, and those that several kinds have.

Model: an option is declared once, with its form (which reads it, says how it is written and gives its JSON Schema), its meaning, example
and default. A kind names the options that it has besides those of every kind; its own are declared in its file.

    REPEAT.form.read(3), REPEAT.default          # (3, 1)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plimsoll.experiments import forms
from plimsoll.experiments.forms import Form, whole
from plimsoll.records import dataclass
from plimsoll.stored import Schema


@dataclass(frozen=True)
class Option:
    """A key. ``kinds`` is empty when every kind has it; ``default`` is None where leaving it out is a choice of its own."""

    name: str
    form: Form
    meaning: str
    example: Any
    default: Any = None
    kinds: tuple[str, ...] = ()
    absent: str = ""
    required: bool = False

    def belongs_to(self, kind: str) -> bool:
        """Whether experiments of ``kind`` have it."""
        return not self.kinds or kind in self.kinds


def schema_of(options: Iterable[Option]) -> Schema:
    """The schema of a table that has these options, and nothing else."""
    properties: Schema = {}
    required = []
    for option in options:
        properties[option.name] = {**option.form.schema, "description": option.meaning, "examples": [option.example]}
        if option.required:
            required.append(option.name)
        elif option.default is not None:
            properties[option.name]["default"] = option.default
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


def meanings(choices: dict[str, str]) -> str:
    """What each word means, for the end of an option's meaning."""
    return " ".join(f"`{word}`: {meaning.rstrip('.')}." for word, meaning in choices.items())


OVER = Option(
    "over",
    forms.AXES,
    'What is varied. `steps` and `scaling` have one axis of numbers; `ramp` and `search` one axis with its two ends, `"1..256"`; '
    "`matrix` any number of axes, also over `target`.",
    {"queue_depth": "1..64"},
    absent="must be given, or `grid`",
)
OBJECTIVE = Option(
    "objective",
    forms.OBJECTIVE,
    "The condition on response that a load must keep; decides `ramp` and `search`, and gives every other load line its mark.",
    "read mean <= 20ms and write mean <= 20ms",
    absent="none is asked for",
)
REPEAT = Option("repeat", whole(1, 1000), "How often every point is measured, each time with the next seed.", 3, default=1)
PRECISION = Option(
    "precision",
    forms.PRECISION,
    "Each point ends as soon as the 95 % interval of the metric is this narrow; `duration` is then the limit.",
    "2% of read p99",
    absent="each point lasts its duration",
)
RESOLUTION = Option("resolution", forms.RESOLUTION, "How closely the mark is looked for.", "5%", default="2%")
