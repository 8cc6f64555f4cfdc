"""Addresses of a trace: where requests start, sequential runs, and the working set.

Starts: how requests spread over the address space, and how often they come back to the same one.

Model: two pictures, both of bounded size. The *map* counts requests per granule of the address space; granules begin at 4 KiB and double
whenever more than `MOST_START_GRANULES` were touched. The *popularity* counts requests per start, in units of 512 bytes; when there are
more than `MOST_STARTS` different ones, only those are kept whose hash falls below a threshold, which is halved each time (spatially hashed
sampling: Waldspurger et al., FAST 2015), so that what is kept is a fair sample of the starts.
Limits: once sampled, the few hottest starts are in the sample or not by chance.

    addresses.add(offset=1 << 20, length=4096)
    addresses.hottest(0.2)                    # the share of the requests that fall on the hottest fifth of the address space

Runs: requests that follow the end of an earlier one, also when several runs are interleaved.

Model: for each target the ends of the latest requests are kept, as many as `WINDOW`; a request that begins at one of them continues that
run. How many runs were touched since, on average, says how many go on at once.
Limits: a run that others pushed out of the window begins anew. Backward and strided runs count as random.

    runs.follows("8,0", offset=8192, length=4096)

Working set: how much of the address space requests touch, sequential ones included.

Model: the granules that any request reaches are remembered; they begin at 4 KiB and double whenever there are more than
`MOST_SET_GRANULES`.
Limits: an upper bound, by what the last granules of runs and the gaps within granules add.

    touched.add(offset=0, length=1 << 20); touched.size_bytes      # 1 MiB
"""

from __future__ import annotations

MOST_START_GRANULES = 4096
MOST_STARTS = 65_536
FIRST_SHIFT = 12
_SECTOR_SHIFT = 9
_HASH = 0x9E37_79B9_7F4A_7C15
_MASK = (1 << 64) - 1
_DROP = 32
_ALL = 1 << 32


class Addresses:
    """Starts of requests."""

    __slots__ = ("_below", "count", "end", "granules", "shift", "start", "starts")

    def __init__(self) -> None:
        self.count = 0
        self.start = 0
        self.end = 0
        self.shift = FIRST_SHIFT
        self.granules: dict[int, int] = {}
        self.starts: dict[int, int] = {}
        self._below = _ALL

    def add(self, offset: int, length: int) -> None:
        """One request."""
        if self.count == 0 or offset < self.start:
            self.start = offset
        if offset + length > self.end:
            self.end = offset + length
        self.count += 1
        granule = offset >> self.shift
        granules = self.granules
        granules[granule] = granules.get(granule, 0) + 1
        if len(granules) > MOST_START_GRANULES:
            self._coarsen()
        sector = offset >> _SECTOR_SHIFT
        if (sector * _HASH & _MASK) >> _DROP < self._below:
            starts = self.starts
            starts[sector] = starts.get(sector, 0) + 1
            if len(starts) > MOST_STARTS:
                self._thin()

    @property
    def sampled(self) -> float:
        """The share of all starts that the popularity knows."""
        return self._below / _ALL

    @property
    def different(self) -> float:
        """Different starts, estimated when they are a sample."""
        return len(self.starts) / self.sampled

    def coarsened(self, shift: int) -> dict[int, int]:
        """The map with granules of ``1 << shift`` bytes, which is not below `shift`."""
        merged: dict[int, int] = {}
        by = shift - self.shift
        for granule, count in self.granules.items():
            merged[granule >> by] = merged.get(granule >> by, 0) + count
        return merged

    def hottest(self, part: float, shift: int | None = None) -> float:
        """The share of the requests that fall on the hottest ``part`` of the granules between the first and the last request."""
        if self.count == 0:
            return 0.0
        wide = self.shift if shift is None else shift
        counts = sorted(self.coarsened(wide).values(), reverse=True)
        all_granules = ((self.end - 1) >> wide) - (self.start >> wide) + 1
        wanted = part * all_granules
        whole = int(wanted)
        share = sum(counts[:whole]) + (wanted - whole) * (counts[whole] if whole < len(counts) else 0)
        return share / self.count

    def popularity(self, most: int) -> float:
        """The share of the requests that go to the ``most`` most popular starts."""
        return popular_share([(count, 1.0 / self.sampled) for count in sorted(self.starts.values(), reverse=True)], [most])[0]

    def _coarsen(self) -> None:
        self.granules = self.coarsened(self.shift + 1)
        self.shift += 1

    def _thin(self) -> None:
        self._below >>= 1
        below = self._below
        self.starts = {sector: count for sector, count in self.starts.items() if (sector * _HASH & _MASK) >> _DROP < below}


