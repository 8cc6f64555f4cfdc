"""An experiment file, as TOML or JSON gave it, becomes experiments; or one sentence says what is wrong where.

Model: the options are declared in `declaration`; here they are read in four steps: the ``quick`` table is laid over the others when it is
asked for, every key is checked against the declarations of the kind, every value is read by its form, and the targets of the command line
are joined with the configurations. The quick form is read along with the full one, so that a mistake in it shows at once. Short commands
make the same document as a file would hold.
Limits: names of workloads and options are kept as written; the conductor resolves and checks them with the engine.

    document = {"experiment": [{"name": "depth", "kind": "steps", "workloads": ["oltp-db"], "over": {"queue_depth": "1..64"}}]}
    suite = read_experiments(document, "mine.toml", targets=["/dev/sdb"])
    suite.experiments[0].over                 # {'queue_depth': (1, 2, 4, 8, 16, 32, 64)}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.experiments.declaration import (
    CONFIGURATION_OPTIONS,
    FIELDS,
    FILE_OPTIONS,
    KINDS_BY_NAME,
    OPTIONS,
    OPTIONS_BY_NAME,
    Kind,
    Option,
    options_of,
)
from plimsoll.experiments.experiment import Experiment, Suite
from plimsoll.experiments.form import as_toml, flattened, near
from plimsoll.experiments.kinds import check
from plimsoll.experiments.levels import ends_of, is_target, level_number, levels_of
from plimsoll.experiments.naming import TYPED, Place
from plimsoll.experiments.plan import Configuration

__all__ = ["DEFAULT_TARGET_NAME", "Experiment", "Suite", "read_experiments"]

Json = dict[str, Any]

#: Name of the only configuration when neither file nor command line names a target; its target is empty: the conductor's default.
DEFAULT_TARGET_NAME = "scratch file"

#: Options that say something about a grid only.
_GRID_OPTIONS = ("disks", "num_small", "num_large", "small", "large")


def read_experiments(document: Json, source: str | Place, *, quick: bool = False, targets: Sequence[str] = ()) -> Suite:
    """The experiments that ``document`` asks for on ``targets``; ``source`` names the file in messages, or is a place that does.

    Raises `InputError` that names file, experiment and key, what is wrong and what would be right.
    """
    place = Place(source) if isinstance(source, str) else source
    if not isinstance(document, dict):
        raise place.wrong("not a file of experiments; write one [[experiment]] for each.")
    _check_keys(document, FILE_OPTIONS, place)
    entries = document.get("experiment")
    if not isinstance(entries, list) or not entries:
        raise place.wrong("there is no experiment; write one [[experiment]] for each.")
    read = [_read_both(entry, number, place) for number, entry in enumerate(entries, start=1)]
    _check_names([both[0].name for both in read], place)
    chosen = [both[1 if quick else 0] for both in read]
    _check_targets(chosen, targets, place)
    about = _values(document, [option for option in FILE_OPTIONS if option.name not in ("experiment", "workload")], place)
    own = _own_workloads(document.get("workload", []), place)
    return Suite(
        title=about["title"],
        purpose=about["purpose"],
        source=about["source"],
        rationale=about["rationale"],
        experiments=tuple(_with_targets(_with_definitions(item, own), targets) for item in chosen),
        published=tuple(about["published"]),
    )


def _own_workloads(entries: Any, place: Place) -> dict[str, Json]:
    """The workloads that the file defines, by name; what else stands in them, the engine checks."""
    if not isinstance(entries, list):
        raise place.wrong("key 'workload' is not a list of tables; write [[workload]] and its keys below it.")
    found: dict[str, Json] = {}
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise place.wrong(f"workload {number} is {quoted(entry)}, not a table; write [[workload]] and its keys below it.")
        name = entry.get("name")
        if not isinstance(name, str) or not name:
            raise place.wrong(f'workload {number} has no name; write for example name = "log".')
        if name in found:
            raise place.wrong(f"two workloads are called {quoted(name)}; give each a name of its own.")
        found[name] = entry
    return found


def _with_definitions(experiment: Experiment, own: Mapping[str, Json]) -> Experiment:
    return replace(experiment, definitions={name: own[name] for name in experiment.workloads if name in own})


def _read_both(entry: Any, number: int, place: Place) -> tuple[Experiment, Experiment]:
    """The full and the quick form of one experiment."""
    if not isinstance(entry, dict):
        raise place.wrong(f"experiment {number} is {quoted(entry)}, not a table; write [[experiment]] and its keys below it.")
    name = entry.get("name")
    here = place.inside(f"experiment {quoted(name)}" if isinstance(name, str) and name else f"experiment {number}")
    full = _read(entry, here)
    if "quick" not in entry:
        return full, full
    overlay = entry["quick"]
    if not isinstance(overlay, dict):
        raise here.wrong("key 'quick' is not a table; write for example quick = { set = { duration = \"1s\" } }.")
    there = here.inside("key 'quick'")
    for key in ("name", "kind", "quick"):
        if key in overlay:
            raise there.wrong(f"{quoted(key)} cannot be replaced; leave it out.")
    _check_options(overlay, KINDS_BY_NAME[full.kind], there)
    return full, _read(_overlaid(entry, overlay), there)


def _overlaid(entry: Json, overlay: Json) -> Json:
    """The table with those of ``overlay`` on top: tables are merged key by key, anything else is replaced."""
    merged = {key: value for key, value in entry.items() if key != "quick"}
    for key, value in overlay.items():
        under = merged.get(key)
        if not isinstance(under, dict) or not isinstance(value, dict):
            merged[key] = value
        else:
            # `log.rate` may stand in a table called `log` in one of them and not in the other.
            merged[key] = {**flattened(under, "VALUE"), **flattened(value, "VALUE")}
    return merged


def _read(entry: Json, place: Place) -> Experiment:
    kind = KINDS_BY_NAME[_kind(entry, place)]
    _check_options(entry, kind, place)
    values = _values(entry, [option for option in options_of(kind.name) if option.name not in ("configurations", "quick")], place)
    _check_needs(entry, kind, place)
    if values.get("window", 0) > values.get("rounds_max", 0):
        raise place.wrong(f"{values['rounds_max']} rounds hold no window of {values['window']}; write a larger 'rounds_max'.")
    experiment = Experiment(
        name=values["name"],
        kind=kind.name,
        workloads=tuple(values["workloads"]),
        configurations=tuple(_configurations(entry.get("configurations", []), place)),
        over=_axes(values.get("over") or {}, kind, place.at("over")),
        settings=values["set"] or {},
        objective=values.get("objective"),
        repeat=_repeat(entry, values, place),
        interleave=values["interleave"],
        cache=values["cache"],
        precision=values.get("precision"),
        parameters={name: value for name, value in values.items() if name not in (*FIELDS, "iterations")},
    )
    try:
        check(experiment)
    except InputError as problem:
        raise place.wrong(problem) from None
    return experiment


def _kind(entry: Json, place: Place) -> str:
    if "kind" not in entry:
        raise place.wrong(f"key 'kind' is missing; there are {', '.join(KINDS_BY_NAME)}.")
    kind: str = _value(entry["kind"], OPTIONS_BY_NAME["kind"], place)
    return kind


def _check_options(entry: Json, kind: Kind, place: Place) -> None:
    _check_keys(entry, OPTIONS, place)
    for key in entry:
        option = OPTIONS_BY_NAME[key]
        if not option.belongs_to(kind.name):
            owners = " and ".join(option.kinds) if len(option.kinds) < 3 else f"{', '.join(option.kinds[:-1])} and {option.kinds[-1]}"
            raise place.wrong(f"{place.key(key)} is for {owners}, and this is {place.kind(kind.name)}; leave it out, or change 'kind'.")


def _check_keys(table: Json, options: Iterable[Option], place: Place) -> None:
    known = [option.name for option in options]
    for key in table:
        if key not in known:
            raise place.wrong(f"key {quoted(key)} is not known; {near(key, known)}")


def _check_needs(entry: Json, kind: Kind, place: Place) -> None:
    for name in kind.needs:
        if name not in entry:
            raise place.wrong(
                f"{place.kind(kind.name)} needs {place.key(name)}; write for example {place.example(name, _example(name, kind))}."
            )
    if kind.axes == "several" and ("over" in entry) == ("grid" in entry):
        over, grid = place.name("over"), place.name("grid")
        problem = f"both {over} and {grid} say what is varied" if "grid" in entry else "nothing says what is varied"
        raise place.wrong(f"{problem}; write one of {over} and {grid}, for example {place.example('over', _example('over', kind))}.")
    for key in ("shuffle",) if "grid" in entry else _GRID_OPTIONS:
        if key in entry:
            how = "with" if "grid" in entry else "without"
            raise place.wrong(f"{place.key(key)} has no effect {how} {place.name('grid')}; leave it out.")


def _example(name: str, kind: Kind) -> str:
    for line in kind.example.splitlines():
        key, _, value = line.partition(" = ")
        if key == name:
            return value
    raise KeyError(f"the example of {kind.name} has no {name}")


def _values(table: Json, options: Iterable[Option], place: Place) -> Json:
    """Every option's value, read or by default."""
    values: Json = {}
    for option in options:
        if option.name in table:
            values[option.name] = _value(table[option.name], option, place)
        elif option.required:
            example = place.example(option.name, as_toml(option.example))
            raise place.wrong(f"{place.key(option.name)} is missing; write for example {example}.")
        else:
            values[option.name] = option.default
    return values


