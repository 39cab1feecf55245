"""What a person is told."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import exp, mpf

from flou.errors import InvalidParameter
from flou.guarantee import ZCDP, ApproxDP, PureDP

SENTENCES = [
    (PureDP(1), "Someone who was 50 % sure that you are in the data can become at most 74 % sure."),
    (PureDP(3), "Someone who was 50 % sure that you are in the data can become at most 95.3 % sure."),
    (
        PureDP(6),
        "Someone who was 50 % sure that you are in the data can become more than 99.5 % sure: "
        "this protects almost nothing.",
    ),
    (
        PureDP(1, unit="employee_id"),
        "Someone who was 50 % sure that you (one employee_id with all its rows) are in the data can become "
        "at most 74 % sure.",
    ),
    (
        PureDP(1, relation="substitute"),
        "Someone who was 50 % sure of what your record says can become at most 74 % sure.",
    ),
    (
        PureDP(1, relation="substitute", unit="employee_id"),
        "Someone who was 50 % sure of what your records (one employee_id) say can become at most 74 % sure.",
    ),
    (
        ApproxDP(1, 1e-6),
        "Any test that wrongly accuses 5 % of those who are not in the data detects at most 14 % of those who are.",
    ),
    (
        ApproxDP(20, 1e-6, unit="employee_id"),
        "Any test that wrongly accuses 5 % of those who are not in the data (each of them one employee_id with all "
        "its rows) may detect more than 99.5 % of those who are: this protects almost nothing.",
    ),
    (
        ApproxDP(1, 1e-6, relation="substitute"),
        "Any test of what a record says that wrongly accuses 5 % of those whose record says otherwise detects "
        "at most 14 % of those whose record says so.",
    ),
    (
        ZCDP(0.1),
        "Read as epsilon = 2.15 with delta = 1e-6, it says this. Any test that wrongly accuses 5 % of those who "
        "are not in the data detects at most 43 % of those who are.",
    ),
]


@pytest.mark.parametrize(("guarantee", "sentence"), SENTENCES)
def test_sentences(guarantee, sentence):
    """Each measure, relation and unit has its sentence."""
    assert guarantee.in_words() == sentence


def stated(sentence):
    found = re.search(r"at most ([0-9.]+) %", sentence)
    return mpf(found[1]) if found else None


@settings(deadline=None)
@given(st.floats(1e-6, 50), st.floats(1e-6, 0.999))
def test_belief_is_rounded_up(epsilon, prior):
    """The belief stated is never below the true bound, never 100 %, and never far above."""
    sentence = PureDP(epsilon).in_words(prior)
    odds = mpf(prior) / (1 - mpf(prior)) * exp(mpf(epsilon))
    true = 100 * odds / (1 + odds)
    if (claim := stated(sentence)) is None:
        assert true > mpf("99.5")
        assert sentence.endswith("more than 99.5 % sure: this protects almost nothing.")
    else:
        assert true * (1 - mpf(10) ** -15) <= claim < 100
        assert claim - true <= min(true, 100 - true) / 5


@settings(deadline=None)
@given(st.floats(1e-3, 50), st.floats(1e-9, 0.5), st.floats(1e-6, 0.49))
def test_detection_is_rounded_up(epsilon, delta, alarms):
    """The detection stated is never below what the two inequalities of the definition leave."""
    sentence = ApproxDP(epsilon, delta).in_words(false_alarms=alarms)
    e, d, f = exp(mpf(epsilon)), mpf(delta), mpf(alarms)
    true = 100 * min(e * f + d, 1 - (1 - d - f) / e)
    if (claim := stated(sentence)) is None:
        assert true > mpf("99.5")
    else:
        assert true * (1 - mpf(10) ** -15) <= claim < 100
        assert claim - true <= max(min(true, 100 - true) / 5, mpf(10) ** -9)


def test_worst_test_is_attained():
    """Randomised response with a leak is detected as often as the sentence says, before rounding."""
    epsilon, delta = mpf(1), mpf("0.1")
    truth = (1 - delta) / (1 + exp(-epsilon))
    false_alarms, hits = (1 - delta) - truth, truth + delta
    assert abs(exp(epsilon) * false_alarms + delta - hits) < mpf(10) ** -50
    claim = stated(ApproxDP(1, 0.1).in_words(false_alarms=float(false_alarms)))
    assert 0 <= claim - 100 * hits < 1


def test_prior_is_shown():
    """A small belief keeps two digits rather than becoming a whole percent."""
    assert PureDP(0.1).in_words(0.001) == (
        "Someone who was 0.1 % sure that you are in the data can become at most 0.12 % sure."
    )
    assert "at most 99.91 % sure" in PureDP(0.1).in_words(0.999)


@pytest.mark.parametrize("guarantee", [PureDP(1), ApproxDP(1, 1e-6), ZCDP(1)])
@pytest.mark.parametrize("bad", [0, 1, -0.1, "0.5", None, float("nan"), True])
def test_bad_shares(guarantee, bad):
    """Beliefs and false alarms lie strictly between 0 and 1, whether they play a part or not."""
    with pytest.raises(InvalidParameter, match=r"^prior must"):
        guarantee.in_words(bad)
    with pytest.raises(InvalidParameter, match=r"^false_alarms must"):
        guarantee.in_words(false_alarms=bad)


@settings(deadline=None)
@given(st.floats(1e-12, 1e4))
def test_zcdp_says_its_conversion(rho):
    """The epsilon in the sentence is the converted one, rounded up to three digits."""
    epsilon = ZCDP(rho).to_approx(delta=1e-6).epsilon
    assume(epsilon > 0)
    said = float(re.search(r"epsilon = ([0-9.e+-]+) with", ZCDP(rho).in_words())[1])
    assert epsilon * (1 - 1e-15) <= said <= epsilon * 1.01
