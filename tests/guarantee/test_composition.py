"""Several answers together, checked against the laws of tiny mechanisms."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import exp, inf, log, mpf

from flou.errors import GuaranteeMismatch, InvalidParameter
from flou.guarantee import ZCDP, ApproxDP, PureDP, compose, parallel

EPSILONS = st.fractions(Fraction(1, 1000), 5)


def real(value):
    return mpf(value.numerator) / value.denominator


def response(epsilon, bit):
    """Randomised response: the law of the answer of someone whose bit is ``bit``."""
    truth = 1 / (1 + exp(-real(epsilon)))
    return [truth, 1 - truth] if bit == 0 else [1 - truth, truth]


def leaky_response(epsilon, delta, bit):
    """Randomised response that tells the bit openly with probability delta: the worst (epsilon, delta)-DP."""
    delta = real(delta)
    answers = [(1 - delta) * p for p in response(epsilon, bit)]
    return [delta, mpf(0), *answers] if bit == 0 else [mpf(0), delta, *answers]


def together(first, second):
    return [p * q for p, q in itertools.product(first, second)]


def largest_loss(P, Q):
    return max(abs(log(p) - log(q)) if p and q else inf for p, q in zip(P, Q, strict=True) if p or q)


def least_delta(P, Q, epsilon):
    """The maximum over all sets of answers of P(S) - exp(epsilon) Q(S)."""
    return sum(max(p - exp(real(epsilon)) * q, 0) for p, q in zip(P, Q, strict=True))


def divergence(P, Q, order):
    return log(sum(p**order * q ** (1 - order) for p, q in zip(P, Q, strict=True))) / (order - 1)


@settings(deadline=None)
@given(EPSILONS, EPSILONS)
def test_pure_brute_force(a, b):
    """The loss of two randomised responses is the sum of their epsilons: no less holds, no more is claimed."""
    P, Q = (together(response(a, bit), response(b, bit)) for bit in (0, 1))
    claim = real((PureDP(a) + PureDP(b)).exact_epsilon)
    assert abs(largest_loss(P, Q) - claim) < mpf(10) ** -50


@settings(deadline=None)
@given(EPSILONS, EPSILONS, EPSILONS)
def test_adaptive_brute_force(a, b, c):
    """The second mechanism may be chosen by the first answer, within the guarantee listed for it."""
    P, Q = (
        [
            first * then
            for first, epsilon in zip(response(a, bit), (b, c), strict=True)
            for then in response(epsilon, bit)
        ]
        for bit in (0, 1)
    )
    claim = real((PureDP(a) + PureDP(max(b, c))).exact_epsilon)
    assert largest_loss(P, Q) <= claim + mpf(10) ** -50


@settings(deadline=None)
@given(
    EPSILONS,
    EPSILONS,
    st.fractions(Fraction(1, 10**6), Fraction(1, 3)),
    st.fractions(Fraction(1, 10**6), Fraction(1, 3)),
)
def test_approx_brute_force(a, b, d, e):
    """The deltas add: two leaky responses need more than either delta and at most their sum."""
    P, Q = (together(leaky_response(a, d, bit), leaky_response(b, e, bit)) for bit in (0, 1))
    claim = ApproxDP(a, d) + ApproxDP(b, e)
    needed = least_delta(P, Q, claim.exact_epsilon)
    assert real(max(d, e)) < needed <= real(claim.exact_delta)


@settings(deadline=None)
@given(EPSILONS, EPSILONS, st.fractions(Fraction(101, 100), 100))
def test_zcdp_brute_force(a, b, order):
    """Rényi divergences of a product add, and stay below the sum of the rhos."""
    P, Q = (together(response(a, bit), response(b, bit)) for bit in (0, 1))
    claim = PureDP(a).to_zcdp() + PureDP(b).to_zcdp()
    assert divergence(P, Q, real(order)) <= real(claim.exact_rho * order)


def test_sums_are_exact():
    """0.1 and 0.2 make 0.3, in any order, in all measures, and by sum() as well."""
    assert PureDP(0.1) + PureDP(0.2) == PureDP(0.3) == sum([PureDP(0.2), PureDP(0.1)])
    assert ZCDP(0.1) + ZCDP(0.2) == ZCDP(0.3)
    assert ApproxDP(0.1, 1e-6) + ApproxDP(0.2, 2e-6) == ApproxDP(0.3, 3e-6)
    assert sum([PureDP(0.1)] * 10) == PureDP(1) == compose(*[PureDP(0.1)] * 10)
    assert compose(PureDP(0.1)) == PureDP(0.1)


def test_mixed_measures():
    """A pure guarantee takes on the measure of its neighbour, on either side."""
    assert PureDP(0.1) + ApproxDP(0.2, 1e-6) == ApproxDP(0.3, 1e-6) == ApproxDP(0.2, 1e-6) + PureDP(0.1)
    assert PureDP(1) + ZCDP(0.1) == ZCDP(0.6) == ZCDP(0.1) + PureDP(1)


def test_compose_converts_first():
    """In zCDP two answers of epsilon cost less than one of twice epsilon, and compose() knows it."""
    costs = PureDP(1), PureDP(1), ZCDP(0.1)
    assert compose(*costs) == ZCDP(1.1)
    assert sum(costs) == ZCDP(2.1)


def test_delta_is_capped():
    """No composition claims a delta above one."""
    assert (ApproxDP(1, 0.7) + ApproxDP(1, 0.7)).exact_delta == 1


def test_beyond_the_limits_of_the_door():
    """A composed loss may exceed what a person may ask for at once."""
    assert (PureDP(10_000) + PureDP(10_000)).epsilon == 20_000


@pytest.mark.parametrize("put", [compose, parallel, lambda a, b: a + b, lambda a, b: sum([a, b])])
def test_refusals(put):
    """What does not speak about the same thing is not put together."""
    for pair, reason in [
        ((ApproxDP(1, 1e-6), ZCDP(1)), r"Convert the zCDP guarantee first with \.to_approx\(delta=\.\.\.\)"),
        ((ZCDP(1), ApproxDP(1, 1e-6)), r"Convert the zCDP guarantee first with \.to_approx\(delta=\.\.\.\)"),
        ((PureDP(1), PureDP(1, relation="substitute")), r"\.to_substitute\(\)"),
        ((PureDP(1), ZCDP(1, unit="employee_id")), "unit 'employee_id'"),
    ]:
        with pytest.raises(GuaranteeMismatch, match=reason) as caught:
            put(*pair)
        error = caught.value
        assert all(part.endswith(".") for part in (error.what, error.why, error.do))


def test_nothing_but_guarantees():
    """Numbers are not guarantees, and nothing has no guarantee."""
    for wrong in [(), (0.5,), (PureDP(1), 0.5), ([PureDP(1)],)]:
        for put in (compose, parallel):
            with pytest.raises(InvalidParameter, match="at least one guarantee"):
                put(*wrong)
    for left, right in [(PureDP(1), 0.5), (0.5, PureDP(1)), (1, PureDP(1)), (PureDP(1), 0), (False, PureDP(1))]:
        with pytest.raises(TypeError):
            left + right


def counts(truth, epsilon, outcomes):
    """The law of two counts, each with discrete Laplace noise, up to its constant."""
    return [exp(-real(epsilon) * sum(abs(y - n) for y, n in zip(ys, truth, strict=True))) for ys in outcomes]


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_parallel_brute_force(epsilon):
    """Two counts of disjoint groups: one record more costs epsilon, one that moves costs twice that."""
    outcomes = list(itertools.product(range(-3, 9), repeat=2))
    law = counts((3, 2), epsilon, outcomes)
    claim = real(parallel(PureDP(epsilon), PureDP(epsilon)).exact_epsilon)
    for neighbour in [(2, 2), (4, 2), (3, 1), (3, 3)]:
        assert abs(largest_loss(law, counts(neighbour, epsilon, outcomes)) - claim) < mpf(10) ** -50
    for moved in [(2, 3), (4, 1)]:
        loss = largest_loss(law, counts(moved, epsilon, outcomes))
        assert abs(loss - 2 * claim) < mpf(10) ** -50
        substituted = parallel(PureDP(epsilon), PureDP(epsilon)).to_substitute()
        assert loss <= real(substituted.exact_epsilon) + mpf(10) ** -50


def test_parallel_under_substitution():
    """Parts that a record can leave are refused; parts fixed in public are not."""
    two = PureDP(0.5, relation="substitute"), PureDP(0.7, relation="substitute")
    for answer in (False, None, "no", 1):
        with pytest.raises(GuaranteeMismatch, match="move from one part to another") as caught:
            parallel(*two, fixed_parts=answer)
    assert "fixed_parts=True" in caught.value.do
    assert ".to_substitute()" in caught.value.do
    assert parallel(*two, fixed_parts=True) == two[1]


def test_parallel_is_the_maximum():
    """Parallel composition takes the largest of each parameter, in a common measure."""
    assert parallel(PureDP(0.1), PureDP(0.3), PureDP(0.2)) == PureDP(0.3)
    assert parallel(ApproxDP(0.1, 1e-5), ApproxDP(0.3, 1e-6)) == ApproxDP(0.3, 1e-5)
    assert parallel(ZCDP(0.1), ZCDP(0.3)) == ZCDP(0.3)
    assert parallel(PureDP(0.5), ApproxDP(0.3, 1e-6)) == ApproxDP(0.5, 1e-6)
    assert parallel(PureDP(1), ZCDP(0.3)) == ZCDP(0.5)
