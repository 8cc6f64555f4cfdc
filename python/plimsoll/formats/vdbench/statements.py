"""From parameters to statements: which belong to one definition.

Model: Vdbench knows no lines, only parameters one after the other; ``sd=``, ``wd=`` and their kin begin a definition, and everything up to
the next of them belongs to it. So a comma at the end of a definition does no harm, a line may go on without one, and one line may hold
several definitions of its kind. Here a definition of another kind begins at the start of a line only, since ``wd=wd1,sd=sd1,rd=50`` is more
likely a slip of the pen; so is a line that names what belongs to no definition above it.
Limits: a keyword that general parameters have as well does not continue a definition.

    statements(parameters_of("sd=sd1,lun=/dev/sdb,", "sd=sd2,lun=/dev/sdc"))        # one for sd1, one for sd2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.formats.vdbench.keywords import UnknownKeywordError, keyword
from plimsoll.formats.vdbench.parameter import Parameter

#: Where each block stands in a file; FSD and FWD take the places of SD and WD.
ORDER = {"general": 0, "hd": 1, "rg": 2, "sd": 3, "fsd": 3, "wd": 4, "fwd": 4, "rd": 5}
#: What begins a definition while one of a block is read; every other keyword belongs to it.
_BEGINS: Mapping[str, tuple[str, ...]] = {
    "general": ("hd", "rg", "sd", "fsd", "wd", "fwd", "rd"),
    "hd": ("hd", "rg", "sd", "fsd", "wd", "fwd", "rd"),
    "rg": ("rg", "sd", "fsd", "wd", "fwd", "rd"),
    "sd": ("sd", "wd", "fwd", "rd"),
    "fsd": ("fsd", "sd", "wd", "fwd", "rd"),
    "wd": ("wd", "fwd", "rd"),
    "fwd": ("fwd", "wd", "rd"),
    "rd": ("rd",),
}


def block_of(head: Parameter) -> str:
    """The block of a statement by its first parameter."""
    return head.keyword if head.keyword in ORDER else "general"


def statements(parameters: Sequence[Parameter]) -> Iterator[list[Parameter]]:
    """The parameters of one line, with those that continue it, as statements."""
    statement: list[Parameter] = []
    for parameter in parameters:
        if statement and _begins(parameter, statement):
            yield statement
            statement = []
        statement.append(parameter)
    if statement:
        yield statement


def continues(parameters: Sequence[Parameter], before: Sequence[Parameter]) -> bool:
    """Whether a line goes on with the definition ``before`` it."""
    block, head = block_of(before[0]), parameters[0].keyword
    if block == "general" or head in _BEGINS[block]:
        return False
    if head in ORDER and (head == "hd" or head in (parameter.keyword for parameter in before)):
        # A definition names its SDs or WDs once, so this is rather one that stands too late.
        return False
    return all(
        _belongs(parameter, block) and (head in ORDER or not _belongs(parameter, "general")) for parameter in next(statements(parameters))
    )


def _begins(parameter: Parameter, statement: Sequence[Parameter]) -> bool:
    block, before = block_of(statement[0]), statement[-1]
    if block == "general":
        # General parameters may share a line; what follows in the next one may begin anything.
        return parameter.keyword in _BEGINS[block] and parameter.place != before.place
    return parameter.keyword in _BEGINS[block] and (parameter.keyword == block or parameter.place != before.place)


def _belongs(parameter: Parameter, block: str) -> bool:
    try:
        keyword(block, parameter.keyword)
    except UnknownKeywordError:
        return False
    return True
