"""One price for every call: epsilon, epsilon and delta, or rho; the noise and the cost follow from it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import flou
from flou import ZCDP, ApproxDP, Categories, Integers, Interval, PureDP, Schema
from flou.bits import SeededBits
from flou.central import Histogram, Mean, Price
from flou.central.price import Sensitivity
from flou.central.question import PublicFacts
from flou.errors import FlouError, InvalidParameter
from flou.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from flou.theory.tails import half_widths
from theory.noise_and_sampling import Spread

DOMAINS = {"x": Interval(0, 100), "k": Integers(0, 9), "g": Categories(["a", "b"])}
CALLS = {
    "count": lambda t, **price: t.count(**price),
    "sum": lambda t, **price: t.sum("x", **price),
    "mean": lambda t, **price: t.mean("x", **price),
    "variance": lambda t, **price: t.variance("x", **price),
    "std": lambda t, **price: t.std("k", **price),
    "histogram": lambda t, **price: t.histogram("x", bins=4, **price),
    "density": lambda t, **price: t.density("x", points=5, terms=20, **price),
    "count by": lambda t, **price: t.group_by("g").count(**price),
    "sum by": lambda t, **price: t.group_by("g").sum("x", **price),
    "mean by": lambda t, **price: t.group_by("g").mean("x", **price),
    "variance by": lambda t, **price: t.group_by("g").variance("k", **price),
    "std by": lambda t, **price: t.group_by("g").std("k", **price),
    "histogram by": lambda t, **price: t.group_by("g").histogram("k", **price),
    "covariance": lambda t, **price: t.covariance("x", "k", **price),
    "correlation": lambda t, **price: t.correlation("x", "k", **price),
    "regression": lambda t, **price: t.regression("x", "k", **price),
}
SHORT = {
    "count": lambda x, **price: flou.count(x, **price),
    "sum": lambda x, **price: flou.sum(x, bounds=(0, 100), **price),
    "mean": lambda x, **price: flou.mean(x, bounds=(0, 100), **price),
    "variance": lambda x, **price: flou.variance(x, bounds=(0, 100), **price),
    "std": lambda x, **price: flou.std(x, bounds=(0, 100), **price),
    "histogram": lambda x, **price: flou.histogram(x, bounds=(0, 100), bins=3, **price),
    "density": lambda x, **price: flou.density(x, bounds=(0, 100), points=5, **price),
}


def table(relation="add-remove", n=2000, **options) -> flou.central.Table:
    i = np.arange(n)
    data = {"x": i * 7 % 101, "k": i % 10, "g": np.array(["a", "b"])[i % 2], "u": i}
    return flou.open(data, schema=Schema(DOMAINS, relation=relation, **options), bits=SeededBits(f"{relation} {n}"))


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("name", CALLS)
def test_every_call_takes_every_price(name, relation):
    """The cost is that of the price, the certificate names the noise, and the value lies in its interval."""
    for unit in ({}, {"unit": "u", "max_rows_per_unit": 2}):
        asked, named = table(relation, **unit), unit.get("unit", "row")
        pure = CALLS[name](asked, epsilon=1)
        either = CALLS[name](asked, epsilon=1, delta=1e-5)
        zero = CALLS[name](asked, rho=0.5)
        assert pure.cost == PureDP(1, relation=relation, unit=named)
        assert zero.cost == ZCDP(0.5, relation=relation, unit=named)
        gaussian = "Gaussian" in either.certificate["mechanism"]["name"]
        if gaussian:
            assert either.cost == ApproxDP(1, 1e-5, relation=relation, unit=named)
        else:
            assert either.cost == pure.cost
        if name == "count" and relation == "substitute" and not unit:  # which is public
            assert pure.value == zero.value == 2000
            assert either.certificate["mechanism"]["name"].startswith("none")
            continue
        assert either.certificate["mechanism"]["choice"].startswith("Gaussian" if gaussian else "Laplace")
        assert zero.certificate["mechanism"]["norm"] == "L2"
        assert pure.certificate["mechanism"]["norm"] == "L1"
        for release in (pure, either, zero):
            low, high = (np.asarray(end, dtype=float) for end in release.interval())
            assert np.all((low <= release.value + 1e-9) & (release.value <= high + 1e-9))
            assert np.all(np.isfinite(release.interval(of="population")))
            assert release.to_json()


@pytest.mark.parametrize("name", SHORT)
def test_the_short_calls_too(name):
    """One column, its bounds, and a price of any kind."""
    x = np.arange(3000) % 100
    assert SHORT[name](x, rho=0.1).cost == ZCDP(0.1)
    assert SHORT[name](x, epsilon=0.5, delta=1e-6).cost.epsilon == 0.5
    assert SHORT[name](x, epsilon=0.5).cost == PureDP(0.5)


WRONG = [
    {},
    {"delta": 1e-6},
    {"epsilon": 1, "rho": 1},
    {"rho": 1, "delta": 1e-6},
    {"epsilon": 1, "delta": 1e-6, "rho": 1},
]


@pytest.mark.parametrize("price", WRONG)
def test_a_price_is_stated_in_one_way(price):
    """Neither none nor two, in three sentences, and nothing is charged."""
    asked = table()
    for call in (CALLS["mean"], CALLS["mean by"], CALLS["regression"], lambda _, **p: flou.count([1], **p)):
        with pytest.raises(InvalidParameter) as caught:
            call(asked, **price)
        assert "Give either epsilon or rho" in str(caught.value)
        assert str(caught.value).count(". ") == 2


@pytest.mark.parametrize("price", [{"epsilon": 0}, {"epsilon": 1, "delta": 0}, {"epsilon": 1, "delta": 1}, {"rho": -1}])
def test_a_price_has_a_size(price):
    """Numbers outside their limits are refused by name."""
    with pytest.raises(FlouError, match="must"):
        table().mean("x", **price)


@pytest.mark.parametrize(("l1", "l2_squared"), [(1, 1), (2, 2), (9, 9), (31, 31), (200, 40)])
@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.1])
def test_the_smaller_noise_is_taken(l1, l2_squared, epsilon, delta):
    """Against the laws themselves, on a grid that is fine enough for both to be continuous."""
    fine = Sensitivity(l1, l2_squared).times(10**6)
    facts = PublicFacts(Schema({"x": Interval(0, 1)}), None)
    chosen = Price.of(epsilon, delta).noise(fine, facts).mechanism
    pure = Price.of(epsilon).noise(fine, facts).mechanism
    gaussian = flou.mechanisms.Gaussian(sensitivity=fine.l2, epsilon=epsilon, delta=delta)
    widths = pure.noise.standard_deviation, gaussian.noise.standard_deviation
    assert chosen.noise.standard_deviation == min(widths)
    assert chosen.guarantee.measure == ("approx" if widths[1] < widths[0] else "pure")


def test_the_choice_looks_at_public_facts_only():
    """Two tables with nothing in common but their schema get the same noise."""
    for price in ({"epsilon": 1, "delta": 0.3}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.1}):
        blocks = [CALLS["histogram"](table(n=n), **price).certificate["mechanism"] for n in (0, 10, 5000)]
        assert blocks[0] == blocks[1] == blocks[2]


def test_at_equal_rho_the_variance_is_half():
    """Of a count: sigma^2 = 1 / (2 rho), against 2 / epsilon^2 = 1 / rho."""
    rho = 0.001
    gaussian = table().count(rho=rho).uncertainty.noise
    laplace = table().count(epsilon=math.sqrt(2 * rho)).uncertainty.noise
    assert isinstance(gaussian, DiscreteGaussian)
    assert gaussian.variance / laplace.variance == pytest.approx(0.5, rel=1e-3)


def test_questions_take_a_bare_epsilon_or_a_price():
    """The same question, written in two ways, has the same cost; questions are values."""
    facts = PublicFacts(Schema(DOMAINS), None)
    assert Mean("x", 1, "g").prepare(facts).cost == Mean("x", Price.of(1), "g").prepare(facts).cost
    assert Histogram("g", Price.of(rho=1)) == Histogram("g", Price.of(rho=1))
    assert Mean("x", 1) == Mean("x", Price.of(1))
    with pytest.raises(InvalidParameter, match="epsilon"):
        Mean("x", -1)


def test_spreads_of_one_law_are_those_of_the_theory():
    """Laplace noises keep their scales; Gaussian noises add up to one normal, together with the sampling."""
    laplace = Spread.of(DiscreteLaplace(100), [1, -2], 3.0)
    assert (list(laplace.scales), laplace.tau) == ([100, 200], 3.0)
    for law in (DiscreteGaussian(100), RoundedGaussian(100)):
        spread = Spread.of(law, [3, -4], 1200.0)
        assert list(spread.scales) == []
        assert spread.tau == pytest.approx(1300, rel=1e-4)
        weights, taus = np.array([3, -4]), np.array([1200.0, 0.0])
        half = half_widths(law, weights, taus, 0.95)
        assert half == pytest.approx(1.959964 * np.array([1300, 500]), rel=1e-3)
        draws = law.sample((20_000, 2), bits=SeededBits(1)) @ weights
        assert np.mean(np.abs(draws) <= half[1]) == pytest.approx(0.95, abs=0.01)


def test_the_registry_knows_every_kind_of_price():
    """Pure, approximate and zero-concentrated costs have their names there."""
    names = {
        "Pure DP": {"epsilon": 1},
        "Approximate DP": {"epsilon": 1, "delta": 1e-3},
        "Zero-concentrated DP": {"rho": 1},
    }
    for name, price in names.items():
        entry = CALLS["density"](table(), **price).certificate.to_registry()["deployment"]
        assert entry["dp_flavor"]["name"] == name
        assert entry["privacy_loss"]["privacy_parameters"] == pytest.approx(price)
