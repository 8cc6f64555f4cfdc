"""What a host lacks for private mail servers is one sentence, before anything is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.apps.mail import programs
from unit.conftest import Plimsoll


def lacking(monkeypatch: pytest.MonkeyPatch, empty: Path) -> None:
    monkeypatch.setattr(programs, "_PATH", str(empty))
    monkeypatch.setattr(programs, "_IMAP", (str(empty / "imap"),))
    monkeypatch.setattr(programs, "_LMTP", (str(empty / "lmtp"),))


def test_missing_packages_are_named_and_nothing_is_made(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lacking(monkeypatch, tmp_path)
    ran = plimsoll("run", "mail-light", "-t", f"mail:new:{tmp_path}/mail")
    assert ran.code == 2
    assert "dovecot-core, dovecot-imapd, dovecot-lmtpd is missing here; install it (Debian, Ubuntu: apt-get install" in ran.err
    assert not (tmp_path / "mail").exists() and "Traceback" not in ran.err


def test_only_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lacking(monkeypatch, tmp_path)
    for name in ("dovecot", "imap"):
        (tmp_path / name).touch(mode=0o755)
    with pytest.raises(programs.InputError, match="of which dovecot-lmtpd is missing here"):
        programs.programs()
