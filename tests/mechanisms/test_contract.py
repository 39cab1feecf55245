"""One suite for all mechanisms: what they sample is what their law says, and what they refuse they refuse kindly."""

from __future__ import annotations

import importlib
import inspect
import math
import pathlib
from fractions import Fraction

import numpy as np
import pytest

import flou.mechanisms
from flou.bits import SeededBits
from flou.errors import InvalidData, InvalidParameter
from flou.laws import DiscreteLaplace
from flou.mechanisms import (
    AboveThreshold,
    BernoulliMean,
    Exponential,
    Gaussian,
    GeneralisedRandomisedResponse,
    InverseSensitivity,
    Laplace,
    Majority,
    NoisyMax,
    PermuteAndFlip,
    PiecewiseExponential,
    RandomisedResponse,
    Staircase,
)
from goodness import compatible, tilted

DRAWS = 100_000
ROOT = pathlib.Path(__file__).parents[2]

SAMPLED = [
    (Laplace(sensitivity=2, epsilon=0.7), 41, range(0, 90)),
    (Staircase(sensitivity=3, epsilon=1.5), 41, range(0, 90)),
    (Gaussian(sensitivity=2, epsilon=0.7, delta=1e-3), 41, range(0, 90)),
    (Gaussian(sensitivity=2, rho=0.3), 41, range(0, 90)),
    (Exponential(sensitivity=1, epsilon=1), [3, 1, 4, 1, 5], range(5)),
    (Exponential(sensitivity=2, epsilon=1, utility="monotone"), [-3, 1, 4, 1, 5], range(5)),
    (PermuteAndFlip(sensitivity=1, epsilon=1), [3, 1, 4, 1, 5], range(5)),
    (NoisyMax(sensitivity=1, epsilon=1), [3, 1, 4, 4, 2], range(5)),
    (InverseSensitivity(epsilon=1), [3, 0, 2, 5], range(4)),
    (InverseSensitivity(epsilon=1), [0, 2], range(2)),
    (PiecewiseExponential(sensitivity=1, epsilon=1), ([3, 0, 5, 2], [1, 9, 0, 2]), range(10)),
    (Majority(epsilon=0.5), (6, 4), range(2)),
    (Majority(epsilon=0.5, version="exponential", relation="substitute"), (6, 5), range(2)),
    (Majority(epsilon=0.5, version="inverse-sensitivity", relation="substitute"), (4, 7), range(2)),
    (Majority(epsilon=0.5, version="logistic", relation="substitute"), (5, 6), range(2)),
    (BernoulliMean(rows=12, epsilon=1), 2, range(13)),
    (RandomisedResponse(epsilon=1), 1, range(2)),
    (RandomisedResponse(p=0.7, q=0.4), 0, range(2)),
    (GeneralisedRandomisedResponse(k=5, epsilon=1), 3, range(5)),
]


