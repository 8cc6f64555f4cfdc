"""What is written and whether it is verified: compression, duplicates, patterns, data validation.

Model: data validation of Vdbench is `verify` here; its content is stamps, so ratios and patterns do not go with it.

    content(use, planning)        # {'compress_ratio': 2}
"""

from __future__ import annotations

import re
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.access import Use
from plimsoll.formats.vdbench.model import Parameter
from plimsoll.formats.vdbench.storage import Planning
from plimsoll.formats.vdbench.values import parse

Json = dict[str, Any]

_HEXADECIMAL = re.compile(r"0x(?:[0-9a-fA-F]{2}){1,4096}")
#: What each word of validate= verifies, and why it is not quite the same.
_VALIDATED = {
    "no": ("off", ""),
    "yes": ("all", "reads are verified, and at the end everything that was written; no block is read before it is written again"),
    "read_after_write": ("all", "writes are verified at the end rather than at once"),
    "no_preread": ("reads", ""),
    "time": ("all", "no times are kept with the blocks"),
    "reportdedupsets": ("all", "sets of duplicates are not reported"),
}
RATIO_MAX = 1000


def content(use: Use, planning: Planning) -> Json:
    """Options of a stream about its content."""
    verify = _verify(planning)
    if verify != "off":
        for parameter in (*_ratios(use, planning).values(), planning.general("pattern")):
            if parameter is not None:
                planning.verdicts.ignored(parameter, "what is verified carries stamps, which neither compress nor repeat")
        return {"verify": verify}
    options: Json = {}
    pattern = planning.general("pattern")
    if pattern is not None and _HEXADECIMAL.fullmatch(pattern.word):
        planning.verdicts.native(pattern, "content = pattern")
        return {"content": "pattern", "pattern": pattern.word}
    if pattern is not None:
        planning.verdicts.unsupported(
            pattern, "files of patterns are not read; the nearest thing is pattern=0x… with its bytes, or compratio"
        )
    for option, parameter in _ratios(use, planning).items():
        if parameter is not None:
            name = "compratio" if option == "compress_ratio" else "dedupratio"
            text = use.choice[name].text if name in use.choice else parameter.word
            options[option] = ratio(parameter, text)
    return options


def _verify(planning: Planning) -> str:
    parameter = planning.general("validate")
    if parameter is None:
        return "off"
    found, why = verification(parameter)
    (planning.verdicts.ignored if why else planning.verdicts.native)(parameter, why or f"verify = {found}")
    return found


def verification(parameter: Parameter) -> tuple[str, str]:
    """What ``validate=`` verifies, and why that is not quite the same."""
    found, whys = "off", [""]
    for word in parameter.texts or ("yes",):
        if word.lower() not in _VALIDATED:
            raise parameter.wrong(f"{quoted(word)} is not known; there are {', '.join(_VALIDATED)}.")
        chosen, why = _VALIDATED[word.lower()]
        found = chosen if found == "off" or chosen == "reads" else found
        whys.append(why)
    return found, next((why for why in whys if why), "")


def _ratios(use: Use, planning: Planning) -> dict[str, Parameter | None]:
    own = use.storage.definition
    return {
        "compress_ratio": use.loops.get("compratio") or own.get("compratio") or planning.general("compratio"),
        "duplicate_ratio": own.get("dedupratio") or planning.general("dedupratio"),
    }


def ratio(parameter: Parameter, text: str) -> float:
    """A text as a ratio."""
    found = parse(text)
    if found is None or not 1 <= found.value <= RATIO_MAX:
        raise parameter.wrong(f"{quoted(text)} is no ratio; write a number from 1 to {RATIO_MAX}.")
    return found.value


def errors_allowed(planning: Planning) -> Json:
    """The option of the job about failed requests."""
    parameter = planning.general("data_errors")
    if parameter is None or parameter.texts == ("1",):
        if parameter is not None:
            planning.verdicts.native(parameter, "the first failed request ends the run, as by default here")
        return {}
    words = ", ".join(parameter.texts)
    if not all(parse(text) for text in parameter.texts):
        planning.verdicts.ignored(parameter, f"the first failed request ends the run, and {words} is not carried out")
        return {}
    planning.verdicts.ignored(
        parameter, f"failed requests are counted and the run goes on, however many there are; no limit of {words} is kept"
    )
    return {"on_error": "continue"}