def _value(value: Any, option: Option, place: Place) -> Any:
    try:
        return option.form.read(value)
    except InputError as problem:
        raise place.at(option.name).wrong(problem) from None


def _repeat(entry: Json, values: Json, place: Place) -> int:
    if values.get("iterations") is None:
        return int(values.get("repeat") or 1)
    if "repeat" in entry:
        raise place.wrong(f"{place.name('iterations')} and {place.name('repeat')} are the same; write one of them.")
    return int(values["iterations"])


def _axes(written: Json, kind: Kind, place: Place) -> dict[str, tuple[Any, ...]]:
    if kind.axes in ("one", "ends") and len(written) != 1:
        example = place.example("over", _example("over", kind))
        raise place.wrong(f"{place.kind(kind.name)} varies one option, not {len(written)}; write for example {example}.")
    axes = {}
    for option, levels in written.items():
        try:
            if is_target(option) and kind.axes != "several":
                others = f"as configurations (several --target), or with {place.kind('matrix')}"
                raise InputError(f"{place.kind(kind.name)} varies the load; compare targets {others}.")
            axes[option] = _levels(option, levels, kind, place)
        except InputError as problem:
            raise place.wrong(f"{option}: {problem}") from None
    return axes


def _levels(option: str, written: Any, kind: Kind, place: Place) -> tuple[Any, ...]:
    if kind.axes == "ends":
        return ends_of(option, written)
    levels = levels_of(option, written)
    if kind.axes == "several":
        return levels
    for level in levels:
        if isinstance(level, (bool, str, dict)):
            number = f"{quoted(level)} is not a number, as the levels of {place.kind(kind.name)} are"
            raise InputError(f"{number}; {place.kind('matrix')} takes any value.")
    return tuple(level_number(option, level) for level in levels)


