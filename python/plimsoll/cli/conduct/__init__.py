"""From what was asked to stored points: names become definitions, requests become jobs, results go back to their plan.

Model: `planning` and `pointing` decide what a point is, `targets` and `caching` make its target ready, `conducting` measures one point
after the other and stores each, `judging` and `outcome` say how it ended.
"""
