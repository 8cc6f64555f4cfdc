"""Tables for a terminal: aligned columns with a rule below the head, folded to the width of the terminal.

Model: columns are as wide as their widest cell. Where the table is wider than the screen, it is made narrower step by step: text columns
are folded at their spaces, and so are headings; a name that all rows share moves above the table, and then those that only change now and
then into a line of their own above their rows; at last each row becomes a block, its names in one line and its figures with their headings
below. Nothing is split inside a word, and no figure is left out, nor what a heading says in brackets.
Limits: a character counts as one column.

    table([("workload", "IOPS"), ("oltp-db", "700")], left=1, screen=Screen(80))
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.displayed import displayed_in_line
from plimsoll.reports.terminal.screen import ANY, Screen, folded, visible

#: A text column is not folded to less.
_FOLDED_MIN = 16
_GAP = 2
Rows = list[list[str]]


def table(rows: Sequence[Sequence[str]], *, left: int, screen: Screen = ANY, width: int | None = None) -> str:
    """Aligned columns, a rule below the head; the first ``left`` columns to the left, the others to the right.

    A row of one cell stands across all columns. ``width`` is that of the screen, for who knows no more of it."""
    safe = [[displayed_in_line(cell) for cell in row] for row in rows]
    room = width if width is not None else screen.width
    if room is None or _wide(safe) <= room:
        return _drawn(safe, _widths(safe), left, room)
    if left == len(safe[0]):
        return _drawn(safe, _narrowed(safe, _widths(safe), left, room), left, room)
    shared, varying = _without_shared(safe, left)
    names = left - len(safe[0]) + len(varying[0])
    caption = "".join(f"{line}\n" for line in folded(", ".join(shared), room)) if shared else ""
    for rest, candidate, kept in (("", safe, left), (caption, varying, names), (caption, _hoisted(varying, names), 1)):
        for natural in (_widths(candidate), _widths(candidate, heads=False)):
            widths = _narrowed(candidate, natural, kept, room)
            if sum(widths) + _GAP * (len(widths) - 1) <= room:
                return rest + _drawn(candidate, widths, kept, room)
    return caption + _blocks(varying, names, room)


def _widths(rows: Rows, *, heads: bool = True) -> list[int]:
    """Of the widest cell; without ``heads`` headings are folded at their spaces."""
    columns = len(rows[0])
    first = [visible(cell) if heads else _longest_word(cell) for cell in rows[0]]
    return [max([first[column], *(visible(row[column]) for row in rows[1:] if len(row) == columns)]) for column in range(columns)]


def _wide(rows: Rows) -> int:
    widths = _widths(rows)
    return sum(widths) + _GAP * (len(widths) - 1)


def _narrowed(rows: Rows, widths: list[int], left: int, room: int) -> list[int]:
    """Widths with the text columns folded as far as needed and their words allow, the widest first."""
    found = list(widths)
    least = [max([_FOLDED_MIN, *(_longest_word(row[column]) for row in rows if len(row) == len(widths))]) for column in range(left)]
    for _ in range(left):
        excess = sum(found) + _GAP * (len(found) - 1) - room
        column = max(range(left), key=lambda each: found[each] - least[each])
        if excess <= 0 or found[column] <= least[column]:
            break
        found[column] = max(least[column], found[column] - excess)
    return found


def _longest_word(text: str) -> int:
    return max((visible(word) for word in text.split(" ")), default=0)


def _without_shared(rows: Rows, left: int) -> tuple[list[str], Rows]:
    """The names that all rows have, with their headings, and the rows without them; one name stays."""
    whole = [row for row in rows[1:] if len(row) == len(rows[0])]
    shared = [column for column in range(left) if len({row[column] for row in whole}) == 1 and whole[0][column]]
    shared = shared[: left - 1]
    named = [f"{rows[0][column]} {whole[0][column]}" for column in shared]
    return named, [[cell for column, cell in enumerate(row) if column not in shared] if len(row) == len(rows[0]) else row for row in rows]


def _hoisted(rows: Rows, left: int) -> Rows:
    """Only the last name stays in its column; the others stand in a line of their own, wherever they change."""
    found = [rows[0][left - 1 :]]
    last: list[str] | None = None
    for row in rows[1:]:
        if len(row) < len(rows[0]):
            found.append(row)
            continue
        names = row[: left - 1]
        if names != last and any(names):
            found.append(["  ".join(_called(head, name) for head, name in zip(rows[0], names, strict=False) if name)])
        last = names
        found.append(row[left - 1 :])
    return found


def _blocks(rows: Rows, left: int, room: int) -> str:
    """A row by row, its names and below them its figures with their headings."""
    head, lines = rows[0], []
    for row in rows[1:]:
        if len(row) < len(head):
            lines += folded(row[0], room)
            continue
        lines += folded(", ".join(_called(name, cell) for name, cell in zip(head[:left], row, strict=False) if cell), room, "", "  ")
        figures = [f"{name} {cell}".strip() for name, cell in zip(head[left:], row[left:], strict=True) if cell and cell != "–"]
        lines += _packed(figures, room)
    return "\n".join(lines)


def _called(head: str, name: str) -> str:
    """A name without its heading; what the heading says of all names in brackets goes with it: ``x (modelled)``."""
    _, bracket, said = head.partition(" (")
    return f"{name}{bracket}{said}"


def _packed(figures: Sequence[str], room: int) -> list[str]:
    """As many figures in a line as go in whole."""
    lines: list[str] = []
    for figure in figures:
        if lines and visible(lines[-1]) + 3 + visible(figure) <= room:
            lines[-1] = f"{lines[-1]} · {figure}"
        else:
            lines.append(f"  {figure}")
    return lines


def _drawn(rows: Rows, widths: Sequence[int], left: int, room: int | None) -> str:
    lines = [line for row in rows for line in (_across(row[0], room) if len(row) < len(widths) else _lines(row, widths, left))]
    head = len(_lines(rows[0], widths, left))
    rule = "─" * max(visible(line) for line in lines)
    return "\n".join([*lines[:head], rule, *lines[head:]])


def _across(text: str, room: int | None) -> list[str]:
    """A row of one cell; what follows the first line is indented by two more."""
    if room is None:
        return [text]
    indent = " " * (len(text) - len(text.lstrip()))
    return folded(text.lstrip(), room, indent, f"{indent}  ")


def _lines(row: Sequence[str], widths: Sequence[int], left: int) -> list[str]:
    """A row of a cell per column, with as many lines as its longest text takes."""
    cells = [_fitting(cell, width) for cell, width in zip(row, widths, strict=True)]
    height = max(len(cell) for cell in cells)
    lines = []
    for index in range(height):
        texts = [cell[index] if index < len(cell) else "" for cell in cells]
        aligned = [
            (f"{text}{_blank(text, width)}" if column < left else f"{_blank(text, width)}{text}")
            for column, (text, width) in enumerate(zip(texts, widths, strict=True))
        ]
        lines.append("  ".join(aligned).rstrip())
    return lines


def _fitting(cell: str, width: int) -> list[str]:
    if visible(cell) <= width:
        return [cell]
    # What is indented stays so.
    indent = " " * (len(cell) - len(cell.lstrip()))
    return folded(cell.lstrip(), width, indent, indent) or [cell]


def _blank(text: str, width: int) -> str:
    return " " * max(0, width - visible(text))
