"""Completion in real shells: a line is typed at a terminal, Tab is pressed, and the shell shows what the line holds then."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.typing_at import Typing, bash, zsh
from system.conftest import COMMAND

PATH = f"{Path(COMMAND).parent}:{os.environ['PATH']}"
SHELLS = {"bash": bash, "zsh": zsh}

#: What is typed, and what the line holds after Tab. A word that can only be one is closed by a blank.
TYPED = [
    ("plimsoll chec", "plimsoll check "),
    ("plimsoll run oltp", "plimsoll run oltp-db "),
    ("plimsoll steps oltp", "plimsoll steps oltp-db "),
    ("plimsoll ramp oltp-db --obj", "plimsoll ramp oltp-db --objective "),
    ("plimsoll check array:sata-s", "plimsoll check array:sata-ssd "),
    ("plimsoll run oltp-db -t qu", "plimsoll run oltp-db -t queue:"),
    ("plimsoll run oltp-db -s queue_d", "plimsoll run oltp-db -s queue_depth="),
    ("plimsoll run oltp-db -s content=stam", "plimsoll run oltp-db -s content=stamps "),
    ("plimsoll run mine.t", "plimsoll run mine.toml "),
    ("plimsoll compare 2026-11-2", "plimsoll compare 2026-11-21T10-00-00_oltp-db "),
    ("plimsoll forget before --out elsew", "plimsoll forget before --out elsewhere/"),
    ("plimsoll ramp oltp-db --objective 'write p95", "plimsoll ramp oltp-db --objective 'write p95 <= 5ms'"),
    (
        "plimsoll ramp oltp-db --objective 'read mean <= 8ms and write me",
        "plimsoll ramp oltp-db --objective 'read mean <= 8ms and write mean <= 20ms'",
    ),
    ("plimsoll run oltp-db --precision '2% of write p9", "plimsoll run oltp-db --precision '2% of write p9"),
    ("plimsoll compare latest --metric ban", "plimsoll compare latest --metric bandwidth "),
    ("plimsoll no-such-command x", "plimsoll no-such-command x"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a workload file and a stored run."""
    made = tmp_path_factory.mktemp("typing")
    (made / "mine.toml").write_text('[[stream]]\nblock_size = "4KiB"\n')
    (made / "elsewhere").mkdir()
    words = ["run", "random-read-4k", "-t", "null:", "-d", "20ms", "-w", "0s", "-s", "interval=10ms", "-q"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(made / ".cache")}
    subprocess.run([COMMAND, *words], cwd=made, env=environment, check=True, capture_output=True)
    (run,) = (made / "results").iterdir()
    run.rename(made / "results" / "2026-11-21T10-00-00_oltp-db")
    return made


@pytest.fixture(scope="module", params=SHELLS)
def shell(request: pytest.FixtureRequest, folder: Path) -> Iterator[Typing]:
    """Each shell that is installed, with its script."""
    name: str = request.param
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed (apt-get install {name})")
    script = folder / f"completion.{name}"
    script.write_text(subprocess.run([COMMAND, "completion", name], check=True, capture_output=True, text=True).stdout)
    opened: Callable[[Path, Path, str], Typing] = SHELLS[name]
    with opened(script, folder, PATH) as typing:
        yield typing


@pytest.mark.parametrize(("line", "completed"), TYPED, ids=[line for line, _ in TYPED])
def test_a_shell_completes(shell: Typing, line: str, completed: str) -> None:
    assert shell.completed(line).rstrip() == completed.rstrip()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("plimsoll run oltp", ["oltp-db"]),
        ("plimsoll check array:sata-s", ["array:sata-ssd"]),
        ("plimsoll run oltp-db -s queue_d", ["queue_depth="]),
        ("plimsoll report late", ["latest"]),
        ("plimsoll ramp oltp-db --obj", ["--objective"]),
        ("plimsoll run mine.t", ["mine.toml"]),
    ],
)
def test_fish_completes(folder: Path, line: str, words: list[str]) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed (apt-get install fish)")
    asked = f"plimsoll completion fish | source; complete -C '{line}'"
    environment = {"PATH": PATH, "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["fish", "--no-config", "-c", asked], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    assert [answer.partition("\t")[0] for answer in done.stdout.splitlines()] == words


def test_what_is_typed_is_never_carried_out(folder: Path) -> None:
    script = subprocess.run([COMMAND, "completion", "bash"], check=True, capture_output=True, text=True).stdout
    (folder / "completion.bash").write_text(script)
    with bash(folder / "completion.bash", folder, PATH) as typing:
        typing.completed("plimsoll run $(touch harmed) `touch harmed` x; touch harmed; plimsoll run olt")
    assert not (folder / "harmed").exists()


def test_a_question_that_makes_no_sense_is_answered_by_silence(folder: Path) -> None:
    for text in ("", "plimsoll", "plimsoll 'run", "plimsoll run --no-such ", "plimsoll import \x00x".replace("\x00", "?")):
        environment = {**os.environ, "_PLIMSOLL_COMPLETE": "bash", "_PLIMSOLL_WORDS": text}
        done = subprocess.run([COMMAND], cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
