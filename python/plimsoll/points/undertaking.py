"""What is to be carried out: experiments with a name.

suite = read_experiments(document, TYPED, targets=["/dev/sdb"])
Undertaking(suite, "steps-oltp-db")
"""

from __future__ import annotations

from dataclasses import field

from plimsoll.experiments.experiment import Suite
from plimsoll.records import dataclass
from plimsoll.stored import Suite as Origin
from plimsoll.target import Composer


@dataclass(frozen=True)
class Undertaking:
    """Experiments to carry out; ``name`` is that of the run's directory, workload files are looked for in ``folder``.

    ``origin`` is what run.json says of the suite or file. Without one the experiment was typed, and messages speak of options.
    """

    suite: Suite
    name: str
    folder: str = ""
    origin: Origin | None = None
    #: The settings that were typed, of a shipped suite; None where all settings are the user's.
    typed_settings: frozenset[str] | None = None
    #: Makes the targets of all experiments, and has made those that were looked at before.
    composer: Composer = field(default_factory=Composer)
