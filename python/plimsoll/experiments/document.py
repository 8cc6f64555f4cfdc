"""Documents of experiments, and how messages name their parts.

Sources: keys for who wrote a file, options for who typed a command.

Model: `Source` begins every message about a document and names what stands in it. A file has places and keys with values in TOML; a typed
command is one experiment, so nothing has to say which, and what is a key there is an option here.

    Source("mine.toml").inside("experiment 'a'").key("objective")     # "key 'objective'"
    TYPED.key("objective"), TYPED.example("over", '{ queue_depth = "1..64" }')      # "--objective", "--over queue_depth=1..64"

Reading: a document, as TOML or JSON gave it, becomes experiments; or one sentence says what is wrong where.

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

import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.experiments.declaration import CONFIGURATION_OPTIONS, FIELDS, FILE_OPTIONS, OPTIONS, OPTIONS_BY_NAME, options_of
from plimsoll.experiments.experiment import Experiment, Suite
from plimsoll.experiments.forms import as_toml, flattened, near
from plimsoll.experiments.kind import Kind
from plimsoll.experiments.kinds import KINDS_BY_NAME
from plimsoll.experiments.layout_target import LayoutTarget
from plimsoll.experiments.levels import ends_of, is_target, level_number, levels_of
from plimsoll.experiments.named_target import NamedTarget, named_target
from plimsoll.experiments.option import Option
from plimsoll.experiments.plan import Configuration
from plimsoll.experiments.schedule import check
from plimsoll.records import dataclass
from plimsoll.stored import Json

#: Keys that are not options of the same name.
_ARGUMENTS = {"workloads": "WORKLOAD", "asserts": "--assert"}


@dataclass(frozen=True)
class Source:
    """A document, or a part of it: where it lies in a file, and what messages call its keys."""

    text: str

    def inside(self, what: str) -> Source:
        """A part within this one."""
        return Source(f"{self.text}: {what}")

    def at(self, key: str) -> Source:
        """The value of a key."""
        return self.inside(self.key(key))

    def wrong(self, problem: object) -> InputError:
        """The message, for raising."""
        return InputError(f"{self.text}: {problem}")

    def key(self, name: str) -> str:
        """A key where the sentence does not say that it is one."""
        return f"key {quoted(name)}"

    def name(self, name: str) -> str:
        """A key where the sentence says so."""
        return f"{quoted(name)}"

    def kind(self, name: str) -> str:
        """The kind of an experiment."""
        return f"kind {quoted(name)}"

    def example(self, name: str, value: str) -> str:
        """A key with a value, which is TOML, as it is written."""
        return f"{name} = {value}"


@dataclass(frozen=True)
class _Typed(Source):
    """A typed command: one experiment, whose keys are options."""

    #: The objective to show for its loads, as TOML; the one of its kind when empty.
    objective: str = ""

    def inside(self, what: str) -> Source:
        return self if what.startswith("experiment ") else replace(self, text=f"{self.text}: {what}" if self.text else what)

    def wrong(self, problem: object) -> InputError:
        return InputError(f"{self.text}: {problem}" if self.text else str(problem))

    def key(self, name: str) -> str:
        return _ARGUMENTS.get(name, f"--{name.replace('_', '-')}")

    def name(self, name: str) -> str:
        return self.key(name)

    def kind(self, name: str) -> str:
        return f"'plimsoll {KINDS_BY_NAME[name].command or name}'"

    def example(self, name: str, value: str) -> str:
        shown = self.objective if name == "objective" and self.objective else value
        written = tomllib.loads(f"value = {shown}")["value"]
        entries = [f"{key}={_words(item)}" for key, item in written.items()] if isinstance(written, dict) else [_words(written)]
        return " ".join(self.key(name) if entry == "" else f"{self.key(name)} {shlex.quote(entry)}" for entry in entries)


#: What a short command says.
TYPED: Source = _Typed("")


def typed(objective: str) -> Source:
    """A short command whose loads are judged by an objective like this one, as TOML."""
    return _Typed("", objective)


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "" if value is True else str(value)


__all__ = ["DEFAULT_TARGET_NAME", "Experiment", "Suite", "read_experiments"]


#: Name of the only configuration when neither file nor command line names a target; its target is empty: the conductor's default.
DEFAULT_TARGET_NAME = "scratch file"


def read_experiments(document: Json, source: str | Source, *, quick: bool = False, targets: Sequence[str] = ()) -> Suite:
    """The experiments that ``document`` asks for on ``targets`` (``NAME=TARGET`` names one); ``source`` names the file in messages, or is a
    source that does.

    Raises `InputError` that names file, experiment and key, what is wrong and what would be right.
    """
    source = Source(source) if isinstance(source, str) else source
    if not isinstance(document, dict):
        raise source.wrong("not a file of experiments; write one [[experiment]] for each.")
    _check_keys(document, FILE_OPTIONS, source)
    entries = document.get("experiment")
    if not isinstance(entries, list) or not entries:
        raise source.wrong("there is no experiment; write one [[experiment]] for each.")
    read = [_read_both(entry, number, source) for number, entry in enumerate(entries, start=1)]
    _check_names([both[0].name for both in read], source)
    chosen = [both[1 if quick else 0] for both in read]
    typed = [named_target(target) for target in targets]
    _check_targets(chosen, typed, source)
    about = _values(document, [option for option in FILE_OPTIONS if option.name not in ("experiment", "workload")], source)
    own = _own_workloads(document.get("workload", []), source)
    return Suite(
        title=about["title"],
        purpose=about["purpose"],
        source=about["source"],
        rationale=about["rationale"],
        experiments=tuple(_with_targets(_with_definitions(item, own), typed) for item in chosen),
        published=tuple(about["published"]),
    )


def _own_workloads(entries: Any, source: Source) -> dict[str, Json]:
    """The workloads that the file defines, by name; what else stands in them, the engine checks."""
    if not isinstance(entries, list):
        raise source.wrong("key 'workload' is not a list of tables; write [[workload]] and its keys below it.")
    found: dict[str, Json] = {}
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise source.wrong(f"workload {number} is {quoted(entry)}, not a table; write [[workload]] and its keys below it.")
        name = entry.get("name")
        if not isinstance(name, str) or not name:
            raise source.wrong(f'workload {number} has no name; write for example name = "log".')
        if name in found:
            raise source.wrong(f"two workloads are called {quoted(name)}; give each a name of its own.")
        found[name] = entry
    return found


def _with_definitions(experiment: Experiment, own: Mapping[str, Json]) -> Experiment:
    return replace(experiment, definitions={name: own[name] for name in experiment.workloads if name in own})


def _read_both(entry: Any, number: int, source: Source) -> tuple[Experiment, Experiment]:
    """The full and the quick form of one experiment."""
    if not isinstance(entry, dict):
        raise source.wrong(f"experiment {number} is {quoted(entry)}, not a table; write [[experiment]] and its keys below it.")
    name = entry.get("name")
    here = source.inside(f"experiment {quoted(name)}" if isinstance(name, str) and name else f"experiment {number}")
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


def _read(entry: Json, source: Source) -> Experiment:
    kind = KINDS_BY_NAME[_kind(entry, source)]
    _check_options(entry, kind, source)
    values = _values(entry, [option for option in options_of(kind.name) if option.name not in ("configurations", "quick")], source)
    _check_needs(entry, kind, source)
    kind.check(entry, values, source)
    experiment = Experiment(
        name=values["name"],
        kind=kind.name,
        workloads=tuple(values["workloads"]),
        configurations=tuple(_configurations(entry.get("configurations", []), source)),
        over=_axes(values.get("over") or {}, kind, source.at("over")),
        settings=values["set"] or {},
        objective=values.get("objective"),
        repeat=_repeat(entry, values, source),
        interleave=values["interleave"],
        cache=values["cache"],
        precision=values.get("precision"),
        parameters={name: value for name, value in values.items() if name not in (*FIELDS, "iterations")},
    )
    try:
        check(experiment)
    except InputError as problem:
        raise source.wrong(problem) from None
    return experiment


def _kind(entry: Json, source: Source) -> str:
    if "kind" not in entry:
        raise source.wrong(f"key 'kind' is missing; there are {', '.join(KINDS_BY_NAME)}.")
    kind: str = _value(entry["kind"], OPTIONS_BY_NAME["kind"], source)
    return kind


def _check_options(entry: Json, kind: Kind, source: Source) -> None:
    _check_keys(entry, OPTIONS, source)
    for key in entry:
        option = OPTIONS_BY_NAME[key]
        if not option.belongs_to(kind.name):
            owners = " and ".join(option.kinds) if len(option.kinds) < 3 else f"{', '.join(option.kinds[:-1])} and {option.kinds[-1]}"
            raise source.wrong(f"{source.key(key)} is for {owners}, and this is {source.kind(kind.name)}; leave it out, or change 'kind'.")


def _check_keys(table: Json, options: Iterable[Option], source: Source) -> None:
    known = [option.name for option in options]
    for key in table:
        if key not in known:
            raise source.wrong(f"key {quoted(key)} is not known; {near(key, known)}")


def _check_needs(entry: Json, kind: Kind, source: Source) -> None:
    for name in kind.needs:
        if name not in entry:
            raise source.wrong(
                f"{source.kind(kind.name)} needs {source.key(name)}; write for example {source.example(name, kind.example_of(name))}."
            )


def _values(table: Json, options: Iterable[Option], source: Source) -> Json:
    """Every option's value, read or by default."""
    values: Json = {}
    for option in options:
        if option.name in table:
            values[option.name] = _value(table[option.name], option, source)
        elif option.required:
            example = source.example(option.name, as_toml(option.example))
            raise source.wrong(f"{source.key(option.name)} is missing; write for example {example}.")
        else:
            values[option.name] = option.default
    return values


