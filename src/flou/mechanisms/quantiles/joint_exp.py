"""JointExp: several quantiles at once by one exponential mechanism.

Law        P[answers] proportional to exp(-t sum_j |i_j - i_(j-1) - n_j|) on all tuples of cells, which are then sorted;
           i_j is the number of records up to answer j, n_j = (p_j - p_(j-1)) n, with p_0 = i_0 = 0, p_(m+1) = 1 and
           i_(m+1) = n
Guarantee  epsilon-DP with t = epsilon / 4 under substitution and epsilon / (2 (1 - g) + 2 (1 - h)) under add/remove, g
           the smallest gap p_j - p_(j-1) and h the smallest that is not 0; epsilon / 2 for p = 0 or p = 1 alone; tight
Why        substitution moves two numbers of records between answers by 1. One record more in a gap of width w moves
           its number by 1 - w against the target and the others by 1 - w together; for w = 0 scores only grow
Error      P[some rank is v or more off its target] <= R exp(-t (2 v - s)), R the number of all tuples over that of
           tuples with a score (the sum above) of at most s, for any s
Numerics   exact: tables propose, an exact coin keeps; see ``joint_path.py``
Limits     about m (log n) / t ranks around each target are looked at; a cell that holds many records scores badly
           (dither, see ``dithered_joint_exp.py``); running time depends on the data
Source     Gillenwater, Joseph and Kulesza (2021)
Proof      docs/explanation/proofs/joint_quantiles.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

from flou.arrays import Ints
from flou.bits import Bits
from flou.mechanisms.quantiles.answer_law import MOST_OUTCOMES, AnswerLaw, too_many_outcomes
from flou.mechanisms.quantiles.joint_path import draw_jointly
from flou.mechanisms.quantiles.joint_windows import Gaps
from flou.mechanisms.quantiles.quantile_mechanism import QuantileMechanism
from flou.mechanisms.quantiles.records import Records

__all__ = ["JointExp", "joint_law"]


class JointExp(QuantileMechanism):
    """Several quantiles; answers score by the numbers of records between them."""

    @property
    def rate(self) -> Fraction:
        """t, the price of one rank: epsilon over the spread of how far neighbours move scores."""
        gaps = [b - a for a, b in pairwise((Fraction(0), *self.ordered, Fraction(1)))]
        if self.relation == "substitute":
            return self.epsilon / (2 if len(gaps) == 2 and 0 in gaps else 4)
        return self.epsilon / (4 - 2 * min(gaps) - 2 * min(gap for gap in gaps if gap > 0))

    def gaps(self, rows: int) -> Gaps:
        """The targets for this number of records."""
        return Gaps(tuple(p * rows for p in self.ordered), Fraction(rows), self.rate)

    def law(self, records: Records) -> AnswerLaw:
        return joint_law(self.gaps(records.rows), records)

    def answers(self, records: Records, bits: Bits) -> Ints:
        return draw_jointly(self.gaps(records.rows), records, bits)


def joint_law(gaps: Gaps, records: Records) -> AnswerLaw:
    """The law of ``draw_jointly``, outcome by outcome."""
    cells, answers = records.cells, len(gaps.targets)
    if math.comb(cells + answers - 1, answers) > MOST_OUTCOMES:
        raise too_many_outcomes()
    rank = [records.below(cell + 1) for cell in range(cells)]
    weights = {}
    for outcome in combinations_with_replacement(range(cells), answers):
        ways = math.factorial(answers) // math.prod(math.factorial(outcome.count(cell)) for cell in set(outcome))
        weights[outcome] = math.log(ways) - float(gaps.rate * gaps.score([rank[c] for c in outcome], records.rows))
    top = max(weights.values())
    total = math.fsum(math.exp(w - top) for w in weights.values())
    return AnswerLaw({outcome: math.exp(w - top) / total for outcome, w in weights.items()})
