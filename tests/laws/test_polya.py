"""Pólya shares: their law, their sum, and a sampler of integers alone."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.laws import DiscreteLaplace, PolyaShare
from flou.laws.polya import _below_each
from goodness import agrees, draws_to_detect
from laws import test_laws as contract
from laws.catalogue import Entry


def negative_binomial(scale: Fraction, h: int, reach: int) -> list[mp.mpf]:
    """P(X = k) for k = 0..reach, by its definition."""
    a, r = mp.e ** (-mp.mpf(scale.denominator) / scale.numerator), mp.mpf(1) / h
    p = [(1 - a) ** r]
    for k in range(1, reach + 1):
        p.append(p[-1] * a * (k - 1 + r) / k)
    return p


def share(scale, h: int, reach: int) -> list[mp.mpf]:
    """P(X - Y = k) for k = 0..reach, summed out to twice as far."""
    p = negative_binomial(Fraction(str(scale)), h, 2 * reach)
    return [mp.fsum(p[j] * p[j + k] for j in range(reach + 1)) for k in range(reach + 1)]


def entry(scale, h: int) -> Entry:
    reach = int(45 * scale) + 60
    with mp.workdps(40):
        p = share(scale, h, reach)
    return Entry(PolyaShare(scale, h), lambda k: p[abs(k)], range(-reach, reach + 1))


@pytest.mark.parametrize(("scale", "h"), [(0.05, 2), (0.5, 3), (1, 2), (3.7, 5), (3, 1000), (7.3, 2)])
def test_the_law_is_the_formula(scale, h):
    """Probabilities, tails, moments, quantiles and intervals are those of two negative binomials, as for every law."""
    case = entry(scale, h)
    contract.test_pmf_is_the_formula(case)
    contract.test_cdf_and_sf_are_sums_of_the_pmf(case)
    contract.test_moments_are_sums_over_the_pmf(case)
    for p in (1e-6, 0.025, 0.5, 0.975):
        contract.test_quantile_is_the_least_k_that_reaches_p(case, p)
    contract.test_interval_holds_its_level_and_no_end_is_idle(case, 0.95)


@pytest.mark.parametrize(("scale", "h"), [(0.8, 2), (2.5, 3), (2, 7)])
def test_shares_add_up_to_laplace_noise(scale, h):
    """h shares, convolved with 40 digits, are the discrete Laplace law to 1e-30; h - 1 of them are not."""
    reach = int(80 * scale) + 20
    with mp.workdps(40):
        one = negative_binomial(Fraction(str(scale)), h, reach)
        side = [mp.mpf(1)] + [mp.mpf(0)] * reach
        sides = []
        for _ in range(h):
            side = [mp.fsum(side[j] * one[k - j] for j in range(k + 1)) for k in range(reach + 1)]
            sides.append(side)
        a = mp.e ** (-1 / mp.mpf(str(scale)))
        assert all(abs(p - (1 - a) * a**k) < mp.mpf("1e-30") for k, p in enumerate(sides[-1]))  # geometric
        for number, geometric in ((h, sides[-1]), (h - 1, sides[-2])):
            worst = max(
                abs(mp.fsum(geometric[j] * geometric[j + k] for j in range(reach + 1 - k)) - (1 - a) / (1 + a) * a**k)
                for k in range(8)
            )
            assert (worst < mp.mpf("1e-29")) is (number == h)


@pytest.mark.parametrize(("scale", "h"), [(0.8, 2), (5, 4), (12.5, 30)])
def test_the_law_in_floats_adds_up_to_laplace_noise(scale, h):
    """The same with the law's own probabilities, to 1e-12."""
    k = np.arange(-int(40 * scale) - 40, int(40 * scale) + 41)
    one = PolyaShare(scale, h).pmf(k)
    total = one
    for _ in range(h - 1):
        total = np.convolve(total, one)[len(k) // 2 : len(k) // 2 + len(k)]
    assert np.max(np.abs(total - DiscreteLaplace(scale).pmf(k))) < 1e-12
    assert np.max(np.abs(total - DiscreteLaplace(scale * 1.01).pmf(k))) > 1e-5


@pytest.mark.parametrize("scale", [300, 10**6, 2**50])
@pytest.mark.parametrize("h", [2, 3, 20])
def test_wide_laws_are_whole(scale, h):
    """At every scale the probabilities on both sides and at 0 are one, and the sum of tails is E |K|."""
    law = PolyaShare(scale, h)
    assert 2 * law.sf(0) + law.pmf(0) == pytest.approx(1, rel=1e-12)
    assert law.sf(4) - law.sf(5) == pytest.approx(law.pmf(5), rel=1e-6)
    if scale == 300:
        assert 2 * np.sum(law.sf(np.arange(32 * scale))) == pytest.approx(law.mean_absolute, rel=1e-12)


def test_parts_of_a_geometric_total_are_one_share_of_it():
    """The recursion of the sampler, in exact fractions, has the Pólya urn's law: weights (1/h)(1/h + 1) ... / k!."""
    h, top = 3, 9
    law: list[dict[int, Fraction]] = [{0: Fraction(1)}]
    for n in range(1, top):
        now: Counter[int] = Counter()
        for part in range(1, n + 1):
            for x, p in law[n - part].items():
                now[x + part] += p / n / h
                now[x] += p / n * (1 - Fraction(1, h))
        law.append(dict(now))

    def rising(r: Fraction, k: int) -> Fraction:
        result = Fraction(1)
        for i in range(k):
            result *= (r + i) / (i + 1)
        return result

    for n in range(top):
        for x in range(n + 1):
            assert law[n].get(x, 0) == rising(Fraction(1, h), x) * rising(1 - Fraction(1, h), n - x)


@pytest.mark.parametrize(("scale", "h"), [(0.5, 2), (7, 5), (1000, 2), (2**40, 3)])
def test_draws_follow_the_law_and_another_one_is_noticed(scale, h):
    """Draws follow the law (false alarms: 1e-9), and another scale or another number of parties is refused."""
    draws = PolyaShare(scale, h).sample(draws_to_detect(0.04), bits=SeededBits(f"polya {scale} {h}"))
    assert agrees(draws, PolyaShare(scale, h))
    assert not agrees(draws, PolyaShare(scale * 1.06, h))
    assert not agrees(draws, PolyaShare(scale / 1.06, h))
    assert not agrees(draws, PolyaShare(scale, h + 1))


@pytest.mark.parametrize(("scale", "h"), [(5, 4), (1000, 10)])
def test_sums_of_draws_are_laplace(scale, h):
    """h draws add up to Laplace noise, and h - 1 of them do not."""
    n = draws_to_detect(0.05)
    draws = PolyaShare(scale, h).sample((h, n), bits=SeededBits(f"sums {scale} {h}"))
    assert agrees(draws.sum(axis=0), DiscreteLaplace(scale))
    assert not agrees(draws[1:].sum(axis=0), DiscreteLaplace(scale))


def test_uniform_integers_of_many_ranges():
    """Each range is hit uniformly, and a range beyond 2^63 in which a third of all words is refused too."""
    n = np.tile([1, 3, 7], 30_000)
    found = _below_each(n, SeededBits("each"))
    for size in (1, 3, 7):
        counts = np.bincount(found[n == size], minlength=size)
        assert counts.size == size
        assert np.all(np.abs(counts - 30_000 / size) < 6.5 * np.sqrt(30_000 / size))
    wide = _below_each(np.full(60_000, 3 * 2**61), SeededBits("wide"))  # a plain remainder favours the lower part
    counts = np.bincount(wide // 2**61, minlength=3)
    assert np.all(np.abs(counts - 20_000) < 6.5 * np.sqrt(20_000))


def test_equal_laws_are_equal_and_print_as_they_are_made():
    """Laws are values."""
    assert PolyaShare(2, 3) == PolyaShare(2.0, 3) != PolyaShare(2, 4)
    assert repr(PolyaShare(0.5, 3)) == "PolyaShare(scale=0.5, parties=3)"


@pytest.mark.parametrize(
    ("scale", "parties"), [(0, 3), (-1, 3), (2**51, 3), (1, 1), (1, 0), (1, 2.5), (1, True), (1, 10**7)]
)
def test_senseless_shares_are_refused(scale, parties):
    """Alone one adds Laplace noise itself; a share is one of at least two."""
    with pytest.raises(InvalidParameter, match=r"scale|parties"):
        PolyaShare(scale, parties)
