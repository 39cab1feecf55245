"""Certificates: what is written, and what is believed when it is read."""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flou.errors import InvalidParameter
from flou.guarantee import ZCDP, ApproxDP, PureDP, guarantee_from_dict

WRITTEN = ApproxDP(Fraction(1, 3), 1e-6, relation="substitute", unit="employee_id").to_dict()


def test_fields():
    """A certificate states the measure, each parameter twice, the relation and the unit."""
    assert WRITTEN == {
        "measure": "approx",
        "epsilon": 0.33333333333333337,
        "exact_epsilon": "1/3",
        "delta": 1e-6,
        "exact_delta": "1/1000000",
        "relation": "substitute",
        "unit": "employee_id",
    }


@settings(deadline=None)
@given(
    st.fractions(Fraction(1, 10**15), 10**4),
    st.fractions(Fraction(1, 10**60), Fraction(1, 2)),
    st.sampled_from(["add-remove", "substitute"]),
    st.sampled_from(["row", "employee_id", "élève"]),
)
def test_round_trip(value, delta, relation, unit):
    """What was written is read back to the last digit, through JSON as well."""
    where = {"relation": relation, "unit": unit}
    for guarantee in (PureDP(value, **where), ApproxDP(value, delta, **where), ZCDP(value, **where)):
        for each in (guarantee, guarantee + guarantee, guarantee.times(1000)):
            assert guarantee_from_dict(each.to_dict()) == each
            assert guarantee_from_dict(json.loads(json.dumps(each.to_dict()))) == each


def test_round_trip_of_computed_values():
    """Values that no one may type, but flou computes, are read back too."""
    for guarantee in (
        ZCDP(1e-6).to_approx(delta=0.5),
        ApproxDP(1, 0.9) + ApproxDP(1, 0.9),
        ZCDP.for_approx(Fraction(1, 10**15), Fraction(1, 10**60)),
        PureDP(1 + Fraction(1, 3**2000)),
        PureDP(1e4).times(10**9).times(10**9),
    ):
        assert guarantee_from_dict(guarantee.to_dict()) == guarantee


@pytest.mark.parametrize(
    "change",
    [
        {"measure": "renyi"},
        {"measure": ["pure"]},
        {"measure": "pure"},
        {"epsilon": 0.3},
        {"epsilon": math.nan},
        {"epsilon": "0.33333333333333337"},
        {"epsilon": None},
        {"epsilon": [0.33333333333333337]},
        {"epsilon": True, "exact_epsilon": "1/1"},
        {"exact_epsilon": "1/2"},
        {"exact_epsilon": "-1/3"},
        {"exact_epsilon": "1/0"},
        {"exact_epsilon": "1"},
        {"exact_epsilon": "0.5"},
        {"exact_epsilon": " 1/3"},
        {"exact_epsilon": "1/3\n"},
        {"exact_epsilon": "١/٣"},
        {"exact_epsilon": "1" * 5000 + "/3"},
        {"exact_epsilon": 1 / 3},
        {"epsilon": 1e200, "exact_epsilon": "1" + "0" * 200 + "/1"},
        {"delta": 0, "exact_delta": "0/1"},
        {"delta": 1.5, "exact_delta": "3/2"},
        {"relation": "swap"},
        {"unit": ""},
        {"more": 1},
    ],
    ids=lambda change: repr(change)[:40],
)
def test_changes_are_refused(change):
    """A field that is strange, or that contradicts another, is refused in three sentences."""
    with pytest.raises(InvalidParameter) as caught:
        guarantee_from_dict({**WRITTEN, **change})
    assert all(part.endswith(".") for part in (caught.value.what, caught.value.why, caught.value.do))


@pytest.mark.parametrize("missing", WRITTEN)
def test_missing_fields(missing):
    """No field may be missing."""
    with pytest.raises(InvalidParameter):
        guarantee_from_dict({name: value for name, value in WRITTEN.items() if name != missing})


def test_zero_losses_are_refused():
    """No mechanism of flou costs nothing, so a certificate that says so is not believed."""
    for written, name in [(PureDP(1).to_dict(), "epsilon"), (ZCDP(1).to_dict(), "rho")]:
        with pytest.raises(InvalidParameter, match="can be zero"):
            guarantee_from_dict({**written, name: 0.0, f"exact_{name}": "0/1"})


@pytest.mark.parametrize("wrong", [None, "pure", 1, [("measure", "pure")]])
def test_not_a_dictionary(wrong):
    """Only a dictionary is read."""
    with pytest.raises(InvalidParameter, match="dictionary"):
        guarantee_from_dict(wrong)
