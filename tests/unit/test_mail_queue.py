"""Letters in Postfix's queue: those count that it has taken, wherever they wait."""

from __future__ import annotations

from pathlib import Path

from plimsoll.apps.mail.queue import taken


def put(queue: Path, name: str, mode: int) -> None:
    """A file of Postfix's; the mode 0700 says that the whole letter is on the disk."""
    path = queue / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"C")
    path.chmod(mode)


def test_letters_count_in_every_folder_where_they_wait(tmp_path: Path) -> None:
    for name in ("maildrop/7E1", "incoming/7E2", "active/7E3", "deferred/7/7E4", "hold/7E5"):
        put(tmp_path, name, 0o700)

    assert taken(tmp_path.as_posix()) == 5


def test_why_a_letter_was_put_off_is_no_letter(tmp_path: Path) -> None:
    put(tmp_path, "deferred/7/7E4", 0o700)
    put(tmp_path, "defer/7/7E4", 0o600)

    assert taken(tmp_path.as_posix()) == 1


def test_a_file_that_a_killed_postfix_never_wrote_to_its_end_is_no_letter(tmp_path: Path) -> None:
    put(tmp_path, "incoming/7E1", 0o600)

    assert taken(tmp_path.as_posix()) == 0


def test_a_queue_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert taken((tmp_path / "queue").as_posix()) == 0
