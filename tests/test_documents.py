"""The documents say what is there: commands, files, flags and words they name exist, and locks name no package index."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from plimsoll.apps.databases.address import parse as database_address
from plimsoll.apps.mail.address import parse as mail_address
from plimsoll.cli.program import VERBS

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = (
    "README.md",
    "ARCHITECTURE.md",
    "METHODOLOGY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")),
)
CODE = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def text(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", text("Makefile"), re.MULTILINE))


def table_words(document: str) -> list[str]:
    """The first column of every table, header rows and rules left out."""
    cells = re.findall(r"^\| ([^|]+?) \|", text(document), re.MULTILINE)
    return [cell for cell in cells if cell != "word"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_to_files_that_exist(document):
    for link in LINK.findall(text(document)):
        if not link.startswith("http"):
            assert ((ROOT / document).parent / link).exists(), f"{document}: {link}"


def test_the_site_has_every_document():
    assert set(re.findall(r"([\w./-]+\.md)$", text("dev/mkdocs.yml"), re.MULTILINE)) == set(DOCUMENTS)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_named_make_target_exists(document):
    named = set(re.findall(r"^make (\w+)|`make (\w+)`", text(document), re.MULTILINE))
    assert {first or second for first, second in named} <= make_targets()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_named_command_of_plimsoll_exists(document):
    named = re.findall(r"`plimsoll ([\w-]+)", text(document))
    named += [verb for block in CODE.findall(text(document)) for verb in re.findall(r"^plimsoll ([a-z][\w-]*)", block, re.MULTILINE)]
    assert set(named) <= set(VERBS)


def test_the_readme_shows_the_two_commands_first():
    first = CODE.search(text("README.md"))
    assert first is not None
    assert [line.split("#")[0].strip() for line in first[1].splitlines()] == ["make run", "make test"]
    assert "](docs/picture-report.png)" in text("README.md")[first.end() :]


def test_the_readme_names_every_command():
    for verb in VERBS:
        assert re.search(rf"^\| `plimsoll (\w+`, `)?{verb}[` ]", text("README.md"), re.MULTILINE), verb


def test_workloads_and_options_in_the_readme_exist():
    readme, catalog = text("README.md"), ROOT / "python/plimsoll/catalog"
    for workload in re.findall(r"plimsoll (?:run|ramp) ([a-z][a-z0-9-]+)(?![\w.])", readme):
        assert (catalog / "workloads" / f"{workload}.toml").is_file(), workload
    for suite in re.findall(r"plimsoll suite ([a-z][a-z0-9-]+)", readme):
        assert (catalog / "suites" / f"{suite}.toml").is_file(), suite
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text("README.md")))
    offered = "".join(path.read_text() for path in (ROOT / "tests/unit/snapshots").glob("help*.txt"))
    assert options <= set(re.findall(r"--[a-z-]+", offered))


def test_the_addresses_of_databases_and_mail_in_the_readme_can_be_read():
    drivers = {"suite": database_address, "ramp": database_address, "run": mail_address}
    found = re.findall(
        r"^plimsoll (suite|ramp|run) .*--target ((?:duckdb|postgresql|spark|sqlite|mail):\S+)", text("README.md"), re.MULTILINE
    )
    assert len(found) == 3
    for verb, address in found:
        drivers[verb](address)


def test_methodology_explains_exactly_the_flags_that_are_raised():
    rules = ROOT / "python/plimsoll/analysis/validity"
    raised = {name for path in rules.glob("*.py") for name in re.findall(r'Flag\(\s*"(\w+)"', path.read_text())}
    explained = set(re.findall(r"^\| `(\w+)` \|", text("METHODOLOGY.md"), re.MULTILINE))
    assert explained == raised


def test_files_named_in_the_architecture_exist():
    for name in re.findall(r"`((?:crates|python|page|tests)/[\w./-]+)`", text("ARCHITECTURE.md")):
        assert "NAME" in name or (ROOT / name).exists(), name


def test_what_takes_more_than_one_place_to_change_fits_fifteen_rows():
    """The rooms explain themselves; only what they cannot say stands in the table."""
    table = text("ARCHITECTURE.md").partition("| to change | edit |\n|---|---|\n")[2].partition("\n\n")[0]
    assert 1 < len(table.splitlines()) <= 15


def test_the_glossary_explains_a_word_once():
    words = table_words("docs/glossary.md")
    assert len(words) > 50
    assert sorted(words) == sorted(set(words))


@pytest.mark.parametrize("lock", ["requirements.lock", "dev/consumers.lock", "dev/docs.lock", "dev/spark.lock", "page/package-lock.json"])
def test_a_lock_names_no_package_index(lock):
    assert "://" not in text(lock)


def test_requirements_are_hashed_and_name_what_is_asked_for():
    requirements = text("requirements.lock")
    entries = re.findall(r"^([a-z0-9-]+)==", requirements, re.MULTILINE)
    assert len(re.findall(r"^ +--hash=sha256:", requirements, re.MULTILINE)) >= len(entries)
    for section in re.findall(r"^(?:dependencies|test|dev) = \[(.*?)\]$", text("pyproject.toml"), re.MULTILINE | re.DOTALL):
        assert set(re.findall(r'"([a-z0-9-]+)>=', section)) <= set(entries), "make lock"


@pytest.mark.parametrize("script", sorted(path.name for path in (ROOT / "dev").glob("*.sh")))
def test_a_script_is_executable_and_parses(script):
    path = ROOT / "dev" / script
    assert path.stat().st_mode & 0o111
    shell = path.read_text().splitlines()[0].removeprefix("#!/bin/")
    assert subprocess.run([shell, "-n", str(path)], capture_output=True, check=False).returncode == 0


def test_ci_runs_every_check():
    assert [line.split("make ")[1] for line in text(".ci/run").splitlines() if " make test" in line] == ["test", "test-long"]
    for check in ("cargo fmt", "cargo clippy", "cargo test", "ruff check", "ruff format", "mypy", "pytest"):
        assert check in text("dev/test.sh")


def test_what_hangs_in_ci_is_interrupted_even_where_interrupts_are_ignored():
    ended = subprocess.run(
        ["bash", "-c", 'trap "" INT; exec dev/limited.sh sleep 600'],
        cwd=ROOT,
        env=os.environ | {"PLIMSOLL_TEST_LIMIT": "0.2s"},
        check=False,
    )
    # 124 after the interrupt; 137 when it took a kill, a minute later and without a summary.
    assert ended.returncode == 124
    assert subprocess.run(["dev/limited.sh", "false"], cwd=ROOT, check=False).returncode == 1
