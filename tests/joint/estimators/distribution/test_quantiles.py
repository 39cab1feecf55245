"""Quantiles are exactly those of the pooled rows, in at most four rounds."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from scipy.stats import binom

from flou import Boolean, Categories, Integers, Interval, Schema
from flou.errors import InvalidData, InvalidParameter, ProtocolError
from flou.joint.estimators.distribution.quantile_search import FloatGrid, GrainGrid
from flou.joint.estimators.distribution.quantiles import Quantiles, around
from flou.joint.estimators.program import Opened, program_of
from joint.estimators.summed import parts, run

PROBABILITIES = [0, 1e-9, 0.07, 0.25, 0.29, 1 / 3, 0.5, 0.9, 1]
MADE = np.random.default_rng(7)
TINY, HUGE = 5e-324, 1.7976931348623157e308

DATA = {
    "normal": MADE.normal(size=1000),
    "one value": np.full(40, 0.1),
    "one row": np.array([-3.7]),
    "two rows": np.array([2.0, -1.0]),
    "ties": MADE.integers(0, 4, 300) / 10,
    "zeros of both signs": np.array([0.0, -0.0, -0.0, 0.0, -1.0, 1.0]),
    "denormals": np.array([TINY, -TINY, 2 * TINY, 0.0, 3 * TINY, 2.2e-308]),
    "huge": np.array([HUGE, -HUGE, np.nextafter(HUGE, 0), 1.0, 1e300]),
    "infinite": np.array([np.inf, -np.inf, 0.0, np.inf, 1.0]),
    "neighbours": np.nextafter(1.0, 2) + np.arange(100) * 2.0**-52,
    "every scale": MADE.normal(size=500) * 10.0 ** MADE.integers(-300, 300, 500),
    "hundred": np.arange(100.0),  # 100 * 0.07 is above 7 in doubles
}


def reference(values, probabilities=PROBABILITIES):
    return np.quantile(values, probabilities, method="inverted_cdf")


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("sizes", [(0, 1), (2, 0, 1, 0)])
def test_every_float_is_found(name, sizes):
    """Without bounds and without a granularity, the very floats, in at most four rounds."""
    fit, opened = run(Quantiles("x", PROBABILITIES, exact=True), parts({"x": DATA[name]}, sizes))
    assert len(opened) <= 4
    np.testing.assert_array_equal(fit.values, reference(DATA[name]))
    assert fit.n == len(DATA[name])
    for value, below, equal in zip(fit.values, fit.below, fit.equal, strict=True):
        assert below == (DATA[name] < value).sum()
        assert equal == (DATA[name] == value).sum()


@pytest.mark.parametrize(("rounds", "most"), [(4, 65536), (5, 7132), (8, 256), (64, 2)])
def test_more_rounds_open_fewer_numbers(rounds, most):
    """As many rounds as one likes, with the fewest parts that suffice."""
    program = Quantiles("x", 0.5, exact=True, rounds=rounds)
    assert program.search.branching <= most
    fit, opened = run(program, parts({"x": np.repeat(DATA["normal"], 2)}, (500,)))
    assert len(opened) <= rounds
    assert fit.values[0] == reference(np.repeat(DATA["normal"], 2), 0.5)


@pytest.mark.parametrize(
    ("values", "bounds", "granularity", "rounds"),
    [
        (MADE.integers(0, 101, 5000), (0, 100), 1, 1),
        (MADE.integers(-50_000, 50_000, 5000), (-50_000, 50_000), 1, 2),
        (MADE.integers(0, 10**9, 3000), (0, 10**9), 1, 3),
        (MADE.integers(0, 10**12, 3000), (0, 10**12), 1, 4),
        (MADE.integers(-700, 10**4, 4000) / 100, (-7, 100), 0.01, 2),
        (MADE.integers(0, 8, 50) * 0.3, (0, 2.1), 0.3, 1),
    ],
)
def test_values_on_a_public_grid_are_found_exactly(values, bounds, granularity, rounds):
    """With a granularity far fewer counts are enough, and the answers are still the exact values."""
    values = np.array([float(f"{value:.12g}") for value in values])
    program = Quantiles("x", PROBABILITIES, bounds, granularity=granularity)
    fit, opened = run(program, parts({"x": values}, (17, 0, 1000)))
    np.testing.assert_array_equal(fit.values, reference(values))
    assert len(opened) <= rounds
    assert program.search.rounds == rounds
    assert program.search.branching <= 1025


def test_between_grid_points_the_nearest_is_found():
    """Values that are on no grid give the right quantile rounded to it, 2^-20 of the width by default."""
    values = DATA["normal"] * 10
    program = Quantiles("x", PROBABILITIES, (-100, 60))
    fit, opened = run(program, parts({"x": values}, (300, 300)))
    step = 160 * 2.0**-20
    assert fit.granularity == step
    assert len(opened) == 2
    assert program.search.branching == 1025
    np.testing.assert_allclose(fit.values, reference(values), atol=step / 2 * (1 + 1e-9), rtol=0)
    assert np.abs(fit.values - reference(values)).max() > step / 1000


def test_ranks_beyond_the_bounds():
    """A rank that lies outside the bounds has an infinite answer, and the others are not moved."""
    values = np.arange(1000.0)
    fit, _ = run(Quantiles("x", [0.01, 0.2, 0.5, 0.99], (100, 900), granularity=1), parts({"x": values}, (10,)))
    assert fit.values.tolist() == [-math.inf, 199.0, 499.0, math.inf]
    assert fit.below == (None, 199, 499, None)


def test_a_single_row_is_not_cut():
    """Once a run holds one row, one number is opened instead of many."""
    _, opened = run(Quantiles("x", [0.5], exact=True), parts({"x": DATA["normal"]}, (300,)))
    assert [len(past.sums) for past in opened][-1] == 1
    assert len(opened) < 4
    _, opened = run(Quantiles("x", [0.5], exact=True), parts({"x": np.repeat(DATA["normal"], 2)}, (300,)))
    assert [len(past.sums) for past in opened][-1] > 1
    assert len(opened) == 4


def test_parties_that_leave_make_the_search_begin_again():
    """The answer is that of the remaining parties alone; without a restart there is none."""
    parties = parts({"x": DATA["normal"]}, (300, 300))
    fit, opened = run(Quantiles("x", PROBABILITIES, (-10, 10)), parties, leave={1: [0]})
    assert [past.ask.step for past in opened] == ["first", "within", "first", "within"]
    np.testing.assert_allclose(fit.values, reference(DATA["normal"][300:]), atol=2e-5)
    with pytest.raises(ProtocolError, match="left"):
        run(Quantiles("x", PROBABILITIES, (-10, 10), restarts=0), parties, leave={1: [0]})


def test_a_party_that_changes_its_rows_is_noticed():
    """Counts that do not add up to those of the round before are refused."""
    program = Quantiles("x", [0.5], (-10, 10))
    _, opened = run(program, parts({"x": DATA["normal"]}, (300,)))
    sums = list(opened[1].sums)
    sums[0] += 1
    with pytest.raises(ProtocolError, match="do not fit"):
        program.result([opened[0], Opened(opened[1].ask, tuple(sums), opened[1].parties)])


@pytest.mark.parametrize("n", [1, 5, 100, 999])
@pytest.mark.parametrize("p", [0, 0.1, 0.5, 0.93, 1])
def test_intervals_have_their_level(n, p):
    """The exact probability to miss is at most 2.5 % a side, and one rank less would be too much."""
    lower, upper = around(p, n, 0.95)
    assert binom.cdf(lower - 1, n, p) <= 0.025
    assert binom.sf(upper - 1, n, p) <= 0.025
    if lower < n and p not in (0, 1):
        assert binom.cdf(lower, n, p) > 0.025 - 1e-12
    if upper > 0 and p not in (0, 1):
        assert binom.sf(upper - 2, n, p) > 0.025 - 1e-12


def test_intervals_lie_between_two_rows():
    """The ends are the rows of the two ranks; without a level there are none."""
    parties = parts({"x": DATA["normal"]}, (300, 300))
    fit, opened = run(Quantiles("x", PROBABILITIES, exact=True, level=0.9), parties)
    ordered = np.concatenate([[-np.inf], np.sort(DATA["normal"]), [np.inf]])
    np.testing.assert_array_equal(fit.conf_int(), [ordered[list(around(p, 1000, 0.9))] for p in PROBABILITIES])
    np.testing.assert_array_equal(fit.values, reference(DATA["normal"]))
    assert len(opened) <= 4
    with pytest.raises(InvalidParameter, match="No level"):
        run(Quantiles("x", exact=True), parties)[0].conf_int()


def test_no_rows():
    """Nobody has a value: there is no quantile."""
    with pytest.raises(InvalidData, match="No party has a row"):
        run(Quantiles("x", bounds=(0, 1)), [{"x": np.array([])}, {"x": np.array([np.nan])}])


def test_codes_of_floats_keep_their_order():
    """Codes grow exactly with values, from one infinity to the other, and lead back."""
    grid = FloatGrid()
    bits = MADE.integers(0, 2**64, 20000, dtype=np.uint64).view(np.float64)
    values = np.unique(np.concatenate([bits[~np.isnan(bits)], *DATA.values()]))
    codes, below, above = grid.codes(values)
    assert (below, above) == (0, 0)
    assert np.all(codes[1:] > codes[:-1])
    assert [grid.value(int(code)) for code in codes] == values.tolist()
    assert (int(codes[0]), int(codes[-1])) == (0, grid.size - 1)
    both, _, _ = grid.codes(np.array([0.0, -0.0]))
    assert both[0] == both[1]
    part = FloatGrid(-1.0, 2.0)
    assert part.codes(np.array([-1.0, 2.0, -1.1, 2.1, 3.0]))[0].tolist() == [0, part.size - 1]
    assert part.codes(np.array([-1.0, 2.0, -1.1, 2.1, 3.0]))[1:] == (1, 2)


def test_raw_bits_are_not_an_order():
    """The order code is needed: the bits of negative floats read as integers run backwards."""
    raw = [struct.unpack("<q", struct.pack("<d", value))[0] for value in (-2.0, -1.0)]
    codes = FloatGrid().codes(np.array([-2.0, -1.0]))[0]
    assert raw[0] > raw[1]
    assert codes[0] < codes[1]


def test_multiples_of_a_decimal_grain():
    """Grid points are the decimals themselves, not sums of rounded steps."""
    program = Quantiles("x", bounds=(0, 1), granularity=0.01)
    assert isinstance(program.grid, GrainGrid)
    assert [program.grid.value(code) for code in range(101)] == [float(f"{code / 100:.2f}") for code in range(101)]


@pytest.mark.parametrize(
    ("domain", "bounds", "granularity"),
    [
        (Integers(-3, 9), (-3.0, 9.0), 1.0),
        (Boolean(), (0.0, 1.0), 1.0),
        (Interval(0, 10, granularity=0.5), (0.0, 10.0), 0.5),
        (Interval(0, 10), (0.0, 10.0), None),
    ],
)
def test_a_schema_is_enough(domain, bounds, granularity):
    """What a schema says of a column is its grid."""
    program = Quantiles("x", schema=Schema({"x": domain}))
    assert (program.bounds, program.granularity) == (bounds, granularity)
    with pytest.raises(InvalidParameter, match="no order"):
        Quantiles("x", schema=Schema({"x": Categories(["a"])}))


@pytest.mark.parametrize(
    "program",
    [
        Quantiles("x", 0.5, exact=True),
        Quantiles("x", [0.1, 0.9], (0, 10), granularity=0.5, level=0.9, restarts=0),
        Quantiles("x", bounds=(0, 10), cells=300, rounds=6),
    ],
)
def test_terms_make_the_same_program(program):
    """A plan says everything."""
    again = program_of("quantiles", program.terms())
    assert again.terms() == program.terms()
    assert (again.scalars, again.search, again.grid) == (program.scalars, program.search, program.grid)


@pytest.mark.parametrize(
    "call",
    [
        lambda: Quantiles("x"),
        lambda: Quantiles("x", 2, exact=True),
        lambda: Quantiles("x", [], exact=True),
        lambda: Quantiles("x", "0.5", exact=True),
        lambda: Quantiles("x", bounds=(0, 1), granularity=-1),
        lambda: Quantiles("x", bounds=(0, 1), exact=True, granularity=0.1),
        lambda: Quantiles("x", bounds=(0, np.inf)),
        lambda: Quantiles("x", bounds=(0, 10**13), granularity=1),
        lambda: Quantiles("x", exact=True, cells=1025),
        lambda: Quantiles("x", exact=True, level=1),
        lambda: Quantiles.from_terms({**Quantiles("x", exact=True).terms(), "more": 1}),
        lambda: Quantiles.from_terms({"column": "x"}),
    ],
)
def test_wrong_choices_are_refused(call):
    """Each in three sentences."""
    with pytest.raises(InvalidParameter):
        call()


def test_summary():
    """A line for each probability, with the interval where it was asked for."""
    text = run(Quantiles("x", [0.5], (0, 99), granularity=1, level=0.95), parts({"x": DATA["hundred"]}, (3,)))[
        0
    ].summary()
    assert "49" in text
    assert "[0.025" in text
    assert "multiples of 1," in text
    assert "exact values" in run(Quantiles("x", [0.5], exact=True), parts({"x": DATA["hundred"]}, (3,)))[0].summary()
