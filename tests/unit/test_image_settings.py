"""What the live image reads from the kernel command line and from the file on the stick."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.host.machine import boot_parameters
from plimsoll.image.settings import WORDS, Address, Settings, read, shown

ROOT = Path(__file__).resolve().parents[2]
SECRET = "https://lab7:8642/?token=Zk3q9"


def test_words_of_the_kernel_command_line_are_taken_and_others_left() -> None:
    found = read("BOOT_IMAGE=/live/vmlinuz quiet plimsoll.suite=check plimsoll.target=serial:S4EV plimsoll.poweroff root=/dev/sda1")
    assert found == Settings(suite="check", target="serial:S4EV", poweroff=True)
    assert found.unattended


@pytest.mark.parametrize("typed", ['plimsoll.label="rack 7, slot 3"', '"plimsoll.label=rack 7, slot 3"'])
def test_a_value_with_blanks_is_quoted_as_the_kernel_or_grub_does_it(typed: str) -> None:
    assert read(f"quiet {typed} splash").label == "rack 7, slot 3"


def test_the_file_is_read_a_line_each_and_the_command_line_replaces_its_words() -> None:
    file = (
        "# for rack 7\n\nsuite = proliant-generations\nplimsoll.quick=yes\nlabel = 'rack 7'\ntarget=serial:A\nsend=file:/a\nsend=file:/b\n"
    )
    found = read("plimsoll.target=serial:B", file)
    assert (found.suite, found.quick, found.label, found.target) == ("proliant-generations", True, "rack 7", "serial:B")
    assert found.send == ("file:/a", "file:/b")
    assert found.problems == ()


def test_the_word_of_the_boot_loader_asks_for_nothing() -> None:
    assert read("boot=plimsoll plimsoll.medium=2026-11-18-11-06-40-00") == Settings()
    assert not Settings().unattended


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("plimsoll.sute=check plimsoll.poweroff", "there is no word 'plimsoll.sute'; did you mean 'suite'?"),
        ("plimsoll.label", "plimsoll.label has no value; write plimsoll.label=TEXT."),
        ("plimsoll.send=", "plimsoll.send: it is empty; write plimsoll.send=URL."),
        ("plimsoll.poweroff=maybe", "plimsoll.poweroff: 'maybe' is neither yes nor no."),
        ("plimsoll.label=a plimsoll.label=b", "plimsoll.label is given twice; give it once."),
        ("plimsoll.ip=10.0.0.7", "'10.0.0.7' is no address; write for example 10.0.0.7/24,10.0.0.1,10.0.0.1, or dhcp."),
        (
            "plimsoll.send=ftp://me:p/w@lab8/in",
            "plimsoll.send: its password has a '/', '?' or '#' of its own; write them as %2F, %3F and %23.",
        ),
        ("plimsoll.ssh_key=secret", "it is no public key; write it as it stands in id_ed25519.pub, between quotes."),
        ("plimsoll.destroy=S1", "plimsoll.destroy is given and plimsoll.target is not; name the disk: plimsoll.target=serial:S1."),
        (
            "plimsoll.target=serial:S1",
            "plimsoll.target is given and plimsoll.suite is not; write plimsoll.suite=check or proliant-generations.",
        ),
        ("plimsoll.suite=check", "plimsoll.suite is given and plimsoll.target is not; name the disk: plimsoll.target=serial:SERIAL."),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(typed: str, said: str) -> None:
    (problem,) = read(typed).problems
    assert said in problem


def test_an_address_may_come_with_gateway_and_dns() -> None:
    assert read("plimsoll.ip=10.0.0.7/24,10.0.0.1,10.0.0.2").address == Address("10.0.0.7/24", "10.0.0.1", "10.0.0.2")
    assert read("plimsoll.ip=fd00::7/64").address == Address("fd00::7/64")
    assert read("plimsoll.ip=10.0.0.7/24,,10.0.0.2").address == Address("10.0.0.7/24", None, "10.0.0.2")
    assert read("plimsoll.ip=dhcp").address is None


def test_secrets_are_in_no_representation_and_are_masked_in_every_line() -> None:
    found = read(f"plimsoll.send={SECRET} plimsoll.send=ftp://me:p%40ss@lab8/in plimsoll.token=Qq11")
    for secret in ("Zk3q9", "p%40ss", "Qq11"):
        assert secret not in repr(found)
    said = found.masked("PUT token=Zk3q9 ftp://me:p%40ss@lab8 p@ss Qq11")
    assert said == "PUT *** ftp://me:***@lab8 *** ***"


@pytest.mark.parametrize(
    ("url", "without"),
    [
        (SECRET, "https://lab7:8642/"),
        ("ftp://me:p@ss@lab8/in", "ftp://lab8/in"),
        ("sftp://me@lab8:22/results", "sftp://lab8:22/results"),
        ("file:/media/stick", "file:/media/stick"),
        ("https://[fd00::7]:8642/?token=a", "https://[fd00::7]:8642/"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url: str, without: str) -> None:
    assert shown(url) == without


@pytest.mark.parametrize(
    "word",
    [f"plimsoll.send={SECRET}", 'plimsoll.send="ftp://me:Zk3q9 x@h/"', '"plimsoll.send=ftp://me:Zk3q9 x@h/"', 'plimsoll.token="Zk3q9'],
)
def test_results_store_the_kernel_command_line_without_the_values_of_the_images_words(word: str) -> None:
    stored = boot_parameters(f"quiet {word} isolcpus=2" if not word.endswith('"Zk3q9') else f"quiet isolcpus=2 {word}")
    assert "Zk3q9" not in stored
    assert "isolcpus=2" in stored
    assert word.strip('"').partition("=")[0] + "=…" in stored


def test_the_document_names_every_word_as_it_is_declared() -> None:
    page = (ROOT / "docs" / "live-image.md").read_text()
    for name, word in WORDS.items():
        assert f"| `plimsoll.{name}={word.metavar}` | {word.meaning} |" in page, name
