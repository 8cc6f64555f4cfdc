"""Traces: what their requests are like, the workload that is like them, and how alike the two are.

profile = profiled(requests); fit = fitted(profile); rows = matched(profile, profiled(drawn(fit, profile.count)))
"""
