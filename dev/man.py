"""Man pages of every command, made from the help that the commands have: `make man`.

Model: ``plimsoll.1`` lists the commands by what they are for; ``plimsoll-VERB.1`` explains one, with every option, also those that its
``--help`` only names. Nothing is written by hand, so a page says what the program says.

    .venv/bin/python dev/man.py target/man           # target/man/plimsoll.1, plimsoll-run.1, …
    man -l target/man/plimsoll-ramp.1
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click

from plimsoll import __version__
from plimsoll.cli.commands import GROUPS, VERBS
from plimsoll.cli.program import module_of, program
from plimsoll.errors import EXIT_CODES


def written(folder: Path) -> list[Path]:
    """Write every page to ``folder``; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"plimsoll": _root()} | {f"plimsoll-{verb}": _page(verb) for verb in VERBS}
    paths = []
    for name, text in pages.items():
        path = folder / f"{name}.1"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def _root() -> str:
    lines = [
        *_head("plimsoll", "how much load does this storage carry before it gets too slow?"),
        ".SH SYNOPSIS",
        r".B plimsoll",
        r".I COMMAND",
        r"[\fIOPTION\fR]\&...",
        ".SH DESCRIPTION",
        *_paragraphs(inspect.cleandoc(program.help or "")),
        ".SH COMMANDS",
    ]
    for heading, verbs in GROUPS.items():
        lines += [f".SS {_escaped(heading)}"]
        for verb, about in verbs.items():
            lines += [".TP", f".BR plimsoll\\-{_escaped(verb)} (1)", _text(about)]
    lines += [".SH EXIT STATUS"]
    for code, meaning in EXIT_CODES.items():
        lines += [".TP", f".B {code}", _text(f"{meaning}.")]
    return "\n".join(lines) + "\n"


def _page(verb: str) -> str:
    command: click.Command = import_module(module_of(verb)).command
    root = click.Context(program, info_name="plimsoll", **program.context_settings)
    with click.Context(command, info_name=verb, parent=root) as ctx:
        usage = " ".join(command.collect_usage_pieces(ctx))
        declared = [option for option in command.get_params(ctx) if isinstance(option, click.Option)]
        options = [record for option in declared if (record := option.get_help_record(ctx)) is not None]
    lines = [
        *_head(f"plimsoll-{verb}", VERBS[verb].rstrip(".")),
        ".SH SYNOPSIS",
        f".B plimsoll {_escaped(verb)}",
        _text(usage),
        ".SH DESCRIPTION",
        *_paragraphs(inspect.cleandoc(command.help or "")),
        ".SH OPTIONS",
    ]
    for names, about in options:
        lines += [".TP", f".B {_escaped(names)}", _text(about)]
    return "\n".join([*lines, ".SH SEE ALSO", ".BR plimsoll (1)"]) + "\n"


def _head(name: str, about: str) -> list[str]:
    return [
        f'.TH "{_escaped(name.upper())}" "1" "" "plimsoll {__version__}" "Plimsoll"',
        ".SH NAME",
        f"{_escaped(name)} \\- {_escaped(about[:1].lower() + about[1:])}",
    ]


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs; those behind a ``\\b`` keep their lines, as click has it."""
    for paragraph in re.split(r"\n{2,}", text):
        if paragraph.startswith("\b"):
            yield ".PP"
            yield ".nf"
            yield from map(_text, paragraph.splitlines()[1:])
            yield ".fi"
        else:
            yield ".PP"
            yield _text(" ".join(paragraph.split()))


def _text(line: str) -> str:
    """A line of text, which is no request even if it begins like one."""
    escaped = _escaped(line)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


#: Signs that groff would print as others.
_SIGNS = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}


def _escaped(text: str) -> str:
    return "".join(_SIGNS.get(sign, sign) for sign in text)


if __name__ == "__main__":
    for page in written(Path(sys.argv[1] if len(sys.argv) > 1 else "target/man")):
        print(page)
