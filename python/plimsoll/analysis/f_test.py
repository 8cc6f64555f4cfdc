"""How often chance alone makes one variance this many times another: Fisher's F.

Model: P(F >= f) = I(n/(n + m f); n/2, m/2) of m and n degrees of freedom (Abramowitz and Stegun, Handbook of Mathematical Functions,
26.6.2).

    upper_p(4.0, 2, 10)      # 0.0529…
"""

from __future__ import annotations

from plimsoll.analysis.beta import incomplete_beta


def upper_p(ratio: float, above: float, below: float) -> float:
    """The probability of a ratio of variances at least as large; ``above`` and ``below`` are the degrees of freedom of the two."""
    if not (above > 0 and below > 0):
        raise ValueError(f"degrees of freedom are above 0, not {above} and {below}")
    share = below / (below + above * max(ratio, 0.0))
    return incomplete_beta(share, 1.0 - share, below / 2, above / 2)
