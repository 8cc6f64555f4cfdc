"""Values of JSON that no record of ours describes: what other programs say, and what is only handed on."""

from typing import Any, TypeVar

Number = int | float
#: An object of JSON that is passed on, or read key by key where it comes in. What we write ourselves has a record.
Json = dict[str, Any]
#: A JSON Schema, or a part of one.
Schema = dict[str, Any]
Counted = TypeVar("Counted")
