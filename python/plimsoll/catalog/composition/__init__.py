"""How the document of an array comes about: variants chosen, parts put in, links drawn, copies made.

Model: each step takes a dictionary and returns one; the last one is what `crates/array` reads, and nothing that a step added for
its own use is left in it. `plimsoll.catalog.arrays` strings them together:

    merging     one document on top of another: overlays of variants, `like`, values beside a part
    shape       whether what somebody wrote can be composed
    variants    one file, many arrays: which names a family has and which overlays belong to each
    parts       drives, controllers, links, enclosures, hosts by name
    wiring      the links that parts bring with them, and which devices hang on them
    copies      several equal arrays behind one host
    setting     what is typed after the ``?`` of a target
"""