def _configurations(written: Any, place: Place) -> list[Configuration]:
    """As written: a target that is not given is empty."""
    if not isinstance(written, list):
        raise place.wrong('key \'configurations\' is not a list; write [{ name = "A", target = "/dev/sdb" }].')
    found: list[Configuration] = []
    for number, entry in enumerate(written, start=1):
        name = entry.get("name") if isinstance(entry, dict) else None
        here = place.inside(f"configuration {quoted(name)}" if name else f"configuration {number}")
        if not isinstance(entry, dict):
            raise here.wrong(f'{quoted(entry)} is not a table; write {{ name = "A", target = "/dev/sdb" }}.')
        _check_keys(entry, CONFIGURATION_OPTIONS, here)
        values = _values(entry, CONFIGURATION_OPTIONS, here)
        if "target" in entry and not values["target"]:
            raise here.wrong("key 'target': the target is empty; name one, or leave the key out.")
        if values["name"] in [item.name for item in found]:
            raise here.wrong("the name stands twice; give each configuration one of its own.")
        found.append(Configuration(values["name"], values["target"] or "", values["set"] or {}))
    return found


def _check_names(names: Sequence[str], place: Place) -> None:
    for number, name in enumerate(names, start=1):
        first = names.index(name) + 1
        if first != number:
            raise place.wrong(f"experiments {first} and {number} are both called {quoted(name)}; give each a name of its own.")


def _check_targets(experiments: Sequence[Experiment], targets: Sequence[str], place: Place) -> None:
    """Targets that were typed are measured, or the file is refused: never something else in silence."""
    twice = next((target for target in targets if list(targets).count(target) > 1), None)
    if twice is not None:
        raise InputError(f"--target {twice} is given twice; name each target once.")
    if targets and not any(_takes_targets(item) for item in experiments):
        where = f"or remove them from {place.key('over')}" if place is TYPED else "or remove them from the file"
        raise place.wrong(f"every experiment names its own targets; leave --target out, {where}.")


def _takes_targets(experiment: Experiment) -> bool:
    own = bool(experiment.configurations) and all(item.target for item in experiment.configurations)
    return not own and "target" not in experiment.over


def _with_targets(experiment: Experiment, targets: Sequence[str]) -> Experiment:
    """The experiment on the targets of the command line: each configuration without a target of its own, once per target."""
    usual = [Configuration(target, target) for target in targets] or [Configuration(DEFAULT_TARGET_NAME, "")]
    if "target" in experiment.over:
        usual, targets = [Configuration("all targets", "")], ()
    if not experiment.configurations:
        return replace(experiment, configurations=tuple(usual))
    joined = [joint for item in experiment.configurations for joint in _on(item, targets)]
    return replace(experiment, configurations=tuple(joined))


def _on(configuration: Configuration, targets: Sequence[str]) -> list[Configuration]:
    if configuration.target or not targets:
        return [configuration]
    name, settings = configuration.name, configuration.settings
    return [Configuration(name if len(targets) == 1 else f"{name} on {target}", target, settings) for target in targets]
