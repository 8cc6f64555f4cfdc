"""The ``plimsoll`` command. A verb is a file of this package; it is imported when it is called, and not for ``--help``.

Model: data goes to stdout, everything else to stderr; every error a user can cause is one sentence and an exit code of `plimsoll.errors`.

    plimsoll run oltp-db --target /dev/nvme0n1
"""

from __future__ import annotations

import keyword
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import click

from plimsoll import __version__
from plimsoll.cli.commands import FIRST, GROUPS, OTHER_NAMES, VERBS
from plimsoll.cli.mistake import threads_told, told
from plimsoll.cli.silence import Silence
from plimsoll.cli.streams import Streams
from plimsoll.displayed import displayed_in_line, quoted
from plimsoll.errors import EXIT_CODES, EXIT_INTERRUPTED, InputError, PlimsollError, StoreError
from plimsoll.orphans import any_gang, any_noted, orphans
from plimsoll.passwords import withheld
from plimsoll.silence import heard

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from plimsoll.monitor.moment import Moment


def module_of(verb: str) -> str:
    """The file of a verb; one that is a keyword of Python (``import``) has an underscore behind it; a dash is one."""
    file = verb.replace("-", "_")
    return f"plimsoll.cli.{file}_" if keyword.iskeyword(file) else f"plimsoll.cli.{file}"


class _Verbs(click.Group):
    """Finds commands by importing their file."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(module_of(cmd_name)).command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            click.echo(_beginning(ctx), err=True)
            ctx.exit(InputError.exit_code)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        args = [*OTHER_NAMES.get(args[0], args[:1]), *args[1:]]
        name = args[0]
        if name not in VERBS and not name.startswith("-"):
            raise InputError(f"there is no command {quoted(name)}; {_nearest_verb(name)}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands, without importing each for its line."""
        from click.shell_completion import CompletionItem

        named = [CompletionItem(verb, help=line) for verb, line in VERBS.items() if verb.startswith(incomplete)]
        return named or click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # One column for all groups.
        width = max(map(len, VERBS))
        for heading, verbs in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(verb.ljust(width), line) for verb, line in verbs.items()])


@click.command(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"Exit codes: {'; '.join(f'{code} {meaning}' for code, meaning in EXIT_CODES.items())}.",
)
@click.version_option(__version__, prog_name="plimsoll", message="%(prog)s %(version)s")
@click.pass_context
def program(context: click.Context) -> None:
    """How much load does this storage carry before it gets too slow?

    Plimsoll applies a load to a disk, a file or a model, and says how it responded and how far to trust the numbers.
    'plimsoll help COMMAND' explains a command, 'plimsoll help options' what many commands share.
    """
    from plimsoll.cli.project import default_map

    context.default_map = default_map()
    _stop_orphans()


def _stop_orphans() -> None:
    """Servers and workers that a killed run left running are stopped by whatever command comes next."""
    if any_gang():
        from plimsoll.gang.leftovers import swept

        for said in swept():
            print(f"plimsoll: {displayed_in_line(said)}.", file=sys.stderr)
    if not any_noted():
        return
    for one in orphans():
        # What stops servers is imported for one that has to be stopped: others' servers are in use, mostly.
        from plimsoll.apps.orphans import stopped

        sentence = stopped(one)
        if sentence is not None:
            print(f"plimsoll: {displayed_in_line(sentence)}.", file=sys.stderr)


def main(arguments: Sequence[str] | None = None, begun: Moment | None = None) -> int:
    """Run the command line and return its exit code; a traceback is shown for nothing. ``begun`` is the moment at which the process did."""
    if "_PLIMSOLL_COMPLETE" in os.environ:
        from plimsoll.cli.completion import answer

        return answer(program)
    try:
        words = [withheld(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    except InputError as problem:
        return _fail(str(problem), problem.exit_code)
    with Streams() as streams, threads_told(words) as in_threads, heard(Silence()):
        code = _answered(words, begun)
        if streams.lost is not None:
            return _fail(f"{streams.lost}, so what belongs there is lost; what was stored is kept.", code or StoreError.exit_code)
        if streams.left:
            return code or StoreError.exit_code
        return code or next(iter(in_threads), 0)


def _answered(words: Sequence[str], begun: Moment | None) -> int:
    """The exit code of the command, every exception told."""
    try:
        code = program.main(args=list(words), prog_name="plimsoll", standalone_mode=False, obj=begun)
        return code if isinstance(code, int) else 0
    except PlimsollError as error:
        return _fail(str(error), error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        # A command that has commands of its own, and none was named.
        click.echo(error.format_message())
        return 0
    except click.ClickException as error:
        return _fail(_sentence(error), InputError.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _fail("stopped.", EXIT_INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has left.
        return StoreError.exit_code
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as problem:  # a panic of the engine is no Exception
        return told(problem, words)


def _fail(message: str, code: int) -> int:
    ending = "" if message.endswith((".", "!", "?")) else "."
    # Lines of ours go on indented; any other line feed came with a name.
    shown = "\n  ".join(displayed_in_line(line) for line in message.split("\n  "))
    print(f"plimsoll: {shown}{ending}", file=sys.stderr)
    return code


#: Options of commands that measure on several hosts, and those commands.
_OF_HOSTS = ("--hosts", "--share")
_MEASURE_ON_HOSTS = "run, suite, check, replay, ramp, curve, scale, steady and matrix"
#: Why a command cannot, and what does.
_STORED = "it reads what is stored, in which each host's own results are the runs in the run's directory hosts"
_ALONE = {
    **dict.fromkeys(("compare", "report", "show", "export", "list", "forget", "send", "serve"), _STORED),
    "watch": "it reads the counters of this host's own devices; start it on each host",
    "doctor": "it examines this host; 'plimsoll hosts check --hosts ...' has each host examine itself",
    "size": "it works arrays out in a moment; matrix, suite, fit and reproduce run models on hosts",
    "layout": "a layout is made of this host's own devices; make it on each host, and name what it gives in a lab's file",
    "receive": "it takes what other hosts send, wherever they are",
}


def _sentence(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "plimsoll"
    if isinstance(error, click.NoSuchOption):
        if error.option_name in _OF_HOSTS:
            why = _ALONE.get(path.partition(" ")[2].partition(" ")[0], "it works on this host alone")
            return f"'{path}' takes no {error.option_name}: {why}; {_MEASURE_ON_HOSTS} measure on several."
        near = f"did you mean {quoted(error.possibilities[0])}? " if error.possibilities else ""
        return f"there is no option {quoted(error.option_name)}; {near}'{path} --help' shows all."
    text = error.format_message().strip()
    return f"{text[:1].lower()}{text[1:].rstrip('.')}; '{path} --help' shows how."


def _nearest_verb(name: str) -> str:
    from plimsoll.near import meant

    return meant(name, [*VERBS, *OTHER_NAMES], "'plimsoll help' lists all.")


def _beginning(ctx: click.Context) -> str:
    """What is said of no word at all: where to begin, and where to read on."""
    formatter = ctx.make_formatter()
    formatter.write_usage("plimsoll", "COMMAND [OPTIONS] ...")
    with formatter.section("Begin with"):
        formatter.write_dl([(f"plimsoll {verb}", VERBS[verb]) for verb in FIRST])
    formatter.write_paragraph()
    formatter.write_text("'plimsoll help' lists all commands, 'plimsoll help check' explains one. README.md and docs/ say more.")
    return formatter.getvalue().rstrip("\n")
