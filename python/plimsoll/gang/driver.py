"""A gang as an engine: whoever plans, prepares and measures holds one of these in place of this host's own, and need not know.

Model: what is only about words (what a workload or an option means) is asked of this host's engine. What is about storage is asked of every
host: targets are looked at, judged, prepared and measured there, by the rules and with the permission that are applied there. A run is one
run on each host; its intervals come together here, exactly, as if one engine had made them.
Points of modelled targets are whole points of one host each (`plimsoll.points.host_hands`), and what is asked of such a target this host's
engine answers.
A server that all hosts are clients of is this host's matter: it is prepared, watched and checked here (`plimsoll.gang.shared_server`).
Limits: `REFUSED` are drivers whose load cannot come from several hosts.

    engine = GangEngine(native(), gang, driver_of, session)
    engine.driver_of(workload).run_job(job, on_event, control)
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from plimsoll.analysis.point.definition import overwrites
from plimsoll.engine.protocol import Control, Engine, OnEvent, OnProgress, Permission
from plimsoll.engine.protocol import Job as Order
from plimsoll.errors import InputError
from plimsoll.gang.course import Course, Part
from plimsoll.gang.gang import Gang
from plimsoll.gang.lineup import TARGET
from plimsoll.gang.share import Rank, share_of
from plimsoll.gang.shared_server import has_shared_server, shared_server
from plimsoll.gang.shared_target import Sharing, check_sharable, groups_of, refusal_unshared
from plimsoll.gang.traces import Carried
from plimsoll.host.machine import versions
from plimsoll.host.target import target_paths
from plimsoll.stored import Cache, Definition, EngineOutcome, Inspection, Json, Options
from plimsoll.target import Target

if TYPE_CHECKING:
    from plimsoll.gang.lineup import Lineup

#: Drivers whose load cannot come from several hosts: why, and what does.
REFUSED = {
    "database-durability": "the test kills one server and looks at what it kept, which one host does alone; order-entry loads a server from"
    " several hosts",
    "filecopy": "a copy goes from one place to another through one host; the driver files copies on each host for itself (copy = …)",
}
#: The option that says how many hosts take part: a level like any other.
_COUNT = "hosts"
#: Kinds of target that no host has.
_MODELS = ("array", "queue")


@dataclass(frozen=True)
class Session:
    """What holds for every point: what the run is called, what may be written to, and whether scratch files stay."""

    command: list[str]
    permission: Permission | None
    keep: bool


class GangEngine:
    """See the module. The gang is brought up when something is first asked of a host."""

    def __init__(self, engine: Engine, gang: Gang, lineup: Lineup, driver_of: Callable[[Mapping[str, object], Engine], Engine]) -> None:
        self.hosts = gang.hosts
        self.lineup = lineup
        self.session: Session | None = None
        #: Who measures points of models on the hosts (`plimsoll.points.ahead.Hands`).
        self.hands: Callable[[int], Any] | None = None
        self._engine = engine
        self._gang = gang
        #: What measures points of models here: the engine of this host.
        self.models = engine
        self._driver_of = driver_of
        self._launched = False
        self._opened = False
        #: Targets and paths that this host has prepared for all.
        self.prepared_here: set[str] = set()
        #: What each host says of itself.
        self.introduced: dict[str, Json] = {}
        #: Traces that hosts elsewhere have got.
        self._carried: Carried | None = None
        #: Which hosts share what, by target.
        self._sharings: dict[Target, list[Sharing]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def driver_of(self, workload: Mapping[str, object]) -> Engine:
        """The driver that carries a workload out on every host."""
        why = REFUSED.get(str(workload.get("driver")))
        if why is not None:
            raise InputError(f"--hosts: {workload['driver']} measures on one host, since {why}. Leave --hosts out.")
        driver: Any = GangDriver(self, self._driver_of(workload, self._engine), workload)
        return cast("Engine", driver)

    def inspect_target(self, target: Target) -> Inspection:
        """What a block target is, on all hosts."""
        return self.driver_of({}).inspect_target(target)

    def gang(self) -> Gang:
        """The gang, brought up. Raises `InputError` for hosts whose Plimsoll is another."""
        if not self._launched:
            self._launched = True
            self.introduced = self._gang.launch()
            _check_versions(self.introduced)
        return self._gang

    def opened(self) -> Gang:
        """The gang, with a run of its own begun on every host."""
        gang = self.gang()
        if not self._opened:
            session = self.session or Session([], None, keep=False)
            allowed = _sent(session.permission)
            request = {"ask": "open", "name": "host", "command": session.command, "permission": allowed, "keep": session.keep}
            gang.ask(dict.fromkeys(self.hosts, request))
            self._opened = True
        return gang

    def at(self, host: str, workload: Definition) -> Definition:
        """A workload as ``host`` can carry it out: what it reads of this machine's disks lies there."""
        if self.lineup.same_machine:
            return workload
        self._carried = self._carried or Carried(self.gang().ask, self.hosts)
        return self._carried.at(host, workload)

    def keep(self, target: Target, sharings: list[Sharing]) -> list[Sharing]:
        """Remember which hosts share a target, as it was found; those that share it alone are left out."""
        self._sharings[target] = [sharing for sharing in sharings if len(sharing.group) > 1]
        return self._sharings[target]

    def sharings_of(self, target: Target) -> list[Sharing]:
        """Which hosts share a target."""
        return self._sharings.get(target, [])

    def groups_of(self, target: Target) -> list[list[str]]:
        """All hosts, those together that share a target."""
        shared = [list(sharing.group) for sharing in self.sharings_of(target)]
        return shared + [[host] for host in self.hosts if not any(host in group for group in shared)]

    def serve(self, run: str) -> Json:
        """Note the run that is measured; what run.json says of the hosts."""
        return self.gang().serve(run)

    def close(self) -> None:
        """Let all hosts go. What could not be collected stays with them."""
        if self._launched:
            self._gang.close(keep=bool(self._gang.lost))


