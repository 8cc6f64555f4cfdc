"""The file of a lab: TOML becomes a line-up, or one sentence says what is wrong in which line.

Model: keys of the file hold for all hosts, those of a ``[[host]]`` for it alone. Every key is declared here, with the form that reads it.

    lineup = read_lab("lab.toml")
    lineup.names                          # ("db1", "db2", "db3")
    lineup.targets["db1"]                 # "/dev/mapper/lun0"
"""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.displayed import displayed, quoted
from plimsoll.errors import InputError
from plimsoll.experiments import forms
from plimsoll.experiments.forms import Form, whole, words
from plimsoll.experiments.option import Option, meanings
from plimsoll.gang.cluster import Cluster, Papers
from plimsoll.gang.lineup import NAME, Carrier, Lineup, check_names
from plimsoll.gang.ssh import Seat
from plimsoll.near import meant
from plimsoll.stored import Json

LAUNCHERS = {
    "ssh": "hosts are reached by ssh, and everything is brought up and taken down there.",
    "local": "the hosts are workers on this machine, a trial of the file.",
    "slurm": "hosts are nodes of the allocation in which the command runs, and `srun` takes the place of ssh.",
    "kubernetes": "hosts are pods, and `kubectl exec` takes the place of ssh; `plimsoll hosts manifest` prints pods to be made.",
    "ray": "hosts are nodes of the Ray cluster that `cluster` names, which runs already and is left as it is; without any `[[host]]` "
    "all its nodes that are alive. `plimsoll hosts manifest` prints such a cluster for KubeRay.",
}
CARRIERS = {
    "ray": "Ray core carries calls; hosts and this machine reach each other on any port, with token and certificate.",
    "ssh": "calls go over the connections that brought hosts up; nothing listens, and no other port has to be open.",
}


def _name(value: Any) -> str:
    if isinstance(value, str) and NAME.match(value):
        return value
    raise InputError(f"{quoted(value)} is not a name for a host; write up to 63 letters, digits, '-', '_' and '.', for example 'db1'.")


def _cluster(value: Any) -> str:
    found = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9_.-]*|\[[A-Fa-f0-9:.]+\]):(\d{1,5})", value) if isinstance(value, str) else None
    if found and 1 <= int(found.group(2)) <= _PORT_MAX:
        return str(value)
    raise InputError(f"{quoted(value)} is not the address of a cluster; write HOST:PORT of its head, for example '10.0.0.1:6379'.")


def _address(value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9:][A-Za-z0-9_.:%-]*", value):
        return value
    raise InputError(f"{quoted(value)} is not an address; write for example '10.0.0.11' or 'db1.example.org'.")


