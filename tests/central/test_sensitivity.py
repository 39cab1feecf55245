"""Both norms of what one unit can do are at most what is declared, and reach it: all units of tiny domains."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from flou import Boolean, Categories, Integers, Interval, Schema
from flou.central import Count, Density, Histogram, Price
from flou.central.counts.density import CELLS, cosines, farthest, largest
from flou.central.matrices.gram import GramNoise
from flou.central.moments.bernstein import UNIT, BernsteinGrid, BernsteinNoise, weights
from flou.central.moments.moment_noise import MomentNoise
from flou.central.price import Sensitivity, root
from flou.central.question import PublicFacts
from flou.summaries.array.rows import ArrayRows
from flou.summaries.moments import MomentGrid

RELATIONS = ("add-remove", "substitute")
RHO = Price.of(rho=0.5)


def facts(domain, relation, rows_per_unit=1, known_rows=None) -> PublicFacts:
    options = {} if rows_per_unit == 1 else {"unit": "u", "max_rows_per_unit": rows_per_unit}
    return PublicFacts(Schema({"x": domain}, relation=relation, **options), known_rows)


def moves(row_vectors: np.ndarray, relation: str, rows_per_unit: int, *, same_size: bool = False):
    """All vectors by which one unit can move the sum: what leaves, less what enters."""
    sizes = [rows_per_unit] if same_size else range(rows_per_unit + 1)
    unit = [
        sum(rows, start=0 * row_vectors[0]) for r in sizes for rows in combinations_with_replacement(row_vectors, r)
    ]
    if relation == "add-remove":
        return unit
    return [a - b for a in unit for b in unit]


def checked(found, declared: Sensitivity, close: float = 0.999) -> None:
    """Neither norm exceeds the declared one, and both come close."""
    l1 = max(sum(abs(int(v)) for v in move) for move in found)
    l2_squared = max(sum(int(v) ** 2 for v in move) for move in found)
    assert l1 <= declared.l1
    assert l2_squared <= declared.l2_squared
    assert l1 >= close * declared.l1
    assert l2_squared >= close**2 * declared.l2_squared


def too_small(declared: Sensitivity) -> Sensitivity:
    return Sensitivity(declared.l1, declared.l2_squared * Fraction(9, 10))


def moment_rows(noise: MomentNoise, values) -> np.ndarray:
    request = noise.grid.request(None)
    single = [noise.vector(noise.grid.moments(ArrayRows({"x": [v]}).collect([request])[0])) for v in values]
    return np.array([list(vector.values()) for vector in single], dtype=object)


INTERVAL = [*np.linspace(-2, 3, 9).tolist(), -2 + 1e-9, 3 - 1e-9, -2 + 5 * 2**-17, 3 - 5 * 2**-17, -2 + 5e-5]
GRIDS = [(Boolean(), [False, True]), (Integers(0, 4), list(range(5))), (Interval(-2, 3), INTERVAL)]


@pytest.mark.parametrize(("domain", "values"), GRIDS, ids=["boolean", "integers", "interval"])
@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("from_zero", [False, True])
def test_moments(domain, values, relation, rows_per_unit, from_zero):
    """Three coordinates, or two where rows are not wanted: every unit of up to two rows."""
    noise = MomentNoise(MomentGrid.of("x", domain), RHO, facts(domain, relation, rows_per_unit), from_zero)
    found = moves(moment_rows(noise, values), relation, rows_per_unit)
    if from_zero and relation == "substitute":  # t is declared to move twice, and moves at most once: a known slack
        checked(found, noise.sensitivity, close=0.49)
    else:
        checked(found, noise.sensitivity)
        with pytest.raises(AssertionError):
            checked(found, too_small(noise.sensitivity))


@pytest.mark.parametrize(("domain", "values"), GRIDS, ids=["boolean", "integers", "interval"])
def test_moments_of_known_rows(domain, values):
    """(T, h) moves by at most 1 in either norm when a row is replaced."""
    noise = MomentNoise(MomentGrid.of("x", domain), RHO, facts(domain, "substitute", known_rows=2))
    found = moves(moment_rows(noise, values), "substitute", 1, same_size=True)
    checked(found, noise.sensitivity)
    with pytest.raises(AssertionError):
        checked(found, too_small(noise.sensitivity))


def test_moments_on_the_fine_grid_between_its_cells():
    """Where the two grids of a row disagree most, near the ends, the norm is still within the bound."""
    grid = MomentGrid.of("x", Interval(0, 1))
    noise = MomentNoise(grid, RHO, facts(Interval(0, 1), "substitute"))
    near = [k * 2.0**-31 for k in (0, 1, 2**14, 2**15 - 1, 2**15, 2**16 - 1, 2**16, 3 * 2**16 - 1)]
    rows = moment_rows(noise, [*near, *(1 - t for t in near), 0.5, 0.25])
    assert min(int(v) for v in rows.ravel()) < 0  # rounding can push an entry below zero, and the proof allows for it
    checked(moves(rows, "substitute", 1), noise.sensitivity)


@pytest.mark.parametrize("domain", [Boolean(), Integers(0, 3), Interval(0, 1)], ids=["boolean", "integers", "interval"])
@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
def test_bernstein(domain, relation, rows_per_unit):
    """Lines of the table, all of the small ones and some of the large one, the ends included."""
    grid = BernsteinGrid.of("x", domain)
    noise = BernsteinNoise(grid, RHO, facts(domain, relation, rows_per_unit))
    table = grid.table if grid.table.shape[0] < 10 else grid.table[[0, 1, 1000, 2**15, -1000, -2, -1]]
    found = moves(table, relation, rows_per_unit)
    checked(found, noise.sensitivity)
    with pytest.raises(AssertionError):
        checked(found, too_small(noise.sensitivity))


def test_bernstein_over_every_pair_of_cells():
    """On a grid of 64 cells, and against every cell of the large one from its ends."""
    for table, some in ((weights((1, 2, 64)), range(64)), (weights((1, 2, 2**16)), (0, 1, 2**15, 2**16 - 1))):
        for i in some:
            apart = table - table[i]
            assert int((apart**2).sum(axis=1).max()) <= 2 * UNIT**2
            assert int((table[i] ** 2).sum()) <= UNIT**2


@pytest.mark.parametrize("rows_per_unit", [1, 3])
@pytest.mark.parametrize("relation", RELATIONS)
def test_counts(relation, rows_per_unit):
    """A histogram of four cells: a unit's rows may all move from one cell to another."""
    known = facts(Categories(["a", "b", "c"]), relation, rows_per_unit)
    found = moves(np.eye(4, dtype=int), relation, rows_per_unit)
    declared = Sensitivity.of_rows(1, known)
    assert (declared.l1, declared.l2_squared) == (
        (rows_per_unit, rows_per_unit**2) if relation == "add-remove" else (2 * rows_per_unit, 2 * rows_per_unit**2)
    )
    checked(found, declared, close=1)
    assert Histogram("x", RHO).noise(known).mechanism.sensitivity == declared.l2
    # one count: a unit enters the filter, or leaves it
    one = [np.array([k]) for k in range(-rows_per_unit, rows_per_unit + 1)]
    checked(one, Sensitivity(rows_per_unit, rows_per_unit**2), close=1)
    assert Count(RHO).noise(known).mechanism.sensitivity == rows_per_unit


