"""Encryption of each device by dm-crypt (LUKS 2).

Model: each device gets a header with a UUID that the plan chose and a random key, which is kept beside the journal, readable by its owner
alone, and removed with the layout: the data are those of a benchmark. Source: cryptsetup-luksFormat(8).
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.experiments.forms import words
from plimsoll.experiments.option import Option
from plimsoll.layouts.kinds.kind import BUSY_S, Host, Kind, Laid, Options, unlike, wiped
from plimsoll.layouts.step import Await, Command, Facts, Named, Step, Volume

_SIGNATURES = frozenset({"LUKS"})
_CIPHERS = {"aes-xts-plain64": "AES, the usual choice", "xchacha20,aes-adiantum-plain64": "for processors without AES"}

OPTIONS = (
    Option("cipher", words(_CIPHERS), "The cipher.", "aes-xts-plain64", default="aes-xts-plain64"),
    Option(
        "sector",
        words({"512": "as disks have it", "4096": "fewer turns of the cipher"}),
        "Bytes that are encrypted at once.",
        "4096",
        default="512",
    ),
)


def _lay(options: Options, volumes: Sequence[Volume], named: Named) -> Laid:
    steps, made = [], []
    for number, volume in enumerate(volumes):
        name, uuid = f"{named.ours}-{number}", named.uuid(f"encrypted {volume.path}")
        form: tuple[str, ...] = (
            "cryptsetup",
            "luksFormat",
            "--type",
            "luks2",
            "--batch-mode",
            "--uuid",
            uuid,
            "--cipher",
            str(options["cipher"]),
        )
        form += ("--sector-size", str(options["sector"]), "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "--key-file", KEY_FILE)
        opened = ("cryptsetup", "open", "--type", "luks2", "--key-file", KEY_FILE, volume.path, name)
        commands = (Command((*form, volume.path)), Command(opened), Await(f"/dev/mapper/{name}"))
        why = "What lies above it is encrypted with a key that is thrown away with the layout."
        steps.append(Step("encryption", f"encrypt {volume.path}", why, commands, {"device": volume.path, "uuid": uuid, "name": name}))
        # The data begin 16 MiB behind the header, so stripes stay aligned; the size is the host's to say.
        made.append(Volume(f"/dev/mapper/{name}", volume.name, None, volume.stripe))
    return Laid(tuple(steps), tuple(made))


#: Stands for the file with the key in commands of a plan; whoever carries them out puts its path in.
KEY_FILE = "{key file}"


def _unmake(host: Host, facts: Facts) -> None:
    device, name, uuid = str(facts["device"]), str(facts["name"]), str(facts["uuid"])
    if host.exists(f"/dev/mapper/{name}"):
        mapped = (host.ask("dmsetup", "info", "--columns", "--noheadings", "--options", "uuid", name) or "").strip()
        if uuid.replace("-", "") not in mapped:
            raise unlike(f"/dev/mapper/{name}", "another device", "encrypted device")
        host.act(Command(("cryptsetup", "close", name), patience_s=BUSY_S))
    seen = host.probe(device)
    if seen.get("UUID") == uuid:
        host.act(Command(("cryptsetup", "erase", "--batch-mode", device)))
        wiped(host, device, _SIGNATURES)
    elif seen.get("TYPE"):
        raise unlike(device, seen["TYPE"], "encrypted device")


KIND = Kind("encryption", "Each device encrypted by dm-crypt (LUKS 2).", OPTIONS, _lay, {"encryption": _unmake})
