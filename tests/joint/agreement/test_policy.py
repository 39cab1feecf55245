"""A party's own rules: each with the sentence in which it refuses."""

from __future__ import annotations

import dataclasses
import math

import pytest

from flou.errors import InvalidData, InvalidParameter, ProtocolError
from flou.guarantee import ZCDP, ApproxDP, PureDP
from flou.joint.agreement.identity import Identity, Roster
from flou.joint.agreement.plan import Plan
from flou.joint.agreement.policy import Policy
from flou.joint.estimators.distribution.vector_sum import VectorSum
from flou.joint.estimators.private.histogram import PrivateHistogram
from flou.joint.session.party import PartySession
from joint.every_program import planned, private_programs

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


def refusal_by_rows(plan, rows):
    with pytest.raises(ProtocolError) as refused:
        Policy().check_rows(plan, rows)
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


@pytest.mark.parametrize("cost", [PureDP(1), PureDP(0.1), ApproxDP(1, 1e-6), ApproxDP(0.5, 1e-9), ZCDP(0.01)])
def test_few_rows_are_enough_with_differential_privacy(cost):
    """Noise replaces the rule of rows up to an epsilon of 1, with a delta of a millionth."""
    Policy().check(private(cost), 1)
    assert "allows one in 10" in refusal(Policy(most_epsilon=0), private(cost), 1)
    Policy(most_epsilon=0).check(private(cost), 5280)


@pytest.mark.parametrize(
    ("cost", "told"),
    [
        (PureDP(1.0001), "epsilon = 1.0001."),
        (PureDP(10_000), "epsilon = 10000."),
        (ApproxDP(1.5, 1e-6), "epsilon = 1.5, delta = 1e-06."),
        (ApproxDP(0.5, 1e-3), "epsilon = 0.5, delta = 0.001."),
        (ZCDP(0.5), "epsilon = "),
        (ZCDP(10**8), "epsilon = "),
    ],
)
def test_noise_that_hides_little_does_not_replace_rows(cost, told):
    """Above the epsilon of the policy, or its delta, a plan counts as exact: so many rows for every number."""
    sentence = refusal(Policy(), private(cost), 5279)
    assert sentence.startswith(
        "This plan opens 528 numbers from 5279 rows; your policy allows one in 10, and noise instead of rows up to "
        f"epsilon = 1 and delta = 1e-06, while this plan costs {told}"
    )
    Policy().check(private(cost), 5280)
    Policy(most_epsilon=10_000, delta=0.01).check(private(PureDP(10_000)), 1)


def test_the_policy_names_the_epsilon():
    """From 2 on two are refused, and up to 2 allowed; what is demanded besides does not change it."""
    named = Policy(most_epsilon=2)
    named.check(private(PureDP(2)), 1)
    refusal(named, private(PureDP(2.1)), 1)
    assert "noise instead of rows" in refusal(Policy(epsilon=2), private(PureDP(2)), 1)
    Policy(epsilon=2, most_epsilon=2).check(private(PureDP(2)), 1)


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.01}, {"epsilon": "1/3"}])
def test_all_rounds_of_a_statistic_count_together(cost):
    """Each statistic with noise passes at the limit, and not above it, however many rounds share it."""
    for program in private_programs(**cost):
        Policy().check_rows(planned(program), 1)
    more = {"rho": 1} if "rho" in cost else cost | {"epsilon": "20/11"}
    for program in private_programs(**more):
        assert "noise instead of rows" in refusal_by_rows(planned(program), 1)


@pytest.mark.parametrize("epsilon", ["1", "inf", "nan", "1e4", "-1/2", "1/0", "9/1 ", math.inf, math.nan, -1, 0, True])
def test_an_epsilon_that_is_none_makes_no_plan(epsilon):
    """Texts, infinities and signs are refused by the statistic; a fraction is read as its value."""
    with pytest.raises(InvalidParameter):
        PrivateHistogram("y", edges=[0, 1], honest=2, epsilon=epsilon)
    large = PrivateHistogram("y", edges=[0, 1], honest=2, epsilon="20000/2")
    assert "noise instead of rows" in refusal_by_rows(planned(large), 1)


def test_columns():
    """A column that is not listed is not read."""
    listed = Policy(columns=("age", "income"))
    listed.check(plan(), 10_000)
    assert refusal(Policy(columns=("age", "incomes")), plan(), 10_000) == (
        "This plan reads the column 'income'; your policy does not list it."
    )
    refusal(Policy(columns=()), plan(), 10_000)


def test_columns_of_a_condition():
    """A column that is only compared is read as well, however it is written."""
    for where, column in {
        "hiv == 1": "hiv",
        "income > 0 and not (income > 5 or `HIV` == 1)": "HIV",
        "not not 'a b' == 1": "a b",
    }.items():
        asked = plan(where=where)
        assert refusal(Policy(columns=("income", "age")), asked, 10_000) == (
            f"This plan reads the column {column!r}; your policy does not list it."
        )
        Policy(columns=("income", column)).check(asked, 10_000)
    refusal(Policy(columns=("income", "hiv")), plan(where="HIV == 1"), 10_000)
    Policy(columns=("income",)).check(plan(where="income != 3"), 10_000)


def test_columns_are_refused_before_a_row_is_read():
    """The rows of a party are not even opened for a plan that its policy does not allow."""
    asked = plan(where="hiv == 1")
    with pytest.raises(ProtocolError, match="reads the column 'hiv'"):
        PartySession(IDENTITIES[0], asked, asked.rows("nowhere.csv"), Policy(columns=("income",)))
    with pytest.raises(InvalidData, match="no file"):
        PartySession(IDENTITIES[0], asked, asked.rows("nowhere.csv"))


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
        'columns = ["income"]\nminimum_parties = 4\nrows_per_scalar = 2.5\naccept_differences = true\n'
        "epsilon = 0.5\nmost_epsilon = 3\n"
    )
    (tmp_path / "policy.toml").write_text(text)
    costs = {"epsilon": 0.5, "most_epsilon": 3}
    wanted = Policy(columns=("income",), minimum_parties=4, rows_per_scalar=2.5, accept_differences=True, **costs)
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
        {"delta": 0},
        {"delta": float("nan")},
        {"most_epsilon": -1},
        {"most_epsilon": "1"},
        {"most_epsilon": True},
        {"most_epsilon": False},
        {"most_epsilon": float("inf")},
        {"most_epsilon": float("nan")},
        {"most_epsilon": 1e-30},
        {"most_epsilon": 1e5},
        {"most_epsilon": [1]},
        [],
    ],
)
def test_rules_that_mean_nothing_are_refused(table):
    """A rule with a typing mistake is no rule, and would protect less than its author thinks."""
    with pytest.raises(InvalidParameter):
        Policy.from_dict(table)
