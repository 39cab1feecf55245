"""A party's own rules: each with the sentence in which it refuses."""

from __future__ import annotations

import dataclasses

import pytest

from flou.errors import InvalidParameter, ProtocolError
from flou.guarantee import ApproxDP, PureDP
from flou.joint.agreement.identity import Identity, Roster
from flou.joint.agreement.plan import Plan
from flou.joint.agreement.policy import Policy
from flou.joint.estimators.distribution.vector_sum import VectorSum

IDENTITIES = [Identity.generate(f"p{i}") for i in range(5)]
ROSTER = Roster.of(IDENTITIES)


@dataclasses.dataclass(frozen=True)
class Private(VectorSum):
    """A sum that says what it costs."""

    cost: object = None

    @property
    def guarantee(self):
        return self.cost


def plan(length=528, **terms):
    return Plan(ROSTER, VectorSum("income", length), **terms)


def private(cost):
    return Plan(ROSTER, Private("income", 528, cost=cost))


def refusal(policy, plan, rows):
    with pytest.raises(ProtocolError) as refused:
        policy.check(plan, rows)
    return refused.value.what


def test_few_rows():
    """So many own rows for every number that is opened: 5280 rows are enough for 528 numbers, 5279 are not."""
    assert refusal(Policy(), plan(), 400) == (
        "This plan opens 528 numbers from 400 rows; your policy allows one in 10."
    )
    refusal(Policy(), plan(), 5279)
    Policy().check(plan(), 5280)
    assert refusal(Policy(rows_per_scalar=2.5), plan(), 0).endswith("your policy allows one in 2.5.")
    Policy(rows_per_scalar=2.5).check(plan(), 1320)
    Policy(rows_per_scalar=0).check(plan(), 0)


def test_few_rows_are_enough_with_differential_privacy():
    """Noise replaces the rule of rows."""
    Policy().check(private(PureDP(1.0)), 1)


def test_columns():
    """A column that is not listed is not read."""
    listed = Policy(columns=("age", "income"))
    listed.check(plan(), 10_000)
    assert refusal(Policy(columns=("age", "incomes")), plan(), 10_000) == (
        "This plan reads the column 'income'; your policy does not list it."
    )
    refusal(Policy(columns=()), plan(), 10_000)


def test_estimators():
    """A statistic that is not listed is not computed."""
    Policy(estimators=("vector sum",)).check(plan(), 10_000)
    assert refusal(Policy(estimators=("mean",)), plan(), 10_000) == (
        "This plan computes 'vector sum'; your policy does not list it."
    )


def test_parties():
    """Sums over too few."""
    Policy(minimum_parties=4).check(plan(), 10_000)
    assert refusal(Policy(minimum_parties=5), plan(), 10_000) == (
        "This plan opens sums over 4 parties; your policy asks for 5."
    )
    Policy(minimum_parties=5).check(plan(minimum=5), 10_000)


def test_colluders():
    """Five parties that may lose one withstand two that conspire, and three if none may be lost."""
    Policy(colluders=2).check(plan(), 10_000)
    assert refusal(Policy(colluders=3), plan(), 10_000) == (
        "This plan withstands 2 parties that conspire with the coordinator; your policy asks for 3."
    )
    Policy(colluders=3).check(plan(dropouts=0), 10_000)
    refusal(Policy(colluders=4), plan(dropouts=0), 10_000)


def test_differences():
    """Sums with and without a party only by consent of both files."""
    assert refusal(Policy(), plan(differences="accept"), 10_000) == (
        "This plan opens sums with and without a party that is lost; your policy does not allow it."
    )
    Policy(accept_differences=True).check(plan(differences="accept"), 10_560)
    assert "opens 1056 numbers from 10559 rows" in refusal(
        Policy(accept_differences=True), plan(differences="accept"), 10_559
    )


def test_scalars():
    """A limit to what is opened at all, also under noise."""
    assert refusal(Policy(max_scalars=527), plan(), 10_000) == (
        "This plan opens up to 528 numbers; your policy allows 527."
    )
    Policy(max_scalars=528).check(plan(), 10_000)
    refusal(Policy(max_scalars=527), private(PureDP(1.0)), 10_000)


def test_demanded_privacy():
    """Exact sums, and sums that cost more than the policy says, are refused; as cheap or cheaper ones are not."""
    asks = Policy(epsilon=1.0, delta=1e-6)
    sentence = "This plan is not differentially private with epsilon = 1 and delta = 1e-06; your policy asks for it."
    assert refusal(asks, plan(), 10_000) == sentence
    for cost in (PureDP(1.1), ApproxDP(1.1, 1e-6), ApproxDP(1.0, 2e-6), ApproxDP(0.5, 1e-5)):
        assert refusal(asks, private(cost), 10_000) == sentence
    for cost in (PureDP(1.0), PureDP(0.5), ApproxDP(1.0, 1e-6), ApproxDP(0.5, 1e-7)):
        asks.check(private(cost), 10_000)


def test_from_a_file(tmp_path):
    """A policy file says the same as the arguments."""
    text = (
        'columns = ["income"]\nminimum_parties = 4\nrows_per_scalar = 2.5\naccept_differences = true\nepsilon = 0.5\n'
    )
    (tmp_path / "policy.toml").write_text(text)
    wanted = Policy(columns=("income",), minimum_parties=4, rows_per_scalar=2.5, accept_differences=True, epsilon=0.5)
    assert Policy.from_toml(tmp_path / "policy.toml") == wanted
    assert Policy.from_dict({}) == Policy()


@pytest.mark.parametrize(
    "table",
    [
        {"column": ["income"]},
        {"columns": "income"},
        {"columns": [1]},
        {"estimators": {"mean": 1}},
        {"minimum_parties": 2},
        {"minimum_parties": "3"},
        {"colluders": -1},
        {"colluders": True},
        {"rows_per_scalar": "10"},
        {"rows_per_scalar": -1},
        {"rows_per_scalar": float("nan")},
        {"max_scalars": 0},
        {"accept_differences": "no"},
        {"accept_differences": 1},
        {"epsilon": 0},
        {"epsilon": "1"},
        {"epsilon": 1, "delta": 0},
        [],
    ],
)
def test_rules_that_mean_nothing_are_refused(table):
    """A rule with a typing mistake is no rule, and would protect less than its author thinks."""
    with pytest.raises(InvalidParameter):
        Policy.from_dict(table)
