"""An SD as a target: path, kind, size, threads.

Model: a path below ``/dev`` is a device, anything else a file. Devices are opened with ``O_DIRECT`` unless flags say otherwise, and their
first block is never touched; files go through the page cache unless ``openflags=o_direct`` is given.
Limits: this file does not look at the machine. How large a device or an existing file is, only the caller can say.

    storage(definition, targets).path
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from plimsoll.displayed import quoted
from plimsoll.formats.known_targets import KnownTargets, is_device, is_of_windows
from plimsoll.formats.parts import set_text
from plimsoll.formats.vdbench.model import Definition, Parameter
from plimsoll.formats.vdbench.notes import Note, Notes, Translated, native, unsupported
from plimsoll.formats.vdbench.values import filled, number

THREADS = 8
THREADS_MAX = 4096
HITAREA = 1 << 20
#: Vdbench leaves the first block of a device alone; rounded up to the alignment, this is the first block after it.
FIRST_BYTE_OF_DEVICE = 512
SIZE_MIN, SIZE_MAX = 4096, 1 << 50


@dataclass(frozen=True)
class Storage:
    """One SD. ``size`` is what the file says, ``found`` what there is; None where neither is known. Parameters that are weighed against
    others, or against requests, stand here as they are written; ``notes`` are on the others."""

    definition: Definition
    #: The parameter that names the path, or the SD's own.
    lun: Parameter
    path: str
    size: int | None
    found: int | None
    threads: int
    sized: Parameter | None = None
    align: Parameter | None = None
    offset: Parameter | None = None
    range: Parameter | None = None
    hitarea: Parameter | None = None
    openflags: Parameter | None = None
    compratio: Parameter | None = None
    dedupratio: Parameter | None = None
    notes: Notes = field(default=(), compare=False, repr=False)

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


def storage(definition: Definition, targets: KnownTargets) -> Storage:
    """The SD of a definition; raises `InputError` for values that cannot be."""
    given = definition.given
    lun, size = given.get("lun"), given.get("size")
    if lun is None:
        raise definition.head.wrong(f"SD {quoted(definition.name)} has no lun; write lun=/dev/sdb, or lun=FILE with size=10g.")
    path = targets.named(lun.word if definition.number is None else filled(lun.word, definition.number))
    found = targets(path)
    written = targets.at_length(path) if size is None and found is None else None if size is None else _size(size)
    made = Storage(
        definition=definition,
        lun=lun,
        path=path,
        size=written,
        found=found,
        threads=threads_of(given.get("threads")),
        sized=size,
        align=given.get("align"),
        offset=given.get("offset"),
        range=given.get("range"),
        hitarea=given.get("hitarea"),
        openflags=given.get("openflags"),
        compratio=given.get("compratio"),
        dedupratio=given.get("dedupratio"),
    )
    said = [_path_note(made, lun, targets), *([] if size is None else [_size_note(made, size)])]
    return replace(made, notes=tuple(said))


def _path_note(made: Storage, lun: Parameter, targets: KnownTargets) -> Note:
    if targets.target:
        return native(lun, f"--target {made.path} takes its place")
    if is_of_windows(made.path):
        return unsupported(lun, "it is a name of Windows; name a file or device of this system with --target, or with lun=")
    if not made.device and made.length is None:
        return unsupported(lun, f"there is no such file, and nothing says how long it is to be; write the SD's size, or {targets.remedy}")
    return native(lun, f"it is {'a device' if made.device else 'a file'}")


def _size_note(made: Storage, size: Parameter) -> Note:
    if made.found is not None and made.size is not None and made.found < made.size:
        return unsupported(size, f"{made.path} has {made.found} bytes, and Plimsoll does not extend it; the nearest thing is that size")
    if made.device:
        return native(size, "region_length, from the start of the device")
    return native(size, "region_length, and the size of the file if it does not exist yet")


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


def scratch_size(storages: Sequence[Storage]) -> Translated:
    """The job option that says how large the files are that do not exist yet."""
    made = {storage.path: storage for storage in storages if not storage.device and storage.found is None and storage.size is not None}
    sizes = {path: max(item.size or 0 for item in storages if item.path == path) for path in made}
    if not sizes:
        return Translated({})
    paths = {storage.path for storage in storages}
    why = ""
    if len(set(sizes.values())) > 1 or len(sizes) < len(paths):
        why = "files are made together only if all of the run's targets are files of one size that do not exist; make them beforehand"
    elif next(iter(sizes.values())) % 4096:
        why = "a file is made in whole pages; the nearest thing is a multiple of 4096"
    elif sum(sizes.values()) > SIZE_MAX:
        why = "files of more than 1 PiB together are not made; write a smaller size"
    if why:
        return Translated({}, tuple(unsupported(storage.sized or storage.lun, why) for storage in made.values()))
    return Translated({"size": sum(sizes.values())})
