"""The Rust engine as Python sees it: one module for the verbs of each kind of load.

Model: `protocol` is what every driver of block I/O offers, `block` is the one of this installation; `files`, `mail`, `mailstore` and `rows`
are the verbs of other loads. ``_core`` speaks JSON text, which `exchange` makes and reads. `claims`, `shares` and `paths` concern no load.

    engine = block.native()
    workload = engine.check_workload(document, "mine.toml")
"""
