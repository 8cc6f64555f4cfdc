"""``plimsoll translate``: another tool's job file as a file of experiments of ours, with what becomes of every option."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click

from plimsoll.cli.tool_words import with_tool_set_apart
from plimsoll.displayed import as_document, quoted
from plimsoll.errors import InputError
from plimsoll.formats.tools import WITH_COMMANDS
from plimsoll.formats.translation import Translation, counted
from plimsoll.points.foreign import Onto, bare_targets, is_foreign, on_all, translated, translated_command
from plimsoll.points.quantity import size_bytes


class TranslateCommand(click.Command):
    """Leaves every word behind the name of another tool to that tool's command line; behind a file our options may stand."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_tool_set_apart(self.params, args))


@click.command(cls=TranslateCommand, short_help="Convert another tool's job file.")
@click.option("--strict", is_flag=True, help="Exit with 2 when anything is not native.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "-t",
    "--target",
    "targets",
    metavar="TARGET",
    multiple=True,
    help="Use this instead of every file and device of the job. Several are measured in turn.",
)
@click.option("--size", metavar="SIZE", help="Size of the --target where it is a file to be made, e.g. 64MiB.")
@click.option(
    "--assume-size", metavar="SIZE", help="Size of the job's files and devices that are not here and have none in the job, e.g. 100GiB."
)
@click.argument("words", metavar="FILE | TOOL WORD...", nargs=-1, required=True)
def command(words: tuple[str, ...], strict: bool, as_json: bool, **typed: Any) -> int:
    """Print the experiments that a job file of fio, Vdbench, Iometer, ORION or DiskSpd asks for, as TOML that 'plimsoll suite' carries
    out, and on stderr what becomes of each of its options: native, ignored or unsupported.

    The job's devices need not exist here: --target replaces them all, and --assume-size gives the size of those that are missing.
    Devices that exist keep their real size, and a size in the job always wins.

    Exit code 0 when the file can be run, 2 when it cannot.

    \b
    plimsoll translate job.fio > ours.toml
    plimsoll translate --strict old.parm
    plimsoll translate --assume-size 100GiB job.fio
    plimsoll translate -t ./scratch.dat --size 64MiB iometer.icf
    plimsoll translate fio --name=x --rw=randread --bs=8k --filename=/dev/sdb --direct=1
    """
    onto = _Onto(**typed)
    translation = on_all(_translation(words, onto.checked()), onto.targets)
    if as_json:
        click.echo(as_document(translation.to_json(), indent=1))
    else:
        import tomli_w

        click.echo(tomli_w.dumps(translation.document), nl=False)
        for line in _remarks(translation):
            click.echo(line, err=True)
    refusal = translation.refusal()
    if refusal is not None:
        raise InputError(f"{refusal.rstrip('.')}.")
    if strict and translation.of("ignored"):
        raise InputError(f"{translation.of('ignored')[0].sentence(translation.source).rstrip('.')}; --strict takes only what is native.")
    return 0


@dataclass(frozen=True)
class _Onto:
    """What stands in for the files and devices of the job, as it was typed."""

    targets: tuple[str, ...]
    size: str | None
    assume_size: str | None

    def checked(self) -> Onto:
        """The same as values. Raises `InputError` for two sizes, or for what is none."""
        if self.size is not None and self.assume_size is not None:
            raise InputError("--size and --assume-size are both the size of what is not there; give one of them.")
        option, text = ("--assume-size", self.assume_size) if self.size is None else ("--size", self.size)
        size = None if text is None else size_bytes(option, text)
        return Onto(bare_targets(self.targets), size, "give --size" if self.targets else "give --assume-size")


def _translation(words: tuple[str, ...], onto: Onto) -> Translation:
    first = words[0]
    if is_foreign(first):
        if len(words) > 1:
            raise InputError(f"{first}: a file is translated alone; leave {quoted(words[1])} out.")
        return translated(first, onto)
    if first in WITH_COMMANDS:
        return translated_command(words, onto)
    if first.endswith(".toml"):
        raise InputError(f"{first}: a .toml file is one of ours already; carry it out with 'plimsoll suite' or 'plimsoll run'.")
    raise InputError(
        f"{quoted(first)} is neither a file nor one of {', '.join(WITH_COMMANDS)}; name a job file, or a tool and its command line."
    )


def _remarks(translation: Translation) -> Iterator[str]:
    for remark in translation.remarks:
        if remark.kind != "native":
            yield remark.sentence(translation.source)
    counts = counted(translation.remarks)
    yield ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
