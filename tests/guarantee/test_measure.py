"""Guarantees as values: what enters, what is stored, what is refused."""

import copy
import functools
import math
import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flou.errors import GuaranteeMismatch, InvalidParameter
from flou.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from flou.parameters import exact

BAD = [math.nan, math.inf, -1, 0, 1e-300, "0.1", 10**400, True, None]
DOORS = {
    "pure epsilon": ("epsilon", PureDP),
    "approx epsilon": ("epsilon", lambda value: ApproxDP(value, 1e-6)),
    "approx delta": ("delta", lambda value: ApproxDP(1, value)),
    "zcdp rho": ("rho", ZCDP),
    "for_approx epsilon": ("epsilon", lambda value: ZCDP.for_approx(value, 1e-6)),
    "for_approx delta": ("delta", lambda value: ZCDP.for_approx(1, value)),
    "pure to_approx": ("delta", lambda value: PureDP(1).to_approx(delta=value)),
    "approx to_approx": ("delta", lambda value: ApproxDP(1, Fraction(1, 10**60)).to_approx(delta=value)),
    "zcdp to_approx": ("delta", lambda value: ZCDP(1).to_approx(delta=value)),
    "delta_for": ("epsilon", lambda value: ZCDP(1).delta_for(value)),
}
EACH = [PureDP(0.5), ApproxDP(0.5, 1e-6), ZCDP(0.5)]


def three_sentences(error):
    assert all(part.endswith(".") for part in (error.what, error.why, error.do))
    assert str(error) == f"{error.what} {error.why} {error.do}"


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("bad", BAD, ids=lambda value: repr(value)[:12])
def test_bad_parameters(door, bad):
    """What cannot be a privacy parameter is refused by name, in three sentences."""
    name, make = DOORS[door]
    with pytest.raises(InvalidParameter, match=f"^{name} must") as caught:
        make(bad)
    three_sentences(caught.value)


@pytest.mark.parametrize("bad", ["swap", "", None, 1, ["add-remove"]])
@pytest.mark.parametrize("make", [PureDP, ZCDP, lambda *a, **k: ApproxDP(*a, 1e-6, **k)])
def test_bad_relation_and_unit(make, bad):
    """A relation is one of two words, and a unit is a short name."""
    with pytest.raises(InvalidParameter, match=r"^relation must") as caught:
        make(1, relation=bad)
    three_sentences(caught.value)
    with pytest.raises(InvalidParameter, match=r"^unit must") as caught:
        make(1, unit="two\nlines" if bad == "swap" else "x" * 101 if bad == ["add-remove"] else bad)
    three_sentences(caught.value)


@pytest.mark.parametrize("guarantee", EACH)
@pytest.mark.parametrize("bad", [0, -1, 1.5, 2.0, True, None, "2", 10**9 + 1])
def test_bad_group(guarantee, bad):
    """A group has a whole and positive number of members."""
    with pytest.raises(InvalidParameter, match=r"^k must") as caught:
        guarantee.times(bad)
    three_sentences(caught.value)


@pytest.mark.parametrize("guarantee", EACH)
def test_values(guarantee):
    """Guarantees are frozen, hashable, equal by value, and survive copies and pickles."""
    for twin in (copy.copy(guarantee), copy.deepcopy(guarantee), pickle.loads(pickle.dumps(guarantee))):
        assert twin == guarantee
        assert hash(twin) == hash(guarantee)
    for name in ("relation", "_exact", "something", *guarantee.parameters):
        with pytest.raises(FrozenInstanceError):
            setattr(guarantee, name, 1)
    assert eval(repr(guarantee)) == guarantee
    assert isinstance(guarantee, Guarantee)


def test_equality_sees_everything():
    """Another number, measure, relation or unit makes another guarantee."""
    values = [PureDP(0.5), PureDP(0.6), ZCDP(0.5), ApproxDP(0.5, 1e-6), ApproxDP(0.5, 1e-5)]
    values += [PureDP(0.5, relation="substitute"), PureDP(0.5, unit="employee_id")]
    assert len(set(values)) == len(values)
    assert PureDP(0.5) == PureDP(Fraction(1, 2))


def test_repr():
    """The repr shows the parameters as people typed them."""
    assert repr(PureDP(0.1) + PureDP(0.2)) == "PureDP(epsilon=0.3, relation='add-remove', unit='row')"
    assert (
        repr(ApproxDP(1, 1e-6, relation="substitute", unit="employee_id"))
        == "ApproxDP(epsilon=1.0, delta=1e-06, relation='substitute', unit='employee_id')"
    )


