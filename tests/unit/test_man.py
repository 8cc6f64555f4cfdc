"""The man pages that `make man` writes."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

from plimsoll.cli.commands import VERBS
from support.said import Plimsoll

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    spec = importlib.util.spec_from_file_location("man", ROOT / "dev" / "man.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {path.stem: path for path in module.written(tmp_path_factory.mktemp("man"))}


def test_every_command_has_a_page(pages: dict[str, Path]) -> None:
    assert set(pages) == {"plimsoll", *(f"plimsoll-{verb}" for verb in VERBS)}
    listed = pages["plimsoll"].read_text()
    assert all(f"plimsoll\\-{verb.replace('-', chr(92) + '-')} (1)" in listed for verb in VERBS)


def test_a_page_explains_common_options_which_the_help_only_names(pages: dict[str, Path], plimsoll: Plimsoll) -> None:
    told = "serial number or path must be typed as well"
    assert told in pages["plimsoll-ramp"].read_text().replace("\\-", "-")
    assert told not in " ".join(plimsoll("ramp", "--help").out.split())


def test_groff_has_nothing_to_say_of_any_page(pages: dict[str, Path]) -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed (apt-get install groff-base)")
    for path in pages.values():
        done = subprocess.run([groff, "-man", "-Tutf8", "-Kutf8", "-ww", "-z", path], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), path.name


def test_a_line_that_begins_like_a_request_is_text(pages: dict[str, Path]) -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed (apt-get install groff-base)")
    shown = subprocess.run([groff, "-man", "-Tascii", "-P-cbou", pages["plimsoll-run"]], capture_output=True, text=True, check=True).stdout
    assert ".toml file" in " ".join(shown.split())
    assert "plimsoll run oltp-db --over queue_depth=1..64 --objective 'p99 <= 5ms'" in " ".join(shown.split())
