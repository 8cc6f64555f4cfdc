"""A round of a run on files: trees, and streams that work on them.

Model: Vdbench divides a FWD's threads by its FSDs and operations, at least one for each, and its rate equally. FSDs of one shape whose
files are selected at random are one stream over all of their trees; otherwise each FSD has a stream, and so has each operation. At
fwdrate=max Vdbench keeps FWDs and operations at equal rates, or at their skews. One stream that draws from all operations does so, too;
streams that differ in more than their operations go as fast as each can.
Limits: what each operation did is apart in results, also where one stream draws them; what each FWD did then is not.

    FileComposer(forest, planning, run, loops).load({}, None).trees
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.filesystem.forest import Forest
from plimsoll.formats.vdbench.filesystem.stream import (
    BETWEEN_TREES,
    OF_OPERATIONS,
    FileUse,
    Shares,
    content,
    is_random,
    operations,
    options,
    same_but_operation,
    selection,
    table,
    words_of,
)
from plimsoll.formats.vdbench.filesystem.tree import Formatting, tree
from plimsoll.formats.vdbench.load import RATE_MIN, Load, Loop, Rate, skews
from plimsoll.formats.vdbench.model import Definition, Parameter, Word
from plimsoll.formats.vdbench.pace import Whole, amount_per_thread
from plimsoll.formats.vdbench.storage import Planning, target_at
from plimsoll.formats.vdbench.storage import threads as threads_checked
from plimsoll.formats.vdbench.values import Values, named, parse

Json = dict[str, Any]

#: Which keyword of a FWD or FSD each loop varies.
LOOPS = {
    "threads": "threads",
    "rdpct": "rdpct",
    "xfersize": "xfersizes",
    "forcompratio": "compratio",
    "fordepth": "depth",
    "forfiles": "files",
    "foroperations": "operations",
    "forrdpct": "rdpct",
    "forsizes": "sizes",
    "fortotalsize": "totalsize",
    "forwidth": "width",
    "forwss": "workingsetsize",
    "forxfersize": "xfersizes",
}
#: The option that a loop varies where it is an axis.
AXES = {
    "threads": "threads",
    "xfersizes": "transfer_size",
    "compratio": "compress_ratio",
    "operations": "operation",
    "depth": "depth",
    "width": "width",
    "files": "files",
    "sizes": "sizes",
    "totalsize": "total_size",
    "workingsetsize": "working_set",
    "rate": "rate",
}


@dataclass(frozen=True)
class _Part:
    """One stream to be: a FWD's operation on some of its FSDs, its threads, and its share of the run."""

    use: FileUse
    threads: int
    share: float
    label: str


