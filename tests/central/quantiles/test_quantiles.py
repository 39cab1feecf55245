"""Quantiles through the door: the same law from every engine, intervals that cover, groups, ties, nothing at all."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flou
from central.quantiles.looks import looking
from flou.bits import SeededBits
from flou.central.quantiles.grid import QuantileGrid
from flou.central.quantiles.plan import METHODS, SINGLE, QuantilePlan
from flou.central.quantiles.second_look import LookedUp
from flou.errors import InvalidParameter
from flou.laws import DiscreteLaplace
from flou.mechanisms.quantiles import SortedRecords, Tree
from mechanisms.quantiles.tiny import follows

SALARY = flou.Interval(0, 300_000)


def salaries(rows: int, seed: int = 0) -> np.ndarray:
    return np.minimum(np.random.default_rng(seed).lognormal(10.5, 0.5, rows), 299_999)


def table(values, domain=SALARY, relation="add-remove", seed=1, **more):
    return flou.open({"x": values}, schema=flou.Schema({"x": domain}, relation=relation, **more), bits=SeededBits(seed))


@settings(deadline=None)
@given(st.lists(st.integers(0, 199), max_size=30), st.integers(0, 6), st.data())
def test_a_second_look_answers_as_a_sort_does(codes, shift, data):
    held = np.sort(np.array(codes, dtype=np.int64))
    look, looks = looking(held)
    counts = np.bincount(held >> shift, minlength=(199 >> shift) + 1)
    seen, sorted_ones = LookedUp(counts, shift=shift, cells=200, look=look), SortedRecords(held, cells=200)
    spans = data.draw(st.lists(st.tuples(st.integers(-3, 35), st.integers(-3, 35)), max_size=3))
    seen.prepare(spans)
    assert len(looks) <= 1
    for first, last in spans:
        assert np.array_equal(seen.ranked(first, last), sorted_ones.ranked(first, last))
    assert len(looks) <= 1  # what was prepared needs no other look
    cells = np.array(data.draw(st.lists(st.integers(0, 200), max_size=5)), dtype=np.int64)
    assert np.array_equal(seen.below_each(cells), sorted_ones.below_each(cells))


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_every_engine_has_the_same_law(relation, tmp_path):
    frame = pl.DataFrame({"x": [*salaries(3000), None, float("nan"), -5.0, 1e9], "g": ["a", "b"] * 1502})
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_csv(tmp_path / "rows.csv")
    rows = frame.to_arrow()
    sources = [frame, frame.lazy(), duckdb.sql("SELECT * FROM rows"), tmp_path / "rows.parquet", tmp_path / "rows.csv"]
    domains = {"x": SALARY, "g": flou.Categories(["a", "b"])}
    found = []
    for source in sources:
        opened = flou.open(source, schema=flou.Schema(domains, relation=relation), bits=SeededBits(7))
        grouped = opened.group_by("g").quantiles("x", flou.quartiles, epsilon=1)
        many = opened.group_by("g").quantiles("x", np.arange(1, 100) / 100, epsilon=1)
        assert many.certificate["mechanism"]["name"].startswith("quantiles, focused")
        found.append((opened.quantiles("x", flou.deciles, epsilon=1).to_dict(), grouped.to_dict(), many.to_dict()))
    assert rows.num_rows == 3004
    for release in found[1:]:
        for one, other in zip(release, found[0], strict=True):
            assert one["value"] == other["value"]
            assert one["interval_95"] == other["interval_95"]


@pytest.mark.parametrize("method", METHODS[1:])
def test_every_method_is_close_on_many_rows(method):
    values = salaries(20_000)
    wanted = [0.5] if method in SINGLE else [0.1, 0.5, 0.9]
    for relation in ("add-remove", "substitute"):
        release = table(values, relation=relation).quantiles("x", wanted, epsilon=2, method=method, intervals=0)
        ranks = [np.mean(values <= value) for value in release.value]
        assert np.allclose(ranks, wanted, atol=0.02)
        assert method in release.certificate["mechanism"]["name"]


def coverage(rows, relation, epsilon, draw, exact, runs=150, factor=1.0):
    """How often the intervals hold the quantiles of the data and of the population."""
    held, total = np.zeros(2), 0
    for run in range(runs):
        values = draw(np.random.default_rng(run), rows)
        release = table(values, domain=flou.Interval(0, 1), relation=relation, seed=run).quantiles(
            "x", [0.25, 0.5], epsilon=epsilon
        )
        truths = np.sort(values)[[rows // 4 - 1, rows // 2 - 1]], np.array(exact)
        for i, (of, truth) in enumerate(zip(("data", "population"), truths, strict=True)):
            low, high = release.interval(0.95, of=of)
            low, high = release.value + factor * (low - release.value), release.value + factor * (high - release.value)
            held[i] += np.sum((low <= truth) & (truth <= high))
        total += 2
    return held / total


UNIFORM = (lambda generator, rows: generator.random(rows)), (0.25, 0.5)
SKEWED = (lambda generator, rows: generator.random(rows) ** 3), (0.25**3, 0.5**3)


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize(("draw", "exact"), [UNIFORM, SKEWED])
@pytest.mark.parametrize(("rows", "epsilon"), [(1000, 1), (4000, 0.5)])
def test_intervals_cover(relation, draw, exact, rows, epsilon):
    assert np.all(coverage(rows, relation, epsilon, draw, exact, runs=50) >= 0.91)


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("power", [1, 3])
def test_intervals_of_many_quantiles_cover_and_are_narrow(relation, power):
    """Hundredths of evenly spread and of skewed rows: of these rows and of the population, a few hundred ranks wide."""
    ps, rows, held, wide = np.arange(1, 100) / 100, 20_000, np.zeros(2), []
    for run in range(30):
        values = np.sort(np.random.default_rng(run).random(rows) ** power)
        opened = table(values, domain=flou.Interval(0, 1), relation=relation, seed=run)
        release = opened.quantiles("x", ps, epsilon=1)
        assert release.certificate["mechanism"]["epsilon_for_intervals"] == 0
        for i, (of, truth) in enumerate((("data", values[(200 * np.arange(1, 100)) - 1]), ("population", ps**power))):
            low, high = release.interval(0.95, of=of)
            held[i] += np.mean((low <= truth) & (truth <= high)) / 30
        low, high = np.searchsorted(values, release.interval(0.95))
        wide.append(np.mean(high - low))
    assert np.all(held >= 0.95)
    assert np.mean(wide) < (130 if relation == "add-remove" else 260)


def test_intervals_that_are_too_short_are_noticed():
    assert coverage(4000, "substitute", 1, *UNIFORM, runs=40, factor=0.1)[1] < 0.8


def test_ties_on_a_public_granularity_are_found():
    """Nearly always all deciles; one that lies a few ranks from the next value may be that (false alarms: 1e-9)."""
    values = np.sort(np.round(salaries(20_000), -3))
    release = flou.quantiles(
        values, flou.deciles, bounds=(0, 300_000), granularity=1000, epsilon=1, relation="substitute"
    )
    ranks = np.arange(2000, 20_000, 2000)
    below, up_to = (np.searchsorted(values, release.value, side=side) for side in ("left", "right"))
    assert np.all((below - 300 < ranks) & (ranks <= up_to + 300))
    assert np.count_nonzero(release.value == values[ranks - 1]) >= 6
    tenths = np.round(np.random.default_rng(0).random(20_000), 1)
    release = flou.median(tenths, bounds=(0, 1), granularity=0.1, epsilon=1)
    assert release.value == pytest.approx(np.median(tenths))


def test_whole_numbers_stay_whole():
    ages = np.random.default_rng(0).integers(0, 100, 5000)
    for domain in (flou.Integers(0, 120), flou.Integers(-(10**9), 10**9)):
        release = table(ages, domain=domain).quantiles("x", [0.25, 0.75], epsilon=2)
        assert np.array_equal(release.value, np.round(release.value))
    assert abs(release.value[0] - 25) <= 2


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("values", [[], [5.0], [5.0, 7.0], [0.0] * 50, [3e5] * 50, [float("nan")] * 20, [1e4] * 200])
def test_few_or_equal_rows_are_answered(values, relation):
    opened = table(np.array(values, dtype=float), relation=relation)
    for release in (
        opened.quantiles("x", [0, 0.5, 0.5, 1], epsilon=1),
        opened.boxplot("x", epsilon=0.1),
        opened.quantiles("x", [0.3], epsilon=100),
    ):
        low, high = release.interval()
        assert np.all(np.diff(release.value) >= 0)
        assert np.all((low <= release.value) & (release.value <= high))
        assert np.all((release.value >= 0) & (release.value <= 300_000))
    assert 0 <= opened.iqr("x", epsilon=1).value <= 300_000
    assert opened.median("x", epsilon=1).statistic == "median"


def test_rows_of_other_keys_stay_out_of_selected_groups():
    values = np.concatenate([np.full(400, 1000.0), np.full(300, 2000.0), np.full(3, 250_000.0)])
    town = np.array(["a"] * 400 + ["b"] * 300 + ["rare"] * 3)
    for known in (703, 700):
        opened = flou.open({"x": values[:known], "town": town[:known]}, schema={"x": SALARY}, bits=SeededBits(3))
        medians = opened.group_by("town", epsilon=1, delta=1e-6).quantile("x", 0.996, epsilon=100)
        assert medians.labels == ("a", "b")
        assert np.allclose(medians.value, [1000, 2000], atol=1)


def test_what_a_changed_row_costs():
    opened = table(salaries(100), relation="substitute")
    people = flou.Schema({"x": SALARY}, unit="who", max_rows_per_unit=3)
    capped = flou.open({"x": salaries(60), "who": np.arange(60) // 4}, schema=people, bits=SeededBits(1))
    by_row = table(salaries(100))

    def plan(one):
        question = flou.central.Quantiles("x", Fraction(1, 2), 6)
        facts = one._facts()
        return question._plan(facts, question._grid(facts).cells)

    assert (plan(opened).relation, plan(opened).epsilon) == ("substitute", 6)
    narrowed = opened.where(flou.column("x") > 10)
    assert (plan(narrowed).relation, plan(narrowed).epsilon) == ("add-remove", 3)
    assert (plan(by_row).relation, plan(by_row).epsilon) == ("add-remove", 6)
    assert (plan(capped).relation, plan(capped).epsilon) == ("add-remove", 2)
    assert capped.median("x", epsilon=1).certificate["mechanism"]["grid"] == f"{2**20} cells"


def test_intervals_are_there_at_every_level():
    release = table(salaries(5000)).quantiles("x", [0.5], epsilon=1)
    narrow, wide = release.interval(0.5), release.interval(0.99)
    assert wide[0][0] <= narrow[0][0] <= release.value[0] <= narrow[1][0] <= wide[1][0]
    assert wide[1][0] - wide[0][0] > narrow[1][0] - narrow[0][0]
    nothing = table(salaries(5000)).median("x", epsilon=1, intervals=0)
    assert nothing.interval() == (0, 300_000)
    ps = np.arange(1, 400) / 400  # a tree has counted everything already
    free = table(salaries(50_000)).quantiles("x", ps, epsilon=1, intervals=0)
    low, high = free.interval()
    assert np.median(high - low) < 3000
    assert free.certificate["mechanism"]["epsilon_for_intervals"] == 0


def test_the_choice_is_told():
    def chosen(many, relation, rows=None):
        ps = tuple(Fraction(i, many + 1) for i in range(1, many + 1))
        return QuantilePlan(ps, Fraction(1), relation, "auto", Fraction(0), rows).choice[0]

    for relation in ("substitute", "add-remove"):
        assert [chosen(m, relation) for m in (1, 9, 40, 41, 999)] == [
            "permute-and-flip",
            *["joint"] * 2,
            *["focused"] * 2,
        ]
        assert chosen(1, relation, 5) == "permute-and-flip"
        assert chosen(999, relation, 10**9) == "focused"
    assert [chosen(9, "substitute", n) for n in (0, 242, 243)] == ["tree", "tree", "joint"]
    assert [chosen(9, "add-remove", n) for n in (0, 121, 122)] == ["tree", "tree", "joint"]
    assert [chosen(99, "add-remove", n) for n in (349, 350, 100_000)] == ["tree", "focused", "focused"]
    assert [chosen(40, "substitute", n) for n in (699, 700, 10_119, 10_120)] == ["tree", "focused", "focused", "joint"]


def plan_of(many, epsilon=1, rows=None, method="auto", relation="add-remove"):
    ps = tuple(Fraction(i, many + 1) for i in range(1, many + 1))
    return QuantilePlan(ps, Fraction(epsilon), relation, method, Fraction(0), rows)


def test_a_tree_is_as_high_as_records_allow():
    """By what is public alone: records times epsilon, which count twice where noise is half as wide."""

    def leaves(relation, epsilon=1, method="tree"):
        sizes = (0, 199, 200, 599, 600, 5_999, 6_000, 300_000)
        trees = [plan_of(999, epsilon, rows=n, relation=relation, method=method).mechanism for n in sizes]
        return [(tree.branching, tree.height) for tree in trees]

    flat, low, middle, high, most = (32, 1), (16, 2), (8, 3), (16, 3), (32, 3)
    assert leaves("substitute") == [flat, flat, low, low, middle, middle, high, most]
    assert leaves("add-remove") == [flat, low, low, middle, middle, high, high, most]
    assert leaves("substitute", Fraction(1, 10)) == [flat, flat, flat, flat, flat, low, middle, high]
    assert leaves("substitute", method="focused") == [low] * 6 + [high, most]
    assert leaves("add-remove", method="focused") == [low] * 5 + [high, high, most]
    for method in ("tree", "focused"):
        unknown = plan_of(999, method=method).mechanism
        assert (unknown.branching, unknown.height) == most


@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_a_lower_tree_is_nearer_where_records_are_few(epsilon):
    """99 quantiles of 1,000 records between tight bounds: closer than 32^3 leaves by a fifth at least."""
    ps = np.arange(1, 100) / 100
    rows = np.sort(salaries(1000))

    def error(ask):
        found = np.searchsorted(rows, [np.asarray(ask()) for _ in range(30)])
        return np.abs(found - 1000 * ps).mean()

    opened = table(rows, relation="substitute")
    lower = error(lambda: opened.quantiles("x", ps, epsilon=epsilon).value)
    records, grid = SortedRecords(SALARY.with_cells(2**20).encode(rows), cells=2**20), SALARY.with_cells(2**20)
    higher = error(lambda: grid.decode(Tree(ps, epsilon=epsilon, relation="substitute").sample(records)))
    assert lower < higher / 1.2


def test_only_a_choice_that_needs_the_number_of_records_pays_for_it():
    """Of four quantiles or more, where that number is not public and no method was asked for."""
    records = SortedRecords(np.arange(5000), cells=2**20)
    assert [bool(plan_of(m).for_the_choice) for m in (1, 3, 4, 40, 41)] == [False, False, True, True, True]
    for plan in (plan_of(99, rows=5000), plan_of(99, method="recursive"), plan_of(3)):
        assert plan.for_the_choice == 0
        assert plan.decided(records, SeededBits(1)) is plan
    decided = plan_of(99).decided(records, SeededBits(1))
    assert decided.epsilon == Fraction(49, 50)
    assert decided.for_the_choice == 0
    assert decided.mechanism.epsilon + plan_of(99).for_the_choice == 1
    assert [plan_of(39).draw(SortedRecords(np.arange(n), cells=2**20), SeededBits(2)).plan.choice[0]
            for n in (100, 1000, 50_000)] == ["tree", "focused", "joint"]  # fmt: skip


def test_the_number_that_decides_is_private():
    """Its noise is what the share pays for when one record moves it by 1; that of twice the share is refused."""
    records, share = SortedRecords(np.arange(300), cells=1000), plan_of(99).for_the_choice
    bits = SeededBits("decides")
    noises = np.array([plan_of(99).decided(records, bits).rows for _ in range(4000)]) - 300
    edges = np.arange(-100, 101, 20)
    cells = np.searchsorted(edges, noises, side="right")

    def expected(spent):
        below = np.array([float(DiscreteLaplace(1 / spent).cdf(edge - 1)) for edge in edges])
        return np.diff(np.concatenate([[0.0], below, [1.0]]))

    assert follows(cells, expected(share))
    assert not follows(cells, expected(2 * share))


def test_groups_may_be_answered_by_different_methods():
    """A group of few records gets trees, one of many gets them together; the release tells all."""
    sizes = {"a": 100, "b": 1_500, "c": 30_000}
    rows = {"g": np.repeat(list(sizes), list(sizes.values())), "x": salaries(sum(sizes.values()))}
    opened = flou.open(rows, schema={"g": flou.Categories(list(sizes)), "x": SALARY})
    release = opened.group_by("g").quantiles("x", np.arange(1, 40) / 40, epsilon=1)
    assert release.certificate["mechanism"]["name"] == "quantiles, tree or focused or joint"
    assert release.certificate["mechanism"]["epsilon_for_choice"] == 0.02
    assert release.value.size == 4 * 39  # with the rows that are neither


def test_what_has_no_order_is_refused():
    with pytest.raises(InvalidParameter, match="no order"):
        QuantileGrid.of("x", flou.Categories(["a"]), 1, True)
    opened = table(salaries(10))
    with pytest.raises(InvalidParameter, match="one quantile"):
        opened.quantiles("x", [0.1, 0.2], epsilon=1, method="exponential")
    with pytest.raises(InvalidParameter, match="method"):
        opened.median("x", epsilon=1, method="magic")
    with pytest.raises(InvalidParameter, match="granularity"):
        flou.median([1.0], domain=SALARY, granularity=5, epsilon=1)
    assert opened.budget is None