class GangDriver:
    """A driver on every host of a gang."""

    def __init__(self, engine: GangEngine, inner: Engine, workload: Mapping[str, object]) -> None:
        self._engine = engine
        self._inner = inner
        self._workload = cast("Definition", workload)
        self._announced: tuple[Any, str, str] | None = None
        if hasattr(inner, "serves"):
            cast("Any", inner).hosts = len(engine.hosts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def default_target(self) -> str:
        """What is measured when no target is named: what the lab's file names for each; of workers on one machine each has its own."""
        if len(self._engine.lineup.targets) == len(self._engine.hosts):
            return TARGET
        usual = str(getattr(self._inner, "default_target", "./plimsoll-scratch.dat"))
        if self._engine.lineup.share is not None or not self._engine.lineup.same_machine:
            return usual
        stem, dot, ending = usual.rpartition(".")
        return f"{stem}-{{host}}{dot}{ending}" if dot and os.sep not in ending else f"{usual}-{{host}}"

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed; ``hosts`` is how many of them take part, the first ones, all where nobody says it."""
        count = options.get(_COUNT)
        bare = cast("Options", {name: option for name, option in options.items() if name != _COUNT})
        if key == _COUNT:
            return workload, cast("Options", {**bare, _COUNT: self._counted(value)})
        workload, changed = self._inner.set_option(workload, bare, key, value)
        return workload, changed if count is None else cast("Options", {**changed, _COUNT: count})

    def _counted(self, value: Any) -> int:
        most = len(self._engine.hosts)
        text = str(value)
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise InputError(f"hosts={text}: {self._engine.lineup.text} are {most} hosts; write 1 to {most}.")
        return int(text)

    def hosts_of(self, options: Options) -> tuple[str, ...]:
        """The hosts that take part in a point with these options."""
        count = options.get(_COUNT)
        return self._engine.hosts if count is None else self._engine.hosts[: int(str(count))]

    def control(self) -> Control:
        return GangControl(self._inner.control())

    def _is_here(self, target: Target) -> bool:
        """Whether this host looks after a target: a model, which is on no host, or a server that hosts are clients of."""
        if is_model(target):
            return True
        if "{host}" in target.text or TARGET in target.text or not has_shared_server(self._inner, target):
            return False
        lineup = self._engine.lineup
        if lineup.share is not None:
            raise InputError(f"--share {lineup.share}: {target.text} is one server, and all hosts are its clients; leave --share out.")
        if not lineup.same_machine and "://" not in target.text:
            raise InputError(
                f"--target {target.text}: a private server listens at a socket of this machine, which {lineup.text} do not reach; name a"
                " server of yours by its URL, or give each host its own with {host}."
            )
        return True

    def inspect_target(self, target: Target) -> Inspection:
        if self._is_here(target):
            return self._inner.inspect_target(target)
        self._check_target(target)
        found = self._ask("inspect", target)
        sharings = self._shared(target, found)
        for sharing in sharings:
            sharing.check(self._workload)
        return self._together(target, found, sharings)

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        if self._is_here(target):
            return self._inner.write_refusal(target, permission)
        refusals = self._ask("refusal", target, permission=_sent(permission))
        return next((f"{host}: {refusal}" for host, refusal in refusals.items() if refusal is not None), None)

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Permission | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        if self._is_here(target):
            self._engine.prepared_here |= {target.text, *target_paths(self._inner.inspect_target(target))}
            return self._inner.prepare_target(target, size_bytes, permission, on_progress, getattr(control, "here", control))
        self._engine.opened()
        done: dict[str, tuple[int, int]] = {}

        def hear(host: str, event: Json) -> None:
            if event["say"] == "preparing":
                done[host] = (event["done"], event["total"])
                on_progress(sum(one[0] for one in done.values()), sum(one[1] for one in done.values()))

        options = {} if size_bytes is None else {"size": size_bytes}
        groups = self._engine.groups_of(target)
        # What hosts share, one of them makes, and the others use.
        first, others = {group[0] for group in groups}, {host for group in groups for host in group[1:]}
        found = self._ask("prepare", target, hear, lambda: control.stopped, hosts=first, options=options)
        found |= self._ask("join", target, hosts=others, options=options)
        sharings = self._sharings(target, groups, found)
        for sharing in sharings:
            sharing.check(self._workload)
        return self._together(target, found, sharings)

    def remove_target(self, target: Target) -> list[str]:
        """Each host removes what it made; this one a server's."""
        return self._inner.remove_target(target) if self._is_path_here(target) else []

    def release_target(self, target: Target) -> None:
        """Each host notes that for itself."""
        if self._is_path_here(target):
            self._inner.release_target(target)

    def _is_path_here(self, target: Target) -> bool:
        """Whether a path, or an address, is of a target that this host has prepared."""
        return target.text in self._engine.prepared_here

    def cold_refusal(self, target: Target) -> str | None:
        """Why a point cannot begin with empty caches there."""
        if not is_model(target) and self._is_here(target):
            return f"{target.text}: a server that several hosts ask is not started anew for each point; leave out --cache."
        refusal = getattr(self._inner, "cold_refusal", None)
        return None if refusal is None else refusal(target)

    def cache_of(self, workload: Definition, target: Target) -> Cache:
        """Each host's own point says what its caches held; those of a server are the server's."""
        if self._is_path_here(target):
            own = getattr(self._inner, "cache_of", None)
            left: Cache = {"state": "as found", "how": "The server that all hosts ask kept its caches as they were."}
            return left if own is None else own(workload, target)
        asked = getattr(self._announced[0], "cache", None) if self._announced else None
        return {"state": asked or "as found", "how": "on each host for itself"}

    def announce(self, point: Any, point_id: str, run: str) -> None:
        """The point that is about to be measured, and where it is stored."""
        self._announced = (point, point_id, run)

    def run_job(self, job: Order, on_event: OnEvent, control: Control) -> EngineOutcome:
        hosts, target = self.hosts_of(job["job"]), job["target"]
        gang = self._engine.opened()
        if not self._is_here(target):
            parts = self._parts(job, hosts)
            # What a lost host has claimed nobody can lend; that it is lost, the course says.
            for sharing in self._engine.sharings_of(target) if not gang.lost else ():
                self._lend(gang, sharing, target, hosts)
            return Course(gang, parts, on_event, control).run()
        bare = cast("Options", {name: option for name, option in job["job"].items() if name != _COUNT})
        shares = self._parts(job, hosts)
        with shared_server(self._inner, {**job, "job": bare}, on_event, control, len(hosts)) as server:
            gang.ask(dict.fromkeys(hosts, server.joining(self._workload)))
            parts = {
                host: replace(part, request={**part.request, **server.words(number)}) for number, (host, part) in enumerate(shares.items())
            }
            course = Course(gang, parts, server.heard(on_event), control)
            outcome = course.run()
            server.end()
            server.gather(course.whole, gang.fetch)
            return server.told(outcome, course.engines)

    def _parts(self, job: Order, hosts: tuple[str, ...]) -> dict[str, Part]:
        """What each host is handed."""
        point, point_id, run = self._announced or (None, "0001-point", "")
        target = job["target"]
        sharings = {host: sharing for sharing in self._engine.sharings_of(target) for host in sharing.group}
        bare = cast("Options", {name: option for name, option in job["job"].items() if name != _COUNT})
        parts: dict[str, Part] = {}
        for number, host in enumerate(hosts):
            workload, options = share_of(job["workload"], bare, Rank(number, len(hosts)))
            request = {
                "ask": "point",
                "options": options,
                "target": self._engine.lineup.target_of(target.text, host),
                "point": point_id,
                "repeat": getattr(point, "repeat", 1),
                "place": getattr(point, "place", {}),
                "cache": getattr(point, "cache", None),
            }
            if host in sharings:
                workload, request["touches"] = sharings[host].part_of(workload, host, hosts)
            parts[host] = Part({**request, "workload": self._engine.at(host, workload)}, os.path.join(run, "hosts", host) if run else "")
        return parts

    def _lend(self, gang: Gang, sharing: Sharing, target: Target, hosts: tuple[str, ...]) -> None:
        """One host of each circle that can hand open files around claims a shared target, and the others there use its claim.

        Who made it claims first: alone, and then for all circles.
        """
        known = self._engine.introduced
        circles: dict[str, list[str]] = {}
        for host in sharing.group:
            if host in hosts:
                circles.setdefault(known[host]["reach"], []).append(host)
        writes, leader = overwrites(self._workload), next(iter(circles.values()), [""])[0]
        if writes:
            # Beside readers elsewhere nobody can claim it, not even the first of its own run.
            self._ask("forgo", target, hosts=[host for circle in [*circles.values()][1:] for host in circle])
        for number, (lender, *others) in enumerate(circles.values()):
            leads = "leads_here" if known[lender]["machine"] == known[leader]["machine"] else "leads"
            companions = [known[host]["process"] for host in (lender, *others)]
            request = {
                "ask": "lend",
                "workload": self._engine.at(lender, self._workload),
                "target": self._engine.lineup.target_of(target.text, lender),
                "companions": companions,
                "elsewhere": "nobody" if len(circles) == 1 else "follows" if number == 0 else leads,
                "writes": writes,
                "count": len(others),
            }
            answer = gang.ask({lender: request})
            gang.ask({host: {"ask": "borrow", "from": answer[lender], "companions": companions} for host in others})

    def _ask(
        self,
        verb: str,
        target: Target,
        hear: Any = lambda _host, _event: None,
        stopped: Callable[[], bool] = bool,
        *,
        hosts: Collection[str] | None = None,
        **words: Any,
    ) -> dict[str, Any]:
        asked = self._engine.hosts if hosts is None else [host for host in self._engine.hosts if host in hosts]
        requests = {
            host: {
                "ask": verb,
                "workload": self._engine.at(host, self._workload),
                "target": self._engine.lineup.target_of(target.text, host),
                **words,
            }
            for host in asked
        }
        return self._engine.gang().ask(requests, hear, stopped)

    def _check_target(self, target: Target) -> None:
        for host in self._engine.hosts:
            if TARGET in target.text and host not in self._engine.lineup.targets:
                raise InputError(f"--target {target.text}: {host} has no 'target' in {self._engine.lineup.text}; name one for every host.")
        if target.layout:
            raise InputError(f"--target {target.text}: a layout comes and goes on one host; leave --hosts out.")
        lineup = self._engine.lineup
        alike = lineup.same_machine and len(lineup.names) > 1 and "{host}" not in target.text and target.kind != "null"
        if alike and lineup.share is None:
            raise refusal_unshared(target.text, lineup.text, lineup.names, self._workload.get("driver"))

    def _shared(self, target: Target, found: Mapping[str, Json]) -> list[Sharing]:
        """How hosts share what several of them reach. Raises `InputError` where nobody has said it."""
        lineup, hosts = self._engine.lineup, self._engine.hosts
        targets = {host: lineup.target_of(target.text, host) for host in hosts}
        storages = {host: found[host].get("storage") or [] for host in hosts}
        groups = groups_of(hosts, targets, storages, declared=lineup.share is not None)
        if lineup.share is not None:
            kind = str(found[hosts[0]].get("kind"))
            check_sharable(lineup.share, target.text, kind, self._workload.get("driver"), groups)
        elif shared := next((group for group in groups if len(group) > 1), None):
            raise refusal_unshared(target.text, lineup.text, shared, self._workload.get("driver"))
        return self._sharings(target, groups, found)

    def _sharings(self, target: Target, groups: list[list[str]], found: Mapping[str, Json]) -> list[Sharing]:
        how = self._engine.lineup.share or ""
        return self._engine.keep(target, [Sharing(how, tuple(group), cast("Inspection", found[group[0]])) for group in groups])

    def _together(self, target: Target, found: Mapping[str, Json], sharings: Sequence[Sharing]) -> Inspection:
        """What is the same for all, the sum of what adds up, and what each said; what hosts share counts once."""
        inspections = list(found.values())
        counted = [one for host, one in found.items() if all(host not in sharing.group[1:] for sharing in sharings)]
        together: Any = {
            "kind": inspections[0].get("kind"),
            "spec": target.text,
            "exists": all(one.get("exists") for one in inspections),
            "modelled": False,
            "size_bytes": sum(int(one.get("size_bytes") or 0) for one in counted),
            "logical_block_bytes": max(int(one.get("logical_block_bytes") or 0) for one in inspections),
            "hosts": {host: found[host] for host in self._engine.hosts if host in found},
        }
        return cast("Inspection", together)


def is_model(target: Target) -> bool:
    """Whether a target lives in virtual time: no host is loaded by it, so points go to hosts one by one."""
    return target.document is not None or target.kind in _MODELS


class GangControl:
    """The brake of a gang; the course of the job looks at it. ``here`` is that of what this host does for all."""

    def __init__(self, here: Control) -> None:
        self.here = here
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()
        self.here.stop()

    def abort(self) -> None:
        self._stopped.set()
        self.here.abort()

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()


def _sent(permission: Permission | None) -> Json | None:
    return None if permission is None else permission.to_json()


def _check_versions(introduced: Mapping[str, Json]) -> None:
    ours = versions()
    for host, said in introduced.items():
        for name in ("plimsoll", "python"):
            theirs = (said.get("versions") or {}).get(name)
            if _minor(name, theirs) != _minor(name, ours.get(name)):
                raise InputError(f"{host}: {name} {theirs} is there and {ours.get(name)} here; figures of two versions are not added up.")


def _minor(name: str, version: Any) -> str:
    """What has to be the same: of Python the first two numbers, since everything that measures is carried."""
    return ".".join(str(version).split(".")[:2]) if name == "python" else str(version)
