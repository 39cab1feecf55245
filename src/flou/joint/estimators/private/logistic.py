"""Logistic regression with differential privacy for every row: Newton's method with noise, a point a round.

Rounds     ``rounds``, fixed in advance. Of the cost the last gets 64 % and the one before 16 %: only the last one's
           noise is in the result, and the one before must come near enough for one step of Newton's method
Opened     score and information at a public point, d (d + 3)/2 numbers for d coefficients, each with the noise of all
           parties, and in the last round the number of rows
Guarantee  the sum over the rounds, each of the noise of ``honest`` parties on words that one row moves as far as
           ``LogisticWords`` says, at whatever point they are asked for
Step       (H + floor)^-1 score, where eigenvalues of the information H below 2 tau sqrt(d), which noise alone can make,
           count as that much; no coefficient moves by more than 4 at once or beyond 30, where bounds are -1 and 1
Error      V = H^-1 + H^-1 (tau^2 I + t^2 M) H^-1: tau^2 and t^2 the variances of the noise of all parties in score and
           information, M = |s|^2 I + s s' - diag(s^2) for the last step s, which the noise in H turns
Clamped    as in ``bounded_design.py``; the response counts as the nearer one of 0 and 1
Parties    who leaves is missing from the next point on; what is reported is about the parties of the last round
Limits     what Newton's method still lacks after the last step s is not in the errors: about |s| D/2, D being the
           root mean square by which s moves z'b (s'H s over the sum of weights, which the largest diagonal entry of H
           bounds from below). ``settled`` says whether that is less than half a standard error
Proof      docs/explanation/proofs/joint-noise.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from flou.arrays import Floats
from flou.domain import Schema
from flou.errors import InvalidParameter
from flou.guarantee import Guarantee, compose
from flou.joint.estimators.likelihood.cholesky import symmetric
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.private.bounded_design import BoundedDesign, UnitScale
from flou.joint.estimators.private.gram import shared_noise
from flou.joint.estimators.private.privacy import TERMS, PrivacyTerms, WordSensitivity
from flou.joint.estimators.private.private_fit import PrivateCoefficients
from flou.joint.estimators.program import Ask, Opened, Program
from flou.joint.masking.noise import NoiseShare
from flou.parameters import Number, Relation, integer, shown

__all__ = ["LogisticWords", "PrivateLogisticFit", "PrivateLogisticRegression", "probabilities"]

MOST_ROWS = 2**40  # of one party
BLOCK = 2**14  # rows at a time: sums of integers below 2^24 2^14 are exact
SHORTER = 1 - 2.0**-40
FINEST = 24  # bits of the grid
FREE = Fraction("11.09")  # a little less than phi^5
TABLE_END, STEPS = 40, 2**10  # beyond the table, pi is 0 or 1 to all digits that matter


@lru_cache(maxsize=1)
def _table() -> Floats:
    points = np.arange(-TABLE_END * STEPS, TABLE_END * STEPS + 2) / STEPS  # one more, for the end of the last line
    return np.asarray(0.5 + 0.5 * np.tanh(points / 2))


def probabilities(eta: Floats) -> Floats:
    """1/(1 + exp(-eta)), each by itself."""
    place = (np.clip(eta, -TABLE_END, TABLE_END) + TABLE_END) * STEPS
    left = np.floor(place)
    table, at = _table(), left.astype(np.int64)
    found: Floats = table[at] + (place - left) * (table[at + 1] - table[at])
    return np.clip(found, 0.0, 1.0)


@dataclass(frozen=True)
class LogisticWords:
    """Score and information for ``size`` coefficients, as integers that one row moves by a known amount.

    Row        z in [-1, 1]^p, y 0 or 1, pi = 1/(1 + exp(-z'b)), q = |y - pi|, so that pi (1 - pi) = q (1 - q)
    Words      score          trunc(S z_i (y - pi)), p of them, S = 2^grid
               information    trunc(S B z_i z_j pi (1 - pi)), i <= j
               rows           S/2 each, in the last round only (``counted``)
    Moved      with r = |z|^2 <= p, a = sum |z_i| <= p, and sum_(i<=j) z_i^2 z_j^2 <= (r^2 + r)/2, see ``gram.py``:
                 L2, squared  S^2 (r q^2 + B^2 (r^2 + r)/2 q^2 (1-q)^2). With B^2 = 2 phi^5/(p+1), phi the golden ratio,
                              it is at most S^2 r q^2 (1 + phi^5 (1-q)^2) <= S^2 r: the least of (1-q^2)/(q^2 (1-q)^2) =
                              (1+q)/(q^2 (1-q)) is where q^2 + q = 1, and it is phi^5. So at most S^2 p: the information
                              is free
                 L1           S (a q + B (a^2 + a)/2 q (1-q)) <= S a q (1 + 2 (1-q)) <= 9/8 S p for B = 4/(p+1), q = 3/4
               Replacing a row moves them by at most twice as much. The count adds S^2/4 and S/2; replacing leaves it
    Why        cutting off towards 0 makes no word longer, and a factor of 1 - 2^-40 pays for all rounding before
    Row by row pi comes from a table, with straight lines in between (within 2e-8), and all else is +, -, * and trunc of
               single numbers: the same wherever a row stands among others, which exp and matrix products need not be
    """

    size: int
    grid: int
    pure: bool  # weighted for the L1 norm
    counted: bool

    @property
    def unit(self) -> int:
        """S: the integer that stands for 1."""
        return 1 << self.grid

    @property
    def weight(self) -> float:
        """B: how many times finer the information is than the score."""
        p = self.size
        exact = Fraction(4, p + 1) if self.pure else 2 * FREE / (p + 1)
        return math.floor(1024 * (float(exact) if self.pure else math.sqrt(exact))) / 1024

    @property
    def length(self) -> int:
        return self.size * (self.size + 3) // 2 + self.counted

    @property
    def limit(self) -> int:
        """No word of one party is larger."""
        return 4 * MOST_ROWS * self.unit

    def sensitivity(self, relation: Relation) -> WordSensitivity:
        S, p = self.unit, self.size
        l1, l2_squared = -(-9 * S * p // 8), S * S * p
        if not self.pure:  # the weight is for the L2 norm, and nobody asks for the other one
            l1 = S * p * (p + 3)
        if relation == "substitute":  # the number of rows stays
            return WordSensitivity(2 * l1, 4 * l2_squared, self.length)
        return WordSensitivity(l1 + S // 2 * self.counted, l2_squared + S * S // 4 * self.counted, self.length)

    def sums(self, parts: Iterable[tuple[Floats, Floats]], b: Sequence[float]) -> list[int]:
        """The words, at the coefficients b, of rows and responses that come in parts."""
        words, rows = np.zeros(self.length - self.counted, dtype=np.int64), 0
        for z, y in parts:
            rows += len(y)
            for start in range(0, len(y), BLOCK):
                block = slice(start, start + BLOCK)
                words += self.words(z[block], y[block], b).sum(axis=1).astype(np.int64)
        totals = [int(word) for word in words]
        return [*totals, rows * (self.unit // 2)] if self.counted else totals

    def words(self, z: Floats, y: Floats, b: Sequence[float]) -> Floats:
        """What each row adds, a column for each row: integers stored as floats, without the count."""
        columns = np.ascontiguousarray(z.T)
        eta = np.zeros(len(y))
        for column, coefficient in zip(columns, b, strict=True):
            eta += column * coefficient
        pi = probabilities(eta)
        error, spread = (y - pi) * (SHORTER * self.unit), pi * (1 - pi) * (SHORTER * self.unit * self.weight)
        made = np.empty((self.size * (self.size + 3) // 2, len(y)))
        for i, column in enumerate(columns):
            np.multiply(column, error, out=made[i])
        pairs = [(i, j) for i in range(self.size) for j in range(i, self.size)]
        for place, (i, j) in enumerate(pairs, self.size):
            np.multiply(columns[i] * columns[j], spread, out=made[place])
        return np.trunc(made, out=made)

    def opened(self, sums: Sequence[int]) -> tuple[Floats, Floats, float]:
        """The score, the information, and the number of rows (0 unless counted), in units of z."""
        p = self.size
        scaled = np.array([float(Fraction(total, self.unit)) for total in sums])
        information = symmetric(scaled[p : p + p * (p + 1) // 2] / self.weight, p)
        return scaled[:p], information, 2 * float(scaled[-1]) if self.counted else 0.0


ROUNDS, MOST_ROUNDS = 6, 100
COARSEST = 8  # bits of the grid
LONGEST, FARTHEST = 4.0, 30.0  # a step, and a coefficient, where bounds are -1 and 1
SETTLED = 0.5  # of a standard error is what the next step would move at most


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PrivateLogisticFit(PrivateCoefficients):
    """Coefficients of a logistic regression, and their errors, the noise included."""

    settled: bool  # the last step was short

    title: ClassVar[str] = "Private Logit Regression Results"

    def predict(self, frame: Any) -> Floats:
        """The probability of a response of 1 for these rows; not a number where a value is missing."""
        return probabilities(self._linear(frame))


@dataclass(frozen=True, eq=False)
class _Point:
    """What a round says: where the next point is, how it was reached, and how far noise moves it."""

    end: Floats
    step: Floats
    information: Floats
    inverse: Floats  # its eigenvalues raised where noise drowns them
    score_noise: float  # variances
    information_noise: float
    drowned: bool
    rows: float

    @property
    def weight(self) -> float:
        """The sum of pi (1 - pi) over all rows, or less."""
        return max(float(np.max(np.diag(self.information))), 1.0)


class PrivateLogisticRegression(Program):
    """The likelihood of a response of zeros and ones, climbed with noisy steps."""

    estimator, proofs = "private logit", ("masked-sums", "joint-noise")
    _required, _optional = ("formula", "schema", "honest"), (*TERMS[1:], "rounds")

    def __init__(
        self,
        formula: str,
        schema: Schema | Mapping[str, Any] | None = None,
        *,
        honest: int,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        rounds: int = ROUNDS,
        noise: str = "auto",
        relation: Relation = "add-remove",
    ) -> None:
        """``honest`` parties are taken to add their noise, in every round, and to keep it to themselves."""
        self.design = BoundedDesign(formula, schema)
        if self.design.response_bounds != (0.0, 1.0):
            raise InvalidParameter(
                f"The response {shown(self.design.response)} must have the bounds 0 and 1.",
                "A logistic regression needs a response with two values.",
                "Declare it as flou.Boolean() or flou.Integers(0, 1).",
            )
        self.privacy = PrivacyTerms.of(
            honest=honest, epsilon=epsilon, delta=delta, rho=rho, noise=noise, relation=relation
        )
        self.rounds = integer("rounds", rounds, 1, MOST_ROUNDS)
        self.scale = UnitScale.of(self.design, with_response=False)
        self._questions = [self._question(place) for place in range(self.rounds)]

    def _question(self, place: int) -> tuple[LogisticWords, NoiseShare]:
        size, last, pure = len(self.design.names), place == self.rounds - 1, self.privacy.pure
        return self.privacy.finest(
            lambda grid: LogisticWords(size, grid, pure, last),
            range(FINEST, COARSEST, -1),
            _parts(self.rounds)[place],
        )

    @property
    def columns(self) -> tuple[str, ...]:
        return self.design.columns

    @property
    def scalars(self) -> int:
        return sum(words.length for words, _ in self._questions)

    @property
    def guarantee(self) -> Guarantee:
        relation = self.privacy.relation
        return compose(*(self.privacy.cost(share, words.sensitivity(relation)) for words, share in self._questions))

    def next(self, opened: Sequence[Opened]) -> Ask | None:
        if len(opened) >= self.rounds:
            return None
        words, share = self._questions[len(opened)]
        b = [0.0] * words.size if not opened else self._point(len(opened) - 1, opened[-1]).end.tolist()
        return Ask("point", words.length, words.limit, {"b": b}, share)

    def words(self, ask: Ask, rows: PartyRows) -> list[int]:
        words = self._asked(ask)
        parts = (self._unit_rows(self.design.clamped(batch)) for batch in rows.batches(self.columns))
        return words.sums(parts, ask.parameters["b"])

    def _asked(self, ask: Ask) -> LogisticWords:
        """The words of the round whose noise is asked for."""
        for words, share in self._questions:
            if (words.length, share) == (ask.length, ask.noise):
                return words
        raise InvalidParameter(
            "This question does not belong to the regression.",
            "Each round has its own noise, without which its words are not private.",
            "Ask what next() says.",
        )

    def _unit_rows(self, values: Floats) -> tuple[Floats, Floats]:
        return self.scale.regressors(values[:, :-1]), np.where(values[:, -1] >= 0.5, 1.0, 0.0)

    def _point(self, place: int, past: Opened) -> _Point:
        words, share = self._questions[place]
        score, information, rows = words.opened(past.sums)
        tau = share.total(len(past.parties)) / words.unit**2
        around = tau / words.weight**2
        values, vectors = np.linalg.eigh(information)
        floor = 2 * math.sqrt(around * words.size)
        inverse = (vectors / np.maximum(values, floor)) @ vectors.T
        step = inverse @ score
        step *= min(1.0, LONGEST / max(float(np.max(np.abs(step))), 2.0**-1000))
        begin = np.array(past.ask.parameters["b"], dtype=np.float64)
        end = np.clip(begin + step, -FARTHEST, FARTHEST)
        return _Point(end, step, information, inverse, tau, around, not values[0] > floor, rows)

    def result(self, opened: Sequence[Opened]) -> PrivateLogisticFit:
        last = opened[-1]
        point = self._point(self.rounds - 1, last)
        size = len(point.end)
        turned = shared_noise(point.step) - np.eye(size)
        noise = point.inverse @ (point.score_noise * np.eye(size) + point.information_noise * turned) @ point.inverse
        moved = math.sqrt(max(float(point.step @ point.information @ point.step), 0.0) / point.weight)
        errors = np.sqrt(np.diag(point.inverse + noise))
        settled = bool(np.all(np.abs(point.step) * moved / 2 <= SETTLED * errors))
        return PrivateLogisticFit(
            design=self.design,
            names=self.design.names,
            params=self.scale.params(point.end),
            sampling=self.scale.covariance(point.inverse),
            noise=self.scale.covariance(noise),
            nobs=round(point.rows),
            drowned=point.drowned,
            guarantee=self.guarantee,
            share=self._questions[-1][1],
            parties=len(last.parties),
            settled=settled,
            notes=() if settled else ("The last step was long: use more rounds or more rows.",),
        )

    def terms(self) -> dict[str, Any]:
        return {**self.design.terms(), **self.privacy.to_dict(), "rounds": self.rounds}


def _parts(rounds: int) -> list[Fraction]:
    """Which part of the cost each round may spend."""
    if rounds == 1:
        return [Fraction(1)]
    first = Fraction(20, 100)
    if rounds == 2:
        return [first, 1 - first]
    return [first / (rounds - 2)] * (rounds - 2) + [Fraction(16, 100), Fraction(64, 100)]
