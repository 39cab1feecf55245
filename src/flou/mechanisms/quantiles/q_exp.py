"""QExp: one quantile by the exponential mechanism, with the distance in ranks as the loss.

Law        P[cell] proportional to exp(-t |le - p n|), le the number of records up to the cell
Guarantee  epsilon-DP with t = epsilon / 2 under substitution, epsilon / (2 max(p, 1 - p)) under add/remove, and epsilon
           under both for p = 0 and p = 1; all tight
Why        one record moves le - p n by at most 1, and only one way (substitution); by 1 - p on the cells from it on and
           by -p before it (add/remove); so its distance from 0 moves by as much, either way
Error      ranks off by about 1/t, and by (log cells + log 1/beta) / t at most, except with probability beta
Numerics   exact integers; see ``levels.py``
Limits     a cell that holds many records scores badly: use inverse sensitivity for data with ties
Source     Smith (2011); documents 000 (4.1, exponent corrected) and 001
Proof      docs/explanation/proofs/quantiles.md
"""

from __future__ import annotations

import numpy as np

from flou.arrays import Ints
from flou.mechanisms.quantiles.single import SingleQuantile
from flou.mechanisms.quantiles.targets import Target

__all__ = ["QExp"]


class QExp(SingleQuantile):
    """One quantile; cells score by how far their rank is from the target."""

    def score(self, target: Target, lt: Ints, le: Ints) -> Ints:
        del lt
        return np.abs(target.beyond(le))
