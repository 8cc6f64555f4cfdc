"""The claims of published reports, tested on modelled arrays: runs become readings, readings become verdicts.

Model: `selection` says which claims, `chain` which runs they need and which of these go through one array one after the other, `runs`
carries out one chain as an experiment like any other, `bench` several side by side, and `verdicts` compares what was read with what was
published.
"""
