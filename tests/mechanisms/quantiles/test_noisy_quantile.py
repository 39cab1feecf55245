"""The baselines with noise for the whole range: private for all neighbours, and as bad as they say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.guarantee import ApproxDP, PureDP
from flou.mechanisms.quantiles import NoisyQuantile
from mechanisms.quantiles.tiny import PROBABILITIES, RELATIONS, as_counts, follows, in_memory, pairs
from privacy.exhaustive import delta

CELLS = 4
MANY = [
    (Fraction(1, 2),),
    (Fraction(0), Fraction(1)),
    (Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(9, 10)),
]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("many", MANY, ids=len)
def test_no_neighbour_moves_the_answers_further_than_the_noise_allows(relation, many):
    """In L1 and L2 norm, for every pair of neighbours; and some pair moves them as far."""
    mechanism, root = NoisyQuantile(many, epsilon=1, relation=relation), NoisyQuantile(many, epsilon=1, delta=1e-3)
    far = 0.0
    for a, b in pairs(relation, range(CELLS), 5):
        moved = np.abs(mechanism.exact(in_memory(a, CELLS)) - mechanism.exact(as_counts(b, CELLS)))
        noise = mechanism.noise(len(a), CELLS)
        assert moved.sum() <= noise.sensitivity
        squares = Fraction(int(np.sum(moved**2)))
        root = NoisyQuantile(many, epsilon=1, delta=1e-3, relation=relation).noise(len(a), CELLS)
        assert squares <= root.sensitivity**2
        far = max(far, float(moved.sum() / noise.sensitivity))
    assert far == (1 if relation == "substitute" or len(many) == 1 else far)
    assert far > 0.6


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", PROBABILITIES, ids=str)
def test_the_exact_loss(relation, p):
    """One quantile before clamping: shifted noise, epsilon for Laplace and delta for Gaussian, both nearly reached."""
    pure = NoisyQuantile(p, epsilon=1, relation=relation)
    approx = NoisyQuantile(p, epsilon=1, delta=0.01, relation=relation)
    k = np.arange(-400, 400)
    worst, most = 0.0, 0.0
    shifts = {
        int(pure.exact(in_memory(a, CELLS))[0] - pure.exact(in_memory(b, CELLS))[0])
        for a, b in pairs(relation, range(CELLS), 4)
    }
    assert max(shifts) == CELLS - 1
    for shift in shifts:
        noise = pure.noise(1, CELLS).noise
        worst = max(worst, float(np.max(noise.log_pmf(k) - noise.log_pmf(k - shift))))
        noise = approx.noise(1, CELLS).noise
        most = max(most, delta(noise.pmf(k), noise.pmf(k - shift), 1))
    assert 0.999 <= worst <= 1 + 1e-9
    assert 0.005 <= most <= 0.01


def test_samples_are_the_exact_quantile_with_clamped_noise():
    """Arrays and counts, against the law of the noise with its tails at the bounds."""
    table = (1, 2, 2, 5, 7)
    for summary, relation in ((in_memory, "add-remove"), (as_counts, "substitute")):
        mechanism = NoisyQuantile(0.5, epsilon=6, relation=relation)
        records, bits = summary(table, 9), SeededBits(f"noisy {relation}")
        draws = np.array([mechanism.sample(records, bits=bits)[0] for _ in range(3000)])
        noise = mechanism.noise(len(table), 9).noise
        p = noise.pmf(np.arange(9) - 2)
        p[0], p[8] = noise.cdf(-2), noise.sf(5)
        assert follows(draws, p)
        assert not follows(draws, np.roll(p, 1))


def test_guarantees_and_the_empty_table():
    """Pure without a delta, approximate with one; without records the middle cell is what noise is added to."""
    assert NoisyQuantile(0.5, epsilon=1).guarantee == PureDP(1)
    assert NoisyQuantile(0.5, epsilon=1, delta=1e-6).guarantee == ApproxDP(1, 1e-6)
    assert NoisyQuantile([0.1, 0.9], epsilon=1).exact(in_memory((), 9)).tolist() == [4, 4]
    assert NoisyQuantile(0.5, epsilon=1, delta=0.1).sample(in_memory((0, 0), 1)).tolist() == [0]


def test_scales_beyond_the_law_are_refused_for_all_data():
    """Noise beyond 2^50 cells is refused by its public parameters, with and without records."""
    for table in ((), (3,)):
        with pytest.raises(InvalidParameter, match="scale"):
            NoisyQuantile(0.5, epsilon=1e-6).sample(in_memory(table, 2**40))
