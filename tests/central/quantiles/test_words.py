"""What is told with quantiles: decimals that are decimals, digits worth reading, notes, and the certificate."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

import flou
from flou.bits import SeededBits
from flou.central.quantiles.quantiles import NARROWER, UNPAID
from flou.central.question import few_rows
from flou.errors import InvalidParameter


@pytest.mark.parametrize(
    ("value", "bounds", "granularity"),
    [
        (12.35, (0, 100), 0.01),  # a cell for each value,
        (37.2, (30, 45), 0.1),
        (7.3, (0, 10), 0.1),
        (12.35, (0, 1_000_000), 0.01),  # and more of them than can be listed
        (1234.567, (0, 5_000), 0.001),
        (2.75, (0.25, 100.25), 0.5),
    ],
)
@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_answers_and_ends_are_the_decimals_that_values_are(value, bounds, granularity, relation):
    """The double of 12.35, and not one beside it: otherwise the interval of equal rows misses them."""
    release = flou.median([value] * 2000, bounds=bounds, granularity=granularity, epsilon=1, relation=relation)
    low, high = release.interval()
    assert release.value == value
    assert low <= value <= high
    assert high - low < 1.5 * granularity
    written = f"{value:,}"
    assert f"  {written}   95 %" in repr(release)


def test_differences_and_thirds_are_exact_too():
    """0.7 - 0.1 is 0.6, and a hundred is a multiple of a third."""
    tenths = np.repeat(np.arange(11) / 10, 400)
    for _ in range(20):
        release = flou.iqr(tenths, bounds=(0, 1), granularity=0.1, epsilon=5)
        assert release.value in np.arange(11) / 10
        low, high = release.interval()
        assert low in np.arange(11) / 10
        assert low <= 0.6 <= high
    release = flou.median([100.0] * 400, bounds=(0, 100), granularity=1 / 3, epsilon=5)
    assert release.value == 100
    assert release.interval() == (100, 100)
    assert "100.000   95 %" in repr(release)


def test_intervals_on_a_fine_granularity_cover():
    """Of multiples of a hundredth, at many decimals: all deciles lie in their intervals, up to their level."""
    rng, held = np.random.default_rng(8), []
    for run in range(60):
        values = np.round(rng.gamma(3.0, 10.0, 3000), 2).clip(0, 200)
        upper = 200 if run % 2 else 200_000  # listed or not
        release = flou.quantiles(values, flou.deciles, bounds=(0, upper), granularity=0.01, epsilon=2)
        truth = np.sort(values)[np.arange(300, 3000, 300) - 1]
        low, high = release.interval()
        held.append(np.mean((low <= truth) & (truth <= high)))
        assert np.array_equal(np.round(release.value, 2), release.value)
    assert np.mean(held) > 0.94


def test_values_are_written_finer_than_wide_intervals():
    """A quantile is nearer than its interval tells, and without intervals it has no other digits."""
    pay = np.random.default_rng(1).lognormal(10.5, 0.6, 5000)
    release = flou.median(pay, bounds=(0, 300_000), epsilon=1, intervals=0)
    assert abs(release.rounded() - release.value) <= 50
    assert release.note == UNPAID
    assert release.interval() == (0, 300_000)
    assert "3   95 %: 3 to 3" in repr(flou.median([3] * 2000, domain=flou.Integers(1, 5), epsilon=1))
    assert "36,000 " in repr(flou.median([36_000] * 2000, bounds=(0, 300_000), granularity=1000, epsilon=1))


def test_the_certificate_names_the_quantiles():
    """Deciles and extremes are different releases, and so are their certificates."""
    released = [flou.quantiles([1.0] * 100, p, bounds=(0, 2), epsilon=1) for p in (flou.deciles, [0.001, 0.999])]
    found = [one.certificate["mechanism"]["probabilities"] for one in released]
    assert found == [[i / 10 for i in range(1, 10)], [0.001, 0.999]]


@pytest.mark.parametrize("asked", [{"method": "auto"}, {"intervals": 0}])
def test_groups_without_rows_are_named(asked):
    """By what was released of their sizes; full groups are not named."""
    full = {"d": ["a"] * 4000, "x": np.random.default_rng(0).normal(50, 10, 4000).tolist()}
    schema = {"d": flou.Categories(["a", "empty"], other=False, missing="a"), "x": flou.Interval(0, 100)}
    table = flou.open(full, schema=schema, bits=SeededBits(5))  # an empty group may seem to have rows, one in a hundred
    for release in (table.group_by("d").deciles("x", epsilon=1, **asked), table.group_by("d").boxplot("x", epsilon=1)):
        assert "Few rows next to the noise: empty." in release.note
    many = [i / 1000 for i in range(1, 1000)]  # read off the same counts as a few
    assert "Few rows" not in flou.quantiles(np.arange(9999.0), many, bounds=(0, 10**4), epsilon=0.5, **asked).note
    alone = flou.deciles if "method" in asked else 0.5
    few = flou.quantiles([], alone, bounds=(0, 1), epsilon=1, relation="substitute", **asked)
    assert "Few rows next to the noise: the answers may be far off." in few.note


def test_narrower_intervals_are_pointed_out_where_there_are_some():
    """As often as the note says so, the other method does have narrower ones; of many rows nobody needs them."""
    values = np.random.default_rng(0).normal(50, 10, 3000)
    usual = flou.quantiles(values, flou.deciles, bounds=(0, 100), epsilon=1)
    assert usual.note == NARROWER
    focused = flou.quantiles(values, flou.deciles, bounds=(0, 100), epsilon=1, method="focused")
    assert focused.note == ""
    wide, narrow = (np.mean(np.subtract(*one.interval()[::-1])) for one in (usual, focused))
    assert narrow < wide / 2
    assert flou.quantiles(np.tile(values, 20), flou.deciles, bounds=(0, 100), epsilon=1).note == ""
    box = flou.boxplot(values, bounds=(0, 100), epsilon=1, method="focused")
    assert "focused" in box.certificate["mechanism"]["name"]
    assert flou.iqr(values, bounds=(0, 100), epsilon=1, method="tree").note == ""


def test_refusals_say_what_can_be_passed():
    """The example of a refusal is none that is refused next."""
    for wrong, words in (
        ({"intervals": 1}, "intervals must be below 1"),
        ({"granularity": float("nan")}, "granularity=1"),
        ({"bounds": (0, float("inf"))}, "upper=100"),
        ({"bounds": (1e16, 1e16 + 2)}, "bounds that are farther apart"),
        ({"bounds": None}, "domain=flou.Integers"),
    ):
        with pytest.raises(InvalidParameter, match=words):
            flou.median([1.0], **{"bounds": (0, 10), "epsilon": 1, **wrong})
    shares = flou.ecdf([1.0] * 10, bounds=(0, 2), epsilon=1)
    for wrong in ("a", [1, "a"], object(), float("nan")):
        with pytest.raises(InvalidParameter, match="x must be a number"):
            shares.at(wrong)
    with pytest.raises(InvalidParameter, match="path must end in"):
        shares.plot(3)
    with pytest.raises(InvalidParameter, match="one column"):
        flou.open({"x": [1.0]}, schema={"x": flou.Interval(0, 1)}).group_by(["x", "y"])


def test_decimals_are_parameters():
    """Epsilon, probabilities, bounds and the granularity may be written as decimals."""
    release = flou.quantile(
        [12.35] * 2000, Decimal("0.5"), bounds=(0, Decimal(100)), granularity=Decimal("0.01"), epsilon=Decimal("0.9")
    )
    assert release.value == 12.35
    assert release.cost.epsilon == 0.9


@pytest.mark.parametrize(("epsilon", "level"), [(3, 0.95), (3.9, 0.99), (5, 0.999)])
def test_intervals_of_truth_values_hold(epsilon, level):
    """Noise that is nearly always 0 has next to no variance, and is 1 often enough (false alarms: 1e-6)."""
    values, runs = [False] * 50 + [True] * 50, 2500
    released = [flou.quantiles(values, flou.quartiles, domain=flou.Boolean(), epsilon=epsilon) for _ in range(runs)]
    missed = sum(not low[1] <= 0 <= high[1] for low, high in (one.interval(level) for one in released))
    assert missed <= runs * (1 - level) + 5 * (runs * (1 - level)) ** 0.5


def test_a_few_groups_are_named():
    """A note is a line, however many groups there are."""
    assert few_rows([]) == ""
    assert few_rows(["a", "b"]) == "Few rows next to the noise: a, b."
    assert few_rows([str(i) for i in range(400)]).endswith("6, 7 and 392 more.")


@pytest.mark.parametrize(("p", "ranks"), [(0.5, 30), (flou.deciles, 40)])
@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_intervals_are_as_wide_as_the_reference_says(p, ranks, relation):
    """So many ranks to either side, over the share of epsilon; half of that under add-remove; up to a third more."""
    values = np.sort(np.random.default_rng(0).normal(50, 10, 20_000))
    wanted, found = ranks / 0.1 / (2 if relation == "add-remove" else 1), []
    for _ in range(40):
        low, high = flou.quantiles(values, p, bounds=(0, 100), epsilon=1, relation=relation).interval()
        found.append(np.mean(np.searchsorted(values, high) - np.searchsorted(values, low)) / 2)
    assert 0.6 * wanted < np.mean(found) < 1.7 * wanted
