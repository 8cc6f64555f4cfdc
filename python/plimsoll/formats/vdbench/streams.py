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
from dataclasses import dataclass, replace

from plimsoll.displayed import quoted
from plimsoll.formats.known_targets import SHARED
from plimsoll.formats.vdbench.access import Access, access
from plimsoll.formats.vdbench.content import content
from plimsoll.formats.vdbench.load import RATE_MIN, Load, Loop, Rate, dealt, skews
from plimsoll.formats.vdbench.model import Definition, Parameter, Word
from plimsoll.formats.vdbench.notes import Notes, Translated, ignored, native, surprise, together, unsupported
from plimsoll.formats.vdbench.pace import RATE_MAX, Whole, amount_per_thread
from plimsoll.formats.vdbench.region import Region, places
from plimsoll.formats.vdbench.resolve import Planning, Round, RunSettings, Use, WorkloadSettings, use_of, workload_settings
from plimsoll.formats.vdbench.storage import Storage, scratch_size, storage, target_of, threads, threads_of
from plimsoll.formats.vdbench.values import chosen, named, number, parse
from plimsoll.stored import Json

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
    notes: Notes = ()


@dataclass(frozen=True)
class _Requests:
    """A part with what its requests are and what they carry."""

    part: _Part
    access: Access
    content: Translated


