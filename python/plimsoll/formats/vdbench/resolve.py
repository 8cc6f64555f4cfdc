"""What a parameter file asks for, decided once: which parameter of the file holds for each run, and for each WD or FWD in each round of it.

Model: a parameter stands in a loop of the run, in the run, in a WD or FWD, in an SD or FSD, or on a line for the whole file; what a default
says counts as written in each definition below it. Which of these holds is decided here, in one place for each. Records come out that
nothing changes: their fields are called as the keywords, and each knows where in the file it stands (`Parameter`), with the values of the
round where loops have a say (`Setting`). None stands for what nobody says. What becomes of a parameter follows from these records alone,
so behind this file no definition is asked for a parameter again. SDs are decided beside (`storage`), loops in `load`.

    planning = planning_of(file, targets, "iorate")
    use = use_of(planning.wds["wd1"], disk, planning.runs[0], Round({"rdpct": Word("70")}, {"rdpct": parameter}), planning.general)
    use.rdpct                # Setting(parameter=…, words=(Word('70'),), looped=True)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.formats.known_targets import KnownTargets
from plimsoll.formats.vdbench.model import Definition, Parameter, ParameterFile, Word
from plimsoll.formats.vdbench.storage import Storage
from plimsoll.formats.vdbench.values import Setting


@dataclass(frozen=True)
class General:
    """Lines for the whole file."""

    compratio: Parameter | None = None
    concatenatesds: Parameter | None = None
    data_errors: Parameter | None = None
    dedupratio: Parameter | None = None
    fwd_thread_adjust: Parameter | None = None
    loop: Parameter | None = None
    pattern: Parameter | None = None
    validate: Parameter | None = None

    @property
    def concatenated(self) -> bool:
        """Whether SDs are concatenated; the word alone means yes."""
        found = self.concatenatesds
        return found is not None and (not found.values or found.word.lower() in ("yes", "y"))


@dataclass(frozen=True, eq=False)
class RunSettings:
    """A run. ``rate_word`` is the keyword of its rate, iorate or fwdrate."""

    definition: Definition
    rate_word: str
    rate: Parameter | None = None
    curve: Parameter | None = None
    stopcurve: Parameter | None = None
    distribution: Parameter | None = None
    elapsed: Parameter | None = None
    interval: Parameter | None = None
    warmup: Parameter | None = None
    maxdata: Parameter | None = None
    maxdataread: Parameter | None = None
    maxdatawritten: Parameter | None = None
    openflags: Parameter | None = None
    operations: Parameter | None = None
    format: Parameter | None = None
    sd: Parameter | None = None
    wd: Parameter | None = None
    fwd: Parameter | None = None

    @property
    def name(self) -> str:
        """As experiments are called."""
        return self.definition.name

    @property
    def head(self) -> Parameter:
        """Where it begins."""
        return self.definition.head


def _run(run: Definition, rate: str) -> RunSettings:
    given = run.given
    return RunSettings(
        definition=run,
        rate_word=rate,
        rate=given.get(rate),
        curve=given.get("curve"),
        stopcurve=given.get("stopcurve"),
        distribution=given.get("distribution"),
        elapsed=given.get("elapsed"),
        interval=given.get("interval"),
        warmup=given.get("warmup"),
        maxdata=given.get("maxdata"),
        maxdataread=given.get("maxdataread"),
        maxdatawritten=given.get("maxdatawritten"),
        openflags=given.get("openflags"),
        operations=given.get("operations"),
        format=given.get("format"),
        sd=given.get("sd"),
        wd=given.get("wd"),
        fwd=given.get("fwd"),
    )


@dataclass(frozen=True)
class Round:
    """One round of a run's loops: their values by the keyword that they vary, and where they stand."""

    choice: Mapping[str, Word]
    loops: Mapping[str, Parameter]

    def setting(self, definition: Definition, name: str) -> Setting | None:
        """What holds for a keyword: a loop's value before the definition's own."""
        if name in self.choice:
            return Setting(self.loops[name], (self.choice[name],), looped=True)
        parameter = definition.given.get(name)
        return None if parameter is None else Setting(parameter, parameter.values, inherited=name not in definition.own)

    def text(self, name: str, parameter: Parameter | None) -> Setting | None:
        """The same where what holds without a loop stands elsewhere."""
        if name in self.choice:
            return Setting(self.loops[name], (self.choice[name],), looped=True)
        return None if parameter is None else Setting(parameter, parameter.values)


