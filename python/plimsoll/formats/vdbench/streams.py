"""A round of a run as streams on one target.

Model: Vdbench spreads the requests of a WD equally over its SDs, each with its own pointer and threads. So every WD has a stream on each
of its SDs, and SDs of different files or devices become one concatenation, of which each stream uses its part. Threads of an SD are
shared by the WDs on it by skew; so is the rate of the run, and a WD's share of it is divided equally by its SDs. Threads of a closed loop
are threads here; in an open loop, where what is due waits for the first free one, they are the slots (``queue_depth``) of one thread.
With ``concatenatesds`` a WD has one stream on all.
At iorate=max with skews, separate streams would be served as fast as each can, and their ratio would follow from the storage. Vdbench holds
the ratio. One stream with an access list holds it, too: one line for each WD, weighted by skew.
Limits: files of different sizes are not made together. An access list is only for WDs that differ in nothing but mix and size, and whose
requests are all random, since its lines share one sequential pointer. The results of such WDs are not apart.

    load = Composer(planning, run).load({}, None)
    load.target, load.streams
    mixed(streams, {"wd1": 75, "wd2": 25})        # one stream, or None where that is not possible
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.formats.known_targets import SHARED
from plimsoll.formats.vdbench.access import Access, Use, access, empties_cache, opened
from plimsoll.formats.vdbench.content import content
from plimsoll.formats.vdbench.load import RATE_MIN, Load, Loop, Rate, dealt, skews
from plimsoll.formats.vdbench.model import Definition, Parameter, Word
from plimsoll.formats.vdbench.pace import RATE_MAX, Whole, amount_per_thread
from plimsoll.formats.vdbench.region import Region, hits, hot_places, regions, shifted
from plimsoll.formats.vdbench.storage import Planning, Storage, scratch_size, target_of, threads, threads_of
from plimsoll.formats.vdbench.values import named, number, parse

Json = dict[str, Any]

#: Which keyword of a WD or SD each loop varies. Without "for" a run has one value in place of its WDs' own, which is a loop of one round;
#: threads may be several.
LOOPS = {
    "threads": "threads",
    "hitarea": "hitarea",
    "rdpct": "rdpct",
    "rhpct": "rhpct",
    "seekpct": "seekpct",
    "whpct": "whpct",
    "xfersize": "xfersize",
    "forcompratio": "compratio",
    "forhitarea": "hitarea",
    "forrdpct": "rdpct",
    "forrhpct": "rhpct",
    "forseekpct": "seekpct",
    "forwhpct": "whpct",
    "forxfersize": "xfersize",
}
#: The option that a loop varies where it is an axis.
AXES = {
    "threads": "threads",
    "xfersize": "block_size",
    "rdpct": "read_percent",
    "seekpct": "random_percent",
    "compratio": "compress_ratio",
    "rate": "rate",
}


@dataclass(frozen=True)
class _Part:
    """One stream before its region is cut: a WD on an SD, its threads and its rate."""

    use: Use
    threads: int
    rate: Json
    label: str


class Composer:
    """Makes the streams of one run."""

    def __init__(self, planning: Planning, run: Definition, loops: Sequence[Loop]) -> None:
        self._planning = planning
        self._run = run
        self._loops = {loop.name: loop.parameter for loop in loops}
        self._workloads = self._workloads_of(run)
        self._shares = skews(self._workloads)
        self._storages = {workload: self._storages_of(workload) for workload in self._workloads}
        self.concatenated = planning.switched_on("concatenatesds")

    def load(self, choice: Mapping[str, Word], rate: Rate | None) -> Load:
        """The streams of one round; without a rate they are closed loops."""
        parts = self._concatenated_parts(choice, rate) if self.concatenated else self._parts(choice, rate)
        used = tuple(dict.fromkeys(storage for storages in self._storages.values() for storage in storages))
        self._say_of_sharing(used)
        paths = list(dict.fromkeys(storage.path for storage in used))
        lengths = [storage.length for storage in used]
        whole = Whole(sum(part.threads for part in parts), None if None in lengths else sum(length or 0 for length in lengths))
        streams = [stream for part in parts for stream in self._streams(part, paths, whole)]
        if rate is None:
            streams = self._held_to_skew(parts, streams)
        cold = any(empties_cache(part.use) for part in parts)
        label = " + ".join(storage.name for storage in used)
        return Load(target_of(list(used)), named(streams), label, cold, settings=scratch_size(used, self._planning.verdicts))

    def _say_of_sharing(self, used: Sequence[Storage]) -> None:
        """Several SDs for which one typed target stands."""
        target = self._planning.targets.target
        if target and len(used) > 1:
            self._planning.verdicts.surprise(self._run.head, f"it uses {len(used)} SDs; --target {target} {SHARED}")

    def _workloads_of(self, run: Definition) -> list[Definition]:
        wd = run.get("wd")
        if wd is not None:
            return self._planning.workloads(wd)
        if run.get("sd") is None:
            raise run.head.wrong(f"RD {quoted(run.name)} has no wd; write wd=NAME, or wd=* for all of them.")
        # A run that names SDs alone has a WD of its own, with Vdbench's defaults.
        return [Definition("wd", run.name, run.head, {})]

    def _held_to_skew(self, parts: Sequence[_Part], streams: list[Json]) -> list[Json]:
        """The streams, or one on each SD that draws from all WDs by skew, where that can be; says what became of skew."""
        given = [parameter for workload in self._workloads if (parameter := workload.get("skew")) is not None]
        if not given or len(self._workloads) == 1:
            return streams
        drawn = self._drawn(parts, streams) if len(parts) == len(streams) else None
        for parameter in given:
            if drawn is None:
                why = "without a rate it divides the threads only; how requests divide follows from how fast each stream is served"
                self._planning.verdicts.ignored(parameter, why)
            else:
                why = "one stream draws from all WDs by skew, so their results are not apart"
                self._planning.verdicts.native(parameter, why)
        return streams if drawn is None else drawn

    def _drawn(self, parts: Sequence[_Part], streams: Sequence[Json]) -> list[Json] | None:
        if len({tuple(self._storages[workload]) for workload in self._workloads}) > 1:
            return None
        found = []
        for storage in dict.fromkeys(part.use.storage for part in parts):
            here = [(part, stream) for part, stream in zip(parts, streams, strict=True) if part.use.storage == storage]
            weights = {stream["name"]: _plain(100 * self._shares[part.use.workload]) for part, stream in here}
            stream = mixed([stream for _, stream in here], weights)
            if stream is None:
                return None
            if not self.concatenated:
                # Every WD was given a thread at least, which may be more than the SD has.
                stream["threads"] = self._looped_threads(here[0][0].use.choice) or storage.threads
            found.append(stream)
        return found

    def _storages_of(self, workload: Definition) -> list[Storage]:
        own, parameter = workload.get("sd"), self._run.get("sd") or workload.get("sd")
        if own is not None and parameter is not own:
            self._planning.verdicts.native(own, f"RD {quoted(self._run.name)} names its own SDs")
        if parameter is None:
            raise workload.head.wrong(f"WD {quoted(workload.name)} has no sd; write sd=NAME, or sd=* for all of them.")
        if parameter.word.lower().startswith("setsof"):
            why = "a run in sets of SDs is not translated; the nearest thing is an RD for each set"
            return self._all_unsupported(parameter, why)
        if parameter.word.lower() == "single" and parameter.word not in self._planning.file.of("sd"):
            return self._all_unsupported(parameter, "a run repeated for each SD is not translated; the nearest thing is an RD for each")
        return self._planning.storages(parameter)

    def _all_unsupported(self, parameter: Parameter, why: str) -> list[Storage]:
        """Every SD, so that the rest of the file is looked at."""
        self._planning.verdicts.unsupported(parameter, why)
        return [self._planning.storage(name) for name in self._planning.file.of("sd")]

    def _parts(self, choice: Mapping[str, Word], rate: Rate | None) -> list[_Part]:
        found = []
        for workload in self._workloads:
            storages = self._storages[workload]
            own = workload.get("threads")
            if own is not None:
                self._planning.verdicts.ignored(own, "a WD has threads with concatenatesds=yes only; those of the SD hold")
            for storage in storages:
                use = Use(workload, choice, self._loops, self._run, storage)
                label = workload.name if len(storages) == 1 else f"{workload.name}-{storage.name}"
                found.append(_Part(use, self._threads(use), self._rate(use, rate, len(storages)), label))
        return found

    def _concatenated_parts(self, choice: Mapping[str, Word], rate: Rate | None) -> list[_Part]:
        found = []
        for workload in self._workloads:
            for storage in self._storages[workload]:
                self._check_whole(storage)
            use = Use(workload, choice, self._loops, self._run, _joined(self._storages[workload]))
            own = workload.get("threads")
            many = self._looped_threads(choice) or threads_of(own)
            found.append(_Part(use, many, self._rate(use, rate, 1), workload.name))
        return found

    def _check_whole(self, storage: Storage) -> None:
        size = storage.definition.get("size")
        if size is not None and storage.extent != storage.size:
            why = "a concatenation takes its devices whole; the nearest thing is a partition of that size"
            self._planning.verdicts.unsupported(size, why)

    def _threads(self, use: Use) -> int:
        """The WD's share of the SD's threads."""
        sharing = [workload for workload in self._workloads if use.storage in self._storages[workload]]
        many = self._looped_threads(use.choice) or use.storage.threads
        counts = dealt(many, [self._shares[workload] / len(self._storages[workload]) for workload in sharing])
        return counts[sharing.index(use.workload)]

    def _looped_threads(self, choice: Mapping[str, Word]) -> int | None:
        if "threads" not in choice:
            return None
        parameter = self._loops["threads"]
        found = parse(choice["threads"].text)
        if found is None:
            raise parameter.wrong(f"{quoted(choice['threads'].text)} is no number of threads; write a whole number.")
        return threads(parameter, found.value)

    def _rate(self, use: Use, rate: Rate | None, storages: int) -> Json:
        own = use.workload.get("iorate")
        if own is not None:
            return self._own_rate(own, rate, storages)
        if rate is None:
            return {}
        share = round(rate.per_s * self._shares[use.workload] / storages, 3)
        if share < RATE_MIN:
            raise self._run.head.wrong(
                f"the share of WD {quoted(use.workload.name)} is less than {RATE_MIN} requests per second; write a larger iorate."
            )
        return {"arrival": rate.arrival, "rate": _plain(share)}

    def _own_rate(self, own: Parameter, rate: Rate | None, storages: int) -> Json:
        if rate is not None:
            why = "how the run's rate divides beside it is not known; the nearest thing is iorate=max of the RD, or skew"
            self._planning.verdicts.unsupported(own, why)
            return {"arrival": rate.arrival, "rate": rate.per_s}
        found = number(own).value
        if not RATE_MIN * storages <= found <= RATE_MAX:
            raise own.wrong(f"{found:g} is no rate; write requests per second, up to {RATE_MAX}.")
        self._planning.verdicts.native(own, "rate of its streams, beside the closed loops of the others")
        return {"arrival": "poisson", "rate": _plain(round(found / storages, 3))}

    def _streams(self, part: _Part, paths: Sequence[str], whole: Whole) -> list[Json]:
        use, verdicts = part.use, self._planning.verdicts
        found = access(use, verdicts)
        own = {} if self.concatenated or len(paths) == 1 else {"parts": paths.index(use.storage.path)}
        cut = regions(use, shifted(use, found.sizes, verdicts), verdicts)
        counts = dealt(part.threads, [1.0] * len(cut))
        streams = []
        for at, (region, many) in enumerate(zip(cut, counts, strict=True), start=1):
            stream: Json = {"name": part.label if len(cut) == 1 else f"{part.label}-{at}"}
            streams.append(stream | own | self._options(part, found, (region, many), whole))
            if "rate" in part.rate:
                streams[-1]["rate"] = _plain(round(part.rate["rate"] / len(cut), 3))
        return streams

    def _options(self, part: _Part, found: Access, share: tuple[Region, int], whole: Whole) -> Json:
        use, verdicts = part.use, self._planning.verdicts
        region, many = share
        options: Json = dict(found.options)
        options |= hits(use, found, region, verdicts) | hot_places(use, found, region, verdicts)
        options |= region.options()
        lanes = many
        if part.rate:
            # What is due waits for the first of the SD's threads that gets free: slots of one thread here.
            lanes, options["queue_depth"] = 1, many
        options["threads"] = lanes
        options |= part.rate
        if found.ends and region.bytes is not None:
            # Every thread reads its part of one pass; the last requests of the pass may start a second one.
            options["amount"] = -(-region.bytes // lanes)
        amount = amount_per_thread(use.run, found.options["read_percent"], whole, verdicts)
        options |= {name: part_ * many // lanes for name, part_ in amount.items()}
        if found.ends and "amount" not in options:
            why = f"where the end is must be known; write the size of SD {quoted(use.storage.name)}"
            verdicts.unsupported(use.parameter("seekpct") or use.workload.head, why)
        options |= opened(use, verdicts)
        return options | content(use, self._planning)


def _joined(storages: Sequence[Storage]) -> Storage:
    """Several SDs as one: the length is the sum where all are known."""
    first = storages[0]
    extents = list({storage.path: storage.extent for storage in storages}.values())
    whole = None if None in extents else sum(extent for extent in extents if extent is not None)
    if len(storages) == 1:
        return first
    return Storage(first.definition, first.path, None, whole, first.threads)


def _plain(value: float) -> float:
    return int(value) if value == int(value) else value


#: What a line of an access list says in place of its stream.
_OF_A_LINE = ("read_percent", "block_size", "random_percent", "align")
_OF_A_STREAM = ("name", "threads")


def mixed(streams: Sequence[Json], weights: Mapping[str, float]) -> Json | None:
    """The stream that draws from all of them, on the target they have in common."""
    if len(streams) < 2 or any(not _is_a_line(stream) for stream in streams):
        return None
    rests = [{key: value for key, value in stream.items() if key not in (*_OF_A_LINE, *_OF_A_STREAM)} for stream in streams]
    if any(rest != rests[0] for rest in rests):
        return None
    lines = [_line(stream, weights[stream["name"]]) for stream in streams]
    name = "-".join(stream["name"] for stream in streams)
    return {"name": name, "access": lines, **rests[0], "threads": sum(stream["threads"] for stream in streams)}


def _is_a_line(stream: Json) -> bool:
    fixed = isinstance(stream["block_size"], int) or (isinstance(stream["block_size"], str) and "-" not in stream["block_size"])
    return fixed and stream["random_percent"] == 100


def _line(stream: Json, weight: float) -> Json:
    line: Json = {"weight": weight, "size": stream["block_size"], "read_percent": stream["read_percent"]}
    if "align" in stream:
        line["align"] = stream["align"]
    return line
