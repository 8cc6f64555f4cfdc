"""What holds for all tests: drawing examples takes as long as it takes, since nothing is learnt from the speed of the machine.

Model: on a machine that says that it is CI Hypothesis has such a profile of its own, whose other choices (no seed of the day) are kept.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