class FileComposer:
    """Makes the trees and streams of one run."""

    def __init__(self, forest: Forest, planning: Planning, run: Definition, loops: Sequence[Loop]) -> None:
        self._planning = planning
        self._run = run
        self._loops = {loop.name: loop.parameter for loop in loops}
        self._forest = forest
        self._workloads = forest.workloads_of(run)
        self._shares = skews(self._workloads, zero_is_none=True)
        self._format = Formatting.of(run)
        several = run.get("operations")
        if several is not None and "operations" in self._loops:
            raise several.wrong(f"{quoted(self._loops['operations'].text)} says the same thing otherwise; write one of them.")

    def load(self, choice: Mapping[str, Word], rate: Rate | None) -> Load:
        """The trees and streams of one round; without a rate the streams are closed loops."""
        parts = [part for workload in self._workloads for part in self._parts(workload, choice)]
        trees = self._trees(parts, choice)
        streams = [self._stream(part, parts, rate) for part in parts]
        self._fill_created(parts, trees, streams)
        if rate is None:
            streams = self._held_to_shares(parts, streams)
        if not any(part.use.moves_bytes for part in parts):
            self._say_of_no_bytes()
        fsds = list(dict.fromkeys(fsd for part in parts for fsd in part.use.fsds))
        cold = any("clear_cache" in words_of(part.use) for part in parts)
        label = " + ".join(fsd.name for fsd in fsds)
        return Load(self._placed(trees), named(streams), label, cold, trees)

    def formatted(self) -> Load:
        """A single stat, for which the trees of a run that only formats are laid out."""
        fsds = self._forest.fsds_of(self._run)
        trees = list({tree_["name"]: tree_ | {"lay_out": "files"} for tree_ in (self._tree(fsd, {}) for fsd in fsds)}.values())
        stream = {"name": "format", "tree": trees[0]["name"], "operation": "stat", "requests": 1}
        label = " + ".join(fsd.name for fsd in fsds)
        return Load(self._placed(trees), [stream], label, empties_cache=False, trees=trees)

    def _placed(self, trees: Sequence[Json]) -> str:
        """The target that holds these trees; each gets its part of it."""
        seats = [self._forest.seats[fsd] for fsd in self._forest.fsds_of(self._run)]
        where = {seat.name: seat.directory for seat in seats}
        directories = list(dict.fromkeys(where[tree_["name"]] for tree_ in trees))
        for tree_ in trees:
            if part := directories.index(where[tree_["name"]]):
                tree_["part"] = part
        return target_at(directories)

    def _values(self, definition: Definition, choice: Mapping[str, Word]) -> Values:
        return Values(definition, choice, self._loops)

    def _parts(self, workload: Definition, choice: Mapping[str, Word]) -> Iterator[_Part]:
        values = self._values(workload, choice)
        fsds, every = self._forest.fsds_of_workload(workload), operations(self._run, values)
        each = self._threads(values, len(fsds) * len(every))
        for shares in every:
            groups = [tuple(fsds)] if self._together(values, fsds, shares, choice) else [(fsd,) for fsd in fsds]
            for group in groups:
                label = "-".join([workload.name, *(shares if len(every) > 1 else []), *([group[0].name] if len(groups) > 1 else [])])
                share = self._shares[workload] * len(group) / (len(fsds) * len(every))
                yield _Part(FileUse(self._run, values, group, shares), each * len(group), share, label)

    def _together(self, values: Values, fsds: Sequence[Definition], shares: Shares, choice: Mapping[str, Word]) -> bool:
        """Whether one stream over all trees does what one on each would do."""
        if len(fsds) == 1 or set(BETWEEN_TREES) & shares.keys():
            return len(fsds) == 1
        flags = {tuple(found.texts) if (found := fsd.get("openflags")) else () for fsd in fsds}
        shapes = [tree(self._values(fsd, choice), self._planning.verdicts) for fsd in fsds]
        alike = len(flags) == 1 and all(shape == shapes[0] for shape in shapes)
        return alike and selection(values, self._planning.verdicts) == {"file_select": "random"}

    def _threads(self, values: Values, many: int) -> int:
        """The threads of each of ``many`` parts of a FWD."""
        parameter = values.parameter("threads")
        asked = 1
        if parameter is not None:
            found = parse(values.words("threads")[0].text)
            if found is None:
                raise parameter.wrong(f"{quoted(values.words('threads')[0].text)} is no number of threads; write a whole number.")
            asked = threads_checked(parameter, found.value)
        each = max(1, asked // many)
        if each * many != asked:
            self._say_of_threads(parameter or values.definition.head, asked, many)
        return each

    def _say_of_threads(self, parameter: Parameter, asked: int, many: int) -> None:
        each = max(1, asked // many)
        adjusted = self._planning.general("fwd_thread_adjust")
        if adjusted is not None and adjusted.values and adjusted.word.lower().startswith("n"):
            raise parameter.wrong(
                f"{asked} do not divide by {many} FSDs and operations, and fwd_thread_adjust=no; write {each * many}, or leave that out."
            )
        if parameter.keyword != "fwd":
            why = f"{each} for each of {many} FSDs and operations, {each * many} in all, as Vdbench deals them out"
            self._planning.verdicts.native(parameter, why)

    def _trees(self, parts: Sequence[_Part], choice: Mapping[str, Word]) -> list[Json]:
        """The trees of all parts, each with what exists when it begins."""
        found: dict[str, Json] = {}
        done: dict[str, set[str]] = {}
        for part in parts:
            for fsd in part.use.fsds:
                found.setdefault(self._forest.seats[fsd].name, self._tree(fsd, choice))
                done.setdefault(self._forest.seats[fsd].name, set()).update(part.use.shares)
            target = self._forest.target_of(part.use.values.definition)
            if target is not None and set(BETWEEN_TREES) & part.use.shares.keys():
                found.setdefault(self._forest.seats[target].name, self._tree(target, choice))
        for name, tree_ in found.items():
            # What only receives files begins without any.
            tree_["lay_out"] = self._format.lay_out(done[name]) if name in done else "directories"
            self._say_of_creating(done.get(name, set()), tree_["lay_out"])
        return list(found.values())

    def _say_of_creating(self, operations_: set[str], lay_out: str) -> None:
        parameter = self._run.get("format")
        if parameter is not None and lay_out == "files" and operations_ and operations_ <= {"create", "mkdir"}:
            self._planning.verdicts.surprise(parameter, "when everything exists already, nothing is left to create")

    def _tree(self, fsd: Definition, choice: Mapping[str, Word]) -> Json:
        seat = self._forest.seats[fsd]
        place = {"path": seat.path} if seat.path else {}
        return {"name": seat.name, **place, **tree(self._values(fsd, choice), self._planning.verdicts)}

    def _stream(self, part: _Part, parts: Sequence[_Part], rate: Rate | None) -> Json:
        use, verdicts = part.use, self._planning.verdicts
        stream: Json = {"name": part.label, "tree": self._tree_names(use), "operation": table(use.shares)}
        stream |= options(use, verdicts)
        if stream["direct"]:
            self._check_sizes(use)
        stream["threads"] = part.threads
        if rate is not None:
            share = round(rate.per_s * part.share, 3)
            if share < RATE_MIN:
                raise self._run.head.wrong(f"the share of {part.label} is less than {RATE_MIN} per second; write a larger fwdrate.")
            stream |= {"arrival": rate.arrival, "rate": int(share) if share == int(share) else share}
        stream |= self._amount(use, sum(one.threads for one in parts if one.use.moves_bytes))
        self._say_of_mix(use)
        return stream | content(use, self._planning)

    def _fill_created(self, parts: Sequence[_Part], trees: Sequence[Json], streams: Sequence[Json]) -> None:
        """Files that are created get their content with it where it is written at random, which needs some."""
        without = {tree_["name"] for tree_ in trees if tree_["lay_out"] != "files"}

        def on_trees(part: _Part) -> set[str]:
            return {self._forest.seats[fsd].name for fsd in part.use.fsds} & without

        rewritten = {
            name
            for part, stream in zip(parts, streams, strict=True)
            if part.use.writes and stream["file_access"] == "random"
            for name in on_trees(part)
        }
        for part, stream in zip(parts, streams, strict=True):
            if "create" in part.use.shares and on_trees(part) & rewritten:
                stream["write_created"] = True
                parameter = part.use.values.parameter("fileio") or part.use.values.definition.head
                why = "files are written when they are created, where Vdbench fills them with the first writes that come to them"
                self._planning.verdicts.ignored(parameter, why)

    def _amount(self, use: FileUse, threads: int) -> Json:
        """What each of the threads that move bytes transfers at most."""
        if not use.moves_bytes:
            return {}
        reads = 50.0 if "copy" in use.shares else use.shares.get("read", 0.0)
        return amount_per_thread(self._run, reads, Whole(threads, None), self._planning.verdicts)

    def _say_of_no_bytes(self) -> None:
        for name in ("maxdata", "maxdataread", "maxdatawritten"):
            parameter = self._run.get(name)
            if parameter is not None:
                self._planning.verdicts.native(parameter, "no operation of the run counts for it, so the time decides")

    def _tree_names(self, use: FileUse) -> str | list[str]:
        names = list(dict.fromkeys(self._forest.seats[fsd].name for fsd in use.fsds))
        if set(BETWEEN_TREES) & use.shares.keys():
            target = self._forest.target_of(use.values.definition)
            if target is None:
                why = "where to is not said; write target=FSD in the FWD"
                self._planning.verdicts.unsupported(use.values.definition.get("operations") or use.values.definition.head, why)
            else:
                names.append(self._forest.seats[target].name)
        return names[0] if len(names) == 1 else names

    def _say_of_mix(self, use: FileUse) -> None:
        parameter = use.values.parameter("rdpct")
        if parameter is not None and len(use.shares) > 1 and not is_random(use.values):
            why = "with sequential access a file is read or written from start to end, in these shares; Vdbench mixes requests in one file"
            self._planning.verdicts.ignored(parameter, why)

    def _check_sizes(self, use: FileUse) -> None:
        for fsd in use.fsds:
            sizes = self._values(fsd, {}).parameter("sizes")
            words = use.values.choice.get("sizes")
            texts = [words.text] if words is not None else [] if sizes is None else list(sizes.texts)[:: 1 if len(sizes.texts) == 1 else 2]
            odd = [text for text in texts if (found := parse(text)) is not None and found.value % 512]
            if odd and sizes is not None:
                why = f"with o_direct, sizes of files are multiples of 512 bytes, and {odd[0]} is none; the nearest thing is one that is"
                self._planning.verdicts.unsupported(sizes, why)

    def _held_to_shares(self, parts: Sequence[_Part], streams: list[Json]) -> list[Json]:
        """One stream that draws all operations by their shares, where that can be; says what became of skew otherwise."""
        verdicts = self._planning.verdicts
        given = [parameter for workload in self._workloads if (parameter := workload.get("skew")) is not None]
        if len(streams) == 1:
            return streams
        states = {stream.get("file_state") for part, stream in zip(parts, streams, strict=True) if part.use.opens}
        drawn = same_but_operation(streams) and len(states) < 2 and not any("amount" in stream for stream in streams)
        for parameter in given:
            if drawn:
                verdicts.native(parameter, "one stream draws the operations of all FWDs by skew")
            else:
                verdicts.ignored(
                    parameter, "without a rate each stream goes as fast as it can, and Vdbench would keep them at their shares"
                )
        if not drawn:
            if not given:
                why = "each stream goes as fast as it can, where Vdbench keeps FWDs, FSDs and operations at equal rates"
                verdicts.surprise(self._run.get("fwdrate") or self._run.head, why)
            return streams
        shares: Shares = {}
        for part in parts:
            for name, percent in part.use.shares.items():
                shares[name] = shares.get(name, 0.0) + percent * part.share
        name = "-".join(dict.fromkeys(part.use.values.definition.name for part in parts))
        special = {key: stream[key] for stream in streams for key in OF_OPERATIONS[1:] if key in stream}
        return [{**streams[0], "name": name, "operation": table(shares), "threads": sum(part.threads for part in parts), **special}]
