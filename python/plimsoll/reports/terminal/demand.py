"""Demands as text for a terminal: watched on devices, and what carries them.

``plimsoll watch``: a line per device and interval in iostat's columns, and the distribution at the end.

Device             r/s     rkB/s   r_await  rareq-sz       w/s …    aqu-sz     %util
vda            8123.00  32492.00      0.11      4.00      0.00 …      0.93     98.20

``plimsoll size``: the demand, the load lines held against it, the refused ones with the reason, the RAID arithmetic.

headroom  carries  workload  target     mark IOPS  MB/s  reads  size     level  limited by  run
1.34 ×    yes      oltp-db   /dev/sdb       1,608  13.2  70 %   8 KiB        8  reads       2026-11-21T…
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.derivation import MAILSTORE
from plimsoll.analysis.sizing.demand import COLUMNS, Demand, Distribution, Observed
from plimsoll.analysis.sizing.spindles import Spindles, per_iops
from plimsoll.analysis.sizing.stored_lines import HIGHEST, MIX_POINTS, RANDOM_POINTS, SIZE_FACTOR, Fit
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.reports.terminal.table import table
from plimsoll.result import flag_words
from plimsoll.units import binary, count, megabytes, seconds, significant, three_digits

#: The columns of a line; discards and flushes are kept but not shown.
SHOWN = tuple(name for name in COLUMNS if name not in ("d/s", "f/s"))
#: Lines between two heads, so that one is always on the screen.
HEAD_EVERY = 20
_FIRST = 12
_WIDTH = 9
_QUANTILES = ("mean", "p50", "p90", "p95", "p99", "max")
_UNITS = {"%read": "%", "%util": "%", "areq-sz": "kB", "rareq-sz": "kB", "wareq-sz": "kB", "r_await": "ms", "w_await": "ms"}


def head() -> str:
    """The names of the columns."""
    return "Device".ljust(_FIRST) + "".join(f" {name:>{_WIDTH}}" for name in SHOWN)


def line(device: str, columns: Mapping[str, float]) -> str:
    """One device in one interval."""
    return device.ljust(_FIRST) + "".join(f" {columns[name]:>{_WIDTH}.2f}" for name in SHOWN)


def distribution(observed: Observed) -> str:
    """Every metric of a device with its percentiles over the intervals."""
    model = observed.about.get("model")
    named = observed.name + (f" ({model})" if model and not str(model).startswith("absent:") else "")
    watched_s = sum(observed.seconds)
    title = f"{named}: {_intervals(len(observed.seconds))} in {seconds(watched_s) if watched_s >= 10 else f'{watched_s:.1f} s'}"
    summary = observed.summary()
    if "iops" not in summary:
        return title
    if not summary["iops"].max:
        return f"{title}, in which it did nothing"
    rows = [
        ("", *_QUANTILES, "intervals"),
        *(_row_of_distribution(name, found) for name, found in summary.items() if found.max or name in SHOWN),
    ]
    return f"{title}\n{table(rows, left=1)}"


def _row_of_distribution(name: str, found: Distribution) -> tuple[str, ...]:
    unit = f" {_UNITS[name]}" if name in _UNITS else ""
    return (
        f"{name}{unit if unit.strip() not in name else ''}",
        *(_figure(getattr(found, quantile)) for quantile in _QUANTILES),
        str(found.intervals),
    )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else three_digits(value)


def _intervals(number: int) -> str:
    return f"{number} {'interval' if number == 1 else 'intervals'}"


_LEFT = 4
_TERA = 10**12
_GIGA = 10**9
_REFUSED_SHOWN = 8


def demand_lines(demand: Demand, objective: str | None) -> Iterator[str]:
    """What is demanded."""
    grown = f" ({count(demand.iops)} and {demand.growth_percent:+g} %)" if demand.growth_percent else ""
    yield (
        f"demand     {count(demand.grown_iops)} IOPS{grown}, {megabytes(demand.grown_bytes_per_s)} MB/s, "
        f"{_share(demand.read_percent)} reads of {binary(demand.block_bytes)}, {_share(demand.random_percent)} random"
    )
    yield f"from       {demand.source}"
    yield f"objective  {objective or HIGHEST}"
    yield from (f"note       {note}" for note in demand.notes)


def fits_table(fits: Sequence[Fit], price: float | None, screen: Screen = ANY) -> str:
    """The lines that were compared, as a table, largest headroom first."""
    head = ("headroom", "carries", "workload", "target", "mark IOPS", "MB/s", "reads", "size", "random", "level", "limited by")
    rows = [(*head, *(("price/IOPS",) if price is not None else ()), "run")]
    for fit in fits:
        if fit.refused is None and fit.mark is not None and fit.shape is not None:
            priced = (significant(per_iops(price, fit.mark.iops), 4),) if price is not None else ()
            rows.append((*_row_of_fit(fit), *priced, fit.line.run))
    return table(rows, left=_LEFT, screen=screen)


def fits_lines(fits: Sequence[Fit]) -> Iterator[str]:
    """What the table cannot say: intervals, lower ends, doubts, and what was refused."""
    compared = [fit for fit in fits if fit.refused is None]
    carrying = [fit for fit in compared if fit.carries]
    if not fits:
        yield "There are no stored results. Measure a load line first, for example with 'plimsoll run --over'."
    elif not compared:
        yield "No stored load line is similar enough to the demand to be compared."
    else:
        yield _carried(len(carrying), len(compared))
    yield from _remarks(compared)
    yield from _refused([fit for fit in fits if fit.refused is not None])


def _carried(carrying: int, compared: int) -> str:
    """How many load lines carry the demand; one whose interval reaches below it is not shown to."""
    if compared == 1:
        return f"Your only comparable load line {'carries' if carrying else 'is not shown to carry'} this load."
    if not carrying:
        return f"None of your {compared} comparable load lines is shown to carry this load."
    return f"{carrying} of your {compared} comparable load lines {'carries' if carrying == 1 else 'carry'} this load."


#: So many targets that carry a demand stand in the sentence.
_NAMED = 4


def measured_answer(fits: Sequence[Fit], demand: Demand) -> str:
    """Which of the targets that were measured carry the demand, with how much to spare."""
    carrying = [fit for fit in fits if fit.carries]
    asked = f"{count(demand.grown_iops)} requests per second"
    if not carrying:
        return f"None of the {len(fits)} targets carries {asked}." if len(fits) > 1 else f"{_side(fits[0])} does not carry {asked}."
    named = [
        f"{_side(fit)} {'at least ' if fit.at_least else ''}{three_digits(fit.headroom)} ×{_doubted(fit)}" for fit in carrying[:_NAMED]
    ]
    modelled = " (modelled)" if all(fit.line.modelled for fit in carrying) else ""
    more = f" and {len(carrying) - _NAMED} more" if len(carrying) > _NAMED else ""
    verb = "carries" if len(carrying) == 1 else "carry"
    return f"{len(carrying)} of {len(fits)} {'target' if len(fits) == 1 else 'targets'} {verb} {asked}: {', '.join(named)}{more}{modelled}."


def measured_lines(fits: Sequence[Fit], screen: Screen = ANY) -> Iterator[str]:
    """A row per target that was measured: what it carries at the objective, in multiples of the demand."""
    rows: list[tuple[str, ...]] = [("headroom", "carries", "target", "mark IOPS", "MB/s", "limited by", "doubts")]
    for fit in fits:
        if fit.refused is None and fit.mark is not None and fit.shape is not None:
            spare = f"{'≥ ' if fit.at_least else ''}{three_digits(fit.headroom)} ×"
            figures = (count(fit.mark.iops), megabytes(fit.mark.bytes_per_s))
            rows.append((spare, fit.verdict, _target(fit), *figures, fit.limited_by, ", ".join(map(flag_words, fit.shape.doubts))))
        else:
            rows.append(("–", "no", _target(fit), "–", "–", "", fit.refused or ""))
    yield table(rows, left=3, screen=screen)
    yield ""
    if any(fit.at_least and fit.refused is None for fit in fits):
        yield "≥: no higher rate was tried."
    if any("not settled" in fit.verdict for fit in fits):
        yield "not settled: the 95 % interval of the mark lies on both sides of the demand, or there is none; measure longer (-d 60s)."
    if any(fit.line.modelled for fit in fits):
        yield "Modelled targets say what a model carries, not what storage does."


def mailbox_lines(fits: Sequence[Fit], demand: Demand) -> Iterator[str]:
    """How many of the demanded mailboxes each line carries; nothing where none are demanded."""
    found = [(fit, fit.mailboxes(demand)) for fit in fits]
    free = f", with {demand.growth_percent:g} % kept free" if demand.growth_percent else ""
    for fit, mailboxes in found:
        if mailboxes is not None:
            yield f"{_target(fit)} carries {'at least ' if fit.at_least else ''}{mailboxes:,} mailboxes of {demand.profile}{free}."
    if any(fit.limited_by == "transfers" for fit, mailboxes in found if mailboxes is not None):
        yield f"{MAILSTORE[0].upper()}{MAILSTORE[1:]}."


def _doubted(fit: Fit) -> str:
    return "" if fit.settled else " (not settled)"


def _side(fit: Fit) -> str:
    return str(fit.line.configuration or fit.line.target)


def _target(fit: Fit) -> str:
    return _side(fit) + (" (modelled)" if fit.line.modelled else "")


def spindles_lines(answer: Spindles, demand: Demand | None) -> Iterator[str]:
    """The RAID arithmetic."""
    disks, storage = answer.disks, answer.storage
    arrays = f"{disks.arrays} arrays of " if disks.arrays > 1 else ""
    mirrored = ", mirrored in pairs" if disks.mirrored else ""
    yield f"{arrays}{answer.layout}{mirrored} (computed, not measured)"
    if answer.disks_needed is not None and demand is not None and answer.usable_factor is not None:
        yield (
            f"  load       {count(demand.grown_iops)} IOPS × ({significant(demand.read_percent / 100)} + {_penalty(answer)} × "
            f"{significant(1 - demand.read_percent / 100)}) = {count(demand.grown_iops / answer.usable_factor)} disk operations/s; "
            f"at {disks.disk_iops:g} per disk {answer.disks_needed} disks"
        )
    if answer.iops is not None and answer.headroom is not None and answer.usable_factor is not None:
        yield (
            f"  carries    {count(answer.iops)} IOPS with {answer.disks_in_groups} disks (usable factor {answer.usable_factor:.3f}), "
            f"{three_digits(answer.headroom)} × the demand"
        )
    if storage is not None:
        yield f"  usable     {_tera(storage.usable_bytes)} of {_tera(storage.raw_bytes)} bought, {100 * storage.efficiency:.1f} %"
        yield f"  survives   {_failures(storage.failures_survived, storage.failures_survived_at_best)}"
        if disks.volumes is not None:
            yield f"  volumes    {disks.volumes} of {_capacity(storage.volume_bytes(disks.volumes))}"
    if answer.price_per_gigabyte is not None:
        yield f"  price      {significant(answer.price_per_gigabyte, 4)} per usable GB"
    if answer.price_per_iops is not None:
        yield f"  price      {significant(answer.price_per_iops, 4)} per IOPS"
    yield from (f"  note       {note}" for note in answer.notes)


def _row_of_fit(fit: Fit) -> tuple[str, ...]:
    assert fit.mark is not None and fit.shape is not None
    target = fit.line.target + (" (modelled)" if fit.line.modelled else "")
    configuration = fit.line.configuration
    named = target if configuration in (None, fit.line.target) else f"{target}, {configuration}"
    marks = "?" if fit.shape.doubts else ""
    return (
        f"{'≥ ' if fit.at_least else ''}{three_digits(fit.headroom)} ×",
        fit.verdict,
        fit.line.workload,
        named,
        f"{count(fit.mark.iops)}{marks}",
        megabytes(fit.mark.bytes_per_s),
        _share(fit.shape.read_percent),
        binary(fit.shape.block_bytes),
        _share(fit.shape.random_percent),
        significant(fit.mark.level, 4) if any(result.place.get("level") is not None for result in fit.line.results) else "–",
        fit.limited_by,
    )


def _remarks(compared: Sequence[Fit]) -> Iterator[str]:
    if any(fit.at_least for fit in compared):
        yield "≥: no level of the line failed, so it may carry more. A ≥ below 1 shows nothing."
    for fit in compared:
        if fit.interval is not None and not fit.settled:
            low, high = fit.interval
            yield f"{_named(fit)}: headroom {three_digits(low)} to {three_digits(high)} × with 95 % confidence: not settled."
    doubts = sorted(
        {
            f"{_named(fit)} ({', '.join(map(flag_words, fit.shape.doubts))})"
            for fit in compared
            if fit.shape is not None and fit.shape.doubts
        }
    )
    if doubts:
        yield f"?: flagged: {'; '.join(doubts)}. 'plimsoll report RUN' explains the flags."
    if any(fit.line.modelled for fit in compared):
        yield "Modelled lines show what a model carries, not what real storage carries."


def _refused(refused: Sequence[Fit]) -> Iterator[str]:
    if not refused:
        return
    yield ""
    yield (
        f"not compared, {len(refused)}: too different (read share off by > {MIX_POINTS:g} points, size by > {SIZE_FACTOR:g} ×, "
        f"random share by > {RANDOM_POINTS:g} points), or without a mark:"
    )
    yield from (f"  {_named(fit)}: {fit.refused}" for fit in refused[:_REFUSED_SHOWN])
    if len(refused) > _REFUSED_SHOWN:
        yield f"  and {len(refused) - _REFUSED_SHOWN} more; --json lists all"


def _named(fit: Fit) -> str:
    return f"{fit.line.workload} on {fit.line.target} ({fit.line.run})"


def _share(percent: float) -> str:
    """A percentage without digits that mean nothing; a little is never shown as none, nor nearly all as all."""
    if 0 < percent < 1 or 99 < percent < 100:
        return f"{percent:.2f} %"
    return f"{percent:.0f} %"


def _penalty(answer: Spindles) -> str:
    return f"2 × {answer.disks.level.penalty}" if answer.disks.mirrored else str(answer.disks.level.penalty)


def _tera(size_bytes: float) -> str:
    return f"{significant(size_bytes / _TERA, 4)} TB ({significant(size_bytes / 2**40, 4)} TiB)"


def _capacity(size_bytes: float) -> str:
    if size_bytes >= _TERA:
        return _tera(size_bytes)
    return f"{significant(size_bytes / _GIGA, 4)} GB ({significant(size_bytes / 2**30, 4)} GiB)"


def _failures(number: int, at_best: int) -> str:
    if number == 0:
        return "no failure of a disk"
    more = f", and of up to {at_best} if they fall in different groups" if at_best > number else ""
    return f"the failure of any {'one disk' if number == 1 else f'{number} disks'}{more}"
