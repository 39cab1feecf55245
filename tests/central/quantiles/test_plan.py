"""What is chosen where few values are possible, or tables would be huge: by public numbers, and for true reasons."""

from __future__ import annotations

import json
import math
import pathlib
import statistics
from fractions import Fraction

import numpy as np
import pytest

import flou
from flou.bits import SeededBits
from flou.central.quantiles.plan import QuantilePlan
from flou.mechanisms.quantiles import SortedRecords, Tree

RELATIONS = ("add-remove", "substitute")
MANY = 10**6


def plan_of(many, *, cells, rows=MANY, epsilon=1, relation="add-remove", method="auto"):
    ps = tuple(Fraction(i, many + 1) for i in range(1, many + 1))
    return QuantilePlan(ps, Fraction(epsilon), relation, method, Fraction(1, 10), rows, cells)


@pytest.mark.parametrize("relation", RELATIONS)
def test_few_possible_values_are_counted_one_by_one(relation):
    """Up to 15 for each of several quantiles, whatever the number of records; one quantile is drawn as ever."""
    for many, cells in ((2, 30), (4, 60), (9, 135), (40, 600)):
        for rows in (0, 100, MANY, None):
            method, why = plan_of(many, cells=cells, rows=rows, relation=relation).choice
            assert method == "tree"
            assert "few values are possible" in why
        method, why = plan_of(many, cells=cells + 1, relation=relation).choice
        assert method == "joint"
        assert "few values" not in why
    assert plan_of(1, cells=2, relation=relation).choice[0] == "permute-and-flip"
    for rows, cells in ((10_000, 1_485), (MANY, 128)):
        assert plan_of(99, cells=cells, rows=rows, relation=relation).choice[0] == "tree"
        assert plan_of(99, cells=cells + 1, rows=rows, relation=relation).choice[0] == "focused"


@pytest.mark.parametrize("many", [1, 2, 9, 40, 41, 99])
@pytest.mark.parametrize("rows", [None, 30, 1_000, 100_000])
def test_fine_grids_change_nothing(many, rows):
    """With 2^31 cells methods, reasons, shapes and prices are those of a plan that knows no cells."""
    for relation in RELATIONS:
        fine, unknown = (plan_of(many, cells=cells, rows=rows, relation=relation) for cells in (2**31, None))
        assert (fine.choice, fine.shape, fine.share) == (unknown.choice, unknown.shape, unknown.share)
        assert fine.rough == unknown.rough
        assert fine.for_the_choice == unknown.for_the_choice


SHAPES = {1: (2, 1), 2: (2, 1), 5: (5, 1), 32: (32, 1), 33: (6, 2), 121: (11, 2), 301: (18, 2), 1024: (32, 2),
          1025: (11, 3), 4096: (16, 3)}  # fmt: skip


@pytest.mark.parametrize(("cells", "shape"), SHAPES.items())
def test_a_leaf_holds_one_possible_value(cells, shape):
    """Where records allow it, and where their number is not known; on as few levels as noise allows."""
    for rows in (MANY, None):
        plan = plan_of(999, cells=cells, rows=rows, method="tree")
        assert plan.shape == shape
        assert plan.mechanism.levels(cells) == shape[1]
        assert np.all(np.diff(plan.mechanism.edges(cells)) <= 1)


def test_leaves_are_wider_where_records_are_few():
    """Beyond 128 values there are at most 1.5 leaves for a record times epsilon, under add/remove twice as many."""
    for relation, rows in (("substitute", 201), ("add-remove", 101)):
        assert plan_of(99, cells=301, rows=rows, relation=relation).shape == (18, 2)
        assert plan_of(99, cells=301, rows=rows - 1, relation=relation).shape != (18, 2)
        assert plan_of(99, cells=121, rows=1, relation=relation).shape == (11, 2)
    assert plan_of(99, cells=5_000).shape == plan_of(99, cells=None).shape


def test_a_number_of_records_that_decides_nothing_is_not_bought():
    """Few values have their leaves anyway; with more of them the number is worth its share."""
    assert [bool(plan_of(9, cells=c, rows=None).for_the_choice) for c in (5, 121, 128, 129)] == [False] * 3 + [True]
    assert [bool(plan_of(4, cells=c, rows=None).for_the_choice) for c in (60, 61)] == [False, True]
    plan = plan_of(9, cells=121, rows=None)
    assert plan.decided(SortedRecords(np.arange(5), cells=121), SeededBits(1)) is plan


DATA = {
    "equal": ((0, 120), 100, lambda _: np.full(100, 40), 2.0),
    "four values": ((0, 120), 300, lambda rng: rng.choice([18, 30, 45, 100], 300, p=[0.4, 0.3, 0.2, 0.1]), 1.2),
    "from 1 to 5": ((1, 5), 300, lambda rng: 1 + rng.choice(5, 300, p=[0.1, 0.15, 0.3, 0.3, 0.15]), 0.15),
}