def _value(value: Any, option: Option, source: Source) -> Any:
    try:
        return option.form.read(value)
    except InputError as problem:
        raise source.at(option.name).wrong(problem) from None


def _repeat(entry: Json, values: Json, source: Source) -> int:
    if values.get("iterations") is None:
        return int(values.get("repeat") or 1)
    if "repeat" in entry:
        raise source.wrong(f"{source.name('iterations')} and {source.name('repeat')} are the same; write one of them.")
    return int(values["iterations"])


def _axes(written: Json, kind: Kind, source: Source) -> dict[str, tuple[Any, ...]]:
    if kind.axes in ("one", "ends") and len(written) != 1:
        example = source.example("over", kind.example_of("over"))
        raise source.wrong(f"{source.kind(kind.name)} varies one option, not {len(written)}; write for example {example}.")
    axes = {}
    for option, levels in written.items():
        try:
            if is_target(option) and kind.axes != "several":
                others = f"as configurations (several --target), or with {source.kind('matrix')}"
                raise InputError(f"{source.kind(kind.name)} varies the load; compare targets {others}.")
            axes[option] = _levels(option, levels, kind, source)
        except InputError as problem:
            raise source.wrong(f"{option}: {problem}") from None
    return axes


def _levels(option: str, written: Any, kind: Kind, source: Source) -> tuple[Any, ...]:
    if kind.axes == "ends":
        return ends_of(option, written)
    levels = levels_of(option, written)
    if kind.axes == "several":
        return levels
    for level in levels:
        if isinstance(level, (bool, str, dict)):
            number = f"{quoted(level)} is not a number, as the levels of {source.kind(kind.name)} are"
            raise InputError(f"{number}; {source.kind('matrix')} takes any value.")
    return tuple(level_number(option, level) for level in levels)


