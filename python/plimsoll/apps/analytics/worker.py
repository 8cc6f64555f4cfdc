"""The process of one workflow: loads the engine and lives in it (`crates/analytics/src/teller.rs`). A script; imports nothing of ours.

Model: the extension module is loaded by its path, without the package around it, so that the process has little besides its steps: what it
takes of memory counts against the workflow's cap.

    python3 -I -S worker.py /…/plimsoll/_core.abi3.so '{"rows": 1000, …}' /mnt/array/work/1 [/mnt/array/input/1.rows]
"""

import sys
from _imp import create_dynamic, exec_dynamic
from importlib.machinery import ExtensionFileLoader, ModuleSpec


def main(extension: str, spec: str, folder: str, source: str | None = None) -> int:
    """Live; 0 when the workflow came to its end."""
    core = create_dynamic(ModuleSpec("_core", ExtensionFileLoader("_core", extension), origin=extension))
    exec_dynamic(core)
    return 0 if core.run_workflow(spec, folder, source) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
