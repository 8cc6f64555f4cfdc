"""What is written into files: compression and duplicates. Nothing in them is verified.

content(use, planning)        # {'compress_ratio': 2}
"""

from __future__ import annotations

from typing import Any

from plimsoll.formats.vdbench.content import ratio, verification
from plimsoll.formats.vdbench.filesystem.stream import FileUse
from plimsoll.formats.vdbench.planning import Planning

Json = dict[str, Any]

_NOT_VERIFIED = "files are not verified; the nearest thing is an SD on one large file with validate=yes"
_NO_PATTERN = "no pattern is written into files; the nearest thing is compratio"


def content(use: FileUse, planning: Planning) -> Json:
    """Options of a stream about its content."""
    validate, pattern = planning.general("validate"), planning.general("pattern")
    if validate is not None and verification(validate)[0] != "off":
        planning.verdicts.unsupported(validate, _NOT_VERIFIED)
    if pattern is not None:
        planning.verdicts.unsupported(pattern, _NO_PATTERN)
    options: Json = {}
    for option, name in (("compress_ratio", "compratio"), ("duplicate_ratio", "dedupratio")):
        parameter = use.values.loops.get(name) or planning.general(name)
        if parameter is not None:
            options[option] = ratio(parameter, use.values.choice[name].text if name in use.values.choice else parameter.word)
    return options
