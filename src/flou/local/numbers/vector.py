"""Several numbers of one person, each on its own public grid, and what their randomisers share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from flou.domain import Numbers
from flou.errors import InvalidData, InvalidParameter
from flou.local.aggregate import Aggregate
from flou.local.certify import certified
from flou.local.numbers.mean_randomiser import ReportMoments, UnbiasedMeanUncertainty
from flou.local.numbers.number_randomiser import Scale, numbers_of
from flou.local.randomiser import Randomiser
from flou.parameters import Number, integer
from flou.release import Layout, Release

__all__ = ["Vector", "VectorRandomiser"]


class Vector:
    """A domain whose rows are vectors: column j holds numbers of the j-th of ``domains``."""

    def __init__(self, domains: Sequence[Scale]) -> None:
        if not isinstance(domains, list | tuple) or len(domains) < 2:
            raise InvalidParameter(
                "Several numbers need a list of at least two domains.",
                "Each number has its own public bounds.",
                "Pass for example [(0, 100), (18, 65)]; for one number use flou.local.mean_of.",
            )
        self.domains: tuple[Numbers, ...] = tuple(numbers_of(domain) for domain in domains)

    def __repr__(self) -> str:
        return f"Vector({list(self.domains)!r})"

    @property
    def size(self) -> int:
        """How many different rows there are."""
        return math.prod(domain.size for domain in self.domains)

    @property
    def missing_code(self) -> int:
        """The number of the row in which everything is missing, the last column counting fastest."""
        code = 0
        for domain in self.domains:
            code = code * domain.size + domain.missing_code
        return code

    def encode(self, values: object) -> NDArray[np.int64]:
        """The codes of a table with one row a person, column by column."""
        table = np.asarray(values)
        if table.ndim != 2 or table.shape[1] != len(self.domains):
            raise InvalidData(
                f"The values must be a table of {len(self.domains)} columns, one for each domain.",
                "Every person has one value for each of the numbers.",
                "Pass an array with a row for each person; a missing value is NaN.",
            )
        return np.stack([domain.encode(table[:, j]) for j, domain in enumerate(self.domains)], axis=1)

    def decode(self, codes: object) -> NDArray[Any]:
        """What the codes of a table stand for."""
        table = np.asarray(codes)
        return np.stack([domain.decode(table[:, j]) for j, domain in enumerate(self.domains)], axis=1)

    def to_dict(self) -> dict[str, Any]:
        """The domains as tables."""
        return {"type": "vector", "columns": [domain.to_dict() for domain in self.domains]}


class VectorRandomiser(Randomiser):
    """``domains``: a list of intervals, integers or pairs of bounds; ``names``: what the numbers are called."""

    proof = "local_numbers"
    domain: Vector
    _most: ClassVar[int]  # numbers

    def __init__(
        self, domains: Sequence[Scale], *, epsilon: Number, names: Sequence[str] | None = None, unit: str = "person"
    ) -> None:
        super().__init__(Vector(domains), epsilon=epsilon, unit=unit)
        self.d = integer("the number of domains", len(self.domain.domains), 2, self._most)
        self.names = _checked_names(names, self.d)

    def parameters(self) -> dict[str, Any]:
        return {"epsilon": str(self.epsilon), "domain": self.domain.to_dict()}

    def _means(self, aggregate: Aggregate, moments: list[ReportMoments]) -> Release:
        """The means of all numbers, from the moments of their reports."""
        uncertainty = UnbiasedMeanUncertainty.of(moments, list(self.domain.domains))
        return certified(self, aggregate, "means", uncertainty.centre, uncertainty, self.names, layout=Layout("units"))


def _checked_names(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """What the numbers are called; 0, 1, 2, ... by default."""
    found = tuple(map(str, range(count) if names is None else names))
    if len(found) != count or len(set(found)) != count:
        raise InvalidParameter(
            f"names must be {count} different names, one for each domain.",
            "The names tell the means apart.",
            "Pass for example names=['age', 'income'], or leave names out.",
        )
    return found
