"""Questions from which classifiers learn: a person's label and the bin of one feature (or of two), as one answer.

The feature is picked at random, without looking at the row, so the answer may use all of epsilon. The label is part of
every answer, and there is no question about the label alone. Reports show how often each label goes with each bin. For
a few hundred people this is far more accurate than a table in which every cell was randomised with a part of epsilon.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.domain import Domain, Integers, Numbers
from flou.errors import InvalidData, InvalidParameter
from flou.local.categories.consistency import nearest_shares
from flou.local.categories.frequency_oracle import FrequencyOracle
from flou.local.survey.collection import Collection
from flou.local.survey.survey import Item, Survey
from flou.parameters import integer, shown
from flou.summaries import rows_of
from flou.summaries.request import Code

__all__ = ["Joint", "LabelledBins", "column_of"]


MOST_CLASSES = 100
MOST_BINS = 64


@dataclass(frozen=True, eq=False)
class Joint:
    """What reports to one question say: the shares of labels and bins, unbiased and as the nearest table."""

    features: tuple[int, ...]
    people: int
    raw: Floats
    shares: Floats
    variances: Floats  # of the unbiased shares, around those of the population


@dataclass(frozen=True)
class LabelledBins:
    """``features`` are numbers on public grids, ``together`` of them asked for at a time, in ``bins`` bins each."""

    features: Mapping[str, Numbers]
    label: Domain
    bins: int
    together: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.features, Mapping) or len(self.features) < self.together:
            raise InvalidParameter(
                f"features must map at least {self.together} name{'s' * (self.together > 1)} to a domain.",
                "A classifier learns from features with public bounds.",
                "Pass for example features={'age': flou.Integers(0, 120), 'bmi': flou.Interval(10, 70)}.",
            )
        for name, domain in self.features.items():
            if not isinstance(name, str) or not isinstance(domain, Numbers) or domain.size < 2:
                raise InvalidParameter(
                    f"The feature {shown(name)} must be an interval, integers or a boolean with at least two codes.",
                    "The classifier learns means and variances, and categories have none.",
                    "Declare one boolean for each category, or leave the feature out.",
                )
        classes = self.label.size if isinstance(self.label, Domain) and self.label.discrete else 0
        if not 2 <= classes <= MOST_CLASSES:
            raise InvalidParameter(
                f"label must be a boolean, categories or integers with 2 to {MOST_CLASSES} codes.",
                "Its codes are the public classes that can be predicted.",
                "Pass for example label=flou.Boolean().",
            )
        integer("bins", self.bins, 2, MOST_BINS)

    @property
    def classes(self) -> int:
        """How many labels there are."""
        return self.label.size

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many bins each feature has."""
        return tuple(min(self.bins, domain.size) for domain in self.features.values())

    @cached_property
    def questions(self) -> dict[str, tuple[int, ...]]:
        """The features that each question is about."""
        names = list(self.features)
        return {" and ".join(names[j] for j in js): js for js in combinations(range(len(names)), self.together)}

    def shape(self, features: tuple[int, ...]) -> tuple[int, ...]:
        """How many labels, and how many bins of each feature."""
        return (self.classes, *(self.sizes[j] for j in features))

    def survey(self, epsilon: Fraction) -> Survey:
        """What respondents and collectors share: each person answers one question with all of epsilon."""
        answers = {name: int(np.prod(self.shape(js))) for name, js in self.questions.items()}
        items = {name: Item(Integers(0, count - 1, missing=0), "shares") for name, count in answers.items()}
        return Survey(items, epsilon, "one", "labelled bins")

    def edges(self, feature: int) -> Floats:
        """The ends of the bins of a feature, in its units; whole numbers lie in the middle of their cells."""
        domain, count = list(self.features.values())[feature], self.sizes[feature]
        return domain.places(-(-np.arange(count + 1) * domain.size // count))

    def cell(self, feature: int) -> float:
        """How far apart the possible values of a feature are: 1 for whole numbers, next to nothing in an interval."""
        return list(self.features.values())[feature].step

    def answers(self, codes: NDArray[np.int64], labels: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """The answer of each person to each question, from the codes of the features and of the label."""
        sizes = [domain.size for domain in self.features.values()]
        binned = [codes[:, j] * count // sizes[j] for j, count in enumerate(self.sizes)]
        return {
            name: np.ravel_multi_index((labels, *(binned[j] for j in js)), self.shape(js))
            for name, js in self.questions.items()
        }

    def encoded(self, rows: Any) -> NDArray[np.int64]:
        """The codes of the features: of an array with a column for each, or of any table that has them by name."""
        if isinstance(rows, np.ndarray | list | tuple) and not getattr(getattr(rows, "dtype", None), "names", None):
            table = np.asarray(rows)
            if table.ndim != 2 or table.shape[1] != len(self.features):
                raise InvalidData(
                    f"The rows must be a table of {len(self.features)} columns, one for each feature.",
                    "Every person has one value of each feature.",
                    "Pass an array with a row for each person, or a table with the features' names.",
                )
            return np.stack([domain.encode(table[:, j]) for j, domain in enumerate(self.features.values())], axis=1)
        wanted = [Code(name, domain) for name, domain in self.features.items()]
        parts = [np.stack(batch, axis=1) for batch in rows_of(rows).codes(wanted)]
        return np.concatenate(parts) if parts else np.zeros((0, len(wanted)), dtype=np.int64)

    def numbers(self, rows: Any) -> Floats:
        """The features as numbers within their bounds, missing ones as their public value."""
        codes = self.encoded(rows)
        return np.stack([domain.decode(codes[:, j]) for j, domain in enumerate(self.features.values())], axis=1).astype(
            np.float64
        )

    def joints(self, collection: Collection) -> Iterator[Joint]:
        """What the reports to each question say; questions without a report are left out."""
        for name, js in self.questions.items():
            aggregate = collection.aggregates[name]
            oracle = aggregate.randomiser
            if aggregate.people == 0 or not isinstance(oracle, FrequencyOracle):
                continue
            raw, shape = oracle.shares(aggregate), self.shape(js)
            near = nearest_shares(raw)
            support = oracle.q + oracle.gap * near
            doubt = support * (1 - support) / (aggregate.people * oracle.gap**2)
            yield Joint(js, aggregate.people, raw.reshape(shape), near.reshape(shape), doubt.reshape(shape))


def column_of(values: Any) -> Any:
    """Labels as one column: arrays and columns of frames as they are, anything else as a list."""
    return values if isinstance(values, np.ndarray | list) or hasattr(values, "to_numpy") else list(values)
