"""Storage laid out by Plimsoll: partitions, RAID, volumes, encryption, file systems; made, remembered, and taken away again.

Model: a file says what shall be made (`document`); with the members it becomes a plan, a list of steps with their commands (`plan`), and
nothing is touched for that. `making` carries the steps out and notes each in a journal before it begins (`journal`); `removing` goes back
through the journal and takes away what carries the identity that the plan gave it, and nothing else. `kinds` has a file for each kind of
layer.

    plan = planned(read_layout(document, "lvm-xfs.toml"), members, Named("lvm-xfs", "0b52…"))
    for step in plan.steps:
        print(step.what, step.commands)
"""