def popular_share(classes: list[tuple[int, float]], most: list[int]) -> list[float]:
    """The share of requests on the ``most`` most popular starts, for ascending numbers of them.

    ``classes`` are (requests of a start, starts), most popular first.
    """
    total = sum(count * starts for count, starts in classes)
    shares, taken, requests, place = [], 0.0, 0.0, 0
    for wanted in most:
        while place < len(classes) and taken + classes[place][1] <= wanted:
            taken += classes[place][1]
            requests += classes[place][0] * classes[place][1]
            place += 1
        part = (wanted - taken) * classes[place][0] if place < len(classes) else 0.0
        shares.append((requests + part) / total if total else 0.0)
    return shares


def common_shift(first: Addresses, second: Addresses) -> int:
    """The finest granules that both maps have."""
    return max(first.shift, second.shift)


def position_distance(first: Addresses, second: Addresses) -> float:
    """The largest difference between the two cumulative distributions over the address space (Kolmogorov–Smirnov)."""
    if not first.count or not second.count:
        return 0.0 if first.count == second.count else 1.0
    shift = common_shift(first, second)
    maps = first.coarsened(shift), second.coarsened(shift)
    passed, largest = [0, 0], 0.0
    for granule in sorted(maps[0].keys() | maps[1].keys()):
        passed[0] += maps[0].get(granule, 0)
        passed[1] += maps[1].get(granule, 0)
        largest = max(largest, abs(passed[0] / first.count - passed[1] / second.count))
    return largest


WINDOW = 64
_MOST_TARGETS = 4096
#: The place of an end in the window is looked up once in so many sequential requests.
_LOOK_EVERY = 16


class Runs:
    """The ends of the latest requests of every target."""

    __slots__ = ("_ends", "_looks", "_passed", "sequential")

    def __init__(self) -> None:
        self._ends: dict[str, dict[int, None]] = {}
        self.sequential = 0
        self._looks = 0
        self._passed = 0

    def follows(self, target: str, offset: int, length: int) -> bool:
        """Whether a request continues a run; it is one of the latest from now on."""
        ends = self._ends.get(target)
        if ends is None:
            if len(self._ends) >= _MOST_TARGETS:
                self._ends.clear()
            ends = self._ends[target] = {}
        follows = offset in ends
        if follows:
            if self.sequential % _LOOK_EVERY == 0:
                self._looks += 1
                self._passed += len(ends) - 1 - list(ends).index(offset)
            self.sequential += 1
            del ends[offset]
        elif len(ends) >= WINDOW:
            del ends[next(iter(ends))]
        end = offset + length
        # Only a fresh key goes to the end of a dictionary.
        ends.pop(end, None)
        ends[end] = None
        return follows

    @property
    def at_once(self) -> float:
        """Runs that go on at once: those touched between two requests of one run, and this one."""
        return 1.0 + self._passed / self._looks if self._looks else 1.0


MOST_SET_GRANULES = 16_384


class WorkingSet:
    """Granules that were touched."""

    __slots__ = ("granules", "shift")

    def __init__(self) -> None:
        self.shift = FIRST_SHIFT
        self.granules: set[int] = set()

    def add(self, offset: int, length: int) -> None:
        """One request."""
        shift = self.shift
        first, last = offset >> shift, (offset + length - 1) >> shift
        # A request longer than all granules together is coarsened before it is spelt out.
        while last - first > MOST_SET_GRANULES:
            self._coarsen()
            first, last = offset >> self.shift, (offset + length - 1) >> self.shift
        if first == last:
            self.granules.add(first)
        else:
            self.granules.update(range(first, last + 1))
        while len(self.granules) > MOST_SET_GRANULES:
            self._coarsen()

    @property
    def size_bytes(self) -> int:
        """The granules together."""
        return len(self.granules) << self.shift

    def _coarsen(self) -> None:
        self.shift += 1
        self.granules = {granule >> 1 for granule in self.granules}
