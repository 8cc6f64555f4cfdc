"""Boots the live image and tries what docs/live-image.md promises: ``make test-image``.

Model: three disks, FS-1 with an ext4 whose journal waits to be replayed, EMPTY-1 with nothing, RAID-1 a member of a set; the last is the
third by name. The quick twelve profiles run on EMPTY-1 by themselves, from a stick under BIOS; the power is cut in the middle; the same stick
goes on, sends what it has to this machine by https, sftp, ftps and mail, and switches off. Then the medium boots as an optical disc under UEFI,
and its menu is driven by hand. Then a stick boots whose partition for results is full. At last two machines from two sticks, with nothing but a
cable between them, measure together as a rack. ``run-uefi`` is the first part under UEFI. With PLIMSOLL_IMAGE_PICTURES=FOLDER it keeps what the screen showed.
Every check is one line of ``ok``; the first that fails ends it with 1.

    .venv/bin/python tests/image/trial.py .cache/image/plimsoll.iso [run] [run-uefi] [menu] [full] [rack]
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "long")]

from superblocks import linux_raid  # noqa: E402

from image.booted import Booted, Cable, Medium, free_port  # noqa: E402
from plimsoll.store.parcel import digest_of  # noqa: E402
from support.ftp_server import PASSWORD  # noqa: E402
from support.inboxes import certificate, python_server, ssh_server  # noqa: E402

MIB = 1 << 20
PLIMSOLL = str(ROOT / ".venv" / "bin" / "plimsoll")
#: This machine's loopback, as qemu's network shows it to the guest.
GUESTS_HOST = "10.0.2.2"
TOKEN = "Zk3q9-a-token-nobody-may-see-7Hd2"
#: The quick suite writes an area of 1 GiB.
SIZES = {"FS-1": 64 * MIB, "EMPTY-1": 1200 * MIB, "RAID-1": 64 * MIB}
DATA_BYTES = 128 * MIB


class Failed(Exception):
    """A promise does not hold."""


def main(iso: str, *wanted: str) -> int:
    begun_s = time.monotonic()
    # Servers that become daemons leave the directory that they were started in.
    with tempfile.TemporaryDirectory(dir=Path(iso).resolve().parent, prefix="trial.") as folder:
        try:
            disks = _disks(Path(folder))
            if not wanted or "run" in wanted:
                _unattended(Path(iso), Path(folder), disks, uefi=False)
            if "run-uefi" in wanted:
                _unattended(Path(iso), Path(folder), disks, uefi=True)
            if not wanted or "menu" in wanted:
                _menu(Path(iso), disks)
            if not wanted or "full" in wanted:
                _full(Path(iso), Path(folder), disks)
            if not wanted or "rack" in wanted:
                _rack(Path(iso), Path(folder))
        except Failed as problem:
            print(f"FAILED: {problem}", flush=True)
            return 1
    print(f"all held, in {time.monotonic() - begun_s:.0f} s", flush=True)
    return 0


def _disks(folder: Path) -> dict[str, Path]:
    disks = {serial: folder / serial for serial in SIZES}
    for serial, path in disks.items():
        with path.open("wb") as file:
            file.truncate(SIZES[serial])
    _run("mke2fs", "-q", "-t", "ext4", "-L", "home", str(disks["FS-1"]))
    # A transaction that a mount would replay, also one that only reads.
    _run("debugfs", "-w", "-f", "-", str(disks["FS-1"]), typed="jo\njw -b 5000,5001 /dev/zero\njc\n")
    _check("needs_recovery" in _run("dumpe2fs", "-h", str(disks["FS-1"])), "the ext4 has a journal to replay")
    linux_raid("1.2")(str(disks["RAID-1"]), Random(7))
    return disks


def _stick(iso: Path, folder: Path, words: str, beside: dict[str, Path]) -> tuple[Path, int]:
    """What dd makes of the image, with the partition for results as docs/live-image.md makes it, and ``plimsoll.conf`` beside it."""
    stick = folder / "stick"
    shutil.copyfile(iso, stick)
    start = -(-stick.stat().st_size // MIB) * MIB
    with stick.open("r+b") as file:
        file.truncate(start + DATA_BYTES)
    _run("sfdisk", "--quiet", "--append", str(stick), typed=f"start={start // 512}, size={DATA_BYTES // 512}, type=83\n")
    _run("mke2fs", "-q", "-t", "ext4", "-L", "PLIMSOLL-DATA", "-E", f"offset={start}", str(stick), f"{DATA_BYTES // 1024}k")
    boot = json.loads(_run("sfdisk", "--json", str(stick)))["partitiontable"]["partitions"][1]["start"] * 512
    conf = folder / "plimsoll.conf"
    conf.write_text(words)
    for name, path in {"plimsoll.conf": conf, **beside}.items():
        _run("mcopy", "-i", f"{stick}@@{boot}", str(path), f"::/{name}")
    return stick, start


def _unattended(iso: Path, folder: Path, disks: dict[str, Path], *, uefi: bool) -> None:
    with contextlib.ExitStack() as servers:
        homes = _Homes(servers, folder)
        key = folder / "key"
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
        words = ["# rack 7", *(f"send = {url}" for url in homes.urls), f"fingerprint = {homes.fingerprint}", "label = rack 7, slot 3"]
        stick, start = _stick(iso, folder, "\n".join([*words, f"ssh_key = {key.with_suffix('.pub').read_text()}"]), homes.beside)
        others = {serial: _digest(disks[serial]) for serial in ("FS-1", "RAID-1")}
        _cut_and_resumed(Medium(stick, stick=True, uefi=uefi), disks, key)
        _check(others == {serial: _digest(disks[serial]) for serial in others}, "the other two disks are byte for byte as they were")
    _compared(stick, start, homes, folder)


class _Homes:
    """Servers of this machine that the guest reaches as 10.0.2.2, one for each way home."""

    def __init__(self, servers: contextlib.ExitStack, folder: Path) -> None:
        cert = certificate(folder / "tls", GUESTS_HOST)
        self.fingerprint = hashlib.sha256(ssl.PEM_cert_to_DER_cert(_certificate_in(cert))).hexdigest()
        self.https = folder / "https"
        ssh = servers.enter_context(ssh_server(folder / "ssh"))
        ftp = servers.enter_context(python_server("ftp_server", folder / "ftp", f"cert={cert}", scheme="ftps"))
        mail = servers.enter_context(python_server("mail_server", folder / "mail", f"cert={cert}", "login", scheme="smtp"))
        self.inboxes = [server.inbox for server in (ssh, ftp, mail)]
        inbox = f"/{ssh.inbox.resolve()}".replace(" ", "%20")
        self.urls = [
            f"https://{GUESTS_HOST}:{self._serve(servers, folder, cert)}/?token={TOKEN}",
            ssh.url(inbox).replace("127.0.0.1", GUESTS_HOST),
            ftp.url(user=f"lab:{PASSWORD}").replace("127.0.0.1", GUESTS_HOST),
            mail.url("lab@example.org", user=f"lab:{PASSWORD}").replace("127.0.0.1", GUESTS_HOST),
        ]
        known = folder / "known-hosts"
        known.write_text((ssh.home / "known_hosts").read_text().replace("127.0.0.1", GUESTS_HOST))
        authority = folder / "ca"
        authority.write_text(_certificate_in(cert))
        self.beside = {"identity": ssh.home / "key", "known-hosts": known, "ca": authority}

    def _serve(self, servers: contextlib.ExitStack, folder: Path, cert: Path) -> int:
        held = folder / "token"
        held.write_text(TOKEN)
        held.chmod(0o600)
        tls = ["--name", GUESTS_HOST, "--cert", str(cert), "--key", str(cert)]
        words = ["serve", "--receive", "--port", "0", *tls, "--token-file", str(held), "--out", str(self.https)]
        server = subprocess.Popen([PLIMSOLL, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        servers.callback(server.wait)
        servers.callback(server.terminate)
        assert server.stdout is not None
        line = server.stdout.readline()
        if f"{GUESTS_HOST}:" not in line:
            raise Failed(f"plimsoll serve: {line}{server.stdout.read()}")
        return int(line.split(f"{GUESTS_HOST}:")[1].split("/")[0])


def _certificate_in(path: Path) -> str:
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    text = path.read_text()
    return text[text.index(begin) : text.index(end) + len(end)] + "\n"


def _cut_and_resumed(stick: Medium, disks: dict[str, Path], key: Path) -> None:
    words = "plimsoll.suite=proliant-generations plimsoll.quick plimsoll.target=serial:EMPTY-1 plimsoll.destroy=EMPTY-1 plimsoll.poweroff"
    print(f"== a stick under {'UEFI' if stick.uefi else 'BIOS'}, by itself; the power is cut after five points", flush=True)
    with Booted(stick, disks) as machine:
        _words_at_boot_loader(machine, words)
        machine.wait_for("Doctor looks at this machine")
        machine.wait_for("stored as doctor/")
        machine.wait_for("[ 6/12]")
        machine.cut()
        _no_secret(machine)
    print("== the same stick again", flush=True)
    with Booted(stick, disks) as machine:
        _words_at_boot_loader(machine, words)
        machine.wait_for("[ 8/12]")
        _picture(machine, "run")
        _check(_ssh(machine, "-i", str(key), "-o", "IdentitiesOnly=yes").startswith("plimsoll "), "the key that was given lets in")
        _check(_ssh(machine, "-o", "PubkeyAuthentication=no") == "", "nothing else does")
        machine.wait_for("There is: ")
        machine.wait_for("complete, 12 of 12 points.")
        for scheme in ("https", "sftp", "ftps"):
            machine.wait_for(f": {scheme}://{GUESTS_HOST}:", f": {scheme}://lab@{GUESTS_HOST}:", f": {scheme}://root@{GUESTS_HOST}:")
        machine.wait_for("the mail server took it")
        machine.wait_for_end()
        _check("[ 2/12]" not in machine.transcript, "points that were measured before the cut were not measured again")
        _check("Not sent" not in machine.transcript, "the run was sent four ways")
        _check("Power down" in machine.transcript, "the machine switched itself off")
        _no_secret(machine)
        print(f"   {machine.seconds:6.0f} s  switched off", flush=True)


def _picture(machine: Booted, name: str) -> None:
    """What the screen shows now, for docs/live-image.md, in the directory that is named."""
    if folder := os.environ.get("PLIMSOLL_IMAGE_PICTURES"):
        machine.picture(Path(folder) / f"{name}.png")


def _no_secret(machine: Booted) -> None:
    _check(not [secret for secret in (TOKEN, PASSWORD) if secret in machine.transcript], "token and password are not on the serial line")


def _ssh(machine: Booted, *options: str) -> str:
    trust = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes"]
    words = ["ssh", *trust, *options, "-p", str(machine.ssh_port), "root@127.0.0.1", "plimsoll", "--version"]
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300).stdout


def _words_at_boot_loader(machine: Booted, words: str) -> None:
    machine.wait_for("automatically in")
    machine.type("c", end="")
    machine.wait_for("grub>")
    machine.type(f"plimsoll='{words}'")
    machine.wait_for("grub>")
    machine.type("\x1b", end="")
    machine.wait_for("measure this machine")
    machine.type("")


def _compared(stick: Path, start: int, homes: _Homes, folder: Path) -> None:
    """What came home is what is on the stick, and no secret is in either."""
    inside = _inside(stick, start, folder / "inside")
    stores = {"https": homes.https}
    for inbox, scheme in zip(homes.inboxes, ("sftp", "ftps", "smtp"), strict=True):
        stores[scheme] = folder / f"from-{scheme}"
        _run(PLIMSOLL, "receive", str(inbox), "--out", str(stores[scheme]))
    (kept,) = [path.parent for path in (inside / "results").glob("*/run.json")]
    for scheme, store in stores.items():
        (there,) = [path.parent for path in store.glob("*/run.json")]
        _check(
            there.name == kept.name and digest_of(str(there)) == digest_of(str(kept)),
            f"{scheme}: {there.name} came home as it is on the stick",
        )
    run = json.loads((kept / "run.json").read_text())
    _check((run["status"], run["label"]) == ("complete", "rack 7, slot 3"), "the run is complete, under the label of the file")
    _check(any((inside / "doctor").iterdir()), "doctor's findings are stored")
    conf = ("plimsoll.conf", *homes.beside)
    stored = [path for store in (inside, *stores.values()) for path in store.rglob("*") if path.is_file() and path.name not in conf]
    secrets = [secret.encode() for secret in (TOKEN, PASSWORD)]
    found = [path for path in stored if any(secret in path.read_bytes() for secret in secrets)]
    _check(not found, f"token and password are in none of {len(stored)} stored files")


def _menu(iso: Path, disks: dict[str, Path]) -> None:
    print("== an optical disc under UEFI, with the menu over the serial line", flush=True)
    before = {serial: _digest(path) for serial, path in disks.items()}
    with Booted(Medium(iso, stick=False, uefi=True), disks) as machine:
        machine.wait_for("Results are in memory")
        machine.wait_for("FS-1")
        machine.wait_for("ext4 'home'")
        machine.wait_for("EMPTY-1")
        machine.wait_for("RAID-1")
        machine.wait_for("linux_raid_member")
        machine.wait_for("> ")
        _check(_ssh(machine) == "", "nobody is let in without a key that was given")
        machine.type("s")
        machine.wait_for("# ")
        machine.type("grep -aq 'Type the number' /dev/vcs1 && echo screen-$((40 + 2))")
        machine.wait_for("screen-42")
        _picture(machine, "menu")
        machine.type("mdadm --assemble --run --readonly /dev/md0 /dev/vdc; plimsoll --version; nvme version; exit")
        machine.wait_for("nvme version")
        machine.wait_for("in use: part of md0")
        machine.wait_for("> ")
        machine.type("3")
        machine.wait_for("is in use: part of md0; it is not measured.")
        machine.wait_for("> ")
        machine.type("1")
        machine.wait_for("to go back: ")
        machine.type("2")
        machine.wait_for("type its serial number; nothing to go back: ")
        machine.type("EMPTY-1")
        machine.wait_for("! That is not its serial number.")
        machine.wait_for("Nothing was begun.")
        machine.wait_for("> ")
        machine.type("p")
        machine.wait_for("Type yes: ")
        machine.type("yes")
        machine.wait_for_end()
    _check(before == {serial: _digest(path) for serial, path in disks.items()}, "all three disks are byte for byte as they were")


def _full(iso: Path, folder: Path, disks: dict[str, Path]) -> None:
    print("== a stick under BIOS, by itself, whose partition for results is full", flush=True)
    before = {serial: _digest(path) for serial, path in disks.items()}
    (folder / "full").mkdir()
    words = ["suite = proliant-generations", "quick = yes", "target = serial:EMPTY-1", "destroy = EMPTY-1"]
    stick, start = _stick(iso, folder / "full", "\n".join(words), {})
    _filled(stick, start, folder / "full" / "kept")
    with Booted(Medium(stick, stick=True, uefi=False), disks) as machine:
        machine.wait_for("Doctor looks at this machine")
        machine.wait_for("warning: from here on nothing is kept in /plimsoll/logs/progress.log (no space left on device).")
        machine.wait_for("could not be kept (no space left on device).")
        machine.wait_for("; not stored.")
        machine.wait_for(
            "Less than 16 MiB is free where results are kept, which a run needs; delete runs that came home"
            " ('s' in the menu: /plimsoll/results), or make the partition larger."
        )
        machine.wait_for("Nothing was begun.")
        machine.wait_for("Ended with errors; see above.")
        machine.wait_for("Results are kept on the partition PLIMSOLL-DATA (")
        machine.wait_for("> ")
        _picture(machine, "full")
        machine.type("s")
        machine.wait_for("# ")
        machine.type("rm -r /plimsoll/results; exit")
        machine.wait_for(" MiB free).")
        machine.wait_for("> ")
        machine.type("p")
        machine.wait_for("Type yes: ")
        machine.type("yes")
        machine.wait_for_end()
        print(f"   {machine.seconds:6.0f} s  switched off", flush=True)
    _check(before == {serial: _digest(path) for serial, path in disks.items()}, "all three disks are byte for byte as they were")


def _filled(stick: Path, start: int, kept: Path) -> None:
    """Give the partition for results a run that leaves a block or two of it; root keeps no reserve there."""
    made = [
        "mke2fs",
        "-q",
        "-F",
        "-t",
        "ext4",
        "-m",
        "0",
        "-L",
        "PLIMSOLL-DATA",
        "-E",
        f"offset={start}",
        str(stick),
        f"{DATA_BYTES // 1024}k",
    ]
    (kept / "results" / "2026-11-21T03-44-10_old").mkdir(parents=True)
    large = kept / "results" / "2026-11-21T03-44-10_old" / "large"
    large.touch()
    _run(*made, "-d", str(kept))
    said = _run("debugfs", "-R", "stats -h", f"{stick}?offset={start}")
    size_bytes, free = (int(said.split(f"{name}:")[1].split()[0]) for name in ("Block size", "Free blocks"))
    large.write_bytes(b"\xff" * ((free - 2) * size_bytes))
    _run(*made, "-d", str(kept))


def _rack(iso: Path, folder: Path) -> None:
    print("== two sticks under BIOS, with a cable between them and no other network", flush=True)
    key = folder / "rack"
    _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
    words = [
        *("hosts = 10.9.0.11,10.9.0.12", "suite = four-corners", "quick = yes", "target = serial:RACK-1,RACK-2", "destroy = RACK-1,RACK-2"),
        *("label = rack 7", "send = file:/plimsoll/home", "poweroff = yes"),
    ]
    cable, sticks, disks = free_port(), {}, {}
    for number in (1, 2):
        (folder / f"stick-{number}").mkdir()
        sticks[number], start = _stick(iso, folder / f"stick-{number}", "\n".join(words), {"rack": key})
        disks[number] = {f"RACK-{number}": folder / f"RACK-{number}", f"LEFT-{number}": folder / f"LEFT-{number}"}
        for path in disks[number].values():
            with path.open("wb") as file:
                file.truncate(1200 * MIB)
    with contextlib.ExitStack() as both:
        machines = {}
        for number in (1, 2):
            medium = Medium(sticks[number], stick=True, uefi=False)
            machine = machines[number] = both.enter_context(Booted(medium, disks[number], Cable(cable, number)))
            _words_at_boot_loader(machine, f"plimsoll.ip=10.9.0.1{number}/24")
        machines[2].wait_for("10.9.0.11 commands; this machine waits for it.")
        machines[1].wait_for("10.9.0.12 is ready: ")
        machines[1].wait_for("10.9.0.12  ")
        _picture(machines[1], "rack")
        machines[1].wait_for("There is: ")
        machines[1].wait_for("complete, ")
        machines[2].wait_for("10.9.0.11 says that it is over.")
        for machine in machines.values():
            machine.wait_for_end()
            _check("Power down" in machine.transcript, "the machine switched itself off")
            _check("PRIVATE KEY" not in machine.transcript, "the rack's key is not on the serial line")
            print(f"   {machine.seconds:6.0f} s  switched off", flush=True)
    stores = {number: _inside(stick, start, folder / f"inside-{number}") for number, stick in sticks.items()}
    _rack_compared(stores)
    empty = all(not any(path.read_bytes()) for number in (1, 2) for serial, path in disks[number].items() if serial.startswith("LEFT"))
    _check(empty, "the disks that were not named hold what they held")


def _rack_compared(stores: dict[int, Path]) -> None:
    """The first has it all and its file of it; the second has its own part, figure by figure."""
    (led,) = (stores[1] / "results").glob("*/run.json")
    (part,) = (stores[2] / "results").glob("*/run.json")
    run = json.loads(led.read_text())
    _check((run["status"], run["label"]) == ("complete", "rack 7"), "the run of the rack is complete, under the label of the file")
    points = [json.loads(path.read_text()) for path in sorted(led.parent.glob("points/*/result.json"))]
    parts = [json.loads(path.read_text()) for path in sorted(part.parent.glob("points/*/result.json"))]
    _check(len(points) > 0 and len(points) == len(parts), f"both have {len(points)} points")
    for point, own in zip(points, parts, strict=True):
        hosts = {host["name"]: host for host in point["hosts"]}
        _check(list(hosts) == ["10.9.0.11", "10.9.0.12"], "both measured")
        _check(hosts["10.9.0.12"]["totals"] == own["totals"], "the second keeps what the result says of it")
        for operation, total in point["totals"].items():
            counts = [host["totals"][operation]["count"] for host in hosts.values()]
            _check(total["count"] == sum(counts) and min(counts) > 0, f"{operation}: {' + '.join(map(str, counts))} = {total['count']}")
    _check(len(list((stores[1] / "home").iterdir())) == 1, "the results came to the file on the first stick, once")
    kept = [path for store in stores.values() for path in store.rglob("*") if path.is_file() and path.name != "rack"]
    _check(not any(b"PRIVATE KEY" in path.read_bytes() for path in kept), f"the rack's key is in none of {len(kept)} stored files")


def _inside(stick: Path, start: int, inside: Path) -> Path:
    """What lies on the stick's partition for results."""
    data = inside.with_suffix(".data")
    with stick.open("rb") as source, data.open("wb") as file:
        source.seek(start)
        shutil.copyfileobj(source, file)
    # The machine unmounted it as it switched off; if not, its journal is replayed in the copy.
    subprocess.run(["e2fsck", "-fy", str(data)], check=False, capture_output=True)
    inside.mkdir()
    _run("debugfs", "-R", f"rdump / {inside}", str(data))
    return inside


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise Failed(what)
    print(f"ok {what}", flush=True)


def _run(*words: str, typed: str = "") -> str:
    done = subprocess.run(words, input=typed, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