@dataclass(frozen=True, eq=False)
class WorkloadSettings:
    """A WD or FWD, as far as loops have no say; ``own_rdpct`` counts beside a loop over it."""

    definition: Definition
    skew: Parameter | None = None
    sd: Parameter | None = None
    fsd: Parameter | None = None
    #: The FSD that files are copied or moved to.
    target: Parameter | None = None
    iorate: Parameter | None = None
    threads: Parameter | None = None
    own_rdpct: Parameter | None = None
    own_operations: Parameter | None = None
    openflags: Parameter | None = None

    @property
    def name(self) -> str:
        """As runs call it."""
        return self.definition.name

    @property
    def head(self) -> Parameter:
        """Where it begins."""
        return self.definition.head


def workload_settings(workload: Definition) -> WorkloadSettings:
    """What a WD or FWD says."""
    given = workload.given
    return WorkloadSettings(
        definition=workload,
        skew=given.get("skew"),
        sd=given.get("sd"),
        fsd=given.get("fsd"),
        target=given.get("target"),
        iorate=given.get("iorate"),
        threads=given.get("threads"),
        own_rdpct=given.get("rdpct"),
        own_operations=given.get("operations"),
        openflags=given.get("openflags"),
    )


@dataclass(frozen=True)
class Planning:
    """A file under translation: its general lines, its definitions by name, and the targets that there are. Of SDs and FSDs only those that
    a run uses are decided."""

    general: General
    targets: KnownTargets
    runs: tuple[RunSettings, ...]
    wds: Mapping[str, WorkloadSettings]
    fwds: Mapping[str, WorkloadSettings]
    sds: Mapping[str, Definition]
    fsds: Mapping[str, Definition]


def planning_of(file: ParameterFile, targets: KnownTargets, rate: str) -> Planning:
    """What a file says; ``rate`` is the keyword of its runs' rates."""
    said, known = file.general, file.definitions
    general = General(
        compratio=said.get("compratio"),
        concatenatesds=said.get("concatenatesds"),
        data_errors=said.get("data_errors"),
        dedupratio=said.get("dedupratio"),
        fwd_thread_adjust=said.get("fwd_thread_adjust"),
        loop=said.get("loop"),
        pattern=said.get("pattern"),
        validate=said.get("validate"),
    )
    return Planning(
        general=general,
        targets=targets,
        runs=tuple(_run(run, rate) for run in known.get("rd", {}).values()),
        wds={name: workload_settings(workload) for name, workload in known.get("wd", {}).items()},
        fwds={name: workload_settings(workload) for name, workload in known.get("fwd", {}).items()},
        sds=known.get("sd", {}),
        fsds=known.get("fsd", {}),
    )


@dataclass(frozen=True)
class Use:
    """What a WD asks of one SD in one round."""

    workload: WorkloadSettings
    storage: Storage
    run: RunSettings
    #: Flags of the run come before those of the WD, and these before the SD's.
    openflags: Parameter | None
    #: The part of the SD: of the WD's hotband and range whichever stands last, or the SD's own range.
    limits: Parameter | None
    hotband: Parameter | None
    stride: Parameter | None
    streams: Parameter | None
    rdpct: Setting | None
    wrpct: Setting | None
    rhpct: Setting | None
    whpct: Setting | None
    seekpct: Setting | None
    xfersize: Setting | None
    hitarea: Setting | None
    compratio: Setting | None
    dedupratio: Setting | None


