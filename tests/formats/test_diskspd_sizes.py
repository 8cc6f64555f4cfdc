"""Profiles of DiskSpd whose targets each have a file size of their own."""

from __future__ import annotations

import pytest

from plimsoll.formats import diskspd
from plimsoll.formats.known_targets import KnownTargets
from plimsoll.formats.translation import Translation


def translated(*targets: tuple[str, int], known: KnownTargets | None = None) -> Translation:
    written = "".join(f"<Target><Path>{path}</Path>{f'<FileSize>{size}</FileSize>' if size else ''}</Target>" for path, size in targets)
    text = f"<Profile><TimeSpans><TimeSpan><Duration>5</Duration><Targets>{written}</Targets></TimeSpan></TimeSpans></Profile>"
    return diskspd.translate(text, "a.xml", None, {}, known or KnownTargets())


@pytest.mark.parametrize(
    ("targets", "target", "size"),
    [
        ((("a", 1 << 20), ("b", 1 << 21)), "concat:a,b?sizes=1MiB,2MiB", None),
        ((("/dev/sdb", 0), ("b", 1 << 21)), "concat:/dev/sdb,b?sizes=-,2MiB", None),
        ((("there", 1 << 20), ("b", 1 << 21)), "concat:there,b?sizes=-,2MiB", None),
        ((("a", 1 << 20), ("b", 1 << 20)), "concat:a,b", 1 << 21),
        ((("a", 1 << 20), ("a", 1 << 20)), "a", 1 << 20),
    ],
)
def test_each_file_is_made_as_long_as_its_target_says(targets: tuple[tuple[str, int], ...], target: str, size: int | None) -> None:
    translation = translated(*targets, known=KnownTargets({"there": 1 << 20, "/dev/sdb": 1 << 30}.get))
    assert translation.refusal() is None
    experiment = translation.document["experiment"][0]
    assert (experiment["configurations"][0]["target"], experiment["set"].get("size")) == (target, size)


def test_a_typed_size_is_that_of_all_files_alike() -> None:
    known = KnownTargets(lambda _path: None, given=1 << 30, overrides=True)
    experiment = translated(("a", 1 << 20), ("b", 1 << 21), known=known).document["experiment"][0]
    assert (experiment["configurations"][0]["target"], experiment["set"]["size"]) == ("concat:a,b", 1 << 22)


def test_one_file_has_one_size_also_beside_others() -> None:
    refusal = translated(("a", 1 << 20), ("a", 1 << 21), ("b", 1 << 20)).refusal()
    assert refusal is not None and "the same file has two sizes" in refusal


def test_files_of_different_sizes_are_a_pebibyte_together_at_most() -> None:
    refusal = translated(("a", 1 << 49), ("b", (1 << 49) + 4096)).refusal()
    assert refusal is not None and "more than 1 PiB together" in refusal
    assert translated(("a", 1 << 48), ("b", 1 << 49)).refusal() is None
