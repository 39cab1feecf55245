"""Outer bounds: private for every pair of neighbours, and with few rows beyond them."""

from __future__ import annotations

import numpy as np
import pytest

import flou
from flou import Interval, Schema
from flou.bits import SeededBits
from flou.central import OuterBounds, Table
from flou.central.counts.outer_bounds import EDGES, OUTERMOST, placed
from flou.central.question import PublicFacts
from flou.mechanisms import AboveThreshold
from flou.summaries.array.rows import ArrayRows
from privacy.exhaustive import neighbours, tables

RELATIONS = ("add-remove", "substitute")


def facts(relation, rows_per_unit=1):
    if rows_per_unit == 1:
        return PublicFacts(Schema({"y": Interval(0, 1)}, relation=relation), None)
    return PublicFacts(
        Schema({"y": Interval(0, 1)}, relation=relation, unit="u", max_rows_per_unit=rows_per_unit), None
    )


def queries(x, relation="add-remove"):
    question = OuterBounds("x", 1)
    return question.beyond(
        ArrayRows({"x": np.asarray(x, dtype=float)}).collect(question.prepare(facts(relation)).requests)
    )


def test_rows_beyond_every_edge_are_counted():
    """Exactly, on the edges as well, with infinities beyond and NaN at zero."""
    x = np.array([-np.inf, -1e300, -8.0, -3.0, -(2.0**-30), 0.0, 0.3, 1.0, 7.5, 8.0, 2.0**40, np.inf, np.nan])
    above, below = queries(x)
    clean = np.where(np.isnan(x), 0.0, x)
    assert above == [int((clean >= e).sum()) for e in reversed(EDGES)]
    assert below == [int((clean < e).sum()) for e in EDGES]


RECORDS = (-9.0, -0.7, 0.0, 5.0)


@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
def test_neighbours_move_the_queries_as_declared(relation, rows_per_unit):
    """By at most the sensitivity, and in the same direction where that is claimed; each is reached."""
    mechanism = OuterBounds("x", 1).mechanism(facts(relation, rows_per_unit))
    every = tables(range(len(RECORDS)), range(4) if relation == "add-remove" else (2, 3))
    known = {table: [np.array(q) for q in queries([RECORDS[i] for i in table])] for table in every}
    pairs = set(neighbours(relation, every))
    if rows_per_unit == 2:
        pairs |= {(a, c) for a, b in pairs for d, c in pairs if b == d}
    moves = [right - left for a, b in pairs for left, right in zip(known[a], known[b], strict=True)]
    assert max(np.abs(move).max() for move in moves) == mechanism.sensitivity == rows_per_unit
    same_way = all(move.min() >= 0 or move.max() <= 0 for move in moves)
    assert mechanism.monotone == same_way


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_loss_of_each_search_is_at_most_half_epsilon(relation):
    """The exact law on short streams of the real queries, for every pair of neighbours; half the noise is refused."""
    mechanism = OuterBounds("x", 2).mechanism(facts(relation))
    small = AboveThreshold(threshold=2, sensitivity=1, epsilon=1, monotone=mechanism.monotone, relation=relation)
    wrong = AboveThreshold(threshold=2, sensitivity=1, epsilon=2.2, monotone=mechanism.monotone, relation=relation)
    assert mechanism.epsilon == 1
    every = tables(range(len(RECORDS)), range(4) if relation == "add-remove" else (2, 3))
    picked = [e for e in range(len(EDGES)) if EDGES[e] in (-8.0, -0.5, 0.0, 4.0)]

    def worst(kind):
        logs = {}
        for table in every:
            _, below = queries([RECORDS[i] for i in table])
            law = kind.law([below[i] for i in picked])
            logs[table] = {outcome: law.log_pmf(outcome) for outcome in law.outcomes()}
        return max(logs[a][o] - logs[b][o] for a, b in neighbours(relation, every) for o in logs[a])

    assert worst(small) <= 1 + 1e-9
    assert worst(wrong) > 1


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("low", "high"), [(-3.0, 900.0), (10.0, 20.0), (-5000.0, -100.0), (0.001, 0.002)])
def test_few_rows_lie_beyond(low, high, relation):
    """At most as many as stated, in all of 40 tables at a level of 1 - 1e-6, and the bounds are not far out."""
    x = np.random.default_rng(1).uniform(low, high, 5000)
    bits, schema = SeededBits(2), Schema({"y": Interval(0, 1)}, relation=relation)
    table = Table(ArrayRows({"x": x, "y": x}), schema, None, bits=bits)
    for _ in range(40):
        release = table.bounds("x", epsilon=1)
        bottom, top = release.value
        most = release.uncertainty.rows_beyond(1 - 1e-6)
        assert (x < bottom).sum() <= most
        assert (x >= top).sum() <= most
        assert top <= 4 * high if high > 0 else top <= high / 4
        assert bottom >= 4 * low if low < 0 else bottom >= low / 4
        assert release.uncertainty.rows_beyond(0.95) < min(150, release.uncertainty.rows_beyond(0.95, population=True))
        assert f"at most {release.uncertainty.rows_beyond(0.95):.0f} rows" in release.note


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    "x", [[], [3.0], [7.0] * 5000, [0.0] * 5000, [np.nan] * 5000, [np.inf] * 5000, [-1e300] * 5000]
)
def test_edges(x, relation):
    """No table is an exception, and the lower bound is below the upper one."""
    values = np.array(x)
    schema = Schema({"y": Interval(0, 1)}, relation=relation)
    table = Table(ArrayRows({"x": values, "y": values}), schema, None, bits=SeededBits(1))
    release = table.bounds("x", epsilon=1)
    low, high = release.value
    assert -OUTERMOST <= low < high <= OUTERMOST
    if len(x) > 1:
        assert low <= np.clip(np.nan_to_num(values[0], nan=0.0, posinf=1e300), -OUTERMOST, OUTERMOST) <= high
        assert (low, high) != (-OUTERMOST, OUTERMOST)
    assert release.to_json()


def test_every_pair_of_positions_gives_bounds_in_order():
    """Whatever passes, and if nothing does, lower is below upper."""
    positions = [None, *range(len(EDGES))]
    for low in positions:
        for high in positions:
            bottom, top = placed(low, high)
            assert bottom < top
    assert placed(None, None) == (EDGES[0], EDGES[-1])


def test_the_budget_is_charged_once():
    """Both searches cost epsilon together."""
    table = flou.open({"x": [1.0, 2.0]}, schema={"x": Interval(0, 1)}, budget=1)
    assert table.bounds("x", epsilon=1).cost.epsilon == 1
    with pytest.raises(flou.BudgetExceeded):
        table.bounds("x", epsilon=0.1)