@pytest.mark.parametrize("terms", [1, 2, 5])
def test_cosines(terms):
    """Over all pairs of a small grid, and over all cells of the large one."""
    table = cosines(64, terms)
    apart = [a - b for a in table for b in table]
    assert farthest(64, terms) == Sensitivity(
        max(int(np.abs(v).sum()) for v in apart), max(int((v**2).sum()) for v in apart)
    )
    lines = cosines(CELLS, terms).astype(object)
    assert largest(CELLS, terms).l2_squared == 2**40 + max(sum(int(v) ** 2 for v in line) for line in lines)


@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
def test_density(relation, rows_per_unit):
    """Units in the corners and in between; where the rows are not known, they have a coordinate of their own."""
    known, question = facts(Interval(0, 1), relation, rows_per_unit), Density("x", RHO, 3)
    cells = [0, 200, 683, 1024, 1366, 2047]
    rows = np.array([question.vector(np.bincount([c], minlength=CELLS), 3, known) for c in cells], dtype=object)
    declared = question._sensitivity(3, known)
    assert question.noise(known).mechanism.sensitivity == declared.l2
    found = moves(rows, relation, rows_per_unit)
    l2_squared = max(sum(int(v) ** 2 for v in move) for move in found)
    assert 0.98 * declared.l2_squared <= l2_squared <= declared.l2_squared
    assert max(sum(abs(int(v)) for v in move) for move in found) <= declared.l1


