"""What the terms promise is what the noise of the honest parties keeps."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from flou.errors import InvalidParameter
from flou.guarantee import ZCDP, ApproxDP, PureDP
from flou.joint.estimators.private.privacy import PrivacyTerms, WordSensitivity

ONE = WordSensitivity(1, 1, 5)


@pytest.mark.parametrize("honest", [1, 2, 3, 7])
@pytest.mark.parametrize("l1", [1, 3])
def test_honest_polya_shares_keep_epsilon_and_no_less(honest, l1):
    """The exact convolution of the honest shares, moved by the sensitivity, has log-ratios of at most epsilon."""
    epsilon = Fraction(3, 4)
    terms = PrivacyTerms.of(honest=honest, epsilon=epsilon)
    share = terms.share(WordSensitivity(l1, l1, 9))
    reach = 60 * l1
    points = np.arange(-reach, reach + 1)
    law = share.law.pmf(points)
    total = law
    for _ in range(honest - 1):
        total = np.convolve(total, law)
    middle = len(total) // 2
    near = np.log(total[middle - 20 * l1 : middle + 20 * l1 + 1])

    def loss(moved):
        return float(np.max(np.abs(near[moved:] - near[:-moved])))

    assert loss(l1) == pytest.approx(float(epsilon), rel=1e-6)
    assert terms.cost(share, WordSensitivity(l1, l1, 9)) == PureDP(epsilon)
    assert loss(l1 + 1) > float(epsilon) * 1.05  # a row that moves the words farther than claimed is not protected


@pytest.mark.parametrize("honest", [1, 2, 5])
def test_fewer_shares_than_claimed_break_the_promise(honest):
    """With one share missing, the log-ratio of a step of 1 exceeds epsilon."""
    share = PrivacyTerms.of(honest=honest + 1, epsilon=1).share(ONE)
    law = share.law.pmf(np.arange(-80, 81))
    total = law
    for _ in range(honest - 1):
        total = np.convolve(total, law)
    near = np.log(total[len(total) // 2 - 30 : len(total) // 2 + 31])
    assert np.max(np.abs(np.diff(near))) > 1.01


@pytest.mark.parametrize("noise", ["discrete-gaussian", "skellam"])
@pytest.mark.parametrize("honest", [1, 3, 6])
def test_honest_normal_shares_keep_rho(noise, honest):
    """Rényi divergences of the exact convolution stay below rho times the order; those of a larger move do not."""
    terms = PrivacyTerms.of(honest=honest, rho=0.05, noise=noise)
    sensitivity = WordSensitivity(2, 4, 1)
    share = terms.share(sensitivity)
    rho = terms.cost(share, sensitivity).rho
    assert rho <= 0.05
    law = share.law.pmf(np.arange(-150, 151))
    total = law
    for _ in range(honest - 1):
        total = np.convolve(total, law)
    total = total[len(total) // 2 - 60 : len(total) // 2 + 61]

    def divergence(moved, order):
        p, q = total[moved:], total[:-moved]
        return np.log(np.sum(p**order * q ** (1 - order))) / (order - 1)

    for order in (1.1, 2, 4, 8):
        assert divergence(2, order) <= rho * order * (1 + 1e-6)
        assert divergence(3, order) > 0.05 * order


@pytest.mark.parametrize(
    ("terms", "words", "kind"),
    [
        ({"epsilon": 1}, ONE, "polya"),
        ({"rho": 0.1}, ONE, "discrete-gaussian"),
        ({"rho": 0.1, "noise": "skellam"}, ONE, "skellam"),
        ({"epsilon": 1, "delta": 1e-6}, ONE, "polya"),
        ({"epsilon": 1, "delta": 1e-6}, WordSensitivity(36, 36, 36), "discrete-gaussian"),
        ({"epsilon": 1, "delta": 1e-6, "noise": "discrete-gaussian"}, ONE, "discrete-gaussian"),
        ({"rho": 0.1, "honest": 200}, ONE, "skellam"),
    ],
)
def test_the_narrowest_noise_is_chosen(terms, words, kind):
    """Pólya where it is pure or narrower, Gaussian for many words, Skellam where many share little noise."""
    made = PrivacyTerms.of(**{"honest": 3, **terms})
    share = made.share(words)
    assert share.kind == kind
    others = (
        ({"noise": "discrete-gaussian"}, {"noise": "skellam"}) if "epsilon" not in terms or "delta" in terms else ()
    )
    if "noise" not in terms:
        for other in others:
            wider = PrivacyTerms.of(**{"honest": 3, **terms, **other}).share(words)
            assert share.total(3) <= wider.total(3) * 1.011


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("terms", [{"epsilon": 0.3}, {"epsilon": 0.3, "delta": 1e-5}, {"rho": Fraction(1, 37)}])
def test_the_guarantee_is_not_above_what_was_asked(terms, relation):
    """The budget covers the cost, and hardly more noise was used than needed; parts add up."""
    made = PrivacyTerms.of(honest=4, relation=relation, noise="auto", **terms)
    words = WordSensitivity(50, 70, 20)
    cost = made.cost(made.share(words), words)
    assert cost.relation == relation
    if "rho" in terms:
        budget = ZCDP(terms["rho"], relation=relation)
        assert cost.rho >= budget.rho * (1 - 1e-8)
    else:
        budget = ApproxDP(terms["epsilon"], terms.get("delta", 1e-9), relation=relation)
        assert not ApproxDP(terms["epsilon"] * 0.999, terms.get("delta", 1e-9), relation=relation).covers(cost)
    assert budget.covers(cost)
    halves = [made.cost(made.share(words, Fraction(1, 2)), words) for _ in range(2)]
    assert budget.covers(halves[0] + halves[1])


def test_terms_survive_a_plan():
    """Numbers keep their exact value, as floats or as fractions."""
    for cost in ({"epsilon": 0.1}, {"epsilon": 2, "delta": 1e-9}, {"rho": Fraction(1, 3)}):
        made = PrivacyTerms.of(honest=3, **cost)
        assert PrivacyTerms.from_dict(made.to_dict()) == made
    assert PrivacyTerms.of(honest=3, rho=Fraction(1, 3)).to_dict()["rho"] == "1/3"


@pytest.mark.parametrize(
    "terms",
    [
        {"epsilon": 1},
        {"honest": 0, "epsilon": 1},
        {"honest": 2.5, "epsilon": 1},
        {"honest": True, "epsilon": 1},
        {"honest": 3},
        {"honest": 3, "delta": 1e-6},
        {"honest": 3, "epsilon": 1, "rho": 1},
        {"honest": 3, "epsilon": 0},
        {"honest": 3, "epsilon": "1/0"},
        {"honest": 3, "epsilon": "one"},
        {"honest": 3, "epsilon": float("nan")},
        {"honest": 3, "rho": 0.1, "noise": "polya"},
        {"honest": 3, "epsilon": 1, "noise": "skellam"},
        {"honest": 3, "epsilon": 1, "noise": "none"},
        {"honest": 3, "epsilon": 1, "relation": "swap"},
    ],
)
def test_terms_that_promise_nothing_are_refused(terms):
    """Whatever is missing, contradictory or strange, by an error that says what to pass."""
    with pytest.raises((InvalidParameter, TypeError)):
        PrivacyTerms.from_dict(terms)