@pytest.mark.parametrize("kind", DATA)
def test_ties_are_found_by_default(kind):
    """Deciles of few values at epsilon 1: within these ranks on average, where 20, 2 and 0.35 were usual without it."""
    bounds, rows, draw, most = DATA[kind]
    ranks, found = np.arange(1, 10) / 10 * rows, []
    for seed in range(40):
        values = np.sort(draw(np.random.default_rng(seed)))
        schema = flou.Schema({"x": flou.Integers(*bounds)})
        answers = flou.open({"x": values}, schema=schema, bits=SeededBits(seed)).deciles("x", epsilon=1).value
        below, up_to = (np.searchsorted(values, answers, side) for side in ("left", "right"))
        found.append(np.maximum(0, np.maximum(ranks - up_to, below - ranks)).mean())
    assert np.mean(found) < most


def test_the_committed_run_is_for_the_rule():
    """Of few values the tree of values errs less, over all rows, than what was chosen without their number."""
    path = pathlib.Path(__file__).parents[3] / "benchmarks/results/quantiles_trees_values.json"
    ratios = {}
    for cell in json.loads(path.read_text())["cells"]:
        many, cells = cell["quantiles"], cell["values"]
        facts = {"rows": cell["rows"], "epsilon": Fraction(str(cell["epsilon"])), "relation": cell["relation"]}
        plan, before = plan_of(many, cells=cells, **facts), plan_of(many, cells=None, **facts)
        chosen = {"permute-and-flip": "joint", "tree": "each"}.get(plan.choice[0], plan.choice[0])
        assert cell["default"].startswith(chosen) or (chosen, cell["default"]) == ("each", "lumps")
        usual = cell["mean"]["lumps" if before.choice[0] == "tree" else before.choice[0]] if many > 1 else 0.0
        if 1 < many <= 40 and cells <= 15 * many:
            ratios.setdefault((many, cells), []).append(math.log(cell["mean"][cell["default"]] / usual))
        elif many == 1:
            assert cell["mean"]["joint"] < 1.5 * min(cell["mean"].values())
    assert len(ratios) == 13
    assert all(statistics.fmean(logs) < math.log(0.85 if cells < 300 else 1) for (_, cells), logs in ratios.items())


def test_the_schema_tells_the_number_of_values():
    """Not the rows: two tables of one schema have one plan, and the release says why."""
    schema = flou.Schema({"x": flou.Interval(0, 10, granularity=0.5), "y": flou.Boolean(), "z": flou.Interval(0, 10)})
    tables = [flou.open({"x": x, "y": [True] * len(x), "z": x}, schema=schema) for x in ([], [1.0, 2.0, 2.5] * 50)]
    for column, cells in (("x", 21), ("y", 2), ("z", 2**31)):
        question = flou.central.Quantiles(column, flou.deciles, 1)
        plans = [question._plan(facts, question._grid(facts).cells) for facts in (table._facts() for table in tables)]
        assert plans[0] == plans[1]
        assert plans[0].cells == cells
    certificate = tables[1].deciles("x", epsilon=1).certificate["mechanism"]
    assert certificate["name"] == "quantiles, tree"
    assert "few values are possible" in certificate["choice"]


def test_tables_that_would_be_huge_are_not_made():
    """40 quantiles at epsilon 0.003 would take gigabytes together; nine at a thousandth do not."""
    at = {"cells": 2**31, "rows": 10**9}
    for relation in RELATIONS:
        method, why = plan_of(40, epsilon=Fraction(3, 1000), relation=relation, **at).choice
        assert method == "focused"
        assert "memory" in why
        for many, epsilon in ((40, Fraction(1, 100)), (9, Fraction(1, 1000)), (9, 1)):
            assert plan_of(many, epsilon=epsilon, relation=relation, **at).choice[0] == "joint"
    few = plan_of(9, epsilon=Fraction(1, 10**6), cells=2**31, rows=10**5, method="joint")
    assert few.choice == ("joint", "asked for")


def test_a_tree_of_values_reads_what_it_counted():
    """Without noise to speak of, deciles of values one by one are the exact ones."""
    codes = np.sort(np.random.default_rng(0).integers(0, 121, 5_000))
    plan = plan_of(9, cells=121, epsilon=10_000)
    assert isinstance(plan.mechanism, Tree)
    drawn = plan.draw(SortedRecords(codes, cells=121, ordered=True), SeededBits(1))
    assert drawn.cells.tolist() == codes[np.arange(500, 5_000, 500) - 1].tolist()
