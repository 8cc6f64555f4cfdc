"""From what was asked for to stored points: words become experiments, requests become points, results go back to their plan.

Model: everything that measures is an `undertaking`: experiments with a name. `short_document` (the verbs), `suites` (files, suites),
`foreign` (other tools' files) and `replay` (traces) make one. `execution` carries it out the same way whatever made it: `resolution` finds
its workloads and targets, `experiment_points` makes points of requests, `readiness` refuses what cannot be (with `preconditions`,
`permission`, `ineffective_options`), `resumption` finds the run to go on with, `targets` and `cache_state` make targets ready, `loop`
measures one point after the other and stores each, `verdicts` and `outcome` say how it ended. Who listens hears of it (`listener`); nothing
here prints.

    run = carry_out(short_undertaking("single", options), options, Listener())
"""
