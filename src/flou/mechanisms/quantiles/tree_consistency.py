"""Noisy counts of a complete tree made to add up: the least-squares estimate, and how far its prefix sums err.

Every node but the root has a noisy count of its records, all with the same variance. Going up, a node's count is
averaged with the sum of its children, each weighted by its precision; going down, what the children miss of their
parent's count is divided equally between them. The result is the least-squares estimate, hence of least variance among
the linear unbiased ones (Hay, Rastogi, Miklau, Suciu 2010). The total is the root's estimate, or public.

Errors come apart: how far the children of one node are from their mean is uncorrelated with everything above. So the
variance of a prefix sum is a sum of one term a level.

Where the children of a node differ by no more than noise does, nothing is known of how its records are spread over
them: spread evenly they are off by less than the noise is. ``evened`` shrinks what they differ by, in the way of James
and Stein (1961), but firmly: hardly, where it is more than noise can be. With fewer than seven children it might lose.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats

__all__ = ["best_shape", "consistent", "evened", "increasing", "prefix_variances", "typical_variance", "variances"]


WINS = 7  # children of a node with which evening out lowers the mean square of normal noise, whatever the truth is
TALLEST = 6  # of the shapes that are tried
WIDEST, MOST_LEAVES = 2**12, 2**20  # of all trees


def variances(branching: int, height: int) -> list[float]:
    """Of the estimates going up, for levels 0 (the root, without a count of its own) to height; noise of variance 1."""
    found = [1.0]
    for _ in range(height - 1):
        found.append(1 / (1 + 1 / (branching * found[-1])))
    found.append(branching * found[-1])
    return found[::-1]


def consistent(noisy: list[Floats], branching: int, total: int | None) -> Floats:
    """The leaves' estimates, from the noisy counts of levels 1 to height; they add up to ``total`` if it is given."""
    precision = variances(branching, len(noisy))
    up = [noisy[-1]]
    for level in range(len(noisy) - 1, 0, -1):
        children = up[-1].reshape(-1, branching).sum(axis=1)
        own = precision[level]  # 1 / (1 + 1 / (b V)), the weight of the node's own count
        up.append(own * noisy[level - 1] + (1 - own) * children)
    node = np.array([np.sum(up[-1]) if total is None else total], dtype=np.float64)
    for estimates in reversed(up):
        children = estimates.reshape(-1, branching)
        node = (children + ((node - children.sum(axis=1)) / branching)[:, None]).ravel()
    return node


def evened(leaves: Floats, cells: NDArray[np.int64] | Floats, branching: int, noise: float) -> Floats:
    """The estimates of leaves of these sizes, with the records of each node spread over its children more evenly.

    In the place of cells stand the numbers of records that leaves are expected to hold, where these are known better.

    Let q be the squares of what the children are off an even spread, in units of the noise's variance: about b - 1, if
    it is noise. All of it goes where q is b - 3 or less, a quarter where q is twice that, a hundredth at ten times.
    """
    families, sizes = [leaves], [cells.astype(np.float64)]
    while families[-1].size > 1:
        families.append(families[-1].reshape(-1, branching).sum(axis=1))
        sizes.append(sizes[-1].reshape(-1, branching).sum(axis=1))
    found = families.pop()
    size = sizes.pop()
    above = variances(branching, len(families))
    for level, (family, part) in enumerate(zip(reversed(families), reversed(sizes), strict=True), 1):
        even = part.reshape(-1, branching) / np.where(size > 0, size, 1.0)[:, None]
        counts = family.reshape(-1, branching)
        off = counts - counts.sum(axis=1, keepdims=True) * even
        squares = np.sum(off * off, axis=1, keepdims=True)
        expected = (branching - 3) * above[level] * noise if branching >= WINS else 0.0
        kept = 1 - (expected / np.maximum(squares, expected)) ** 2 if expected > 0 else 1.0
        found, size = (found[:, None] * even + kept * off).ravel(), part
    return found


@lru_cache(maxsize=32)
def prefix_variances(branching: int, height: int, *, known_total: bool) -> Floats:
    """Of the sums of the first 0, 1, ..., all leaves, for noise of variance 1."""
    above = variances(branching, height)
    leaves = branching**height
    prefix = np.arange(leaves + 1)
    found = np.zeros(leaves + 1) if known_total else (prefix / leaves) ** 2 * above[0]
    for level in range(1, height + 1):
        size = branching ** (height - level)  # leaves of a node of this level
        whole, part = np.divmod(prefix % (size * branching), size)
        share = part / size
        found += above[level] * (whole + share**2 - (whole + share) ** 2 / branching)
    found = np.maximum(found, 0.0)
    found.flags.writeable = False  # it is kept
    return found


def typical_variance(branching: int, height: int) -> float:
    """Of the number below an edge, on average over the edges, where the total is public; for noise of variance 1.

    On the lowest level an edge has w of b children below it, on average (b^2 - 1) / (6 b) of a variance; on the others
    a part of one child as well, and then it is (b - 1) / 6, nearly.
    """
    above = variances(branching, height)
    return (branching - 1) / 6 * (sum(above[1:height]) + above[height] * (1 + 1 / branching))


@lru_cache(maxsize=2**14)
def best_shape(leaves: int) -> tuple[int, int]:
    """Branching and height of the tree over this many leaves that has the smallest errors: noise grows with height."""
    shapes = [(max(math.ceil(leaves ** (1 / height) - 1e-9), 2), height) for height in range(1, TALLEST + 1)]
    possible = [(b, h) for b, h in shapes if b <= WIDEST and leaves <= b**h <= MOST_LEAVES]
    return min(possible, key=lambda shape: shape[1] ** 2 * typical_variance(*shape))


def increasing(values: Floats) -> Floats:
    """The closest increasing sequence (least squares); no two sequences get farther apart by this, at any point."""
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(values).x, dtype=np.float64)
