"""Inverse sensitivity on a grid: one quantile, ties included.

Law        P[cell] proportional to exp(-t max(p n - le, lt - p n)), lt and le the records below and up to the cell
Guarantee  epsilon-DP with t = epsilon / 2 under substitution, epsilon / (2 max(p, 1 - p)) under add/remove, and epsilon
           under both for p = 0 and p = 1; all tight
Why        the score is, up to the fraction of a rank, how many records must change until the quantile lies in the cell,
           or, below 0, until it no longer does; both terms move as QExp's does
Error      as QExp between records; a cell that holds the quantile scores below 0, the deeper in the middle of its
           records the quantile lies. No cell is likelier than with scores cut off at 0, except that with the quantile
Numerics   exact integers; see ``levels.py``
Limits     one quantile
Source     Asi and Duchi (2020), with scores that go below 0; documents 001 (4) and 003
Proof      docs/explanation/proofs/quantiles.md
"""

from __future__ import annotations

import numpy as np

from flou.arrays import Ints
from flou.mechanisms.quantiles.single import SingleQuantile
from flou.mechanisms.quantiles.targets import Target

__all__ = ["GridInverseSensitivity", "signed_distance"]


class GridInverseSensitivity(SingleQuantile):
    """One quantile; a cell scores by how many ranks the quantile lies outside of it, or inside."""

    def score(self, target: Target, lt: Ints, le: Ints) -> Ints:
        return signed_distance(target, lt, le)


def signed_distance(target: Target, lt: Ints, le: Ints) -> Ints:
    """From the target to the ranks lt to le, in its units: below 0 between them."""
    scores: Ints = np.maximum(target.beyond(le), -target.beyond(lt))
    return scores