class Composer:
    """Makes the streams of one run; what is to be said of the run as a whole is said with each round."""

    def __init__(self, planning: Planning, run: RunSettings, loops: Sequence[Loop]) -> None:
        self._planning = planning
        self._run = run
        self._loops = {loop.name: loop.parameter for loop in loops}
        self._workloads = _workloads_of(run, planning.wds)
        found = {workload: self._storages_of(workload) for workload in self._workloads}
        self._storages = {workload: storages for workload, (storages, _) in found.items()}
        self._all = tuple(dict.fromkeys(storage for storages in self._storages.values() for storage in storages))
        self._shares = skews(self._workloads)
        self.concatenated = planning.general.concatenated
        #: On the SDs, and on which of them the WDs work.
        self._notes: Notes = (
            *(note for _, said in found.values() for note in said),
            *(note for storage in self._all for note in storage.notes),
        )

    @property
    def used(self) -> frozenset[Definition]:
        """The WDs and SDs of the run."""
        return frozenset((*(workload.definition for workload in self._workloads), *(storage.definition for storage in self._all)))

    def load(self, choice: Mapping[str, Word], rate: Rate | None) -> Load:
        """The streams of one round; without a rate they are closed loops."""
        round_ = Round(choice, self._loops)
        parts = self._concatenated_parts(round_, rate) if self.concatenated else self._parts(round_, rate)
        used = self._all
        notes = [*self._notes, *self._own_threads(), *(note for part in parts for note in part.notes), *self._sharing()]
        paths = list(dict.fromkeys(storage.path for storage in used))
        lengths = [storage.length for storage in used]
        whole = Whole(sum(part.threads for part in parts), None if None in lengths else sum(length or 0 for length in lengths))
        asked = [_Requests(part, access(part.use), content(part.use, self._planning.general)) for part in parts]
        made = [stream for requests in asked for stream in self._streams(requests, paths, whole)]
        streams = [stream.options for stream in made]
        notes += [note for stream in made for note in stream.notes]
        if rate is None:
            streams, said = self._held_to_skew(parts, streams, round_)
            notes += said
        cold = any(requests.access.cold for requests in asked)
        label = " + ".join(storage.name for storage in used)
        size = scratch_size(used)
        return Load(target_of(list(used)), named(streams), label, cold, settings=size.options, notes=(*notes, *size.notes))

    def _sharing(self) -> Notes:
        """Several SDs for which one typed target stands."""
        target, many = self._planning.targets.target, len(self._all)
        return (surprise(self._run.head, f"it uses {many} SDs; --target {target} {SHARED}"),) if target and many > 1 else ()

    def _held_to_skew(self, parts: Sequence[_Part], streams: list[Json], round_: Round) -> tuple[list[Json], Notes]:
        """The streams, or one on each SD that draws from all WDs by skew, where that can be; says what became of skew."""
        given = [workload.skew for workload in self._workloads if workload.skew is not None]
        if not given or len(self._workloads) == 1:
            return streams, ()
        drawn = self._drawn(parts, streams, round_) if len(parts) == len(streams) else None
        if drawn is None:
            why = "without a rate it divides the threads only; how requests divide follows from how fast each stream is served"
            return streams, tuple(ignored(parameter, why) for parameter in given)
        why = "one stream draws from all WDs by skew, so their results are not apart"
        return drawn, tuple(native(parameter, why) for parameter in given)

    def _drawn(self, parts: Sequence[_Part], streams: Sequence[Json], round_: Round) -> list[Json] | None:
        if len({tuple(self._storages[workload]) for workload in self._workloads}) > 1:
            return None
        found = []
        for disk in dict.fromkeys(part.use.storage for part in parts):
            here = [(part, stream) for part, stream in zip(parts, streams, strict=True) if part.use.storage == disk]
            weights = {stream["name"]: _plain(100 * self._shares[part.use.workload]) for part, stream in here}
            stream = mixed([stream for _, stream in here], weights)
            if stream is None:
                return None
            if not self.concatenated:
                # Every WD was given a thread at least, which may be more than the SD has.
                stream["threads"] = self._looped_threads(round_) or disk.threads
            found.append(stream)
        return found

    def _storages_of(self, workload: WorkloadSettings) -> tuple[list[Storage], Notes]:
        own, parameter = workload.sd, self._run.sd or workload.sd
        overruled = () if own is None or parameter is own else (native(own, f"RD {quoted(self._run.name)} names its own SDs"),)
        if parameter is None:
            raise workload.head.wrong(f"WD {quoted(workload.name)} has no sd; write sd=NAME, or sd=* for all of them.")
        known = list(self._planning.sds)
        if parameter.word.lower().startswith("setsof"):
            why = "a run in sets of SDs is not translated; the nearest thing is an RD for each set"
            return self._storages_named(known), (*overruled, unsupported(parameter, why))
        if parameter.word.lower() == "single" and parameter.word not in known:
            why = "a run repeated for each SD is not translated; the nearest thing is an RD for each"
            # Every SD, so that the rest of the file is looked at.
            return self._storages_named(known), (*overruled, unsupported(parameter, why))
        return self._storages_named(chosen(parameter, known)), overruled

    def _storages_named(self, names: Sequence[str]) -> list[Storage]:
        return [storage(self._planning.sds[name], self._planning.targets) for name in names]

    def _own_threads(self) -> Notes:
        """Threads of WDs, which count where SDs are concatenated."""
        given = [] if self.concatenated else [own for workload in self._workloads if (own := workload.threads) is not None]
        why = "a WD has threads with concatenatesds=yes only; those of the SD hold"
        return tuple(ignored(own, why) for own in given)

    def _parts(self, round_: Round, rate: Rate | None) -> list[_Part]:
        found = []
        for workload in self._workloads:
            storages = self._storages[workload]
            for disk in storages:
                use = self._use(workload, disk, round_)
                label = workload.name if len(storages) == 1 else f"{workload.name}-{disk.name}"
                own = self._rate(use, rate, len(storages))
                found.append(_Part(use, self._threads(use, round_), own.options, label, own.notes))
        return found

    def _use(self, workload: WorkloadSettings, disk: Storage, round_: Round) -> Use:
        return use_of(workload, disk, self._run, round_, self._planning.general)

    def _concatenated_parts(self, round_: Round, rate: Rate | None) -> list[_Part]:
        found = []
        for workload in self._workloads:
            cut = tuple(note for storage in self._storages[workload] for note in _not_whole(storage))
            use = self._use(workload, _joined(self._storages[workload]), round_)
            many = self._looped_threads(round_) or threads_of(workload.threads)
            paced = self._rate(use, rate, 1)
            found.append(_Part(use, many, paced.options, workload.name, (*cut, *paced.notes)))
        return found

    def _threads(self, use: Use, round_: Round) -> int:
        """The WD's share of the SD's threads."""
        sharing = [workload for workload in self._workloads if use.storage in self._storages[workload]]
        many = self._looped_threads(round_) or use.storage.threads
        counts = dealt(many, [self._shares[workload] / len(self._storages[workload]) for workload in sharing])
        return counts[sharing.index(use.workload)]

    def _looped_threads(self, round_: Round) -> int | None:
        setting = round_.text("threads", None)
        if setting is None:
            return None
        found = parse(setting.text)
        if found is None:
            raise setting.parameter.wrong(f"{quoted(setting.text)} is no number of threads; write a whole number.")
        return threads(setting.parameter, found.value)

    def _rate(self, use: Use, rate: Rate | None, storages: int) -> Translated:
        own = use.workload.iorate
        if own is not None:
            return _own_rate(own, rate, storages)
        if rate is None:
            return Translated({})
        share = round(rate.per_s * self._shares[use.workload] / storages, 3)
        if share < RATE_MIN:
            raise self._run.head.wrong(
                f"the share of WD {quoted(use.workload.name)} is less than {RATE_MIN} requests per second; write a larger iorate."
            )
        return Translated({"arrival": rate.arrival, "rate": _plain(share)})

    def _streams(self, requests: _Requests, paths: Sequence[str], whole: Whole) -> list[Translated]:
        part, found = requests.part, requests.access
        use = part.use
        own = {} if self.concatenated or len(paths) == 1 else {"parts": paths.index(use.storage.path)}
        cut, placed = places(use, found)
        counts = dealt(part.threads, [1.0] * len(cut))
        streams = []
        for at, (place, many) in enumerate(zip(cut, counts, strict=True), start=1):
            stream: Json = {"name": part.label if len(cut) == 1 else f"{part.label}-{at}"}
            made = _options(requests, (*place, many), whole)
            rate = {"rate": _plain(round(part.rate["rate"] / len(cut), 3))} if "rate" in part.rate else {}
            streams.append(Translated(stream | own | made.options | rate, (*found.notes, *placed, *made.notes)))
        return streams