def many(mechanism, summary, bits) -> np.ndarray:
    """Many releases: through the vectorised law where sampling goes through it, one by one where it does not."""
    if isinstance(mechanism, Laplace | Gaussian):
        return mechanism.sample(np.full(DRAWS, summary), bits=bits)
    if isinstance(mechanism, RandomisedResponse | GeneralisedRandomisedResponse):
        return mechanism.sample(np.full(DRAWS, summary), bits=bits)
    if isinstance(mechanism, PermuteAndFlip | NoisyMax | Majority):
        return np.array([mechanism.sample(summary, bits=bits) for _ in range(DRAWS // 4)])
    return mechanism.law(summary).sample(DRAWS, bits=bits)


@pytest.mark.parametrize(("mechanism", "summary", "outcomes"), SAMPLED, ids=lambda x: repr(x)[:60])
def test_samples_follow_the_law(mechanism, summary, outcomes):
    """Releases follow the law (false alarms 1e-9), and a tilt of ten percent in half of the mass is refused."""
    releases = many(mechanism, summary, SeededBits(f"sampled {mechanism} {summary}"))
    p = mechanism.law(summary).pmf(np.array(outcomes))
    assert np.isin(releases, outcomes).mean() > 0.999
    counts = np.array([np.sum(releases == k) for k in outcomes], dtype=float)
    keep = p * releases.size >= 5
    counts = np.append(counts[keep], releases.size - counts[keep].sum())
    p = np.append(p[keep], max(1 - p[keep].sum(), 1e-12))
    if p[-1] * releases.size < 5:
        counts, p = counts[:-1], p[:-1] / p[:-1].sum()
    assert compatible(counts, p)
    assert not compatible(counts, tilted(p, 0.1))
    assert not compatible(counts, tilted(p, -0.1))


@pytest.mark.parametrize("answers", [1, 2])
def test_streams_follow_the_law(answers):
    """The queries that pass are those of the law, for one answer and for two."""
    mechanism = AboveThreshold(threshold=3, sensitivity=1, epsilon=2, answers=answers)
    queries = [1, 2, 4, 3]
    law, bits = mechanism.law(queries), SeededBits(f"stream {answers}")
    outcomes = list(law.outcomes())
    p = np.array([law.pmf(o) for o in outcomes])
    assert p.sum() == pytest.approx(1)
    releases = [mechanism.sample(queries, bits=bits) for _ in range(20_000)]
    counts = np.array([releases.count(o) for o in outcomes], dtype=float)
    assert compatible(counts, p)
    assert not compatible(counts, tilted(p, 0.15))
    assert law.pmf((2, 1)) == 0
    assert law.pmf(tuple(range(answers + 1))) == 0


@pytest.mark.parametrize(("mechanism", "summary", "outcomes"), SAMPLED, ids=lambda x: repr(x)[:60])
def test_laws_have_total_mass_one(mechanism, summary, outcomes):
    """No outcome is forgotten."""
    low, high = outcomes[0], outcomes[-1]
    wide = np.arange(low - 2000, high + 2000)
    assert np.sum(mechanism.law(summary).pmf(wide)) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("mechanism", "summary", "outcomes"), SAMPLED, ids=lambda x: repr(x)[:60])
def test_a_release_is_an_integer(mechanism, summary, outcomes):
    """One release is a plain Python integer of the grid."""
    assert type(mechanism.sample(summary)) is int
    assert len(outcomes) > 1


@pytest.mark.parametrize(("mechanism", "summary", "outcomes"), SAMPLED, ids=lambda x: repr(x)[:60])
def test_mechanisms_are_readable_values(mechanism, summary, outcomes):
    """Mechanisms compare by value, can be hashed, and print as a call."""
    assert mechanism == mechanism
    assert isinstance(hash(mechanism), int)
    assert repr(mechanism).startswith(type(mechanism).__name__ + "(")
    assert "Fraction" not in repr(mechanism)
    assert summary is not None
    assert outcomes


def modules():
    return [importlib.import_module(getattr(flou.mechanisms, name).__module__) for name in flou.mechanisms.__all__[:]]


@pytest.mark.parametrize(
    "module", [m for m in modules() if not m.__name__.endswith(".mechanism")], ids=lambda m: m.__name__
)
def test_docstrings_say_what_must_be_known(module):
    """Every mechanism states its eight facts, from law to proof, and the proof is there to be read."""
    words = ["Law", "Guarantee", "Why", "Error", "Numerics", "Limits", "Source", "Proof"]
    lines = module.__doc__.splitlines()
    stated = [line.split()[0] for line in lines if line and not line.startswith(" ") and line.split()[0] in words]
    assert stated == words
    proof = next(line for line in lines if line.startswith("Proof")).split()[1]
    assert (ROOT / proof).is_file()
    assert len((ROOT / proof).read_text().splitlines()) > 15


@pytest.mark.parametrize("answer", [1.5, "120", None, [1.5, 2], [[1, 2]], [], ["a"], float("nan"), True])
def test_answers_off_the_grid_are_refused_by_type(answer):
    """Only integers are noised; the error names the type and never the value."""
    with pytest.raises(InvalidData, match="vector of integers") as caught:
        Laplace(sensitivity=1, epsilon=1).sample(answer)
    assert "120" not in str(caught.value)
    assert "1.5" not in str(caught.value)


def test_scalars_never_overflow():
    """A Python integer of any size is noised exactly."""
    huge = 10**40
    assert abs(Laplace(sensitivity=1, epsilon=1).sample(huge) - huge) < 100
    assert Laplace(sensitivity=1, epsilon=1).law(huge).pmf(huge) == pytest.approx(math.tanh(0.5))


def test_many_integers_are_noised_as_one_is():
    """Drawn together or one by one, the noise has one law: a vector of draws is the draws of a vector."""
    laplace, huge = Laplace(sensitivity=1, epsilon=1), 10**40
    exact = [huge, -huge, 0, 7] * 500
    released = laplace.sample_each(exact, bits=SeededBits(1))
    noise = [int(noisy - answer) for noisy, answer in zip(released, exact, strict=True)]
    assert noise == laplace.noise.sample(2_000, bits=SeededBits(1)).tolist()
    assert laplace.sample_each([]) == []
    for wrong in ([1, 1.5], [1, [2, 3]], [1, None], [True]):
        with pytest.raises(InvalidData, match="vector of integers"):
            laplace.sample_each(wrong)
    edge = laplace.sample_each([np.int64(2**63 - 1)] * 50, bits=SeededBits(2))
    assert max(edge) > 2**63


def test_vectors_wrap_around_without_a_word():
    """At the edge of 64 bits a release wraps: no exception and no change of type tells where the answer was."""
    edge = np.array([2**63 - 1, -(2**63), 0])
    for seed in range(20):
        released = Laplace(sensitivity=1, epsilon=0.01).sample(edge, bits=SeededBits(seed))
        assert released.dtype == np.int64


def test_extreme_utilities_do_not_overflow():
    """Utilities at both ends of 64 bits are compared exactly."""
    ends = [-(2**63), 2**63 - 1, 0]
    for kind in (Exponential, PermuteAndFlip, NoisyMax):
        mechanism = kind(sensitivity=1, epsilon=1)
        assert {mechanism.sample(ends) for _ in range(50)} == {1}


def test_release_vector_equals_law_vector():
    """The law of a vector is made of independent coordinates around the answer."""
    law = Laplace(sensitivity=1, epsilon=1).law([5, -2])
    single = Laplace(sensitivity=1, epsilon=1)
    assert law.pmf([5, -2]) == pytest.approx(single.law(5).pmf(5) * single.law(-2).pmf(-2))
    assert law.log_pmf([[5, -2], [6, -2]]).shape == (2,)
    assert law[1].mean == -2
    assert law.mean.tolist() == [5, -2]
    low, high = law.interval(0.95, simultaneous=True)
    inside = np.mean([np.all((low <= x) & (x <= high)) for x in law.sample(20_000, bits=SeededBits("vector"))])
    assert inside + 0.01 >= 0.95
    assert law.sample().shape == (2,)
    assert law.variance.shape == law.mean_absolute.shape == (2,)
    assert law.quantile(0.5).tolist() == [5, -2]
    assert law.cdf([5, -2]) == pytest.approx(single.law(5).cdf(5) ** 2)


def test_utility_bounds_hold():
    """The stated shortfalls are upper bounds for the true tails of the laws."""
    utilities = np.array([0, 3, 7, 9, 10])
    for kind in (Exponential, NoisyMax):
        mechanism = kind(sensitivity=1, epsilon=0.8)
        p = mechanism.law(utilities).probabilities
        for beta in (0.01, 0.1, 0.5, 0.9):
            bound = mechanism.shortfall(utilities.size, beta=beta)
            assert p[utilities <= 10 - bound].sum() <= beta


def test_permute_and_flip_is_never_worse_than_exponential():
    """Its expected shortfall is at most that of the exponential mechanism with the same epsilon."""
    for utilities in ([0, 1, 2, 3], [0, 0, 5], [10, 9, 1, 1, 1], list(range(40))):
        vector = np.array(utilities)
        short = [
            float(np.dot(kind(sensitivity=1, epsilon=1).law(vector).probabilities, vector.max() - vector))
            for kind in (PermuteAndFlip, Exponential)
        ]
        assert short[0] <= short[1] + 1e-12


def test_above_threshold_accuracy_holds():
    """The alpha of (alpha, beta) accuracy fails at most a share beta of the time, over a grid of queries."""
    for answers, beta in ((1, 0.2), (2, 0.5)):
        mechanism = AboveThreshold(threshold=0, sensitivity=1, epsilon=4, answers=answers)
        alpha = math.ceil(mechanism.accuracy(5, beta=beta))
        queries = np.array([-alpha, -alpha, alpha, -alpha, alpha])
        law = mechanism.law(queries)
        wanted = (2,) if answers == 1 else (2, 4)
        assert law.pmf(wanted) >= 1 - beta


def test_a_stream_that_has_ended_refuses():
    """After its last answer a stream gives no more, whatever is asked."""
    stream = AboveThreshold(threshold=0, sensitivity=1, epsilon=1).stream()
    while not stream.ended:
        stream.passes(10)
    with pytest.raises(InvalidParameter, match="all its answers"):
        stream.passes(10)
    assert repr(stream) == "Stream(remaining=0)"


def test_the_documents_split_gives_the_documents_noise():
    """With split=1/2 the noises are the Lap(2/epsilon) and Lap(4/epsilon) of document 001."""
    mechanism = AboveThreshold(threshold=0, sensitivity=1, epsilon=0.5, split=0.5)
    assert (mechanism.threshold_noise.scale, mechanism.query_noise.scale) == (4, 8)


def test_the_default_split_has_the_least_variance():
    """No other split gives less variance to the difference that decides."""
    for options in ({"answers": 1}, {"answers": 4}, {"answers": 3, "monotone": True}):

        def spread(split, options=options):
            m = AboveThreshold(threshold=0, sensitivity=50, epsilon=1, split=split, **options)
            return m.threshold_noise.variance + m.query_noise.variance

        assert all(spread(None) <= spread(s) * (1 + 1e-6) for s in np.linspace(0.05, 0.95, 91))


def test_majority_is_most_often_right_in_the_geometric_version():
    """For every table the geometric version is right at least as often as the three of document 003."""
    for relation, sizes in (("substitute", [11]), ("add-remove", range(12))):
        for size in sizes:
            for ones in range(size + 1):
                right = ones > size - ones
                p = {
                    version: Majority(epsilon=1, version=version, relation=relation)
                    .law((ones, size - ones))
                    .pmf(int(right))
                    for version in ("geometric", "exponential", "inverse-sensitivity")
                }
                assert p["geometric"] >= max(p.values()) - 1e-12


def test_majority_follows_the_slides():
    """With n = 2k + 1 votes the three printed probabilities come out."""
    k, epsilon = 3, 0.7
    for s in range(2 * k + 2):
        votes, half = (s, 2 * k + 1 - s), s - (2 * k + 1) / 2
        p = {
            v: Majority(epsilon=epsilon, version=v, relation="substitute").law(votes).p
            for v in ("exponential", "logistic", "inverse-sensitivity")
        }
        assert p["exponential"] == pytest.approx(1 / (1 + math.exp(-half * epsilon)))
        assert p["logistic"] == pytest.approx(1 / (1 + math.exp(-(s - k) * epsilon)))
        assert p["inverse-sensitivity"] == pytest.approx(1 / (1 + math.exp(-(s - k - (s <= k)) * epsilon)))


def test_bernoulli_mean_follows_the_corrected_document():
    """Normalisation, expected loss and bias are those of the errata, not those printed."""
    law = BernoulliMean(rows=100_000, epsilon=1).law(50_000)
    assert law.mean_absolute == pytest.approx(2 * math.exp(-0.5) / (1 - math.exp(-1)), rel=1e-9)
    assert law.mean_absolute == pytest.approx(1.919, abs=5e-4)
    n, s, r = 9, 2, math.exp(-0.5)
    law = BernoulliMean(rows=n, epsilon=1).law(s)
    total = (1 + r - r ** (s + 1) - r ** (n - s + 1)) / (1 - r)
    assert law.pmf(4) == pytest.approx(r**2 / total)
    edge = BernoulliMean(rows=100, epsilon=0.1).law(0)
    assert edge.mean_absolute == pytest.approx(18.9, abs=0.05)
    assert edge.mean > 18


def test_bernoulli_mean_clamps_impossible_counts():
    """A count outside 0..n is treated as the nearest possible one, without a word."""
    mechanism = BernoulliMean(rows=10, epsilon=1)
    assert mechanism.law(-5) == mechanism.law(0)
    assert mechanism.law(50) == mechanism.law(10)


def test_inverse_sensitivity_lower_bound():
    """No epsilon/4-DP unbiased mechanism can be right more often than this one at epsilon."""
    lengths = [0, 1, 1, 2, 5]
    ours = InverseSensitivity(epsilon=1).law(lengths).probabilities[0]
    assert InverseSensitivity(epsilon=Fraction(1, 4)).best_probability(lengths) <= ours + 1e-12


def test_randomised_response_states_its_loss():
    """Warner's two coins cost ln 3, other probabilities the larger of the two log-ratios, rounded up."""
    assert RandomisedResponse(p=0.75, q=0.25).guarantee.epsilon == pytest.approx(math.log(3), rel=1e-9)
    assert RandomisedResponse(p=0.75, q=0.25).guarantee.epsilon >= math.log(3)
    assert RandomisedResponse(p=0.5, q=0.001).guarantee.epsilon == pytest.approx(math.log(500), rel=1e-9)
    assert RandomisedResponse(epsilon=math.log(3)).p == pytest.approx(0.75)


def test_responses_of_a_crowd_estimate_the_share():
    """The corrected estimator (mean - q) / (p - q) recovers the share of ones."""
    mechanism, n, share = RandomisedResponse(p=0.75, q=0.25), 200_000, 0.3
    answers = (np.arange(n) < share * n).astype(int)
    reports = mechanism.sample(answers, bits=SeededBits("crowd"))
    estimate = (reports.mean() - mechanism.q) / (mechanism.p - mechanism.q)
    assert abs(estimate - share) < 7 / (2 * 0.5 * math.sqrt(n))
    assert abs(2 * reports.mean() - 1 - share) > 0.4, "the printed estimator is off by a half"


def test_generalised_response_clamps_codes():
    """Codes outside the categories are reported as the nearest one."""
    mechanism = GeneralisedRandomisedResponse(k=4, epsilon=50)
    assert mechanism.sample([-3, 0, 3, 99]).tolist() == [0, 0, 3, 3]
    assert mechanism.p + 3 * mechanism.q == pytest.approx(1)


def test_laws_too_large_to_sum_are_refused_with_a_way_out():
    """Where a law has no formula and too many terms, the error says that sampling still works."""
    with pytest.raises(InvalidParameter, match="Samples are not affected"):
        NoisyMax(sensitivity=10**9, epsilon=1).law([1, 2, 3])
    with pytest.raises(InvalidParameter, match="Samples are not affected"):
        AboveThreshold(threshold=0, sensitivity=10**9, epsilon=1).law([1, 2, 3])
    assert NoisyMax(sensitivity=10**9, epsilon=1).sample([1, 2, 3]) in range(3)


def test_pieces_must_match():
    """Every piece has one length and one utility."""
    with pytest.raises(InvalidData, match="same number"):
        PiecewiseExponential(sensitivity=1, epsilon=1).law(([1, 2], [3]))


def test_signatures_are_keyword_only():
    """Parameters of mechanisms are named at the call."""
    for name in flou.mechanisms.__all__:
        if name != "Mechanism":
            parameters = inspect.signature(getattr(flou.mechanisms, name)).parameters.values()
            assert all(p.kind is p.KEYWORD_ONLY for p in parameters), name


def test_the_staircase_refuses_vectors():
    """Each coordinate that moves would cost epsilon again, so a vector is not answered."""
    for call in (Staircase(sensitivity=2, epsilon=1).law, Staircase(sensitivity=2, epsilon=1).sample):
        with pytest.raises(InvalidData, match="one integer"):
            call([1, 2])


def test_unsigned_utilities_are_clamped():
    """Utilities beyond the signed range stay the best ones."""
    utilities = np.array([2**63 + 5, 3, 4], dtype=np.uint64)
    for kind in (Exponential, PermuteAndFlip, NoisyMax):
        assert kind(sensitivity=1, epsilon=1).sample(utilities) == 0


@pytest.mark.parametrize("gap", [10, 60, 150])
def test_rare_outcomes_have_their_probability(gap):
    """An outcome far below the best is as rare as two independent Laplace noises make it."""
    law = NoisyMax(sensitivity=1, epsilon=2).law([0, gap])  # noises of scale 1
    # P(Z1 - Z2 > gap) for two discrete Laplace noises, summed directly
    noise = DiscreteLaplace(1)
    z = np.arange(-700, 701)
    direct = float(np.sum(noise.pmf(z) * noise.sf(gap - 1 - z)))  # the first of equals wins
    assert law.pmf(0) == pytest.approx(direct, rel=1e-9)


def test_far_queries_have_their_probability():
    """Twenty queries far above the threshold that all fail are as rare as the noise makes it."""
    mechanism = AboveThreshold(threshold=0, sensitivity=1, epsilon=2, split=0.5)
    law = mechanism.law([60] * 20)
    threshold, query = mechanism.threshold_noise, mechanism.query_noise
    z = np.arange(-900, 901)
    direct = float(np.sum(threshold.pmf(z) * query.cdf(z - 61) ** 20))
    assert law.pmf(()) == pytest.approx(direct, rel=1e-9)


@pytest.mark.parametrize("n", [3, 800, 5000, 100_000])
def test_permute_and_flip_has_mass_one_for_any_number_of_outcomes(n):
    """The integral is accurate for many outcomes too."""
    law = PermuteAndFlip(sensitivity=1, epsilon=1).law(np.arange(n) % 7)
    assert law.probabilities.sum() == pytest.approx(1, rel=1e-9)


def test_losses_of_long_fractions_are_rounded_up():
    """Probabilities with thousands of digits have their loss stated, never understated."""
    p = Fraction(10**3000 + 1, 3 * 10**3000)
    loss = RandomisedResponse(p=p, q=Fraction(1, 4)).guarantee.epsilon
    assert math.log(4 / 3) <= loss <= math.log(4 / 3) * (1 + 1e-9)
    tiny = Fraction(1, 10**2500)
    assert RandomisedResponse(p=Fraction(1, 2), q=tiny).guarantee.epsilon >= 2500 * math.log(10) - math.log(2)


def test_the_false_answers_of_generalised_response_keep_their_probability():
    """q is accurate where p is all but one."""
    mechanism = GeneralisedRandomisedResponse(k=4, epsilon=40)
    assert mechanism.q == pytest.approx(mechanism.p * math.exp(-40), rel=1e-9)
