"""Candidates: which arrays words of ``--among`` name, and what arithmetic excludes."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.catalog.bill import Item, bill
from plimsoll.choice.candidates import Candidate, Limits, Shape, candidates, considered, overfull
from plimsoll.choice.prices import price_book
from plimsoll.choice.risk import loss_per_year, unreadable
from plimsoll.errors import InputError


def names(*words: str) -> list[str]:
    return [candidate.name for candidate in candidates(words)]


def test_axes_vary_an_array_of_one_group() -> None:
    found = candidates(["nearline-raid6?drives=6..8+2&level=raid6,raid10"])
    assert [candidate.name for candidate in found] == [
        f"nearline-raid6?drives={drives}&level={level}" for drives in (6, 8) for level in ("raid6", "raid10")
    ]
    assert found[0].target == "array:nearline-raid6?devices.disk.count=6&group.raid.raid.devices=6&group.raid.raid.level=raid6"


def test_a_family_is_narrowed_by_its_own_axes() -> None:
    assert names("msa50?level=raid6&drives=6,8&drive=10k") == ["msa50-sas-10k-raid6-6", "msa50-sas-10k-raid6-8"]
    assert len(names("msa50")) == 24


def test_a_candidate_that_two_words_name_is_one() -> None:
    assert names("nvme-raid10 nvme-raid1*", "array:nvme-raid10-8") == ["nvme-raid10", "nvme-raid10-8"]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("nvme-raid", "did you mean 'nvme-raid10'?"),
        ("nvme-raid10?drives=some", "drives: 'some' is no number of drives; write 8, 4,8,12 or 6..24+2."),
        ("nvme-raid10?drives=8..4", "drives: '8..4' is no number of drives"),
        ("nvme-raid10?level=raid7", "level: 'raid7' is unknown; did you mean 'raid"),
        ("nvme-raid10?drive=nvme-2t", "drive: 'nvme-2t' is unknown; did you mean 'nvme-1t'?"),
        ("nvme-raid10?drives", "'drives' says nothing; write AXIS=VALUE,VALUE"),
        ("msa2000-raid5?drives=8", "vary an array with one group of equal drives; msa2000-raid5 has 4 groups"),
        ("msa50?level=raid7", "level: 'raid7' is unknown; there are raid0, raid10, raid5, raid6."),
        ("", "--among: nothing is named"),
    ],
)
def test_what_there_is_not_is_said_in_a_sentence(word: str, said: str) -> None:
    with pytest.raises(InputError) as problem:
        candidates([word])
    assert said in str(problem.value)


def test_of_erasure_coding_as_many_may_fail_as_a_row_has_coding_strips() -> None:
    four, eight = (
        considered(candidate, Limits(survive=3), price_book(None), 10**15)
        for candidate in candidates(["erasure-coded-4-2 erasure-coded-8-3"])
    )
    assert four.rejected == "survives 2 failures, fewer than 3" and eight.rejected is None
    assert [(shape.members, shape.redundancy, shape.groups, shape.sources) for shape in (*four.shapes, *eight.shapes)] == [
        (6, 2, 12, None),
        (11, 3, 12, None),
    ]


def test_flash_that_keeps_no_writes_holds_no_data_to_lose_and_a_write_cache_does() -> None:
    found = {
        mode: considered(candidate, Limits(survive=2), price_book(None), 10**14)
        for mode in ("writethrough", "writearound", "writeback")
        for candidate in candidates([f"bcache-{mode}"])
    }
    disks, copies = (12, 2, 1), (2, 1, 1)
    shapes = {mode: [(shape.members, shape.redundancy, shape.groups) for shape in one.shapes] for mode, one in found.items()}
    assert shapes == {"writethrough": [disks], "writearound": [disks], "writeback": [disks, copies]}
    assert found["writethrough"].rejected is None
    assert found["writeback"].rejected == "survives one failure, fewer than 2"


def test_arithmetic_excludes_by_bays_capacity_failures_and_budget(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text("[controllers.raid-hba-12g]\nprice = 900\n[enclosures.nearline12]\nprice = 1500\n")
    book = price_book(str(prices))
    (candidate,) = candidates(["nearline-raid6?drives=8"])
    size = 96 * 10**12

    def rejected(**limits: int) -> str | None:
        return considered(candidate, Limits(**limits), book, size).rejected

    assert rejected(capacity_bytes=96 * 10**12, survive=2, budget=4200) is None
    assert rejected(capacity_bytes=97 * 10**12) == "holds 96 TB, less than 97 TB"
    assert rejected(survive=3) == "survives 2 failures, fewer than 3"
    # Eight drives of 224, the controller and the shelf.
    assert rejected(budget=4191) == "costs USD 4,192, above the budget of 4,191"
    (full,) = candidates(["nearline-raid6?drives=13"])
    assert overfull(full) == "13 drives do not fit into the 12 bays of shelf"


def test_a_part_without_a_price_leaves_the_array_without_one() -> None:
    cost = price_book().cost("array:nearline-raid6")
    assert cost.amount is None
    assert cost.known == 12 * 224
    assert cost.missing == ("controller raid-hba-12g", "enclosure nearline12")
    assert cost.watts is None
    assert cost.rack_units == 2


def test_a_price_in_another_currency_does_not_meet_the_shipped_ones(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('currency = "EUR"\n[controllers.raid-hba-12g]\nprice = 900\n[enclosures.nearline12]\nprice = 1500\n')
    cost = price_book(str(prices)).cost("array:nearline-raid6")
    assert (cost.currency, cost.amount, cost.missing) == ("EUR", None, ("drive nearline-16t",))


def test_a_whole_array_can_have_a_price(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(
        '[arrays."msa2000-*"]\nprice = 31000\nwatts = 700\nrack_units = 4\ndate = 2010-03-09\nsources = { price = "quotation" }\n'
    )
    cost = price_book(str(prices)).cost("array:msa2000-raid5")
    assert (cost.amount, cost.watts, cost.rack_units, cost.sources) == (31000, 700, 4, ("quotation (2010-03-09)",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[drive.x]\nprice = 1\n", "'drive' is no kind of part; did you mean 'drives'?"),
        ("[drives.x]\nprize = 1\n", "drives.x: there is no key 'prize'; did you mean 'price'?"),
        ("[drives.x]\nprice = -1\n", "drives.x.price: -1 is not an amount; write a number, 0 or more."),
        ("[drives.x]\nmttf_hours = 0\n", "drives.x.mttf_hours: 0 is none; write a number above 0."),
        ('[drives.x]\ndate = "soon"\n', "drives.x.date: 'soon' is no date; write it without quotes"),
        ("drives = 5\n", "drives: write a table for each part, for example [drives.NAME]."),
        ("[drives.x]\nsources = 5\n", "drives.x.sources: write a table"),
        ("[drives.nearline-16]\nprice = 5\n", "drives: there is no drive 'nearline-16'; did you mean 'nearline-16t'?"),
        ("[controllers.zfs]\nprice = 5\n", "controllers: there is no controller 'zfs'; "),
        ('[arrays."msa20000-*"]\nprice = 5\n', "arrays: no array is called 'msa20000-*'; did you mean 'msa2040'?"),
    ],
)
def test_a_list_of_prices_is_checked(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "prices.toml").write_text(text)
    with pytest.raises(InputError) as problem:
        price_book(str(tmp_path / "prices.toml"))
    assert said in str(problem.value)


def test_every_shipped_figure_has_a_source() -> None:
    book = price_book()
    for kind, table in book.tables.items():
        for part, entry in table.items() if isinstance(table, dict) else ():
            figures = set(entry) - {"date", "sources"}
            assert figures <= set(entry.get("sources", {})) | {"unreadable_bits"} or figures <= set(entry["sources"]), (kind, part)
            assert "price" not in entry or not entry["price"] or "date" in entry, f"{kind}.{part}: a price needs its date"


def test_a_bill_counts_what_was_added_and_exchanged() -> None:
    found = bill("array:nearline-raid6?devices.disk.count=8&devices.disk.model.part=savvio-10k3-300g&spares=1")
    assert found[0] == Item("drives", "savvio-10k3-300g", 9)
    assert bill("array:msa2000x4-raid5")[0] == Item("drives", "savvio-10k2-146g", 4 * 49)


def test_the_risk_grows_with_rebuild_time_and_with_unreadable_sectors() -> None:
    failing = price_book().failing("nearline-16t")
    raid5, raid6 = Shape(12, 1, 1, 16 * 10**12), Shape(12, 2, 1, 16 * 10**12)
    # Eleven drives of 16 TB are 1.408e15 bits, of which one in 1e15 is unreadable: 1 − exp(−1.408).
    assert unreadable(raid5, failing) == pytest.approx(0.7554, rel=1e-3)
    assert unreadable(Shape(4, 0, 1, 10**12), failing) == 0
    assert loss_per_year([raid6], failing, 10) < loss_per_year([raid6], failing, 100) < loss_per_year([raid5], failing, 100)
    # Twelve failures in 2.5 million hours, of which three in four lose data by an unreadable sector: 3.1 % a year.
    assert loss_per_year([raid5], failing, 1) == pytest.approx(8766 * 12 / 2.5e6 * 0.7554, rel=0.03)


def test_a_candidate_says_its_target() -> None:
    assert candidates(["nvme"]) == [Candidate("nvme", "array:nvme")]