def _configurations(written: Any, source: Source) -> list[Configuration]:
    """As written: a target that is not given is empty."""
    if not isinstance(written, list):
        raise source.wrong('key \'configurations\' is not a list; write [{ name = "A", target = "/dev/sdb" }].')
    found: list[Configuration] = []
    for number, entry in enumerate(written, start=1):
        name = entry.get("name") if isinstance(entry, dict) else None
        here = source.inside(f"configuration {quoted(name)}" if name else f"configuration {number}")
        if not isinstance(entry, dict):
            raise here.wrong(f'{quoted(entry)} is not a table; write {{ name = "A", target = "/dev/sdb" }}.')
        _check_keys(entry, CONFIGURATION_OPTIONS, here)
        values = _values(_named(entry), CONFIGURATION_OPTIONS, here)
        if "target" in entry and not values["target"]:
            raise here.wrong("key 'target': the target is empty; name one, or leave the key out.")
        values["target"] = _laid_out(values, here)
        if values["name"] in [item.name for item in found]:
            raise here.wrong("the name stands twice; give each configuration one of its own.")
        found.append(Configuration(values["name"], values["target"] or "", values["set"] or {}))
    return found


def _named(entry: Json) -> Json:
    """With a name: a side that is a layout is called like it."""
    layout = entry.get("layout")
    return {"name": LayoutTarget(layout).called, **entry} if isinstance(layout, str) and layout else entry


