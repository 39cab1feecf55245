"""Budgets add up in their own measure, whatever is charged, and refusals say what is missing."""

from __future__ import annotations

import itertools

import pytest

import flou
from flou import ZCDP, ApproxDP, Interval, PureDP, Schema
from flou.bits import SeededBits
from flou.central import Budget
from flou.errors import BudgetExceeded, GuaranteeMismatch


def test_pure_charges_add_up_in_rho_one_by_one():
    """Under a zCDP budget every epsilon is epsilon^2 / 2: a hundred small ones fit where their sum would not."""
    budget = Budget(ZCDP(0.5))
    for _ in range(100):
        budget.charge(PureDP(0.1))
    assert budget.spent == ZCDP(0.5)
    assert budget.remaining == {"rho": 0.0}
    with pytest.raises(BudgetExceeded, match=r"requested rho 0\.005, remaining rho 0, difference 0\.005"):
        budget.charge(PureDP(0.1))


def test_rhos_and_epsilons_mix_in_a_zcdp_budget():
    """What remains is told in rho, and is what was left."""
    budget = Budget(ZCDP(1))
    budget.charge(ZCDP(0.25))
    budget.charge(PureDP(1), ZCDP(0.125))
    assert budget.remaining == {"rho": 0.125}
    with pytest.raises(BudgetExceeded, match=r"requested rho 0\.5, remaining rho 0\.125, difference 0\.375"):
        budget.charge(PureDP(1))
    budget.charge(ZCDP(0.125))
    assert budget.spent == budget.total


def test_epsilons_and_deltas_add_up_in_an_approximate_budget():
    """A pure charge spends no delta."""
    budget = Budget(ApproxDP(1, 1e-6))
    budget.charge(PureDP(0.5))
    budget.charge(ApproxDP(0.25, 5e-7))
    assert budget.remaining == {"epsilon": 0.25, "delta": 5e-7}
    with pytest.raises(BudgetExceeded, match=r"requested epsilon 0\.25, delta 1e-06, .*remaining delta 5e-07"):
        budget.charge(ApproxDP(0.25, 1e-6))
    budget.charge(ApproxDP(0.25, 5e-7))
    assert budget.spent == budget.total


def test_an_approximate_budget_can_be_spent_in_rho_from_the_first_charge_on():
    """Rhos add up to the largest one that converts into the budget, and to no more."""
    total = ApproxDP(1, 1e-6)
    most = ZCDP.for_approx(1, 1e-6)
    budget = Budget(total)
    budget.charge(ZCDP(most.exact_rho / 2))
    budget.charge(ZCDP(most.exact_rho / 2))
    assert total.covers(budget.spent)
    with pytest.raises(BudgetExceeded, match="remaining rho 0, difference"):
        budget.charge(ZCDP(1e-9))


MIXED = [
    (PureDP(1), [], ApproxDP(0.1, 1e-9)),
    (PureDP(1), [], ZCDP(1e-6)),
    (ZCDP(1), [PureDP(0.1)], ApproxDP(0.1, 1e-9)),
    (ApproxDP(1, 1e-6), [PureDP(0.1)], ZCDP(1e-6)),
    (ApproxDP(1, 1e-6), [ApproxDP(0.1, 1e-9)], ZCDP(1e-6)),
    (ApproxDP(1, 1e-6), [ZCDP(1e-6)], ApproxDP(0.1, 1e-9)),
]


@pytest.mark.parametrize(("total", "before", "cost"), MIXED)
def test_what_does_not_add_up_is_refused_and_nothing_is_lost(total, before, cost):
    """Measures that cannot be added are told apart, and the budget is as it was."""
    budget = Budget(total)
    for one in before:
        budget.charge(one)
    spent, left = budget.spent, budget.remaining
    with pytest.raises(BudgetExceeded, match=r"requested (epsilon|rho) .* adds up"):
        budget.charge(cost)
    assert (budget.spent, budget.remaining) == (spent, left)
    budget.charge(*(before[:1] or [type(total)(*total._exact)]))


def test_a_refused_first_charge_does_not_decide():
    """The measure of an (epsilon, delta) budget is that of the first charge that is taken."""
    budget = Budget(ApproxDP(1, 1e-6))
    with pytest.raises(BudgetExceeded):
        budget.charge(ZCDP(10))
    budget.charge(ApproxDP(1, 1e-6))
    assert budget.spent == budget.total


def test_every_order_of_charges_is_covered():
    """Whatever is taken, in whatever order, the composition of the costs keeps the total."""
    costs = [PureDP(0.3), PureDP(0.7), ZCDP(0.02), ZCDP(0.2), ApproxDP(0.3, 1e-7)]
    for total in (PureDP(1), ZCDP(0.5), ApproxDP(1, 1e-6)):
        for order in itertools.permutations(costs):
            budget, taken = Budget(total), []
            for cost in order:
                try:
                    budget.charge(cost)
                except BudgetExceeded:
                    continue
                taken.append(cost)
            seen = [cost._as(type(budget.spent)) for cost in taken]
            assert None not in seen
            assert total.covers(flou.compose(*seen))


def test_other_neighbours_are_an_error():
    """A cost for another relation or unit cannot be charged at all."""
    for cost in (PureDP(0.1, relation="substitute"), PureDP(0.1, unit="person")):
        with pytest.raises(GuaranteeMismatch):
            Budget(1).charge(cost)


def test_a_table_under_a_zcdp_budget():
    """Questions by rho and by epsilon share one budget, and its certificate says what is spent."""
    schema = Schema({"x": Interval(0, 1)})
    table = flou.open({"x": [0.5] * 100}, schema=schema, budget=ZCDP(0.1), bits=SeededBits(1))
    table.mean("x", rho=0.05)
    release = table.count(epsilon=0.2)
    assert release.certificate["loss"]["cumulative_after"]["exact_rho"] == "7/100"
    with pytest.raises(BudgetExceeded, match=r"requested rho 0\.05, remaining rho 0\.03, difference 0\.02"):
        table.mean("x", rho=0.05)
    with pytest.raises(BudgetExceeded, match="Ask with rho"):
        table.density("x", epsilon=0.1, delta=0.01, terms=20)
    assert repr(table.budget) == "Budget(rho 0.1; remaining rho 0.03)"
