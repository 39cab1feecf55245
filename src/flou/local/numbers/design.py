"""Designs: which numbers reports should stand for, and how often, for the least variance of a mean.

A design is a symmetric measure on the numbers -J..J, ``weights[j]`` at j and at -j, and a window mass. An answer is
told by a window of that mass: contiguous, with fractions of its two end columns, as far to the right as the answer is
large. The linear program below finds the measure: among all reports with values on a grid whose probabilities differ
by a factor of at most e^epsilon and whose expectation is the answer, those with the least largest variance. Its
solution only chooses the measure. What is promised about privacy and bias holds for every measure and is exact, see
``designed.py``; a solver that stops early costs accuracy and nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from flou.arrays import Floats
from flou.errors import InvalidParameter
from flou.parameters import number

__all__ = ["Design", "design_for"]


NODES = 13  # answers from 0 to 1 that the program sees; those below 0 follow by symmetry
COLUMNS = 40  # J
UNIT = 2**30  # weights are whole numbers: this many units of probability
SMALLEST, LARGEST = Fraction(1, 20), Fraction(10)


@dataclass(frozen=True)
class Design:
    """``weights[j]`` on j and on -j, and how much of them a window holds; all whole numbers."""

    weights: tuple[int, ...]
    window: int

    def __post_init__(self) -> None:
        whole = all(isinstance(weight, int) and 0 <= weight <= 2**40 for weight in (*self.weights, self.window))
        total = 2 * sum(self.weights) - self.weights[0] if whole and self.weights else 0
        if not 1 < len(self.weights) <= 1000 or not 0 < self.window < total:
            raise InvalidParameter(
                "A design needs from 2 to 1000 whole weights from 0 to 2**40 and a smaller positive window.",
                "They are the measure that reports are drawn from, and the part of it that an answer prefers.",
                "Pass the weights and the window of a design that was made by flou, unchanged.",
            )

    @property
    def values(self) -> tuple[int, ...]:
        """The numbers with a positive weight, in order."""
        right = [j for j, weight in enumerate(self.weights) if weight]
        return tuple([-j for j in reversed(right) if j] + right)

    @property
    def measure(self) -> tuple[int, ...]:
        """Their weights."""
        return tuple(self.weights[abs(value)] for value in self.values)


@lru_cache(maxsize=32)
def design_for(epsilon: Fraction) -> Design:
    """The design of the least largest variance, for epsilon from 0.05 to 10; computed once."""
    if not SMALLEST <= number("epsilon", epsilon) <= LARGEST:
        raise InvalidParameter(
            f"A design needs an epsilon from {float(SMALLEST)} to {float(LARGEST)}, got {float(epsilon):.6g}.",
            "Below, one bit is as good; above, the grid of values would have to be finer.",
            "Use flou.local.mean_of, which takes the best of the others.",
        )
    ratio = math.exp(epsilon)
    reach = 1.3 / math.tanh(epsilon / 2)
    values: Floats = np.arange(COLUMNS + 1, dtype=np.float64) * (reach / COLUMNS)
    share = _solved(ratio, values)
    weights = np.rint(share * UNIT).astype(np.int64)
    total = 2 * share.sum() - share[0]
    window = (1 - total) / ((ratio - 1) * total) * int(2 * weights.sum() - weights[0])
    return Design(tuple(weights.tolist()), max(1, round(window)))


def _solved(ratio: float, values: Floats) -> Floats:
    """The least probability of each value under the best reports."""
    from scipy.optimize import linprog

    answers, columns = np.linspace(0.0, 1.0, NODES), 2 * values.size - 1
    signed = np.concatenate([-values[:0:-1], values])
    # Unknowns: the least probabilities (one for each value >= 0), the probabilities answer by answer, the variance.
    least = np.abs(np.arange(columns) - (values.size - 1))[:, None] == np.arange(values.size)
    copies, each, one = np.kron(np.ones((NODES, 1)), least), np.eye(NODES * columns), np.eye(NODES)
    none = np.zeros((NODES * columns, 1))
    squares = np.hstack([np.zeros((NODES, values.size)), np.kron(one, signed**2), -np.ones((NODES, 1))])
    at_most = np.vstack([np.hstack([copies, -each, none]), np.hstack([-ratio * copies, each, none]), squares])
    limits = np.concatenate([np.zeros(2 * NODES * columns), answers**2])
    both = np.kron(one, np.stack([np.ones(columns), signed]))
    equal = np.hstack([np.zeros((2 * NODES, values.size)), both, np.zeros((2 * NODES, 1))])
    sides = np.stack([np.ones(NODES), answers], axis=1).ravel()
    cost = np.zeros(at_most.shape[1])
    cost[-1] = 1.0
    found = linprog(cost, at_most, limits, equal, sides, bounds=(0, None), method="highs")
    if found.x is None:  # then equal weights, whose window is that of the piecewise randomiser
        return np.full(values.size, 1 / (columns * (1 + (ratio - 1) / (1 + math.sqrt(ratio)))))
    share: Floats = np.maximum(np.asarray(found.x[: values.size], dtype=np.float64), 0.0)
    share[share < 1e-7] = 0.0
    return share
