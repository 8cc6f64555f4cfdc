"""Validity flags: every doubt about a result's numbers, with the numbers that raised it and what to do.

Model: a rule is a pure function from the evidence to flags. `RULES` is the whole list; to add a rule, write the function in the file of its
subject and name it here.
Limits: a rule whose evidence is missing (no monitor, no calibration) stays silent; silence is not proof.

    flags_of(Evidence(result, observation))      # [Flag("few_samples", "doubt", "…", "…")]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plimsoll.analysis.validity import (
    analytics,
    course,
    databases,
    generator,
    harness,
    hosts,
    others,
    samples,
    target,
    transactions,
    workflows,
)
from plimsoll.analysis.validity.evidence import Evidence
from plimsoll.analysis.validity.severity import rank
from plimsoll.result import Flag

__all__ = ["RULES", "Evidence", "flags_of"]

RULES: tuple[Callable[[Evidence], Iterator[Flag]], ...] = (
    course.incomplete,
    hosts.host_missing,
    course.interrupted,
    course.nothing_measured,
    course.precision_not_reached,
    course.amount_not_reached,
    course.io_errors,
    course.failure_not_reached,
    course.verification,
    databases.wrong_answer,
    databases.procedure_cut,
    databases.data_in_memory,
    harness.harness_share,
    databases.part_of_procedure,
    workflows.workflow_failed,
    workflows.wrong_rows,
    workflows.over_memory,
    workflows.rows_in_memory,
    workflows.watching_share,
    analytics.files_shrunk,
    transactions.inconsistent,
    course.cache_filling,
    course.virtual_time,
    samples.littles_law,
    samples.bandwidth_identity,
    target.no_answer,
    target.page_cache_suspected,
    target.sparse_target,
    target.memory_backed,
    target.fits_cache,
    target.compressible_target,
    target.requests_changed,
    others.other_load,
    hosts.start_apart,
    hosts.clocks_unknown,
    hosts.clock_moved,
    hosts.hosts_unequal,
    hosts.host_doubts,
    course.operations_skipped,
    course.ran_out,
    generator.generator_bound,
    transactions.small_tables,
    transactions.crowded_warehouses,
    transactions.tables_in_memory,
    transactions.conflicts,
    transactions.grown_tables,
    generator.rate_not_achieved,
    generator.generator_lag,
    generator.clock_source,
    generator.uring_fallback,
    generator.uring_handoff,
    generator.changed_over,
    generator.replay_late,
    generator.replay_cut,
    generator.replay_changed,
    generator.report_incomplete,
    samples.not_steady,
    samples.warmup_too_short,
    samples.unanswered,
    samples.drain_slower,
    samples.short_run,
    samples.few_samples,
)


def flags_of(evidence: Evidence) -> list[Flag]:
    """Every flag that the evidence raises, the gravest first."""
    flags = [flag for rule in RULES for flag in rule(evidence)]
    return sorted(flags, key=lambda flag: rank(flag.severity))
