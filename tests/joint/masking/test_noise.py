"""Shares of noise: what a party adds, what it guarantees, and what another party may say about it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import FlouError, InvalidParameter, ProtocolError
from flou.joint.masking.noise import KINDS, NoiseShare, gaussian_share, polya_share, skellam_share
from flou.laws import DiscreteGaussian, DiscreteLaplace, PolyaShare, Skellam
from goodness import agrees, draws_to_detect

SHARES = [
    NoiseShare("discrete-gaussian", Fraction(40), 10),
    NoiseShare("discrete-gaussian", Fraction(7, 3), 1),
    NoiseShare("skellam", Fraction(100), 8),
    NoiseShare("polya", Fraction(5, 2), 4),
    NoiseShare("polya", Fraction(100), 1),
]
each = pytest.mark.parametrize("share", SHARES, ids=lambda s: f"{s.kind} {s.honest}")


def test_a_share_is_the_part_of_one_honest_party():
    """sigma^2 and variance are divided; Pólya shares know how many they are; alone one adds the whole."""
    laws = [share.law for share in SHARES]
    assert laws == [
        DiscreteGaussian(sigma_squared=4),
        DiscreteGaussian(sigma_squared=Fraction(7, 3)),
        Skellam(12.5),
        PolyaShare(2.5, 4),
        DiscreteLaplace(100),
    ]


@each
def test_honest_shares_make_the_claimed_law(share):
    """Draws of all honest parties, added up, follow the law of the whole; those of one party fewer do not."""
    n = draws_to_detect(0.05)
    draws = share.law.sample((share.honest, n), bits=SeededBits(f"{share.kind} {share.honest}"))
    whole = {
        "discrete-gaussian": lambda: DiscreteGaussian(sigma_squared=share.parameter),
        "skellam": lambda: Skellam(share.parameter),
        "polya": lambda: DiscreteLaplace(share.parameter),
    }[share.kind]()
    assert agrees(draws.sum(axis=0), whole)
    if share.honest > 1:
        assert not agrees(draws[1:].sum(axis=0), whole)
    assert share.total(share.honest) == pytest.approx(whole.variance, rel=1e-6)
    assert share.total(3) == pytest.approx(3 * share.law.variance)
    assert share.total(0) == 0


@each
def test_nobody_gets_beyond_the_reach(share):
    """The tail beyond the reach is below 2^-128, though the reach is not absurd."""
    law = share.law
    assert 2 * law.sf(share.reach) < 2.0**-128
    assert share.reach < 100 * law.standard_deviation + 100


def test_a_gaussian_share_keeps_the_rho_that_was_asked_for():
    """The sum of the shares guarantees rho, with hardly more noise than one Gaussian when shares are wide."""
    for honest in (1, 2, 10, 1000):
        for rho in (0.01, 0.5):
            share = gaussian_share(rho=rho, sensitivity_squared=100, honest=honest, dimension=50)
            assert share.rho(100, 50) <= Fraction(str(rho))
            assert share.parameter >= 100 / (2 * Fraction(str(rho)))
    wide = gaussian_share(rho=0.01, sensitivity_squared=100, honest=10)
    assert wide.parameter / 5000 < 1 + Fraction(1, 10**8)
    assert gaussian_share(rho=0.5, sensitivity_squared=1, honest=1).parameter == 1
    narrow = gaussian_share(rho=0.5, sensitivity_squared=4, honest=4, dimension=1)
    assert Fraction(49, 100) < narrow.rho(4, 1) <= Fraction(1, 2)  # the least variance, not just a sufficient one
    assert narrow.parameter > Fraction(4004, 1000)


def test_a_skellam_share_keeps_the_rho_that_was_asked_for():
    """The sum of the shares guarantees rho with hardly more noise than a Gaussian, for any number of parties."""
    for honest in (1, 10, 10**6):
        share = skellam_share(rho=0.1, sensitivity_squared=1000, honest=honest)
        assert Fraction(999, 10**4) < share.rho(1000, 7) <= Fraction(1, 10)
        assert 1 <= share.parameter / 5000 < Fraction(102, 100)
    assert skellam_share(rho=100, sensitivity_squared=1, honest=3).parameter == 4  # no guarantee is stated below


def test_a_polya_share_has_the_epsilon_that_was_asked_for():
    """epsilon = sensitivity / scale, exactly."""
    share = polya_share(epsilon=0.3, sensitivity=7, honest=5)
    assert share == NoiseShare("polya", Fraction(70, 3), 5)
    assert share.epsilon(7) == Fraction(3, 10)
    assert share.epsilon(14) == Fraction(6, 10)


def test_laplace_noise_has_that_epsilon():
    """The law of five honest shares and its shift by the sensitivity differ by at most e^epsilon, and by no less."""
    whole = DiscreteLaplace(polya_share(epsilon=0.3, sensitivity=7, honest=5).parameter)
    k = np.arange(-200, 201)
    ratio = np.max(np.abs(whole.log_pmf(k) - whole.log_pmf(k - 7)))
    assert ratio == pytest.approx(0.3, rel=1e-12)


def test_each_kind_has_its_own_measure():
    """Pure noise has no rho here, and Gaussian noise no epsilon."""
    with pytest.raises(InvalidParameter, match="epsilon"):
        polya_share(epsilon=1, sensitivity=1, honest=3).rho(1, 1)
    for make in (gaussian_share, skellam_share):
        with pytest.raises(InvalidParameter, match="rho"):
            make(rho=0.1, sensitivity_squared=100, honest=3).epsilon(1)


@each
def test_shares_survive_a_message(share):
    """What one party writes another reads."""
    assert NoiseShare.from_dict(share.to_dict()) == share
    assert set(share.to_dict()) == {"kind", "parameter", "honest"}


def test_made_shares_survive_a_message():
    """Also those with long fractions."""
    for share in (
        gaussian_share(rho=0.123456789012345, sensitivity_squared=2**80, honest=7),
        skellam_share(rho=0.123456789012345, sensitivity_squared=12345.678901, honest=7),
    ):
        assert NoiseShare.from_dict(share.to_dict()) == share


GOOD = {"kind": "polya", "parameter": "5/2", "honest": 4}


@pytest.mark.parametrize(
    "change",
    [
        *({"kind": kind} for kind in ("gauss", None, ["polya"])),
        *(
            {"parameter": p}
            for p in (2.5, 2, None, "", "2.5", "10/4", "5/1", "5/0", "-5/2", "0", "05/2", " 5/2", "5/2\n")
        ),
        *({"parameter": p} for p in ("1e9999999", "٥/2", "9" * 101, "9" * 90, "1/" + "9" * 90)),
        *({"honest": h} for h in (0, -1, True, 4.0, "4", 10**9)),
        {"more": 1},
    ],
    ids=repr,
)
def test_what_others_say_is_checked(change):
    """Anything but the one form of a share in range is refused."""
    assert NoiseShare.from_dict(GOOD).honest == 4
    with pytest.raises((ProtocolError, InvalidParameter)):
        NoiseShare.from_dict({**GOOD, **change})


@pytest.mark.parametrize("told", [None, [], "polya", {}, {"kind": "polya", "parameter": "1"}])
def test_messages_of_another_shape_are_refused(told):
    """A share has three parts."""
    with pytest.raises(ProtocolError, match="malformed"):
        NoiseShare.from_dict(told)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parameter", [0, -1, float("nan"), float("inf"), "1", None, 2**200, Fraction(1, 2**200), True])
def test_senseless_parameters_are_refused(kind, parameter):
    """The width of noise is positive and of a usual size."""
    with pytest.raises(FlouError):
        NoiseShare(kind, parameter, 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: gaussian_share(rho=0, sensitivity_squared=1, honest=3),
        lambda: gaussian_share(rho=1, sensitivity_squared=0, honest=3),
        lambda: gaussian_share(rho=1, sensitivity_squared=1, honest=0),
        lambda: gaussian_share(rho=1, sensitivity_squared=1, honest=3, dimension=0),
        lambda: skellam_share(rho=-1, sensitivity_squared=1, honest=3),
        lambda: skellam_share(rho=1, sensitivity_squared=float("nan"), honest=3),
        lambda: skellam_share(rho=1, sensitivity_squared=1, honest=2.5),
        lambda: polya_share(epsilon=0, sensitivity=1, honest=3),
        lambda: polya_share(epsilon=1, sensitivity=-1, honest=3),
        lambda: polya_share(epsilon=1, sensitivity=1, honest=0),
        lambda: SHARES[0].total(-1),
        lambda: SHARES[0].rho(1, 0),
    ],
)
def test_senseless_wishes_are_refused(call):
    """Prices, sensitivities and numbers of parties are positive."""
    with pytest.raises(InvalidParameter):
        call()


TOTALS = {
    "polya": lambda honest: polya_share(epsilon=0.3, sensitivity=1, honest=honest),
    "narrow": lambda honest: polya_share(epsilon=3, sensitivity=1, honest=honest),
    "gaussian": lambda honest: gaussian_share(rho=0.02, sensitivity_squared=1, honest=honest),
    "skellam": lambda honest: skellam_share(rho=0.02, sensitivity_squared=1, honest=honest),
}


@pytest.mark.parametrize("kind", TOTALS)
@pytest.mark.parametrize(("honest", "parties"), [(1, 1), (2, 2), (2, 3), (3, 7), (4, 2)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_reach_is_the_least_that_has_the_level(kind, honest, parties, level):
    """By convolution of the shares' own probabilities; one less would not do."""
    share = TOTALS[kind](honest)
    law = share.law.pmf(np.arange(-200, 201))
    total = law
    for _ in range(parties - 1):
        total = np.convolve(total, law)
    middle = len(total) // 2
    reach = share.total_reach(parties, level)

    def within(t):
        return total[middle - t : middle + t + 1].sum() if t >= 0 else 0.0

    assert within(reach) >= level - 1e-9
    assert within(reach - 1) < level
    assert share.total(parties) == pytest.approx(np.sum(total * np.arange(-middle, middle + 1) ** 2), rel=1e-6)


