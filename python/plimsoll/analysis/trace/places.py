"""Where requests begin: how they spread over the address space, and how often they come back to the same place.

Model: two pictures, both of bounded size. The *map* counts requests per granule of the address space; granules begin at 4 KiB and double
whenever more than `MOST_GRANULES` were touched. The *popularity* counts requests per start, in units of 512 bytes; when there are more than
`MOST_STARTS` different ones, only those are kept whose hash falls below a threshold, which is halved each time (spatially hashed sampling:
Waldspurger et al., FAST 2015), so that what is kept is a fair sample of the starts.
Limits: once sampled, the few hottest starts are in the sample or not by chance.

    places.add(offset=1 << 20, length=4096)
    places.hottest(0.2)                    # the share of the requests that fall on the hottest fifth of the address space
"""

from __future__ import annotations

MOST_GRANULES = 4096
MOST_STARTS = 65_536
FIRST_SHIFT = 12
_SECTOR_SHIFT = 9
_HASH = 0x9E37_79B9_7F4A_7C15
_MASK = (1 << 64) - 1
_DROP = 32
_ALL = 1 << 32


class Places:
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
        if len(granules) > MOST_GRANULES:
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


def common_shift(first: Places, second: Places) -> int:
    """The finest granules that both maps have."""
    return max(first.shift, second.shift)


def position_distance(first: Places, second: Places) -> float:
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
