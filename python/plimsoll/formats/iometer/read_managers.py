"""Reads section MANAGER LIST: managers, their workers, what those access and how.

Model: a cursor walks over the statements. Blocks nest (manager, worker, settings, specifications, target assignments, target), each
with its ``'End …`` line; inside a block every key stands at most once.

    read_managers(statements, Place("load.icf"))[0].workers[0].settings.outstanding
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from plimsoll.formats.iometer.model import WORKER_TYPES, Manager, Settings, Statement, Target, Worker
from plimsoll.formats.iometer.statements import Fields, Range, near, words
from plimsoll.formats.place import Place

#: A pebibyte in sectors, the end of our targets.
SECTORS_MAX = 2**41
SECTORS = tuple(Range(what, 0, SECTORS_MAX) for what in ("the maximum disk size in sectors", "the starting sector"))
OUTSTANDING = Range("the number of outstanding I/Os", 1, 65536)
TRANSACTIONS = Range("the number of transactions per connection", 0, 2**32)
SEED = Range("the fixed seed value", 0, 2**64 - 1)
DATA_PATTERN = Range("the data pattern", 0, 2)

_MANAGER = "manager id, manager name"
_Block = dict[str, Callable[[Statement], None]]


def read_managers(body: Sequence[Statement], place: Place) -> tuple[Manager, ...]:
    """The managers of the section whose statements are ``body``."""
    walk = _Walk(body, place)
    managers = []
    while (statement := walk.take()) is not None:
        if words(statement.key) != _MANAGER:
            raise walk.stray(statement, "manager list", (_MANAGER,))
        managers.append(walk.manager(statement))
    return tuple(managers)


class _Walk:
    """The statements not yet read."""

    def __init__(self, body: Sequence[Statement], place: Place) -> None:
        self._body, self._next = list(body), 0
        self._place, self._fields = place, Fields(place)

    def take(self) -> Statement | None:
        """The next statement; None when there is none."""
        if self._next == len(self._body):
            return None
        self._next += 1
        return self._body[self._next - 1]

    def stray(self, statement: Statement, block: str, known: Sequence[str]) -> Exception:
        """The error that ``statement`` is within ``block``."""
        return self._place.at(statement.line).wrong(f"'{statement.key[:60]} is not a key of a {block}; {near(words(statement.key), known)}")

    def manager(self, opening: Statement) -> Manager:
        number, name = self._fields.numbered(opening, "a manager")
        at, workers, address = {"name": opening}, list[Worker](), list[str]()

        def network_address(statement: Statement) -> None:
            at["address"] = statement
            address.append(self._fields.text(statement))

        self._block("manager", opening, {
            "manager network address": network_address,
            "worker": lambda statement: workers.append(self._worker(statement)),
        })  # fmt: skip
        return Manager(number, name, address[0] if address else None, tuple(workers), at)

    def _worker(self, opening: Statement) -> Worker:
        found: dict[str, Any] = {"name": self._fields.one(opening, "Worker 1").text}
        at = {"name": opening}

        def kind(statement: Statement) -> None:
            value = self._fields.one(statement, "DISK")
            at["kind"], found["kind"] = statement, self._fields.word(value.line, value.text, WORKER_TYPES)

        def settings(statement: Statement) -> None:
            found["settings"] = self._settings(statement)

        def specs(statement: Statement) -> None:
            at["specs"] = statement
            found["specs"] = tuple(value.text for value in statement.values)
            self._block("assigned access specs", statement, {})

        def targets(statement: Statement) -> None:
            self._fields.none(statement)
            found["targets"] = self._targets(statement)

        self._block("worker", opening, {
            "worker type": kind,
            "default target settings for worker": settings,
            "assigned access specs": specs,
            "target assignments": targets,
        })  # fmt: skip
        return Worker(**found, at=at)

    def _settings(self, opening: Statement) -> Settings:
        found: dict[str, Any] = {}
        at: dict[str, Statement] = {}
        self._fields.none(opening)

        def keep(name: str, statement: Statement, values: dict[str, Any]) -> None:
            at[name] = statement
            found.update(values)

        self._block("default target settings for worker", opening, {
            "number of outstanding ios": lambda item: keep("outstanding", item, self._outstanding(item)),
            "disk maximum size": lambda item: keep("region", item, self._region(item)),
            "local network interface": lambda item: keep("interface", item, {"network_interface": self._fields.text(item)}),
            "vi outstanding ios": lambda item: keep("vi", item, {"vi_outstanding": self._fields.number(item, OUTSTANDING)}),
        })  # fmt: skip
        return Settings(**found, at=at)

    def _outstanding(self, statement: Statement) -> dict[str, Any]:
        value = self._fields.one(statement, "1,DISABLED,1")
        parts = self._fields.split(value, (1, 3, 5), "1,DISABLED,1 or 1,DISABLED,1,DISABLED,0")
        found: dict[str, Any] = {"outstanding": self._fields.whole(value.line, parts[0], OUTSTANDING)}
        if len(parts) > 1:
            found["connection_rate"] = self._fields.switch(value.line, parts[1])
            found["transactions"] = self._fields.whole(value.line, parts[2], TRANSACTIONS)
        if len(parts) > 3:
            found["use_fixed_seed"] = self._fields.switch(value.line, parts[3])
            found["fixed_seed"] = self._fields.whole(value.line, parts[4], SEED)
        return found

    def _region(self, statement: Statement) -> dict[str, Any]:
        value = self._fields.one(statement, "0,0")
        parts = self._fields.split(value, (2, 3), "0,0 or 0,0,0")
        names = ("maximum_sectors", "starting_sector", "data_pattern")
        ranges = (*SECTORS, DATA_PATTERN)
        return {name: self._fields.whole(value.line, text, allowed) for name, text, allowed in zip(names, parts, ranges, strict=False)}

    def _targets(self, opening: Statement) -> tuple[Target, ...]:
        targets: list[Target] = []
        self._block("target assignments", opening, {"target": lambda statement: targets.append(self._target(statement))})
        return tuple(targets)

    def _target(self, opening: Statement) -> Target:
        found: dict[str, Any] = {"name": self._fields.one(opening, "/dev/sdb").text}
        at = {"name": opening}

        def kind(statement: Statement) -> None:
            value = self._fields.one(statement, "DISK")
            at["kind"], found["kind"] = statement, self._fields.word(value.line, value.text, WORKER_TYPES)

        def manager(statement: Statement) -> None:
            at["manager"], found["manager"] = statement, self._fields.numbered(statement, "a manager")

        self._block("target", opening, {"target type": kind, "target manager id, manager name": manager})
        return Target(**found, at=at)

    def _block(self, name: str, opening: Statement, keys: _Block) -> None:
        """Read to ``'End name``; every key but those that open blocks of their own kind stands at most once."""
        seen: dict[str, Statement] = {}
        while (statement := self.take()) is not None:
            written = words(statement.key)
            if written == f"end {name}":
                self._fields.none(statement)
                return
            key = next((key for key in keys if written == key or (key in _PREFIXES and written.startswith(key))), None)
            if key is None:
                raise self._place.at(statement.line).wrong(self._unknown(statement, name, opening, keys))
            if key in seen and key not in _REPEATED:
                raise self._place.at(statement.line).wrong(
                    f"'{statement.key} stands twice; the first is on line {seen[key].line}, so remove one."
                )
            seen[key] = statement
            keys[key](statement)
        raise self._place.at(opening.line).wrong(f"'{opening.key} has no end; write 'End {name} after its last line.")

    def _unknown(self, statement: Statement, name: str, opening: Statement, keys: _Block) -> str:
        closing = f"'End {name}"
        if words(statement.key).startswith("end ") or words(statement.key) in (_MANAGER, "worker", "target", *_OPENING):
            return f"'{statement.key[:60]} stands before {closing}, which ends '{opening.key} of line {opening.line}; write that first."
        return f"'{statement.key[:60]} is not a key of '{opening.key}; {near(words(statement.key), [*keys, closing])}"


#: Keys that are known by their beginning, because later versions made them longer.
_PREFIXES = ("number of outstanding ios", "disk maximum size")
#: Keys that open a block of which there may be several.
_REPEATED = ("worker", "target")
#: Keys that open the other blocks.
_OPENING = ("default target settings for worker", "assigned access specs", "target assignments")