_HOST_NAME = Form(
    "name", "up to 63 letters, digits, `-`, `_` and `.`.", _name, {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$"}
)
_ADDRESS = Form("address", "a name or an address.", _address, {"type": "string"})
_CLUSTER = Form("HOST:PORT", "the address and port of the cluster's head.", _cluster, {"type": "string"})
_PORT_MAX = 65535
_USUAL = "what ssh's configuration says"

#: Of each host; those of the file are what hosts have that say nothing else.
SEAT_OPTIONS = (
    Option("user", forms.LABEL, "Who is let in there.", "bench", absent=_USUAL),
    Option("port", whole(1, 65535), "Where its sshd listens.", 2222, absent=_USUAL),
    Option("key", forms.LABEL, "The file of the private key.", "~/.ssh/lab", absent="the agent's keys, and ssh's usual ones"),
    Option("known_hosts", forms.LABEL, "The file of hosts' keys; a host that is not in it is refused.", "lab_hosts", absent="ssh's own"),
    Option(
        "python",
        forms.LABEL,
        "Its Python, of the same minor version as here.",
        "/opt/python/bin/python3.11",
        absent="`python3.N` as here, then `python3`",
    ),
    Option("directory", forms.LABEL, "Where relative paths of its targets begin.", "/mnt/array", default="~"),
    Option("target", forms.LABEL, "What it loads where the target is `{target}`.", "/dev/mapper/lun0", absent="none is known"),
)
HOST_OPTIONS = (
    Option("name", _HOST_NAME, "What it is called in results.", "db1", required=True),
    Option(
        "address",
        _ADDRESS,
        "Where ssh finds it; of a node of a Ray cluster its address, the name of its host or of the node, or its id.",
        "10.0.0.11",
        absent="its name",
    ),
    *SEAT_OPTIONS,
)
#: What is said of a Ray cluster that runs already; files, but for the first.
CLUSTER_OPTIONS = (
    Option("cluster", _CLUSTER, 'The Ray cluster of `launcher = "ray"`.', "10.0.0.1:6379", absent="there is none"),
    Option("token", forms.LABEL, "The file of the cluster's token.", "~/.ray/auth_token", absent="what Ray's own environment names"),
    Option("authority", forms.LABEL, "The file of the authority of the cluster's certificates.", "ca.pem", absent="RAY_TLS_CA_CERT"),
    Option("certificate", forms.LABEL, "The file of this machine's certificate.", "cert.pem", absent="RAY_TLS_SERVER_CERT"),
    Option("certificate_key", forms.LABEL, "The file of its key.", "key.pem", absent="RAY_TLS_SERVER_KEY"),
)
FILE_OPTIONS = (
    Option("title", forms.TEXT, "One line for people.", "Three hosts at the array", default=""),
    Option("launcher", words(LAUNCHERS), f"What brings hosts up. {meanings(LAUNCHERS)}", "ssh", default="ssh"),
    Option("carrier", words(CARRIERS), f"What carries calls between hosts. {meanings(CARRIERS)}", "ray", default="ray"),
    Option(
        "share", forms.LABEL, "How hosts share a target that several reach, as `--share` says it.", "slices", absent="as `--share` says"
    ),
    Option(
        "image",
        forms.LABEL,
        "The image of the pods that `plimsoll hosts manifest` makes.",
        "registry.example.org/ray:2.60.0-py311",
        absent="`python:3.N-slim` as here, and Ray's own of the same version with launcher `ray`",
    ),
    Option("head", _ADDRESS, "The address of this machine that all hosts reach.", "10.0.0.1", absent="as hosts see the connection of ssh"),
    *CLUSTER_OPTIONS,
    *SEAT_OPTIONS,
)


def read_lab(path: str, share: str | None = None) -> Lineup:
    """``share`` is what was typed beside it and weighs more than the file. Raises `InputError` with file, line and what would be right."""
    try:
        with open(path, "rb") as file:
            text = file.read().decode()
        document = tomllib.loads(text)
    except OSError as problem:
        raise InputError(f"--hosts {displayed(path)}: {(problem.strerror or str(problem)).lower()}; give the file of a lab.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise InputError(f"--hosts {displayed(path)}: it is not TOML: {displayed(str(problem))}.") from None
    return _Reader(displayed(path), text, os.path.dirname(os.path.abspath(path))).lineup(document, share)


class _Reader:
    """One file: ``place`` is its name, ``folder`` where its relative paths begin."""

    def __init__(self, place: str, text: str, folder: str) -> None:
        self._place = place
        self._lines = text.splitlines()
        self._folder = folder
        self._digest = hashlib.sha256(text.encode()).hexdigest()[:16]

    def lineup(self, document: Json, share: str | None) -> Lineup:
        facts = self._values(FILE_OPTIONS, {key: value for key, value in document.items() if key != "host"}, 0)
        tables = document.get("host", [])
        cluster = self._cluster(facts, document)
        if not isinstance(tables, list) or not (tables or cluster) or not all(isinstance(table, dict) for table in tables):
            raise InputError(f'{self._place}: there are no hosts; write [[host]] and name = "db1" below it, for each.')
        hosts = [self._values(HOST_OPTIONS, table, number) for number, table in enumerate(tables, 1)]
        for option in SEAT_OPTIONS:
            for table, host in zip(tables, hosts, strict=True):
                if option.name not in table:
                    host[option.name] = facts[option.name]
        names = tuple(str(host["name"]) for host in hosts)
        check_names(names, self._place)
        return Lineup(
            text=self._place,
            names=names,
            same_machine=facts["launcher"] == "local",
            seats=tuple(map(self._seat, hosts)),
            launcher=facts["launcher"],
            carrier=self._carrier(facts, document),
            targets={str(host["name"]): str(host["target"]) for host in hosts if host["target"]},
            head=facts["head"],
            identity=self._digest,
            share=share or facts["share"],
            cluster=cluster,
            usual=self._seat({"name": "", "address": None, **facts}),
            usual_target=facts["target"],
            image=facts["image"],
        )

    def _cluster(self, facts: Mapping[str, Any], document: Json) -> Cluster | None:
        """The cluster of a lab whose hosts are nodes of one; what only that has is nobody else's."""
        if facts["launcher"] != "ray":
            for option in CLUSTER_OPTIONS:
                if option.name in document:
                    raise InputError(
                        f'{self._at(option.name, 0)}: {option.name} is for launcher = "ray"; leave it out, or name that launcher.'
                    )
            return None
        if facts["cluster"] is None:
            raise InputError(
                f'{self._at("launcher", 0)}: launcher = "ray" needs the address of the cluster that runs; write for example '
                'cluster = "10.0.0.1:6379".'
            )
        named = {name: facts[name] and self._path(facts[name]) for name in ("token", "authority", "certificate")}
        return Cluster(facts["cluster"], Papers(**named, key=facts["certificate_key"] and self._path(facts["certificate_key"])))

    def _carrier(self, facts: Mapping[str, Any], document: Json) -> Carrier:
        """Only ssh keeps to itself what is carried: a token and keys go over nothing else."""
        launcher = facts["launcher"]
        if launcher == "ray":
            if "carrier" in document:
                raise InputError(f'{self._at("carrier", 0)}: with launcher = "ray" the cluster carries the calls; leave carrier out.')
            return "cluster"
        if launcher not in ("slurm", "kubernetes"):
            return "ssh" if facts["carrier"] == "ssh" else "ray"
        if document.get("carrier") == "ray":
            raise InputError(
                f'{self._at("carrier", 0)}: carrier = "ray" needs ssh, which keeps its token and keys secret on their way; leave it out.'
            )
        return "ssh"

    def _seat(self, host: Mapping[str, Any]) -> Seat:
        named = {key: host[key] for key in ("name", "address", "user", "port", "python", "directory")}
        return Seat(
            **named, key=host["key"] and self._path(host["key"]), known_hosts=host["known_hosts"] and self._path(host["known_hosts"])
        )

    def _path(self, text: str) -> str:
        return os.path.join(self._folder, os.path.expanduser(text))

    def _values(self, options: Iterable[Option], table: Mapping[str, Any], number: int) -> Json:
        declared = {option.name: option for option in options}
        for key in table:
            if key not in declared:
                raise InputError(f"{self._at(key, number)}: there is no key {quoted(key)}; {meant(key, declared)}")
        return {name: self._value(option, table, number) for name, option in declared.items()}

    def _value(self, option: Option, table: Mapping[str, Any], number: int) -> Any:
        if option.name not in table:
            if option.required:
                example = forms.as_toml(option.example)
                raise InputError(
                    f"{self._at(None, number)}: the key {quoted(option.name)} is missing; write for example {option.name} = {example}."
                )
            return option.default
        try:
            return option.form.read(table[option.name])
        except InputError as problem:
            raise InputError(f"{self._at(option.name, number)}: {option.name}: {problem}") from None

    def _at(self, key: str | None, number: int) -> str:
        """File and line of a key, of the file itself (0) or of its Nth host; of the host's heading without one."""
        table, line = 0, 1
        for count, text in enumerate(self._lines, 1):
            if re.match(r"\s*\[\[\s*host\s*\]\]", text):
                table += 1
                if table == number:
                    line = count
            elif (key is not None and table == number and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*(=|\.)", text)) or (
                key is not None and re.match(rf"\s*\[+\s*{re.escape(key)}\s*\]+", text)
            ):
                return f"{self._place}: line {count}"
        return f"{self._place}: line {line}"
