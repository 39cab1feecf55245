"""The statistics whose intervals are tried: what is asked, of which made-up rows, and what the right answers are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from flou.arrays import Floats
from flou.central import Count, Histogram, Mean, Price, Quantiles, Question, Regression, Table, Total, Variance
from flou.domain import Boolean, Categories, Interval
from flou.parameters import Number, Relation
from flou.summaries.condition import column
from populations import Generator, Population

__all__ = ["SUBJECTS", "Subject"]

Columns: TypeAlias = dict[str, Any]
Drawn: TypeAlias = tuple[Columns, Floats]  # the columns of a table, and the statistic of these very rows

BINS = 5
GROUPS = ("a", "b", "c")
SHARES = np.array([0.5, 0.3, 0.2])  # of the groups
SHRINK = np.array([1.0, 0.6, 0.3])  # towards the lower bound, so that every group has a mean of its own
START, SLOPE, NOISE = (
    20.0,
    40.0,
    20.0,
)  # y = START + SLOPE t + U, U uniform on +-NOISE: within 0 and 100 for t in [0, 1]
AT = (0.25, 0.5, 0.9)  # the quantiles
PART = 0.4  # of the range: where all rows are public, those below it are counted; a share is of the others


@dataclass(frozen=True)
class Subject:
    """One statistic: the question, how a table is drawn, and the truth about the population."""

    question: Callable[[Price | Number], Question]
    draw: Callable[[Population, Relation, Generator, int], Drawn]
    truth: Callable[[Population, Relation, int], Any]  # of the population, when so many rows are expected
    domains: Columns = field(default_factory=dict)  # of the columns beside x
    part: Callable[[Table, Population], Table] = lambda table, _: table

    def right(self, population: Population, relation: Relation, rows: int) -> Floats:
        return np.atleast_1d(np.asarray(self.truth(population, relation, rows), dtype=np.float64))


def _of(statistic: Callable[[Floats], Any]) -> Callable[[Population, Relation, Generator, int], Drawn]:
    """Draw one column and take a statistic of it."""

    def draw(population: Population, _: Relation, generator: Generator, rows: int) -> Drawn:
        x = population.draw(generator, rows)
        return {"x": x}, np.array([statistic(x)], dtype=np.float64)

    return draw


def _quantiles(population: Population, _: Relation, generator: Generator, rows: int) -> Drawn:
    x = population.draw(generator, rows)
    return {"x": x}, np.sort(x)[np.maximum(np.ceil(np.array(AT) * rows - 1e-9), 1).astype(np.int64) - 1]


def _border(population: Population) -> float:
    return population.lower + PART * population.width


def _rows(population: Population, relation: Relation, generator: Generator, rows: int) -> Drawn:
    x = population.draw(generator, rows)
    counted = x < _border(population) if relation == "substitute" else np.ones(rows, bool)
    return {"x": x}, np.array([np.count_nonzero(counted)], dtype=np.float64)


def _yes(population: Population, _: Relation, generator: Generator, rows: int) -> Drawn:
    x = population.draw(generator, rows)
    b = x >= _border(population)
    return {"x": x, "b": b}, np.array([np.mean(b)])


def _bins(population: Population, _: Relation, generator: Generator, rows: int) -> Drawn:
    x = population.draw(generator, rows)
    bins = np.minimum((x - population.lower) / population.width * BINS, BINS - 1).astype(np.int64)
    return {"x": x}, np.bincount(bins, minlength=BINS).astype(np.float64)


def _groups(population: Population, _: Relation, generator: Generator, rows: int) -> Drawn:
    group = generator.choice(len(GROUPS), rows, p=SHARES)
    x = population.lower + (population.draw(generator, rows) - population.lower) * SHRINK[group]
    size = np.bincount(group, minlength=len(GROUPS))
    means = np.bincount(group, weights=x, minlength=len(GROUPS)) / np.maximum(size, 1)
    return {"x": x, "g": np.array(GROUPS)[group]}, means


def _line(population: Population, _: Relation, generator: Generator, rows: int) -> Drawn:
    x = population.draw(generator, rows)
    y = START + SLOPE * (x - population.lower) / population.width + generator.uniform(-NOISE, NOISE, rows)
    centred = x - x.mean()
    slope = centred @ y / (centred @ centred)
    return {"x": x, "y": y}, np.array([y.mean() - slope * x.mean(), slope])


SUBJECTS = {
    "count": Subject(
        Count,
        _rows,
        lambda p, relation, n: n * p.below(np.array(_border(p))) if relation == "substitute" else n,
        part=lambda table, p: table.where(column("x") < _border(p)) if table.schema.relation == "substitute" else table,
    ),
    "sum": Subject(lambda e: Total("x", e), _of(np.sum), lambda p, _, n: n * p.mean),
    "mean": Subject(lambda e: Mean("x", e), _of(np.mean), lambda p, _, __: p.mean),
    "share": Subject(
        lambda e: Mean("b", e),
        _yes,
        lambda p, _, __: 1 - p.below(np.array(_border(p))),
        {"b": Boolean()},
    ),
    "variance": Subject(lambda e: Variance("x", e), _of(lambda x: x.var(ddof=1)), lambda p, _, __: p.variance),
    "histogram": Subject(lambda e: Histogram("x", e, BINS), _bins, lambda p, _, n: n * p.shares(BINS)),
    "group means": Subject(
        lambda e: Mean("x", e, "g"),
        _groups,
        lambda p, _, __: p.lower + (p.mean - p.lower) * SHRINK,
        {"g": Categories(GROUPS, other=False, missing=GROUPS[0])},
    ),
    "quantiles": Subject(
        lambda e: Quantiles("x", AT, e),  # type: ignore[arg-type]  # paid with an epsilon only
        _quantiles,
        lambda p, _, __: [p.quantile(at) for at in AT],
    ),
    "regression": Subject(
        lambda e: Regression("y", ("x",), e),
        _line,
        lambda p, _, __: [START - SLOPE * p.lower / p.width, SLOPE / p.width],
        {"y": Interval(0, 100)},
    ),
}
