"""Whether draws follow a law: one chi-squared test, with its error rates stated.

A true law is refused with probability ``ALPHA``. ``draws_to_detect`` is the number of draws after which a law that is
wrong by the given relative amount in its scale is let through with a probability far below that of a lost cosmic ray:
the non-centrality of the statistic is then five times the critical value.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

ALPHA = 1e-9
BINS = 20


def bin_edges(law, bins: int = BINS) -> np.ndarray:
    """Upper ends of at most ``bins`` bins of about equal probability; the last one is open."""
    if law.standard_deviation == 0:
        return np.array([round(law.mean)])
    levels = np.arange(1, bins) / bins
    return np.unique(law.quantile(levels))


def binned(draws: np.ndarray, law) -> tuple[np.ndarray, np.ndarray]:
    """Counts and probabilities of the bins, those with fewer than five expected draws pooled with a neighbour."""
    edges = bin_edges(law)
    below = law.cdf(edges)
    probabilities = np.diff(np.concatenate([[0.0], np.atleast_1d(below), [1.0]]))
    counts = np.bincount(np.searchsorted(edges, draws, side="left"), minlength=edges.size + 1)
    kept = np.flatnonzero(probabilities * draws.size >= 5)
    target = np.array([kept[np.argmin(np.abs(kept - i))] for i in range(counts.size)])
    pooled = np.bincount(target, counts, counts.size)[kept]
    return pooled, np.bincount(target, probabilities, probabilities.size)[kept]


def compatible(counts: np.ndarray, probabilities: np.ndarray) -> bool:
    """Whether the counts may come from these probabilities; the true ones fail with probability ALPHA."""
    if counts.size == 1:
        return True
    expected = probabilities * counts.sum()
    return bool(np.sum((counts - expected) ** 2 / expected) <= chi2.isf(ALPHA, counts.size - 1))


def agrees(draws: np.ndarray, law) -> bool:
    """Whether the draws are compatible with the law; a true law fails with probability ALPHA."""
    return compatible(*binned(draws, law))


def tilted(probabilities: np.ndarray, by: float) -> np.ndarray:
    """The same bins with the lower half of the mass raised by this relative amount against the upper half."""
    lower = np.cumsum(probabilities) - probabilities / 2 <= 0.5
    wrong = probabilities * np.where(lower, 1 + by, 1 - by)
    return wrong / wrong.sum()


def detectable(probabilities: np.ndarray, wrong: np.ndarray, draws: int) -> bool:
    """Whether so many draws refuse the wrong probabilities all but surely."""
    excess = draws * np.sum((probabilities - wrong) ** 2 / wrong)
    return bool(excess >= 3 * chi2.isf(ALPHA, max(probabilities.size - 1, 1)))


def draws_to_detect(relative: float = 0.01) -> int:
    """Enough draws to refuse a law whose scale, or half of whose mass, is wrong by this much."""
    return int(5 * chi2.isf(ALPHA, BINS - 1) / relative**2)
