"""The law of all shares together is the convolution of the law of one."""

from __future__ import annotations

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.joint.estimators.private.total_noise import TotalNoise
from flou.joint.masking.noise import NoiseShare, gaussian_share, polya_share, skellam_share
from flou.laws import DiscreteLaplace

SHARES = {
    "polya": lambda honest: polya_share(epsilon=0.3, sensitivity=1, honest=honest),
    "narrow": lambda honest: polya_share(epsilon=3, sensitivity=1, honest=honest),
    "gaussian": lambda honest: gaussian_share(rho=0.02, sensitivity_squared=1, honest=honest),
    "skellam": lambda honest: skellam_share(rho=0.02, sensitivity_squared=1, honest=honest),
}


@pytest.mark.parametrize("kind", SHARES)
@pytest.mark.parametrize(("honest", "parties"), [(1, 1), (2, 2), (2, 3), (3, 7), (4, 2)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_reach_is_the_least_that_has_the_level(kind, honest, parties, level):
    """By convolution of the shares' own probabilities; one less would not do."""
    share = SHARES[kind](honest)
    law = share.law.pmf(np.arange(-200, 201))
    total = law
    for _ in range(parties - 1):
        total = np.convolve(total, law)
    middle = len(total) // 2
    reach = TotalNoise(share, parties).reach(level)

    def within(t):
        return total[middle - t : middle + t + 1].sum() if t >= 0 else 0.0

    assert within(reach) >= level - 1e-9
    assert within(reach - 1) < level
    assert TotalNoise(share, parties).variance == pytest.approx(
        np.sum(total * np.arange(-middle, middle + 1) ** 2), rel=1e-6
    )


def test_all_honest_polya_shares_are_discrete_laplace():
    """The reach is that of the law which they add up to."""
    share = polya_share(epsilon=0.01, sensitivity=1, honest=5)
    assert TotalNoise(share, 5).reach(0.95) == DiscreteLaplace(100).interval(0.95)[1]


@pytest.mark.parametrize(("honest", "parties"), [(3, 3), (3, 4), (2, 60)])
def test_wide_noise_is_stretched(honest, parties):
    """Scales with more probabilities than are added up have the reach of a smaller one, in proportion."""
    wide = NoiseShare("polya", 2**30, honest)
    usual = NoiseShare("polya", 2**9, honest)
    ratio = TotalNoise(wide, parties).reach(0.95) / TotalNoise(usual, parties).reach(0.95)
    assert ratio == pytest.approx(2**21, rel=0.01)


def test_draws_are_held_as_often_as_promised():
    """Sums of five shares of three, drawn: 95 % of them within the reach, and not 97 %."""
    share = polya_share(epsilon=0.1, sensitivity=1, honest=3)
    drawn = share.law.sample((20_000, 5), bits=SeededBits(1)).sum(axis=1)
    held = np.mean(np.abs(drawn) <= TotalNoise(share, 5).reach(0.95))
    assert 0.944 < held < 0.957
    assert np.mean(np.abs(drawn) <= TotalNoise(share, 3).reach(0.95)) < 0.93  # the honest shares alone are too few