DOMAINS = {"x": Interval(0, 10), "k": Integers(0, 3), "b": Boolean(), "c": Boolean()}
CORNERS = {"x": [0, 10, 5, 0.001, 9.999], "k": [0, 1, 3], "b": [False, True], "c": [False, True]}


@pytest.mark.parametrize("columns", [("x",), ("b",), ("b", "k"), ("x", "b", "c")])
@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
def test_gram(columns, relation, rows_per_unit):
    """Replaced rows move the entries by at most d + 1 in L2 norm; an odd number of yes/no columns reaches it."""
    options = {} if rows_per_unit == 1 else {"unit": "u", "max_rows_per_unit": rows_per_unit}
    schema = Schema({name: DOMAINS[name] for name in columns}, relation=relation, **options)
    noise = GramNoise(columns, RHO, PublicFacts(schema, None))
    rows = list(product(*(CORNERS[name] for name in columns)))
    rows = rows if len(rows) * rows_per_unit < 20 else rows[:2] + rows[-6:]
    single = []
    for row in rows:
        data = {name: [value] for name, value in zip(columns, row, strict=True)}
        integers = noise.integers(ArrayRows(data).collect([noise.request])[0])
        single.append(np.array([v / u for v, u in zip(integers, noise.units, strict=True)]))
    found = moves(np.array(single), relation, rows_per_unit)
    l2 = max(float(np.sqrt((move**2).sum())) for move in found)
    d, size = len(columns), len(single[0])
    assert noise.sensitivity.l2_squared == rows_per_unit**2 * (size if relation == "add-remove" else (d + 1) ** 2)
    assert l2 <= float(noise.sensitivity.l2) * (1 + 1e-12)
    if columns == ("b",) or (columns == ("x", "b", "c") and rows_per_unit == 1):
        assert l2 >= 0.999 * float(noise.sensitivity.l2)
    assert max(np.abs(move).sum() for move in found) <= noise.sensitivity.l1


def test_many_random_rows_of_a_gram_matrix():
    """For up to five columns, two rows with any values in [-1, 1] are at most d + 1 apart."""
    generator = np.random.default_rng(1)
    for d in range(1, 6):
        size = (20_000, 2, d)
        z = np.where(generator.random(size) < 0.5, generator.choice([-1, 1], size), generator.uniform(-1, 1, size))
        w = np.concatenate([np.ones((*size[:2], 1)), z], axis=-1)
        i, j = np.triu_indices(d + 1)
        entries = w[..., i] * w[..., j]
        assert np.sqrt(((entries[:, 0] - entries[:, 1]) ** 2).sum(axis=-1)).max() <= d + 1 + 1e-12


@pytest.mark.parametrize(
    "square", [Fraction(1), Fraction(9, 4), Fraction(2), Fraction(1, 3), Fraction(2**57 + 1), Fraction(1, 10**30)]
)
def test_roots_are_rounded_up(square):
    """Exact where they can be, and too large by next to nothing where not."""
    found = root(square)
    assert found**2 >= square
    assert (found * (1 - Fraction(1, 2**62))) ** 2 < square
    assert math.isclose(float(found), math.sqrt(square))
    assert (root(Fraction(9, 4)), root(Fraction(16))) == (Fraction(3, 2), 4)
