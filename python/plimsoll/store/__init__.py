"""Results on disk: one directory per run, plain files that stay readable whatever happens to the process.

    results/2026-11-21T03-36-29_proliant/
        run.json                      what was asked, on which host, how it ended      plimsoll.run/1
        uncertainty.json              draws of a modelled run, made after it             plimsoll.uncertainty/1
        points/0001-oltp-db/
            job.json                  the point before it ran                          plimsoll.result/1, status incomplete
            intervals.jsonl           one line per interval, appended as they come
            monitor.jsonl             one line per interval of host counters
            result.json               the point, measured                              plimsoll.result/1
        superseded/0002-oltp-db/      a point that was cut short and measured anew when the run was resumed

Model: directories and final files appear under their names complete or not at all (written beside, then renamed), lines are appended
by one write each; so a process killed at any instant leaves whole files and at most one torn last line, which the reader leaves out.
`store.writer` knows nothing of reading, so that a run need not know it before it has ended.

    run = RunWriter.create("results", info)
    point = run.begin_point(skeleton)
    point.interval(interval); point.finish(result); run.finish("complete")
    open_run("results/2026-11-21T03-36-29_proliant").points[0].result.totals
"""
