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
)
from plimsoll.formats.vdbench.filesystem.tree import Formatting, tree
from plimsoll.formats.vdbench.load import RATE_MIN, Load, Loop, Rate, skews
from plimsoll.formats.vdbench.model import Definition, Parameter, Word
from plimsoll.formats.vdbench.notes import Note, Notes, Translated, ignored, native, surprise, together, unsupported
from plimsoll.formats.vdbench.pace import Whole, amount_per_thread
from plimsoll.formats.vdbench.resolve import (
    FileSettings,
    Planning,
    Round,
    RunSettings,
    WorkloadSettings,
    file_settings,
    tree_settings,
)
from plimsoll.formats.vdbench.storage import target_at
from plimsoll.formats.vdbench.storage import threads as threads_checked
from plimsoll.formats.vdbench.values import named, parse
from plimsoll.stored import Json

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
    notes: Notes = ()


class FileComposer:
    """Makes the trees and streams of one run."""

    def __init__(self, forest: Forest, planning: Planning, run: RunSettings, loops: Sequence[Loop]) -> None:
        self._planning = planning
        self._run = run
        self._loops = {loop.name: loop.parameter for loop in loops}
        self._forest = forest
        self._workloads = forest.workloads[run]
        self._shares = skews(self._workloads, zero_is_none=True)
        self._format = Formatting.of(run.format)
        several = run.operations
        if several is not None and "operations" in self._loops:
            raise several.wrong(f"{quoted(self._loops['operations'].text)} says the same thing otherwise; write one of them.")

    @property
    def used(self) -> frozenset[Definition]:
        """The FWDs and FSDs of the run, which the forest knows for all runs."""
        return frozenset()

    def load(self, choice: Mapping[str, Word], rate: Rate | None) -> Load:
        """The trees and streams of one round; without a rate the streams are closed loops."""
        round_ = Round(choice, self._loops)
        parts = [part for workload in self._workloads for part in self._parts(workload, round_)]
        trees, laid = self._trees(parts, round_)
        made = [self._stream(part, parts, rate, round_) for part in parts]
        filled = self._filled(parts, trees, [stream.options for stream in made])
        streams = [stream.options for stream in filled]
        notes = [*(note for part in parts for note in part.notes), *laid, *(note for stream in (*made, *filled) for note in stream.notes)]
        if rate is None:
            streams, said = self._held_to_shares(parts, streams)
            notes += said
        if not any(part.use.moves_bytes for part in parts):
            notes += self._no_bytes()
        fsds = list(dict.fromkeys(fsd for part in parts for fsd in part.use.fsds))
        cold = any("clear_cache" in part.use.flags for part in parts)
        label = " + ".join(fsd.name for fsd in fsds)
        return Load(self._placed(trees), named(streams), label, cold, trees, notes=tuple(notes))

    def formatted(self) -> Load:
        """A single stat, for which the trees of a run that only formats are laid out."""
        fsds = self._forest.fsds_of_run[self._run]
        made = [self._tree(fsd, Round({}, {})) for fsd in fsds]
        trees = list({tree_.options["name"]: tree_.options | {"lay_out": "files"} for tree_ in made}.values())
        stream = {"name": "format", "tree": trees[0]["name"], "operation": "stat", "requests": 1}
        label = " + ".join(fsd.name for fsd in fsds)
        notes = tuple(note for tree_ in made for note in tree_.notes)
        return Load(self._placed(trees), [stream], label, empties_cache=False, trees=trees, notes=notes)

    def _placed(self, trees: Sequence[Json]) -> str:
        """The target that holds these trees; each gets its part of it."""
        seats = [self._forest.seats[fsd] for fsd in self._forest.fsds_of_run[self._run]]
        where = {seat.name: seat.directory for seat in seats}
        directories = list(dict.fromkeys(where[tree_["name"]] for tree_ in trees))
        for tree_ in trees:
            if part := directories.index(where[tree_["name"]]):
                tree_["part"] = part
        return target_at(directories)

    def _parts(self, workload: WorkloadSettings, round_: Round) -> Iterator[_Part]:
        asked = file_settings(workload, self._run, round_, self._planning.general)
        fsds, every = self._forest.fsds[workload], operations(asked)
        each, notes = self._threads(asked, len(fsds) * len(every))
        for shares in every:
            joined, said = self._together(asked, fsds, shares, round_)
            groups = [tuple(fsds)] if joined else [(fsd,) for fsd in fsds]
            for group in groups:
                label = "-".join([workload.name, *(shares if len(every) > 1 else []), *([group[0].name] if len(groups) > 1 else [])])
                share = self._shares[workload] * len(group) / (len(fsds) * len(every))
                yield _Part(FileUse(asked, group, shares, _flagged(asked, group, round_)), each * len(group), share, label, (*notes, *said))

    def _together(self, asked: FileSettings, fsds: Sequence[Definition], shares: Shares, round_: Round) -> tuple[bool, Notes]:
        """Whether one stream over all trees does what one on each would do."""
        if len(fsds) == 1 or set(BETWEEN_TREES) & shares.keys():
            return len(fsds) == 1, ()
        flags = {tuple(found.texts) if (found := tree_settings(fsd, round_).openflags) else () for fsd in fsds}
        shapes = [tree(tree_settings(fsd, round_)) for fsd in fsds]
        notes = tuple(note for shape in shapes for note in shape.notes)
        if len(flags) > 1 or any(shape.options != shapes[0].options for shape in shapes):
            return False, notes
        chosen = selection(asked)
        return chosen.options == {"file_select": "random"}, (*notes, *chosen.notes)

    def _threads(self, asked: FileSettings, many: int) -> tuple[int, Notes]:
        """The threads of each of ``many`` parts of a FWD."""
        setting, total = asked.threads, 1
        if setting is not None:
            found = parse(setting.text)
            if found is None:
                raise setting.parameter.wrong(f"{quoted(setting.text)} is no number of threads; write a whole number.")
            total = threads_checked(setting.parameter, found.value)
        each = max(1, total // many)
        where = asked.workload.head if setting is None else setting.parameter
        return each, self._dealt(where, total, many) if each * many != total else ()

    def _dealt(self, parameter: Parameter, asked: int, many: int) -> Notes:
        each = max(1, asked // many)
        adjusted = self._planning.general.fwd_thread_adjust
        if adjusted is not None and adjusted.values and adjusted.word.lower().startswith("n"):
            raise parameter.wrong(
                f"{asked} do not divide by {many} FSDs and operations, and fwd_thread_adjust=no; write {each * many}, or leave that out."
            )
        if parameter.keyword == "fwd":
            return ()
        why = f"{each} for each of {many} FSDs and operations, {each * many} in all, as Vdbench deals them out"
        return (native(parameter, why),)

    def _trees(self, parts: Sequence[_Part], round_: Round) -> tuple[list[Json], Notes]:
        """The trees of all parts, each with what exists when it begins."""
        found: dict[str, Json] = {}
        done: dict[str, set[str]] = {}
        notes: list[Note] = []

        def add(fsd: Definition) -> None:
            made = self._tree(fsd, round_)
            notes.extend(made.notes)
            found.setdefault(self._forest.seats[fsd].name, made.options)

        for part in parts:
            for fsd in part.use.fsds:
                add(fsd)
                done.setdefault(self._forest.seats[fsd].name, set()).update(part.use.shares)
            target = self._forest.targets[part.use.asked.workload]
            if target is not None and set(BETWEEN_TREES) & part.use.shares.keys():
                add(target)
        for name, tree_ in found.items():
            # What only receives files begins without any.
            tree_["lay_out"] = self._format.lay_out(done[name]) if name in done else "directories"
            notes += self._nothing_to_create(done.get(name, set()), tree_["lay_out"])
        return list(found.values()), tuple(notes)

    def _nothing_to_create(self, operations_: set[str], lay_out: str) -> Notes:
        parameter = self._run.format
        if parameter is not None and lay_out == "files" and operations_ and operations_ <= {"create", "mkdir"}:
            return (surprise(parameter, "when everything exists already, nothing is left to create"),)
        return ()

    def _tree(self, fsd: Definition, round_: Round) -> Translated:
        seat = self._forest.seats[fsd]
        place = {"path": seat.path} if seat.path else {}
        made = tree(tree_settings(fsd, round_))
        return Translated({"name": seat.name, **place, **made.options}, made.notes)

    def _stream(self, part: _Part, parts: Sequence[_Part], rate: Rate | None, round_: Round) -> Translated:
        use = part.use
        names, nowhere = self._tree_names(use)
        how, filling = options(use), content(use, self._planning.general)
        stream: Json = {"name": part.label, "tree": names, "operation": table(use.shares)}
        odd = tuple(_odd_sizes(use, round_)) if any(each.options.get("direct") for each in how) else ()
        paced: Json = {"threads": part.threads}
        if rate is not None:
            share = round(rate.per_s * part.share, 3)
            if share < RATE_MIN:
                raise self._run.head.wrong(f"the share of {part.label} is less than {RATE_MIN} per second; write a larger fwdrate.")
            paced |= {"arrival": rate.arrival, "rate": int(share) if share == int(share) else share}
        rest = (self._amount(use, sum(one.threads for one in parts if one.use.moves_bytes)), Translated({}, _mix_notes(use)))
        return together((Translated(stream, nowhere), *how, Translated(paced, odd), *rest, filling))

    def _filled(self, parts: Sequence[_Part], trees: Sequence[Json], streams: Sequence[Json]) -> list[Translated]:
        """The streams, with files that get their content as they are created where it is written at random, which needs some."""
        without = {tree_["name"] for tree_ in trees if tree_["lay_out"] != "files"}

        def on_trees(part: _Part) -> set[str]:
            return {self._forest.seats[fsd].name for fsd in part.use.fsds} & without

        rewritten = {
            name
            for part, stream in zip(parts, streams, strict=True)
            if part.use.writes and stream["file_access"] == "random"
            for name in on_trees(part)
        }
        found = []
        for part, stream in zip(parts, streams, strict=True):
            if "create" in part.use.shares and on_trees(part) & rewritten:
                asked = part.use.asked
                parameter = asked.workload.head if asked.fileio is None else asked.fileio.parameter
                why = "files are written when they are created, where Vdbench fills them with the first writes that come to them"
                found.append(Translated(stream | {"write_created": True}, (ignored(parameter, why),)))
            else:
                found.append(Translated(stream))
        return found

    def _amount(self, use: FileUse, threads: int) -> Translated:
        """What each of the threads that move bytes transfers at most."""
        if not use.moves_bytes:
            return Translated({})
        reads = 50.0 if "copy" in use.shares else use.shares.get("read", 0.0)
        return amount_per_thread(self._run, reads, Whole(threads, None))

    def _no_bytes(self) -> Iterator[Note]:
        for parameter in (self._run.maxdata, self._run.maxdataread, self._run.maxdatawritten):
            if parameter is not None:
                yield native(parameter, "no operation of the run counts for it, so the time decides")

    def _tree_names(self, use: FileUse) -> tuple[str | list[str], Notes]:
        names = list(dict.fromkeys(self._forest.seats[fsd].name for fsd in use.fsds))
        workload = use.asked.workload
        nowhere: Notes = ()
        if set(BETWEEN_TREES) & use.shares.keys():
            target = self._forest.targets[workload]
            if target is None:
                why = "where to is not said; write target=FSD in the FWD"
                nowhere = (unsupported(workload.own_operations or workload.head, why),)
            else:
                names.append(self._forest.seats[target].name)
        return names[0] if len(names) == 1 else names, nowhere

    def _held_to_shares(self, parts: Sequence[_Part], streams: list[Json]) -> tuple[list[Json], Notes]:
        """One stream that draws all operations by their shares, where that can be; says what became of skew otherwise."""
        given = [workload.skew for workload in self._workloads if workload.skew is not None]
        if len(streams) == 1:
            return streams, ()
        states = {stream.get("file_state") for part, stream in zip(parts, streams, strict=True) if part.use.opens}
        drawn = same_but_operation(streams) and len(states) < 2 and not any("amount" in stream for stream in streams)
        if not drawn and given:
            why = "without a rate each stream goes as fast as it can, and Vdbench would keep them at their shares"
            return streams, tuple(ignored(parameter, why) for parameter in given)
        if not drawn:
            why = "each stream goes as fast as it can, where Vdbench keeps FWDs, FSDs and operations at equal rates"
            return streams, (surprise(self._run.rate or self._run.head, why),)
        shares: Shares = {}
        for part in parts:
            for name, percent in part.use.shares.items():
                shares[name] = shares.get(name, 0.0) + percent * part.share
        name = "-".join(dict.fromkeys(part.use.asked.workload.name for part in parts))
        special = {key: stream[key] for stream in streams for key in OF_OPERATIONS[1:] if key in stream}
        one = {**streams[0], "name": name, "operation": table(shares), "threads": sum(part.threads for part in parts), **special}
        return [one], tuple(native(parameter, "one stream draws the operations of all FWDs by skew") for parameter in given)


def _flagged(asked: FileSettings, fsds: Sequence[Definition], round_: Round) -> tuple[Parameter, ...]:
    """The parameters that decide on the flags of a FWD on these FSDs."""
    if asked.openflags is not None:
        return (asked.openflags,)
    return tuple(flags for fsd in fsds if (flags := tree_settings(fsd, round_).openflags) is not None)


def _odd_sizes(use: FileUse, round_: Round) -> Iterator[Note]:
    for fsd in use.fsds:
        sizes = tree_settings(fsd, round_).sizes
        if sizes is None:
            continue
        texts = [word.text for word in sizes.words][:: 1 if len(sizes.words) == 1 else 2]
        odd = [text for text in texts if (found := parse(text)) is not None and found.value % 512]
        if odd:
            why = f"with o_direct, sizes of files are multiples of 512 bytes, and {odd[0]} is none; the nearest thing is one that is"
            yield unsupported(sizes.parameter, why)


def _mix_notes(use: FileUse) -> Notes:
    if use.asked.rdpct is None or len(use.shares) == 1 or is_random(use.asked):
        return ()
    why = "with sequential access a file is read or written from start to end, in these shares; Vdbench mixes requests in one file"
    return (ignored(use.asked.rdpct.parameter, why),)