def _workloads_of(run: RunSettings, known: Mapping[str, WorkloadSettings]) -> list[WorkloadSettings]:
    if run.wd is not None:
        return [known[name] for name in chosen(run.wd, list(known))]
    if run.sd is None:
        raise run.head.wrong(f"RD {quoted(run.name)} has no wd; write wd=NAME, or wd=* for all of them.")
    # A run that names SDs alone has a WD of its own, with Vdbench's defaults.
    return [workload_settings(Definition("wd", run.name, run.head, {}))]


def _options(requests: _Requests, share: tuple[Region, Translated, int], whole: Whole) -> Translated:
    part, found = requests.part, requests.access
    use = part.use
    region, place, many = share
    options: Json = found.options | place.options
    lanes = many
    if part.rate:
        # What is due waits for the first of the SD's threads that gets free: slots of one thread here.
        lanes, options["queue_depth"] = 1, many
    options["threads"] = lanes
    options |= part.rate
    if found.ends and region.bytes is not None:
        # Every thread reads its part of one pass; the last requests of the pass may start a second one.
        options["amount"] = -(-region.bytes // lanes)
    amount = amount_per_thread(use.run, found.options["read_percent"], whole)
    options |= {name: part_ * many // lanes for name, part_ in amount.options.items()}
    endless: Notes = ()
    if found.ends and "amount" not in options:
        why = f"where the end is must be known; write the size of SD {quoted(use.storage.name)}"
        endless = (unsupported(use.workload.head if use.seekpct is None else use.seekpct.parameter, why),)
    rest = together((found.opened, requests.content))
    return Translated(options | rest.options, (*place.notes, *amount.notes, *endless, *rest.notes))


def _not_whole(storage: Storage) -> Notes:
    """What to say of an SD that is a part of its device where it is to be concatenated."""
    size = storage.sized
    if size is None or storage.extent == storage.size:
        return ()
    return (unsupported(size, "a concatenation takes its devices whole; the nearest thing is a partition of that size"),)


def _own_rate(own: Parameter, rate: Rate | None, storages: int) -> Translated:
    """The rate of a WD that has its own."""
    if rate is not None:
        why = "how the run's rate divides beside it is not known; the nearest thing is iorate=max of the RD, or skew"
        return Translated({"arrival": rate.arrival, "rate": rate.per_s}, (unsupported(own, why),))
    found = number(own).value
    if not RATE_MIN * storages <= found <= RATE_MAX:
        raise own.wrong(f"{found:g} is no rate; write requests per second, up to {RATE_MAX}.")
    options = {"arrival": "poisson", "rate": _plain(round(found / storages, 3))}
    return Translated(options, (native(own, "rate of its streams, beside the closed loops of the others"),))


def _joined(storages: Sequence[Storage]) -> Storage:
    """Several SDs as one: the length is the sum where all are known."""
    first = storages[0]
    extents = list({storage.path: storage.extent for storage in storages}.values())
    whole = None if None in extents else sum(extent for extent in extents if extent is not None)
    if len(storages) == 1:
        return first
    return replace(first, size=None, found=whole)


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
