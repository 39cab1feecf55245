"""JointN: several quantiles at once, for neighbours with one record more or less.

Law        N = n + discrete Laplace noise of scale 5 / epsilon; then, as JointExp with the targets of N records,
           P[answers] proportional to exp(-t sum_j |i_j - i_(j-1) - (p_j - p_(j-1)) N|), with i_(m+1) = n
Guarantee  epsilon-DP under add/remove with t = 2 epsilon / 5, the release of N included
Why        N costs epsilon / 5; once it is public, one record more moves one number of records between answers by 1 and
           no target, so that scores move by at most 1 and the answers cost 2 t = 4 epsilon / 5
Error      as JointExp with t instead of epsilon / (4 (1 - g)), and the noise of N, spread over all gaps
Numerics   exact, as the discrete Laplace law and JointExp are
Limits     add/remove only: under substitution n is public; a noisy number of records below 0 counts as 0
Source     Gillenwater, Joseph and Kulesza (2021), with a count that is bought first
Proof      docs/explanation/proofs/joint_quantiles.md
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from flou.arrays import Ints
from flou.bits import Bits
from flou.errors import InvalidParameter
from flou.laws import DiscreteLaplace
from flou.mechanisms.quantiles.answer_law import AnswerLaw, Answers
from flou.mechanisms.quantiles.joint_exp import joint_law
from flou.mechanisms.quantiles.joint_path import draw_jointly
from flou.mechanisms.quantiles.joint_windows import Gaps
from flou.mechanisms.quantiles.quantile_mechanism import QuantileMechanism
from flou.mechanisms.quantiles.records import Records
from flou.parameters import Number, Relation

__all__ = ["JointN"]

FOR_THE_COUNT = Fraction(1, 5)  # of epsilon


class JointN(QuantileMechanism):
    """Several quantiles; the number of records is released first."""

    def __init__(
        self,
        probabilities: Number | Iterable[Number],
        *,
        epsilon: Number,
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        if relation != "add-remove":
            raise InvalidParameter(
                "JointN is for neighbours with one record more or less.",
                "Under substitution the number of records is public, so no privacy is spent on it.",
                "Use JointExp, or relation='add-remove'.",
            )
        super().__init__(probabilities, epsilon=epsilon, relation=relation, unit=unit)
        DiscreteLaplace(1 / (FOR_THE_COUNT * self.epsilon))

    @property
    def noise(self) -> DiscreteLaplace:
        """The noise of the number of records."""
        return DiscreteLaplace(1 / (FOR_THE_COUNT * self.epsilon))

    @property
    def rate(self) -> Fraction:
        """t, the price of one rank."""
        return (1 - FOR_THE_COUNT) * self.epsilon / 2

    def gaps(self, noisy_rows: int) -> Gaps:
        """The targets for this number of records."""
        end = Fraction(max(noisy_rows, 0))
        return Gaps(tuple(p * end for p in self.ordered), end, self.rate)

    def law_given(self, noisy_rows: int, records: Records) -> AnswerLaw:
        """The law of the answers once the noisy number of records is known."""
        return joint_law(self.gaps(noisy_rows), records)

    def law(self, records: Records) -> AnswerLaw:
        """The law of (noisy number, answer, ..., answer), for numbers within 60 scales of the noise (all but e^-60)."""
        noise = self.noise
        reach = int(60 * noise.scale) + 1
        found: dict[Answers, float] = {}
        for by in range(-reach, reach + 1):
            given = self.law_given(records.rows + by, records)
            share = float(noise.pmf(by))
            found |= {(records.rows + by, *outcome): share * given.pmf(outcome) for outcome in given.outcomes()}
        return AnswerLaw(found)

    def noisy_rows(self, records: Records, bits: Bits) -> int:
        """The number of records with noise, for a fifth of epsilon."""
        return records.rows + int(self.noise.draw(1, bits)[0])

    def answers_given(self, noisy_rows: int, records: Records, bits: Bits) -> Ints:
        """The answers once the noisy number is known, for the rest; the probabilities may depend on that number."""
        return draw_jointly(self.gaps(noisy_rows), records, bits)

    def answers(self, records: Records, bits: Bits) -> Ints:
        return self.answers_given(self.noisy_rows(records, bits), records, bits)
