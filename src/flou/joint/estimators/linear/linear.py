"""Linear regression of rows that several parties hold.

Rounds    one for the sums of products; one more for errors that are robust against unequal variances or clusters
Opened    first round: the number of rows, the sums and the sums of products of the regressors and the response, over
          all parties: (d + 1)(d + 2)/2 numbers for d regressors with the intercept. Second round: see ``robust.py``
Parties   ``fixed_effects="party"``: every party takes off its own means, and the parties' levels stay their own. Opened
          are the sums of products around these means, the number of rows and of parties that have rows, and the sum
          of the response and of its square
Numerics  sums of products of codes are exact integers, see ``exact_gram.py``; with fixed effects they are rounded at
          2^-192 of a code's square, because a mean is a fraction
Limits    clusters are taken to lie within parties unless the schema declares their column as categories; if they do not
          the errors are wrong, and nobody notices
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.domain import Schema
from flou.errors import InvalidParameter
from flou.joint.estimators.design.coded_columns import level_places
from flou.joint.estimators.design.design import RegressionDesign
from flou.joint.estimators.linear import robust
from flou.joint.estimators.linear.exact_gram import Matrix, exact_gram, from_upper, upper_triangle
from flou.joint.estimators.linear.linear_fit import LinearFit
from flou.joint.estimators.linear.linear_sums import LinearSums
from flou.joint.estimators.party_rows import Batch, PartyRows
from flou.joint.estimators.program import Ask, Opened, Program
from flou.parameters import checked_text, choice

__all__ = ["COVARIANCES", "LinearRegression"]

Covariance: TypeAlias = Literal["nonrobust", "HC0", "HC1", "HC2", "HC3", "cluster"]

COVARIANCES = ("nonrobust", *robust.HC, "cluster")
EXTRA = 192  # fractional bits of sums around a party's means
TOLERANCE = 1 << 128  # of a sum of squares that may be nothing but their rounding


class LinearRegression(Program):
    """Least squares, as one Gram matrix over all parties."""

    estimator, _required = "ols", ("formula",)
    _optional = ("schema", "covariance", "cluster", "fixed_effects")

    def __init__(
        self,
        formula: str,
        schema: Schema | Mapping[str, Any] | None = None,
        *,
        covariance: Covariance = "nonrobust",
        cluster: str | None = None,
        fixed_effects: Literal["party"] | None = None,
    ) -> None:
        """``cluster`` is a column; with covariance="cluster" and without it, every party is a cluster."""
        self.design = RegressionDesign(formula, schema)
        self.covariance = choice("covariance", covariance, COVARIANCES)
        self.cluster = None if cluster is None else checked_text("cluster", cluster)
        self.fixed_effects = None if fixed_effects is None else choice("fixed_effects", fixed_effects, ("party",))
        if self.cluster is not None and self.covariance != "cluster":
            raise InvalidParameter(
                f"cluster must be left out when covariance is {self.covariance!r}.",
                "Only clustered errors know clusters.",
                "Pass covariance='cluster' as well, or leave cluster out.",
            )
        names = self.design.names
        first = 1 if self.fixed_effects and self.design.has_intercept else 0
        self._places = list(range(first, len(names)))
        if not self._places:
            raise InvalidParameter(
                "The formula has nothing but an intercept, which the parties' effects absorb.",
                "There is nothing left to estimate.",
                "Add a regressor, or leave fixed_effects out.",
            )
        self._known: tuple[tuple[int, ...], LinearSums] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        more = () if self.cluster is None else (self.cluster,)
        return tuple(dict.fromkeys((*self.design.columns, *more)))

    @property
    def scalars(self) -> int:
        return self._gram_length + self._meat_length(len(self._places))

    # What is asked.

    def next(self, opened: Sequence[Opened]) -> Ask | None:
        gram, meat = self._latest(opened)
        if gram is None or (meat is not None and set(meat.parties) != set(gram.parties)):
            return self._gram_ask()
        if self.covariance == "nonrobust" or meat is not None:
            return None
        sums = self._sums(gram)
        if sums.residual == 0:
            return None
        length, limit = self._meat_length(len(sums.kept)), robust.meat_limit(sums.rows)
        return Ask("meat", length, limit, robust.second_round(sums))

    def _latest(self, opened: Sequence[Opened]) -> tuple[Opened | None, Opened | None]:
        """The last sums of products, and the robust sums that were opened after them."""
        gram = meat = None
        for one in opened:
            if one.ask.step == "gram":
                gram, meat = one, None
            else:
                meat = one
        return gram, meat

    @property
    def _has_ones(self) -> bool:
        """Whether a constant is among the columns whose products are added up."""
        return self.design.has_intercept

    @property
    def _gram_size(self) -> int:
        if self.fixed_effects:
            return len(self._places) + 1
        return len(self._places) + (1 if self._has_ones else 2)

    @property
    def _gram_length(self) -> int:
        return (4 if self.fixed_effects else 0) + self._gram_size * (self._gram_size + 1) // 2

    def _gram_ask(self) -> Ask:
        largest = max(1, *self.design.code_limits) ** 2 * self.design.max_rows
        return Ask("gram", self._gram_length, largest << (EXTRA if self.fixed_effects else 0))

    @property
    def _levels(self) -> int | None:
        """How many declared clusters may span parties; None: clusters lie within parties."""
        schema = self.design.schema
        domain = None if self.cluster is None or schema is None else schema.columns.get(self.cluster)
        return None if domain is None or domain.numbers is not None else len(domain.levels)

    def _meat_length(self, size: int) -> int:
        if self.covariance == "nonrobust":
            return 0
        if self.covariance == "cluster":
            return size * self._levels if self._levels is not None else size * (size + 1) // 2 + 1
        return size * (size + 1) // 2

    # What a party answers.

    def words(self, ask: Ask, rows: PartyRows) -> Sequence[int]:
        if ask.step == "gram":
            return self._within_words(rows) if self.fixed_effects else upper_triangle(self._local_gram(rows))
        return self._meat_words(ask, rows)

    def _local_gram(self, rows: PartyRows) -> Matrix:
        """Exact sums of products at one party; a constant column comes last unless the first is one."""
        ones = not (self._has_ones and not self.fixed_effects)
        limits = [self.design.code_limits[j] for j in (*self._places, -1)] + [1] * ones

        def codes() -> Iterator[Floats]:
            for batch in rows.batches(self.columns):
                made = self.design.codes(batch)
                made = made[:, self._places[0] :]
                yield np.column_stack([made, np.ones(len(made))]) if ones else made

        return exact_gram(codes(), limits)

    def _within_words(self, rows: PartyRows) -> list[int]:
        matrix = self._local_gram(rows)
        n, sums = matrix[-1][-1], matrix[-1][:-1]
        if n == 0:
            return [0] * self._gram_length
        size = len(sums)
        around = [[n * matrix[i][j] - sums[i] * sums[j] for j in range(size)] for i in range(size)]
        rounded = [((value << (EXTRA + 1)) + n) // (2 * n) for value in upper_triangle(around)]
        return [n, 1, sums[-1], matrix[-2][-2], *rounded]

    def _meat_words(self, ask: Ask, rows: PartyRows) -> list[int]:
        means, base = None, 0.0
        if self.fixed_effects:
            matrix = self._local_gram(rows)
            n = matrix[-1][-1]
            bits = [self.design.fraction_bits[j] for j in (*self._places, -1)]
            means = [Fraction(s, max(n, 1) << f) for s, f in zip(matrix[-1][:-1], bits, strict=True)]
            base = 1 / max(n, 1)
        turn = robust.Standardised(ask.parameters, means)
        size = len(turn.columns)

        def batches() -> Iterator[tuple[Floats, Floats, NDArray[Any]]]:
            for batch in rows.batches(self.columns):
                regressors, response = self.design.matrix(batch)
                z, e = turn(regressors[:, self._places], response)
                yield z, e, self._cluster_names(batch, len(e))

        if self.covariance != "cluster":
            return robust.heteroscedastic_meat(self.covariance, ((z, e) for z, e, _ in batches()), size, base)
        scores = robust.cluster_scores(batches())
        if self._levels is not None:
            return robust.score_words(scores, self._levels, size)
        return robust.cluster_meat(scores, size)

    def _cluster_names(self, batch: Batch, rows: int) -> NDArray[Any]:
        if self.cluster is None:
            return np.zeros(rows)
        if self._levels is not None:
            return level_places(batch, self.cluster, self.design.schema)
        return batch[self.cluster]

    # What follows from the answers.

    def _sums(self, gram: Opened) -> LinearSums:
        if self._known is None or self._known[0] != gram.sums:
            self._known = gram.sums, self._read(gram.sums)
        return self._known[1]

    def _read(self, words: Sequence[int]) -> LinearSums:
        design, places = self.design, self._places
        public: dict[str, Any] = {
            "names": tuple(design.names[j] for j in places),
            "response": design.response,
            "indicators": tuple(design.indicators[j] for j in places),
            "bits": tuple(design.fraction_bits[j] for j in (*places, -1)),
        }
        if self.fixed_effects:
            rows, groups, first, second, *entries = words
            return LinearSums(
                **public,
                has_intercept=False,
                matrix=from_upper(entries, self._gram_size),
                totals=None,
                response_sums=(first, second),
                rows=rows,
                groups=groups,
                extra=EXTRA,
                tolerance=TOLERANCE,
            )
        matrix = from_upper(words, self._gram_size)
        ones = matrix[0] if self._has_ones else matrix[-1]
        size = len(places) + 1
        return LinearSums(
            **public,
            has_intercept=self._has_ones,
            matrix=[row[:size] for row in matrix[:size]],
            totals=tuple(ones[:size]),
            response_sums=(ones[size - 1], matrix[size - 1][size - 1]),
            rows=ones[0] if self._has_ones else ones[-1],
        )

    def result(self, opened: Sequence[Opened]) -> LinearFit:
        gram, opened_meat = self._latest(opened)
        assert gram is not None
        sums = self._sums(gram)
        size, meat, clusters = len(sums.kept), None, None
        if opened_meat is not None and self._levels is not None:
            meat, clusters = robust.opened_scores(opened_meat.sums, size)
        elif opened_meat is not None and self.covariance == "cluster":
            meat, clusters = robust.opened_meat(opened_meat.sums[:-1], size), opened_meat.sums[-1]
        elif opened_meat is not None:
            meat = robust.opened_meat(opened_meat.sums, size)
        return LinearFit(design=self.design, sums=sums, cov_type=self.covariance, meat=meat, clusters=clusters)

    # How a plan names it.

    def terms(self) -> dict[str, Any]:
        return self.design.terms() | {
            "covariance": self.covariance,
            "cluster": self.cluster,
            "fixed_effects": self.fixed_effects,
        }
