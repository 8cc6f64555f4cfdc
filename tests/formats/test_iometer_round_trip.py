"""Files made from seeded random models are read back equal, and written back to the same text, in every family of versions."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TypeVar

import pytest

from plimsoll.formats.iometer import read, translate, write
from plimsoll.formats.iometer.model import (
    ASSIGNMENTS,
    NUMBER_OF_CPUS,
    RECORDS,
    TEST_TYPES,
    WORKER_TYPES,
    AccessLine,
    AccessSpec,
    Cycling,
    Display,
    IometerFile,
    Manager,
    Settings,
    Setup,
    Target,
    Version,
    Worker,
)
from plimsoll.formats.iometer.read import name_of

T = TypeVar("T")
FAMILIES = (
    "1997.11.03",
    "1998.03.02",
    "1998.10.08",
    "1999.02.17",
    "2003.12.16",
    "2004.07.30",
    "2006.07.27",
    "2008.06.18",
    "1.1.0",
    "3.26.97",
)
NAMES = ("Worker 1", "C:", '1: "\\\\.\\PHYSICALDRIVE1"', "/mnt/x [ext3]", "4 KiB; 75% Read", "Ünïcode", "Version 2", "a  b")


class Chance(random.Random):
    """A source of models."""

    def maybe(self, value: T) -> T | None:
        return value if self.random() < 0.7 else None

    def setup(self, version: Version) -> Setup:
        unknown = (
            () if version.strict_setup else tuple((f"Key {number}", ("x", "y")[: self.randrange(3)]) for number in range(self.randrange(3)))
        )
        return Setup(
            description=self.maybe(self.choice(["", "Nightly, at 3", "it's"])),
            run_time=self.maybe((self.randrange(24), self.randrange(60), self.randrange(60))),
            ramp_up_s=self.maybe(self.randrange(600)),
            disk_workers=self.maybe(self.choice([0, 4, NUMBER_OF_CPUS])),
            network_workers=self.maybe(self.choice([0, 4, NUMBER_OF_CPUS])),
            workers_to_spawn=self.maybe(self.randrange(9)),
            record=self.maybe(self.choice(RECORDS)),
            worker_cycling=self.maybe(self.cycling(None)),
            target_cycling=self.maybe(self.cycling(None)),
            queue_cycling=self.maybe(self.cycling(self.randrange(65537))),
            test_type=self.maybe(self.choice(TEST_TYPES)),
            unknown=unknown,
        )

    def cycling(self, end: int | None) -> Cycling:
        return Cycling(self.randrange(100), self.randrange(100), self.choice(["LINEAR", "EXPONENTIAL"]), end)

    def specs(self, version: Version) -> tuple[AccessSpec, ...]:
        count = range(self.randrange(6))
        if version.named_specs:
            return tuple(AccessSpec(f"Spec {number}; x", self.choice(ASSIGNMENTS), self.lines(later=True)) for number in count)
        specs: list[AccessSpec] = []
        for _ in count:
            lines = self.lines(later=False)
            specs.append(AccessSpec(name_of(lines, [spec.name for spec in specs]), "ALL", lines))
        return tuple(specs)

    def lines(self, later: bool) -> tuple[AccessLine, ...]:
        cuts = sorted({0, 100, *(self.randrange(1, 100) for _ in range(self.randrange(8)))})
        shares = [high - low for low, high in pairwise(cuts)]
        return tuple(self.line(share, later) for share in shares)

    def line(self, share: int, later: bool) -> AccessLine:
        ends = (self.choice([0, 512, 4096]), self.choice([0, 0, 512])) if later else (0, 0)
        numbers = (share, self.randrange(101), self.randrange(101), self.randrange(1000), self.randrange(1, 99))
        return AccessLine(self.randrange(1, 1 << 30), *numbers, *ends)

    def managers(self) -> tuple[Manager, ...]:
        return tuple(
            Manager(
                number,
                self.choice(NAMES),
                self.maybe(self.choice(["", "10.0.0.1"])),
                tuple(self.worker() for _ in range(self.randrange(4))),
            )
            for number in range(self.randrange(3))
        )

    def worker(self) -> Worker:
        return Worker(
            self.choice(NAMES),
            self.choice(WORKER_TYPES),
            self.maybe(self.settings()),
            self.maybe(tuple(self.choices(NAMES, k=self.randrange(4)))),
            self.maybe(tuple(self.target() for _ in range(self.randrange(4)))),
        )

    def settings(self) -> Settings:
        connection = self.random() < 0.8
        seed = connection and self.random() < 0.5
        region = self.random() < 0.8
        return Settings(
            outstanding=self.randrange(1, 65537) if connection else self.maybe(8),
            connection_rate=self.random() < 0.5 if connection else None,
            transactions=self.randrange(1 << 32) if connection else None,
            use_fixed_seed=self.random() < 0.5 if seed else None,
            fixed_seed=self.randrange(1 << 64) if seed else None,
            maximum_sectors=self.randrange(1 << 41) if region else None,
            starting_sector=self.randrange(1 << 41) if region else None,
            data_pattern=self.randrange(3) if region and seed else None,
            network_interface=self.maybe(self.choice(["", "10.0.0.1"])),
            vi_outstanding=self.maybe(8),
        )

    def target(self) -> Target:
        return Target(self.choice(NAMES), self.choice(WORKER_TYPES), self.maybe((self.randrange(9), self.choice(NAMES))))

    def file(self, version: Version) -> IometerFile:
        display = Display((("Update Frequency,Update Type", ("1,WHOLE_TEST",)), ("Bar chart 1 statistic", ("Total I/Os per Second",))))
        return IometerFile(
            version,
            self.maybe(self.setup(version)),
            self.maybe(display),
            self.maybe(self.specs(version)),
            self.maybe(self.managers()),
        )


@pytest.mark.parametrize("version", FAMILIES)
def test_what_is_written_reads_equal_and_is_written_equal(version: str) -> None:
    chance = Chance(version)
    for _ in range(60):
        file = chance.file(Version(version))
        text = write(file)
        again = read(text, "a.icf")
        assert again == file
        assert write(again) == text


@pytest.mark.parametrize("version", FAMILIES)
def test_every_statement_of_a_random_file_is_remarked_once(version: str) -> None:
    chance = Chance(f"remarks {version}")
    for _ in range(30):
        file = chance.file(Version(version))
        bare = IometerFile(file.version, _without_cycling(file.setup), file.display, file.specs, _assigned(file))
        translation = translate(write(bare), "a.icf")
        lines = [remark.line for remark in translation.remarks if remark.kind != "surprise"]
        assert len(lines) == len(set(lines))


def _without_cycling(setup: Setup | None) -> Setup | None:
    return None if setup is None else Setup(setup.description, setup.run_time, setup.ramp_up_s, setup.disk_workers, record=setup.record)


def _assigned(file: IometerFile) -> tuple[Manager, ...]:
    """The managers, with specifications that exist."""
    names = tuple(spec.name for spec in file.specs or ())
    return tuple(
        Manager(
            manager.number,
            manager.name,
            manager.address,
            tuple(Worker(worker.name, worker.kind, worker.settings, names, worker.targets) for worker in manager.workers),
        )
        for manager in file.managers or ()
    )


def test_a_file_in_canonical_form_is_written_as_it_was() -> None:
    text = (
        "Version 1.1.0 \n"
        "'TEST SETUP ====================================================================\n"
        "'Test Description\n"
        "\tNightly\n"
        "'Run Time\n"
        "'\thours      minutes    seconds\n"
        "\t0          1          30\n"
        "'Ramp Up Time (s)\n"
        "\t15\n"
        "'Default Disk Workers to Spawn\n"
        "\tNUMBER_OF_CPUS\n"
        "'Default Network Workers to Spawn\n"
        "\t0\n"
        "'Record Results\n"
        "\tALL\n"
        "'Worker Cycling\n"
        "'\tstart      step       step type\n"
        "\t1          1          LINEAR\n"
        "'Disk Cycling\n"
        "'\tstart      step       step type\n"
        "\t1          1          LINEAR\n"
        "'Queue Depth Cycling\n"
        "'\tstart      end        step       step type\n"
        "\t1          32         2          EXPONENTIAL\n"
        "'Test Type\n"
        "\tNORMAL\n"
        "'END test setup\n"
        "'ACCESS SPECIFICATIONS =========================================================\n"
        "'Access specification name,default assignment\n"
        "\tDefault,NONE\n"
        "'size,% of size,% reads,% random,delay,burst,align,reply\n"
        "\t2048,100,67,100,0,1,2048,0\n"
        "'END access specifications\n"
        "'MANAGER LIST ==================================================================\n"
        "'Manager ID, manager name\n"
        "\t1,HOST\n"
        "'Manager network address\n"
        "\t10.0.0.1\n"
        "'Worker\n"
        "\tWorker 1\n"
        "'Worker type\n"
        "\tDISK\n"
        "'Default target settings for worker\n"
        "'Number of outstanding IOs,test connection rate,transactions per connection,use fixed seed,fixed seed value\n"
        "\t8,DISABLED,1,DISABLED,0\n"
        "'Disk maximum size,starting sector,Data pattern\n"
        "\t0,0,1\n"
        "'End default target settings for worker\n"
        "'Assigned access specs\n"
        "\tDefault\n"
        "'End assigned access specs\n"
        "'Target assignments\n"
        "'Target\n"
        "\tsdb\n"
        "'Target type\n"
        "\tDISK\n"
        "'End target\n"
        "'End target assignments\n"
        "'End worker\n"
        "'End manager\n"
        "'END manager list\n"
        "Version 1.1.0 \n"
    )
    assert write(read(text, "a.icf")) == text
