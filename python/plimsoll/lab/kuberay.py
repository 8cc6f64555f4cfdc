"""A Ray cluster for KubeRay, as a text: a head from which the command runs, a node for each host, and what keeps everybody else out.

Model: token and authority are made for this text alone and stand in its secrets. Certificates name the address of a pod, which nobody knows
before the pod is there: each pod makes its own before Ray starts, with openssl, which Ray's image has. Only that step sees the authority's
key; who may read the namespace's secrets could as well read the token. Ray's pages listen on loopback alone. The name of the cluster is
that of KubeRay's service, NAME-head-svc.
Limits: written after KubeRay's reference (v1.6), and never applied to a cluster; tests run the step that makes certificates, and join what
it makes them for.

    print(raycluster_of(read_lab("lab.toml")))
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, version

from plimsoll.errors import InputError
from plimsoll.gang.credentials import Credentials, check_installed
from plimsoll.gang.lineup import Lineup

_SERVICE = "-head-svc"
_HIDDEN = """apiVersion: v1
kind: Secret
metadata: {{name: {name}}}
stringData:
{files}"""
_CERTIFY = """set -eu
umask 077
cd /etc/plimsoll/own
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem
openssl req -new -key key.pem -subj "/CN=$POD_IP" -out request
printf 'basicConstraints=critical,CA:FALSE\\nextendedKeyUsage=serverAuth,clientAuth\\nsubjectAltName=%s\\n' \\
  "IP:$POD_IP,IP:127.0.0.1,DNS:localhost,DNS:{service},DNS:{service}.$POD_NAMESPACE,DNS:{service}.$POD_NAMESPACE.svc,\\
DNS:{service}.$POD_NAMESPACE.svc.cluster.local" > names
openssl x509 -req -in request -CA /etc/plimsoll/authority/ca.pem -CAkey /etc/plimsoll/authority/ca-key.pem \\
  -CAserial serial -CAcreateserial -days 366 -sha256 -extfile names -out cert.pem
cp /etc/plimsoll/authority/ca.pem ca.pem
rm request names serial
"""
#: Of the spec of a pod, as a template.
APART = """  automountServiceAccountToken: false
  # One on each machine: two on one would load it twice.
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - topologyKey: kubernetes.io/hostname
          labelSelector: {{matchLabels: {{app: plimsoll}}}}
"""
_POD = (
    """metadata:
  labels: {{app: plimsoll}}
spec:
"""
    + APART
    + """  initContainers:
    - name: certify
      image: {image}
      command: ["sh", "-c"]
      args:
        - |
{certify}
      env:
        - {{name: POD_IP, valueFrom: {{fieldRef: {{fieldPath: status.podIP}}}}}}
        - {{name: POD_NAMESPACE, valueFrom: {{fieldRef: {{fieldPath: metadata.namespace}}}}}}
      volumeMounts:
        - {{name: authority, mountPath: /etc/plimsoll/authority, readOnly: true}}
        - {{name: own, mountPath: /etc/plimsoll/own}}
  containers:
    - name: ray-{role}
      image: {image}
      env:
        - {{name: RAY_AUTH_MODE, value: token}}
        - {{name: RAY_AUTH_TOKEN_PATH, value: /etc/plimsoll/token/token}}
        - {{name: RAY_USE_TLS, value: "1"}}
        - {{name: RAY_TLS_CA_CERT, value: /etc/plimsoll/own/ca.pem}}
        - {{name: RAY_TLS_SERVER_CERT, value: /etc/plimsoll/own/cert.pem}}
        - {{name: RAY_TLS_SERVER_KEY, value: /etc/plimsoll/own/key.pem}}
        - {{name: RAY_USAGE_STATS_ENABLED, value: "0"}}
      volumeMounts:
        - {{name: token, mountPath: /etc/plimsoll/token, readOnly: true}}
        - {{name: own, mountPath: /etc/plimsoll/own}}{hint}
  volumes:
    - {{name: token, secret: {{secretName: {name}-token}}}}
    - {{name: authority, secret: {{secretName: {name}-authority}}}}
    - {{name: own, emptyDir: {{medium: Memory}}}}
"""
)
_HINT = "\n        # What is to be measured: mount its volume here."
_CLUSTER = """apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: {name}}}
spec:
  rayVersion: "{ray}"
  headGroupSpec:
    rayStartParams: {{num-cpus: "0", dashboard-host: "127.0.0.1", node-name: {name}-head}}
    template:
{head}
  workerGroupSpecs:
{workers}"""
_WORKER = """    - groupName: "{group}"
      replicas: 1
      minReplicas: 1
      maxReplicas: 1
      rayStartParams: {{num-cpus: "0", node-name: "{node}"}}
      template:
{pod}"""
_HEADER = """# Token and authority of this cluster follow, made anew whenever it is printed: hand it to kubectl once, and show it to nobody.
# When the pods run, measure from the head, which needs Plimsoll and the lab's file; the others get theirs from there:
#   kubectl exec -it {pod} -- bash
"""


def raycluster_of(lineup: Lineup) -> str:
    """The text. Raises `InputError` for a lab that does not say what it needs."""
    assert lineup.cluster is not None
    place, _, port = lineup.cluster.address.rpartition(":")
    service = place.partition(".")[0]
    name = service.removesuffix(_SERVICE)
    if not service.endswith(_SERVICE) or not name or port != "6379":
        raise InputError(
            f"--hosts {lineup.text}: KubeRay reaches the head of a cluster as NAME-head-svc:6379; write for example "
            'cluster = "plimsoll-head-svc:6379" for a manifest.'
        )
    if not lineup.seats:
        raise InputError(f"--hosts {lineup.text}: a manifest makes a node for each host; name them with [[host]].")
    check_installed()
    credentials = Credentials()
    image = lineup.image or f"rayproject/ray:{_ray()}-py{sys.version_info[0]}{sys.version_info[1]}"
    said = {"name": name, "image": json.dumps(image), "certify": _indented(_CERTIFY.format(service=service), 10)}
    workers = [
        _WORKER.format(
            group=_group(seat.name),
            node=seat.address or seat.name,
            pod=_indented(_POD.format(**said, role="worker", hint=_HINT), 8),
        )
        for seat in lineup.seats
    ]
    cluster = _CLUSTER.format(
        name=name, ray=_ray(), head=_indented(_POD.format(**said, role="head", hint=""), 6), workers="\n".join(workers)
    )
    secrets = [
        _HIDDEN.format(name=f"{name}-token", files=f"  token: {credentials.token}\n"),
        _HIDDEN.format(
            name=f"{name}-authority", files=_block("ca.pem", credentials.authority) + _block("ca-key.pem", credentials.authority_key)
        ),
    ]
    head = f"$(kubectl get pod -o name -l ray.io/cluster={name},ray.io/node-type=head)"
    return _HEADER.format(pod=head) + "---\n".join([*secrets, cluster + "\n"])


def _ray() -> str:
    """Ray's version here, which the cluster has to have."""
    try:
        return version("ray")
    except PackageNotFoundError:
        raise InputError("the manifest names the version of Ray, which is not installed; pip install 'plimsoll[cluster]'.") from None


def _group(name: str) -> str:
    """A name as Kubernetes has them."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower()).strip("-")


def _block(name: str, text: str) -> str:
    return f"  {name}: |\n{_indented(text, 4)}\n"


def _indented(text: str, by: int) -> str:
    return "\n".join(f"{' ' * by}{line}" if line else line for line in text.rstrip("\n").splitlines())
