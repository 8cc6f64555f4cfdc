"""What is written and whether it is verified: compression, duplicates, patterns, data validation.

Model: data validation of Vdbench is `verify` here; its content is stamps, so ratios and patterns do not go with it.

    content(use, general).options        # {'compress_ratio': 2}
"""

from __future__ import annotations

import re

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.model import Parameter
from plimsoll.formats.vdbench.notes import Notes, Translated, ignored, native, unsupported
from plimsoll.formats.vdbench.resolve import General, Use
from plimsoll.formats.vdbench.values import Setting, parse
from plimsoll.stored import Json

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


def content(use: Use, general: General) -> Translated:
    """Options of a stream about its content."""
    verify, notes = _verify(general.validate)
    pattern = general.pattern
    if verify != "off":
        why = "what is verified carries stamps, which neither compress nor repeat"
        ratios = [setting.parameter for setting in (use.compratio, use.dedupratio) if setting is not None]
        without = [*ratios, *([] if pattern is None else [pattern])]
        return Translated({"verify": verify}, (*notes, *(ignored(parameter, why) for parameter in without)))
    options: Json = {}
    if pattern is not None and _HEXADECIMAL.fullmatch(pattern.word):
        return Translated({"content": "pattern", "pattern": pattern.word}, (*notes, native(pattern, "content = pattern")))
    if pattern is not None:
        why = "files of patterns are not read; the nearest thing is pattern=0x… with its bytes, or compratio"
        notes += (unsupported(pattern, why),)
    return Translated(options | ratios_of(use.compratio, use.dedupratio), notes)


def ratios_of(compratio: Setting | None, dedupratio: Setting | None) -> Json:
    """The options of ratios."""
    given = (("compress_ratio", compratio), ("duplicate_ratio", dedupratio))
    return {option: ratio(setting) for option, setting in given if setting is not None}


def _verify(parameter: Parameter | None) -> tuple[str, Notes]:
    if parameter is None:
        return "off", ()
    found, why = verification(parameter)
    return found, (ignored(parameter, why) if why else native(parameter, f"verify = {found}"),)


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


def ratio(setting: Setting) -> float:
    """A value as a ratio."""
    found = parse(setting.text)
    if found is None or not 1 <= found.value <= RATIO_MAX:
        raise setting.parameter.wrong(f"{quoted(setting.text)} is no ratio; write a number from 1 to {RATIO_MAX}.")
    return found.value


def errors_allowed(parameter: Parameter | None) -> Translated:
    """The option of the job about failed requests, from ``data_errors``."""
    if parameter is None:
        return Translated({})
    if parameter.texts == ("1",):
        return Translated({}, (native(parameter, "the first failed request ends the run, as by default here"),))
    words = ", ".join(parameter.texts)
    if not all(parse(text) for text in parameter.texts):
        return Translated({}, (ignored(parameter, f"the first failed request ends the run, and {words} is not carried out"),))
    why = f"failed requests are counted and the run goes on, however many there are; no limit of {words} is kept"
    return Translated({"on_error": "continue"}, (ignored(parameter, why),))
