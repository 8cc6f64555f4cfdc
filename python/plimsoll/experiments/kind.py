"""What a kind of experiment is: everything about one, in one value.

Model: a kind says what it is for and which options it has, from which reader, JSON Schema, reference page and messages follow; builds the
plan for one subject; says how many points that will be, and which settings it knows in advance, so that all of them can be checked before
anything is touched; and says how its points are drawn. Whoever wants to know something of a kind asks here, and never by its name.

    KINDS_BY_NAME["steps"].build(experiment, subject)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from plimsoll.errors import InputError
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.option import Option
from plimsoll.experiments.plan import Plan, Role, Subject
from plimsoll.records import dataclass
from plimsoll.stored import Definition, Json

if TYPE_CHECKING:
    from plimsoll.analysis.objective.judgement import Objective

Settings = Mapping[str, Any]

#: What ``over`` holds: nothing, one axis of numbers, the two ends of one, or several axes of anything.
Axes = Literal["none", "one", "ends", "several"]
#: How a report draws the points of an experiment.
Drawing = Literal["bars", "line", "cells", "speed-up", "rounds"]


class Source(Protocol):
    """Who wrote an entry, in a file or on a command line: what messages about it begin with and call its keys."""

    def wrong(self, problem: object) -> InputError:
        """The message, for raising."""
        ...

    def key(self, name: str) -> str:
        """A key where the sentence does not say that it is one."""
        ...

    def name(self, name: str) -> str:
        """A key where the sentence says so."""
        ...

    def example(self, name: str, value: str) -> str:
        """A key with a value, which is TOML, as it is written."""
        ...


@dataclass(frozen=True)
class Outlook:
    """The fewest and the most points of one subject; ``words`` say what they are where results decide. ``filling`` is a point before them
    that fills the target."""

    least: int
    most: int
    words: str = ""
    filling: bool = False


def _unknown(_: Experiment) -> None:
    return None


def _nothing_of_its_own(_: Experiment) -> Iterator[Settings]:
    yield {}


def _never(_: Experiment) -> bool:
    return False


def _all_suit(_: Experiment, __: Sequence[Definition]) -> str | None:
    return None


def _takes_all(_: Json, __: Json, ___: Source) -> None:
    """Nothing to refuse."""


@dataclass(frozen=True)
class Kind:
    """A kind of experiment: its title in a report, one line of meaning, what it does, and an ``[[experiment]]`` to start from.

    ``points`` is None where their number depends on what is measured. ``check`` refuses an entry of a file (as written, and as read) for
    what no option can see by itself, ``unsuited`` the workloads that it cannot measure, in a sentence. ``fills``: the target is filled
    first.
    """

    name: str
    title: str
    meaning: str
    account: str
    axes: Axes
    example: str
    build: Callable[[Experiment, Subject], Plan]
    #: Options besides those of every kind, and which of them must be given.
    options: tuple[Option, ...] = ()
    needs: tuple[str, ...] = ()
    points: Callable[[Experiment], int | None] = _unknown
    #: How many points lie ahead of one subject, where results decide, or where words say more than their number.
    ahead: Callable[[Experiment], Outlook] | None = None
    settings: Callable[[Experiment], Iterator[Settings]] = _nothing_of_its_own
    check: Callable[[Json, Json, Source], None] = _takes_all
    unsuited: Callable[[Experiment, Sequence[Definition]], str | None] = _all_suit
    fills: Callable[[Experiment], bool] = _never
    #: What its points are for.
    role: Role = "point"
    #: JSON Schema of what only this kind asks of an entry.
    schema: Mapping[str, Any] = field(default_factory=dict, hash=False)
    drawings: tuple[Drawing, ...] = ()
    #: The command for one such experiment, where it is not called like the kind.
    command: str = ""
    #: What the command varies when nothing was typed.
    usual_axis: str = ""
    #: Its points are the workloads as they stand, and no levels or cells of anything.
    as_it_stands: bool = False
    #: Its points are levels of one load, so an objective is judged by the mark.
    varies_load: bool = False
    #: It looks for that mark, and finding none is what it found.
    seeks_mark: bool = False
    #: Which levels it measures follows from what it measures.
    adaptive: bool = False
    #: Its points are given rates that their workload as it stands need not have.
    offers_rates: bool = False
    #: Interleaved, workloads take turns as well, since points do not build on each other.
    all_in_turn: bool = False

    def example_of(self, option: str) -> str:
        """The value that the example has for an option, as TOML."""
        for line in self.example.splitlines():
            key, _, value = line.partition(" = ")
            if key == option:
                return value
        raise KeyError(f"the example of {self.name} has no {option}")


def objective_of(experiment: Experiment) -> Objective | None:
    """The objective, if there is one."""
    if experiment.objective is None:
        return None
    from plimsoll.analysis.objective.judgement import parse_objective

    return parse_objective(experiment.objective)


def needed_objective(experiment: Experiment) -> Objective:
    """The objective of a kind that cannot be without."""
    objective = objective_of(experiment)
    assert objective is not None, f"{experiment.name}: the reader lets no {experiment.kind} pass without objective"
    return objective


def levels(experiment: Experiment) -> Iterator[Settings]:
    """The settings of every level of the only axis."""
    return ({experiment.axis: level} for level in experiment.over[experiment.axis])
