"""Pure planners: from the results so far they name the next point, or stop with a conclusion. No clock, no files, no measuring.

Model: a plan is a generator (`plan.Plan`). It yields an `Ask`, receives the `Result`, and returns a `Conclusion`; so a planner reads like
the procedure it carries out, several can be interleaved by turns, and one that is fed stored results arrives where it stood before.

    plan = KINDS_BY_NAME[experiment.kind].build(experiment, subject)
    ask = next(plan)                 # the first point
    ask = plan.send(result)          # the next one, or StopIteration with the conclusion
"""