def test_all_honest_polya_shares_are_discrete_laplace():
    """The reach is that of the law which they add up to."""
    share = polya_share(epsilon=0.01, sensitivity=1, honest=5)
    assert share.total_reach(5, 0.95) == DiscreteLaplace(100).interval(0.95)[1]


@pytest.mark.parametrize(("honest", "parties"), [(3, 3), (3, 4), (2, 60)])
def test_wide_noise_is_stretched(honest, parties):
    """Scales with more probabilities than are added up have the reach of a smaller one, in proportion."""
    wide = NoiseShare("polya", 2**30, honest)
    usual = NoiseShare("polya", 2**9, honest)
    ratio = wide.total_reach(parties, 0.95) / usual.total_reach(parties, 0.95)
    assert ratio == pytest.approx(2**21, rel=0.01)


def test_draws_are_held_as_often_as_promised():
    """Sums of five shares of three, drawn: 95 % of them within the reach, and not 97 %."""
    share = polya_share(epsilon=0.1, sensitivity=1, honest=3)
    drawn = share.law.sample((20_000, 5), bits=SeededBits(1)).sum(axis=1)
    held = np.mean(np.abs(drawn) <= share.total_reach(5, 0.95))
    assert 0.944 < held < 0.957
    assert np.mean(np.abs(drawn) <= share.total_reach(3, 0.95)) < 0.93  # the honest shares alone are too few