def _laid_out(values: Json, source: Source) -> str | None:
    """The target of a configuration: of one with a layout, what says so in one text."""
    target: str | None = values["target"]
    if not values["layout"]:
        if values["on"]:
            raise source.wrong("key 'on' names the devices of a layout, and there is none; add layout = \"raid5-lun\", or leave 'on' out.")
        return target
    return LayoutTarget(values["layout"], tuple(values["on"] or ()), target or "").text


def _check_names(names: Sequence[str], source: Source) -> None:
    for number, name in enumerate(names, start=1):
        first = names.index(name) + 1
        if first != number:
            raise source.wrong(f"experiments {first} and {number} are both called {quoted(name)}; give each a name of its own.")


def _check_targets(experiments: Sequence[Experiment], typed: Sequence[NamedTarget], source: Source) -> None:
    """Targets that were typed are measured, or the file is refused: never something else in silence."""
    called = [target.called for target in typed]
    twice = next((target for target in typed if called.count(target.called) > 1), None)
    if twice is not None and twice.name:
        raise InputError(f"--target {twice.name}=…: two targets are called {quoted(twice.name)}; give each a name of its own.")
    if twice is not None:
        raise InputError(f"--target {twice.target} is given twice; name each target once.")
    if typed and not any(_takes_targets(item) for item in experiments):
        where = f"or remove them from {source.key('over')}" if source is TYPED else "or remove them from the file"
        raise source.wrong(f"every experiment names its own targets; leave --target out, {where}.")


def _takes_targets(experiment: Experiment) -> bool:
    own = bool(experiment.configurations) and all(item.target for item in experiment.configurations)
    return not own and "target" not in experiment.over


def _with_targets(experiment: Experiment, typed: Sequence[NamedTarget]) -> Experiment:
    """The experiment on the targets of the command line: each configuration without a target of its own, once per target."""
    usual = [Configuration(one.called, one.target) for one in typed] or [Configuration(DEFAULT_TARGET_NAME, "")]
    if "target" in experiment.over:
        usual, typed = [Configuration("all targets", "")], ()
    if not experiment.configurations:
        return replace(experiment, configurations=tuple(usual))
    joined = [joint for item in experiment.configurations for joint in _on(item, typed)]
    return replace(experiment, configurations=tuple(joined))


def _on(configuration: Configuration, typed: Sequence[NamedTarget]) -> list[Configuration]:
    if configuration.target or not typed:
        return [configuration]
    name, settings = configuration.name, configuration.settings
    return [Configuration(name if len(typed) == 1 else f"{name} on {one.called}", one.target, settings) for one in typed]
