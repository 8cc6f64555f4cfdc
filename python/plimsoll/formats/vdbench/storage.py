"""An SD as a target: path, kind, size, threads; and the planning of one file, which knows its SDs, verdicts and used parts.

Model: a path below ``/dev`` is a device, anything else a file. Devices are opened with ``O_DIRECT`` unless flags say otherwise, and their
first block is never touched; files go through the page cache unless ``openflags=o_direct`` is given. An SD that was asked for counts as
used.
Limits: this file does not look at the machine. How large a device or an existing file is, only the caller can say.

    storage(definition, targets, verdicts).path
    Planning(file, verdicts, targets).storage("sd1")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.formats.known_targets import KnownTargets, is_device, is_of_windows
from plimsoll.formats.parts import set_text
from plimsoll.formats.vdbench.model import Definition, Parameter, ParameterFile, Verdicts
from plimsoll.formats.vdbench.values import chosen, filled, number

Json = dict[str, Any]

THREADS = 8
THREADS_MAX = 4096
HITAREA = 1 << 20
#: Vdbench leaves the first block of a device alone; rounded up to the alignment, this is the first block after it.
FIRST_BYTE_OF_DEVICE = 512
SIZE_MIN, SIZE_MAX = 4096, 1 << 50


@dataclass(frozen=True)
class Storage:
    """One SD. ``size`` is what the file says, ``found`` what there is; None where neither is known."""

    definition: Definition
    path: str
    size: int | None
    found: int | None
    threads: int

    @property
    def name(self) -> str:
        """As WDs and runs call it."""
        return self.definition.name

    @property
    def device(self) -> bool:
        """Whether it is a device rather than a file."""
        return is_device(self.path)

    @property
    def length(self) -> int | None:
        """The bytes that Vdbench uses of it."""
        return self.size if self.size is not None else self.found

    @property
    def extent(self) -> int | None:
        """The bytes it takes in a concatenation: all it has. A file that does not exist yet will have its size."""
        if self.found is not None or self.device:
            return self.found
        return self.size

    @property
    def first_byte(self) -> int:
        """Where requests may begin."""
        return FIRST_BYTE_OF_DEVICE if self.device else 0

    @property
    def lun(self) -> Parameter:
        """The parameter that names the path, or the SD's own."""
        return self.definition.get("lun") or self.definition.head


def storage(definition: Definition, targets: KnownTargets, verdicts: Verdicts) -> Storage:
    """The SD of a definition; raises `InputError` for values that cannot be."""
    lun, size = definition.get("lun"), definition.get("size")
    if lun is None:
        raise definition.head.wrong(f"SD {quoted(definition.name)} has no lun; write lun=/dev/sdb, or lun=FILE with size=10g.")
    path = targets.named(lun.word if definition.number is None else filled(lun.word, definition.number))
    found = targets(path)
    written = targets.at_length(path) if size is None and found is None else None if size is None else _size(size)
    made = Storage(definition, path, written, found, threads_of(definition.get("threads")))
    if targets.target:
        verdicts.native(lun, f"--target {path} takes its place")
    elif is_of_windows(path):
        verdicts.unsupported(lun, "it is a name of Windows; name a file or device of this system with --target, or with lun=")
    elif not made.device and found is None and written is None:
        verdicts.unsupported(lun, f"there is no such file, and nothing says how long it is to be; write the SD's size, or {targets.remedy}")
    else:
        verdicts.native(lun, f"it is {'a device' if made.device else 'a file'}")
    if size is not None:
        _say_of_size(made, size, verdicts)
    return made


def _say_of_size(made: Storage, size: Parameter, verdicts: Verdicts) -> None:
    if made.found is not None and made.size is not None and made.found < made.size:
        why = f"{made.path} has {made.found} bytes, and Plimsoll does not extend it; the nearest thing is that size"
        verdicts.unsupported(size, why)
    elif made.device:
        verdicts.native(size, "region_length, from the start of the device")
    else:
        verdicts.native(size, "region_length, and the size of the file if it does not exist yet")


def threads_of(parameter: Parameter | None) -> int:
    """A number of threads, Vdbench's 8 where none is given."""
    return THREADS if parameter is None else threads(parameter, number(parameter).value)


def threads(parameter: Parameter, value: float) -> int:
    """A number that can be one of threads."""
    if value != int(value) or not 1 <= value <= THREADS_MAX:
        raise parameter.wrong(f"{value:g} is no number of threads; write a whole number from 1 to {THREADS_MAX}.")
    return int(value)


def _size(parameter: Parameter) -> int:
    found = number(parameter)
    if found.percent or found.value != int(found.value) or not SIZE_MIN <= found.value <= SIZE_MAX:
        raise parameter.wrong("that is no size; write bytes such as 10g, from 4k to 1024t.")
    return int(found.value)


def target_of(storages: list[Storage]) -> str:
    """The target that holds all of them, one after the other."""
    return target_at(list(dict.fromkeys(item.path for item in storages)))


def target_at(paths: Sequence[str]) -> str:
    """The target that consists of these files, devices or directories."""
    if len(paths) == 1:
        return plain_path(paths[0])
    return set_text(plain_path(path) for path in paths)


def plain_path(path: str) -> str:
    """A path that no kind of target begins."""
    # A colon would make the beginning a kind of target.
    return path if path.startswith(("/", ".")) else f"./{path}"


def scratch_size(storages: Sequence[Storage], verdicts: Verdicts) -> Json:
    """The job option that says how large the files are that do not exist yet."""
    made = {storage.path: storage for storage in storages if not storage.device and storage.found is None and storage.size is not None}
    sizes = {path: max(item.size or 0 for item in storages if item.path == path) for path in made}
    if not sizes:
        return {}
    paths = {storage.path for storage in storages}
    why = ""
    if len(set(sizes.values())) > 1 or len(sizes) < len(paths):
        why = "files are made together only if all of the run's targets are files of one size that do not exist; make them beforehand"
    elif next(iter(sizes.values())) % 4096:
        why = "a file is made in whole pages; the nearest thing is a multiple of 4096"
    elif sum(sizes.values()) > SIZE_MAX:
        why = "files of more than 1 PiB together are not made; write a smaller size"
    if why:
        for storage in made.values():
            verdicts.unsupported(storage.definition.get("size") or storage.lun, why)
        return {}
    return {"size": sum(sizes.values())}


@dataclass
class Planning:
    """The file under translation."""

    file: ParameterFile
    verdicts: Verdicts
    targets: KnownTargets
    used: set[Definition] = field(default_factory=set)
    _storages: dict[str, Storage] = field(default_factory=dict)

    def storage(self, name: str) -> Storage:
        """An SD by its name."""
        if name not in self._storages:
            definition = self.file.of("sd")[name]
            self.used.add(definition)
            self._storages[name] = storage(definition, self.targets, self.verdicts)
        return self._storages[name]

    def storages(self, parameter: Parameter) -> list[Storage]:
        """The SDs that ``sd=`` means."""
        return [self.storage(name) for name in chosen(parameter, list(self.file.of("sd")))]

    def workloads(self, parameter: Parameter) -> list[Definition]:
        """The WDs that ``wd=`` means."""
        found = [self.file.of("wd")[name] for name in chosen(parameter, list(self.file.of("wd")))]
        self.used |= set(found)
        return found

    def general(self, name: str) -> Parameter | None:
        """A general parameter."""
        return self.file.general.get(name)

    def switched_on(self, name: str) -> bool:
        """Whether a general switch is on; the word alone means yes."""
        parameter = self.general(name)
        return parameter is not None and (not parameter.values or parameter.word.lower() in ("yes", "y"))
