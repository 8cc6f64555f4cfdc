"""``plimsoll completion``: the script that lets a shell complete commands, options, workloads, suites, targets, runs, objectives
and settings.

Model: the script hands what stands before the cursor over in the environment; the program answers with a line per word that fits:
its type (``plain``, ``file``), the word, and what it is. So all shells ask one question, and quoting stays with the shell. A question that
cannot be answered has no words: nothing is ever printed in between what somebody types.

    eval "$(plimsoll completion bash)"
"""

from __future__ import annotations

import os
import sys

import click

#: The shell that asks, in the environment; its words stand in the other variable.
ASKING, WORDS = "_PLIMSOLL_COMPLETE", "_PLIMSOLL_WORDS"

# Bash has split the words at the colons and equals signs of COMP_WORDBREAKS. So the line is handed over as it is, and of each answer only
# what follows the last of these signs is inserted. Between quotes, Bash quotes the words itself. Nothing of the line is evaluated.
_BASH = r"""_plimsoll_completion() {
    local line="${COMP_LINE:0:COMP_POINT}" cut="" files="" current type word sign quote="${COMP_WORDS[COMP_CWORD]:0:1}"
    current="${line##*[[:space:]]}"
    COMPREPLY=()
    for sign in : =; do
        if [[ "$COMP_WORDBREAKS" == *"$sign"* && "$current" == *"$sign"* ]]; then
            word="${current%"$sign"*}$sign"
            [[ ${#word} -gt ${#cut} ]] && cut="$word"
        fi
    done
    while IFS=$'\t' read -r type word _; do
        if [[ "$type" == file ]]; then
            files=yes
        elif [[ -n "$word" ]]; then
            word="${word#"$cut"}"
            [[ "$word" == *[=:] ]] && compopt -o nospace 2>/dev/null
            [[ "$word" == *[[:space:]]* && "$quote" != [\'\"] ]] && printf -v word %q "$word"
            COMPREPLY+=("$word")
        fi
    done < <(_PLIMSOLL_COMPLETE=bash _PLIMSOLL_WORDS="$line" "${COMP_WORDS[0]/#\~/$HOME}" 2>/dev/null)
    if [[ -n "$files" ]]; then
        (( ${#COMPREPLY[@]} )) || compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "${current#"$cut"}")
    fi
}
complete -o nosort -F _plimsoll_completion plimsoll
"""
_ZSH = r"""#compdef plimsoll
_plimsoll_completion() {
    local type word about files=0
    local -a plain open
    while IFS=$'\t' read -r type word about; do
        if [[ "$type" == file ]]; then
            files=1
        elif [[ "$word" == *[=:] ]]; then
            open+=("$word")
        elif [[ -n "$word" ]]; then
            plain+=("$word")
        fi
    done < <(_PLIMSOLL_COMPLETE=zsh _PLIMSOLL_WORDS="${(F)${(@Q)words[1,CURRENT]}}"$'\n.' "${(Q)words[1]}" 2>/dev/null)
    (( ${#plain} )) && compadd -V plimsoll -a plain
    (( ${#open} )) && compadd -V plimsoll-open -S '' -a open
    (( files )) && _files
    return 0
}
if [[ "${funcstack[1]}" == _plimsoll ]]; then
    _plimsoll_completion "$@"
else
    compdef _plimsoll_completion plimsoll
fi
"""
_FISH = r"""function _plimsoll_completion
    set -l words (commandline -opc) (commandline -ct)
    for line in (env _PLIMSOLL_COMPLETE=fish _PLIMSOLL_WORDS=(string join \n -- $words . | string collect) $words[1] 2>/dev/null)
        set -l answer (string split \t -- $line)
        if test "$answer[1]" = file
            __fish_complete_path (commandline -ct)
        else
            printf '%s\t%s\n' $answer[2] $answer[3]
        end
    end
end
complete --command plimsoll --no-files --keep-order --arguments '(_plimsoll_completion)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


@click.command(short_help="Print a completion script for your shell.")
@click.argument("shell", type=click.Choice(tuple(SCRIPTS)))
def command(shell: str) -> None:
    """Print the script that completes commands, options, workloads, suites, arrays, runs, objectives and
    settings in SHELL.

    \b
    plimsoll completion bash > ~/.local/share/bash-completion/completions/plimsoll
    plimsoll completion zsh > "${fpath[1]}/_plimsoll"
    plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish
    """
    click.echo(SCRIPTS[shell], nl=False)


def _asked(shell: str, text: str) -> tuple[list[str], str]:
    """The words behind the command's name, and the one that is being typed."""
    if shell == "bash":
        from click.shell_completion import split_arg_string

        words = [*split_arg_string(text), *([""] if text[-1:].isspace() else [])][1:]
    else:
        # A last line, which is no word, keeps empty words before it.
        words = text.split("\n")[1:-1]
        # Zsh leaves a quote that is not closed yet.
        words[-1:] = [word[1:] if word[:1] in ("'", '"') else word for word in words[-1:]]
    return words[:-1], words[-1] if words else ""


def answer(program: click.Command) -> int:
    """Answer the question that a script asks; always 0, and silent about everything else."""
    from click.shell_completion import CompletionItem, ShellComplete

    class Lines(ShellComplete):
        name = "lines"
        source_template = ""

        def get_completion_args(self) -> tuple[list[str], str]:
            return _asked(os.environ.get(ASKING, ""), os.environ.get(WORDS, ""))

        def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
            found = super().get_completions(args, incomplete)
            # Where words of ours do not stand, a path does.
            return found if found or not args or incomplete.startswith("-") else [CompletionItem(incomplete, type="file")]

        def format_completion(self, item: CompletionItem) -> str:
            about = (item.help or "").replace("\n", " ").replace("\t", " ")
            return f"{item.type}\t{item.value}\t{about}"

    try:
        text = Lines(program, {}, "plimsoll", ASKING).complete()
    except Exception:
        return 0
    if text:
        sys.stdout.write(f"{text}\n")
    return 0