def use_of(workload: WorkloadSettings, storage: Storage, run: RunSettings, round_: Round, general: General) -> Use:
    """What holds for a WD on an SD in a round."""
    definition, given = workload.definition, workload.definition.given
    parts = [found for found in (given.get("hotband"), given.get("range")) if found is not None]
    return Use(
        workload=workload,
        storage=storage,
        run=run,
        openflags=run.openflags or workload.openflags or storage.openflags,
        limits=max(parts, key=lambda found: found.order) if parts else storage.range,
        hotband=given.get("hotband"),
        stride=given.get("stride"),
        streams=given.get("streams"),
        rdpct=round_.setting(definition, "rdpct"),
        wrpct=round_.setting(definition, "wrpct"),
        rhpct=round_.setting(definition, "rhpct"),
        whpct=round_.setting(definition, "whpct"),
        seekpct=round_.setting(definition, "seekpct"),
        xfersize=round_.setting(definition, "xfersize"),
        hitarea=round_.text("hitarea", storage.hitarea),
        compratio=round_.text("compratio", storage.compratio or general.compratio),
        dedupratio=round_.text("dedupratio", storage.dedupratio or general.dedupratio),
    )


@dataclass(frozen=True)
class FileSettings:
    """What a FWD asks for in one round."""

    workload: WorkloadSettings
    fileio: Setting | None
    fileselect: Setting | None
    rdpct: Setting | None
    stopafter: Setting | None
    threads: Setting | None
    xfersizes: Setting | None
    compratio: Setting | None
    dedupratio: Setting | None
    #: Of the run or the FWD; without one those of its FSDs hold.
    openflags: Parameter | None
    #: A loop over operations comes before those of the run, and these before the first of the FWD.
    operations: Setting | None


def file_settings(workload: WorkloadSettings, run: RunSettings, round_: Round, general: General) -> FileSettings:
    """What holds for a FWD in a round."""
    definition = workload.definition
    own = workload.own_operations
    first = None if own is None else Setting(own, own.values[:1])
    several = first if run.operations is None else Setting(run.operations, run.operations.values)
    return FileSettings(
        workload=workload,
        fileio=round_.setting(definition, "fileio"),
        fileselect=round_.setting(definition, "fileselect"),
        rdpct=round_.setting(definition, "rdpct"),
        stopafter=round_.setting(definition, "stopafter"),
        threads=round_.setting(definition, "threads"),
        xfersizes=round_.setting(definition, "xfersizes"),
        compratio=round_.text("compratio", general.compratio),
        dedupratio=round_.text("dedupratio", general.dedupratio),
        openflags=run.openflags or workload.openflags,
        operations=round_.text("operations", None) or several,
    )


@dataclass(frozen=True)
class TreeSettings:
    """What an FSD says of its tree in one round."""

    definition: Definition
    openflags: Parameter | None
    depth: Setting | None
    distribution: Setting | None
    files: Setting | None
    sizes: Setting | None
    totalsize: Setting | None
    width: Setting | None
    workingsetsize: Setting | None

    @property
    def name(self) -> str:
        """As FWDs call it."""
        return self.definition.name

    @property
    def head(self) -> Parameter:
        """Where it begins."""
        return self.definition.head


def tree_settings(fsd: Definition, round_: Round) -> TreeSettings:
    """What holds for an FSD in a round."""
    return TreeSettings(
        definition=fsd,
        openflags=fsd.given.get("openflags"),
        depth=round_.setting(fsd, "depth"),
        distribution=round_.setting(fsd, "distribution"),
        files=round_.setting(fsd, "files"),
        sizes=round_.setting(fsd, "sizes"),
        totalsize=round_.setting(fsd, "totalsize"),
        width=round_.setting(fsd, "width"),
        workingsetsize=round_.setting(fsd, "workingsetsize"),
    )
