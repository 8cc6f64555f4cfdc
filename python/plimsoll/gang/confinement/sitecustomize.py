"""Keeps Ray's processes to what a gang has a use for: two have stand-ins, and packages that only jobs need are read late.

Model: Python imports this before anything else where the gang puts this directory into its path. On every host Ray's node starts a process
that serves the dashboard, and one that serves HTTP without TLS to who sets up environments of jobs; each costs half a second of a CPU,
and listens. The node waits for files that name their ports, and ends when one of them does. What they become here writes these files,
with -1 for a port that is not in use, as Ray's own minimal agent does, and waits for the end of the node.
Limits: Ray 2.60 (`ray/dashboard/agent.py`, `ray/_private/runtime_env/agent/main.py`); where a later Ray calls them otherwise, they run.
"""

import sys
from types import ModuleType

#: What each of them serves, by the end of its file's name.
_PORTS = {
    "ray/dashboard/agent.py": ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port"),
    "ray/_private/runtime_env/agent/main.py": ("runtime_env_agent_port",),
}
_UNUSED = "-1"
_LOOK_S = 1.0
#: What `import ray` reads for environments of jobs and for accelerators in clouds: a third of its time.
_LATER = ("requests", "jsonschema")


def _stand_in(ports: tuple[str, ...], words: list[str]) -> None:
    """Name no port, and stay for as long as who started this."""
    import os
    import time

    told = dict(word.partition("=")[::2] for word in words)
    node = os.getppid()
    for name in ports:
        path = os.path.join(told["--session-dir"], f"{name}_{told['--node-id']}")
        # Whole at once: who waits for it reads it as soon as it is there.
        with open(f"{path}.part", "w", encoding="ascii") as file:
            file.write(_UNUSED)
        os.rename(f"{path}.part", path)
    while os.getppid() == node:
        time.sleep(_LOOK_S)
    os._exit(0)


class _Later(ModuleType):
    """A module that is read when something of it is used first; `import` alone uses nothing, which it does with those of `importlib`."""

    def __getattr__(self, wanted: str) -> object:
        from importlib import import_module

        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        found: object = getattr(import_module(self.__name__), wanted)
        return found


for _file, _ports in _PORTS.items():
    if any(_word.endswith(_file) for _word in sys.orig_argv):
        _stand_in(_ports, sys.orig_argv)
for _name in _LATER:
    sys.modules.setdefault(_name, _Later(_name))
