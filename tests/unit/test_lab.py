"""The file of a lab: what it says becomes a line-up, and what is wrong is said with its line. Schema and page follow from the declarations.

Renew both with ``PLIMSOLL_RENEW=1 pytest tests/unit/test_lab.py`` and look at the difference.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

from plimsoll.errors import InputError
from plimsoll.gang.lineup import HOSTS_MAX, lineup_of
from plimsoll.gang.ssh import COMMANDS, Seat
from plimsoll.lab.document import FILE_OPTIONS, HOST_OPTIONS, read_lab
from plimsoll.lab.manifest import manifest_of
from plimsoll.lab.reference import EXAMPLE, lab_page, lab_schema

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"


@pytest.mark.parametrize(
    ("name", "text"), [("labs.md", lab_page()), ("lab.schema.json", json.dumps(lab_schema(), indent=2, ensure_ascii=False) + "\n")]
)
def test_the_generated_documents_are_up_to_date(name: str, text: str) -> None:
    path = REFERENCE / name
    if os.environ.get("PLIMSOLL_RENEW"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_the_page_names_every_key() -> None:
    assert all(f"\n| `{option.name}` |" in lab_page() for option in (*FILE_OPTIONS, *HOST_OPTIONS))
    assert "None" not in lab_page()


def written(folder: Path, text: str) -> str:
    path = folder / "lab.toml"
    path.write_text(text)
    return str(path)


def test_the_example_is_a_lab(tmp_path: Path) -> None:
    jsonschema.validate(tomllib.loads(EXAMPLE), lab_schema())
    lineup = read_lab(written(tmp_path, EXAMPLE))
    assert lineup.names == ("db1", "db2", "db3")
    assert lineup.target_of("{target}/{host}.dat", "db2") == "/dev/mapper/lun1/db2.dat"
    assert lineup.seats[2].python == "/opt/python/bin/python3.11"
    assert {seat.user for seat in lineup.seats} == {"bench"}, "keys of the file hold for every host"


def test_what_a_host_says_wins_over_the_file_and_paths_begin_at_the_file(tmp_path: Path) -> None:
    text = 'user = "a"\nkey = "keys/lab"\nport = 22\n[[host]]\nname = "x"\nuser = "b"\n[[host]]\nname = "y"\nport = 2222\n'
    first, second = read_lab(written(tmp_path, text)).seats
    assert (first.user, first.port, second.user, second.port) == ("b", 22, "a", 2222)
    assert first.key == str(tmp_path / "keys" / "lab")


def test_another_text_is_another_line_up(tmp_path: Path) -> None:
    first = read_lab(written(tmp_path, '[[host]]\nname = "x"\n')).identity
    assert read_lab(written(tmp_path, '[[host]]\nname = "x"\ntarget = "/mnt"\n')).identity != first


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there are no hosts; write [[host]]"),
        ('[[host]]\nname = "x"\n\n[[host]]\ntarget = "/mnt"\n', "line 4: the key 'name' is missing; write for example name = \"db1\""),
        ('[[host]]\nname = "x"\n[[host]]\nname = "y"\nadress = "z"\n', "line 5: there is no key 'adress'; did you mean 'address'?"),
        ('usr = "x"\n[[host]]\nname = "x"\n', "line 1: there is no key 'usr'"),
        ('[[host]]\nname = "x"\nport = 70000\n', "line 3: port: "),
        ('launcher = "rsh"\n[[host]]\nname = "x"\n', "line 1: launcher: "),
        ('launcher = "slurm"\ncarrier = "ray"\n[[host]]\nname = "x"\n', 'line 2: carrier = "ray" needs ssh'),
        ('launcher = "ray"\n[[host]]\nname = "x"\n', 'line 1: launcher = "ray" needs the address of the cluster that runs; write for'),
        ('launcher = "ray"\ncluster = "10.0.0.1"\n', "line 2: cluster: '10.0.0.1' is not the address of a cluster; write HOST:PORT"),
        ('launcher = "ray"\ncluster = "c:70000"\n', "line 2: cluster: 'c:70000' is not the address of a cluster"),
        ('launcher = "ray"\ncluster = "c:1"\ncarrier = "ray"\n', 'line 3: with launcher = "ray" the cluster carries the calls'),
        ('token = "t"\n[[host]]\nname = "x"\n', 'line 1: token is for launcher = "ray"; leave it out'),
        ('[[host]]\nname = "-oProxyCommand=x"\n', "line 2: name: '-oProxyCommand=x' is not a name for a host"),
        ('[[host]]\nname = "x"\naddress = "-oProxyCommand=x"\n', "line 3: address: '-oProxyCommand=x' is not an address"),
        ('[[host]]\nname = "x"\n[[host]]\nname = "x"\n', "x is named twice"),
        ("[[host\n", "it is not TOML: "),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_lab(written(tmp_path, text))
    assert said in str(caught.value)
    assert str(tmp_path / "lab.toml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_pods_are_one_for_each_host_and_hold_nothing_but_python(tmp_path: Path) -> None:
    lineup = read_lab(written(tmp_path, 'launcher = "kubernetes"\n[[host]]\nname = "a"\n[[host]]\nname = "b"\naddress = "pod-b"\n'))
    pods = manifest_of(lineup).split("---\n")
    assert [re.findall(r"^  name: (.*)$", pod, re.MULTILINE) for pod in pods] == [["a"], ["pod-b"]]
    assert all(f'image: "python:{sys.version_info[0]}.{sys.version_info[1]}-slim"' in pod for pod in pods)
    assert all("podAntiAffinity" in pod and "automountServiceAccountToken: false" in pod for pod in pods)


def test_an_allocation_names_every_node(tmp_path: Path) -> None:
    path = written(tmp_path, 'launcher = "slurm"\n[[host]]\nname = "n1"\n[[host]]\nname = "n2"\n')
    said = manifest_of(read_lab(path))
    assert said == f"salloc --nodes=2 --nodelist=n1,n2 --exclusive plimsoll run WORKLOAD --hosts {path}\n"


def test_hosts_over_ssh_need_no_manifest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="need no manifest"):
        manifest_of(read_lab(written(tmp_path, EXAMPLE)))


def test_nodes_of_slurm_and_pods_are_asked_over_their_own_connection(tmp_path: Path) -> None:
    for launcher, first in (("slurm", "srun"), ("kubernetes", "kubectl")):
        lineup = read_lab(written(tmp_path, f'launcher = "{launcher}"\n[[host]]\nname = "n1"\n'))
        assert lineup.carrier == "ssh", "neither token nor key goes over a connection that may be read"
        words = COMMANDS[launcher](lineup.seats[0], 10)
        assert words[0] == first
        assert any("n1" in word for word in words)


def test_hosts_are_named_in_words_too() -> None:
    lineup = lineup_of("db1,bench@db2,db3:2222")
    assert lineup.seats == (Seat("db1"), Seat("db2", user="bench"), Seat("db3", port=2222))
    assert not lineup.same_machine


@pytest.mark.parametrize("text", ["", "db1,", "-oProxyCommand=x", "a b", "local", "db1:x", ",".join(f"h{n}" for n in range(HOSTS_MAX + 1))])
def test_words_that_name_no_hosts_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        lineup_of(text)


def test_a_cluster_is_named_with_its_files_and_without_hosts_all_its_nodes_are_meant(tmp_path: Path) -> None:
    text = 'launcher = "ray"\ncluster = "db-head:6379"\ntoken = "t"\nauthority = "/ca.pem"\ndirectory = "/mnt"\ntarget = "/dev/sdb"\n'
    lineup = read_lab(written(tmp_path, text))
    assert lineup.cluster is not None and lineup.usual is not None
    assert (lineup.cluster.address, lineup.cluster.papers.token, lineup.cluster.papers.authority) == (
        "db-head:6379",
        f"{tmp_path}/t",
        "/ca.pem",
    )
    assert (lineup.seats, lineup.carrier, lineup.usual.directory, lineup.usual_target) == ((), "cluster", "/mnt", "/dev/sdb")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'cluster = "10.0.0.1:6379"\n[[host]]\nname = "x"\n',
            "KubeRay reaches the head of a cluster as NAME-head-svc:6379; write for example",
        ),
        ('cluster = "a-head-svc:6379"\n', "a manifest makes a node for each host; name them with [[host]]."),
    ],
)
def test_what_a_cluster_for_kuberay_lacks_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        manifest_of(read_lab(written(tmp_path, f'launcher = "ray"\n{text}')))
    assert said in str(caught.value)