@settings(deadline=None)
@given(st.fractions(Fraction(1, 10**15), 10**4))
def test_rounded_up(value):
    """The float never states less than the exact loss, and the next smaller float would."""
    guarantee = PureDP(value)
    assert guarantee.exact_epsilon == value
    assert exact(guarantee.epsilon) >= value > exact(math.nextafter(guarantee.epsilon, 0))


def test_fractions_stay_short():
    """Fractions that no one could print are rounded up to a grid of 1e-300."""
    fine = 1 + Fraction(1, 3**2000)
    stored = PureDP(fine).exact_epsilon
    assert fine <= stored <= fine + Fraction(1, 10**300)
    assert stored.denominator <= 10**300
    assert sum(PureDP(Fraction(1, n)) for n in range(1, 2000)).exact_epsilon.denominator <= 10**300


@pytest.mark.parametrize("guarantee", EACH)
def test_beyond_all_sizes(guarantee):
    """Groups of groups end in a refusal rather than in an overflow."""
    with pytest.raises(InvalidParameter, match="1e100"):
        functools.reduce(lambda value, _: value.times(10**9), range(20), guarantee)


@pytest.mark.parametrize("guarantee", EACH)
def test_to_substitute(guarantee):
    """A substitution is a removal and an addition: the guarantee of a group of two."""
    result = guarantee.to_substitute()
    assert result.relation == "substitute"
    assert result._exact == guarantee.times(2)._exact
    assert result.to_substitute() is result


@pytest.mark.parametrize("guarantee", EACH)
def test_to_unit(guarantee):
    """A person with up to three rows is a group of three, and then a unit like any other."""
    person = guarantee.to_unit("employee_id", max_rows=3)
    assert person.unit == "employee_id"
    assert person._exact == guarantee.times(3)._exact
    assert person.to_substitute().unit == "employee_id"
    for other in (person, guarantee.to_substitute()):
        with pytest.raises(GuaranteeMismatch, match="for each row") as caught:
            other.to_unit("household", max_rows=2)
        three_sentences(caught.value)
    for bad in (0, 1.5, None, True):
        with pytest.raises(InvalidParameter, match=r"^max_rows must"):
            guarantee.to_unit("employee_id", max_rows=bad)


BUDGETS = [
    (PureDP(1), PureDP(1), True),
    (PureDP(0.3), PureDP(0.1) + PureDP(0.2), True),
    (PureDP(0.3), PureDP(Fraction(3, 10) + Fraction(1, 10**50)), False),
    (ApproxDP(1, 1e-6), PureDP(1), True),
    (ApproxDP(1, 1e-6), PureDP(1.001), False),
    (ApproxDP(1, 1e-6), ApproxDP(1, 1e-6), True),
    (ApproxDP(1, 1e-6), ApproxDP(0.5, 1e-5), False),
    (ApproxDP(1, 1e-6), ApproxDP(1.5, 1e-7), False),
    (ZCDP(0.5), ZCDP(0.5), True),
    (ZCDP(0.5), ZCDP(0.51), False),
    (ZCDP(0.5), PureDP(1), True),
    (ZCDP(0.49), PureDP(1), False),
    (ApproxDP(1, 1e-6), ZCDP.for_approx(1, 1e-6), True),
    (ApproxDP(1, 1e-6), ZCDP(0.0244), False),
    (ApproxDP(1, 0.6) + ApproxDP(1, 0.6), ZCDP(0.1), True),
    (PureDP(100), ZCDP(1e-9), False),
    (PureDP(100), ApproxDP(1, Fraction(1, 10**60)), False),
    (ZCDP(100), ApproxDP(1, Fraction(1, 10**60)), False),
]


@pytest.mark.parametrize(("budget", "cost", "answer"), BUDGETS)
def test_covers(budget, cost, answer):
    """A budget covers a cost if the cost implies it, to the last digit."""
    assert budget.covers(cost) is answer


def test_covers_refuses_other_neighbours():
    """Guarantees about other neighbours are not compared, and bare numbers are not costs."""
    with pytest.raises(GuaranteeMismatch, match="relation='substitute'") as caught:
        PureDP(9).covers(PureDP(1, relation="substitute"))
    three_sentences(caught.value)
    with pytest.raises(GuaranteeMismatch, match="'employee_id'") as caught:
        PureDP(9).covers(PureDP(1, unit="employee_id"))
    three_sentences(caught.value)
    with pytest.raises(InvalidParameter, match="float") as caught:
        PureDP(9).covers(0.5)
    three_sentences(caught.value)
