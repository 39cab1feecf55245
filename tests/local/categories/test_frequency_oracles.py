"""All oracles, outcome by outcome: loss, bias, variance; their samplers; their reports and aggregates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import InvalidData, InvalidParameter
from flou.local import GRR, OLH, OUE, SUE, Aggregate, DBitFlip, Hadamard, SubsetSelection, Warner
from flou.local.categories.packed import unpacked
from flou.local.categories.subset_selection import uniform_subsets
from goodness import compatible, detectable
from local.enumerated import ORACLES, all_oracles, all_reports, bias, index_of, laws, told, variances, worst_loss

DBITS = [DBitFlip(k, epsilon=epsilon, d=d) for k in (2, 3, 5) for d in range(1, k + 1) for epsilon in (0.5, 2)]
CASES = [*all_oracles(), *DBITS]

every = pytest.mark.parametrize("oracle", CASES, ids=told)


@every
def test_the_law_is_a_law_and_its_loss_is_exactly_epsilon(oracle):
    """Over all reports and pairs of answers the largest log-ratio is the epsilon that is claimed."""
    probabilities = laws(oracle)
    assert np.allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
    assert worst_loss(probabilities) == pytest.approx(oracle.guarantee.epsilon, rel=1e-10)


@pytest.mark.parametrize("oracle", [*all_oracles()], ids=told)
def test_the_estimate_is_unbiased_and_its_variance_the_formula(oracle):
    """By adding up over all reports."""
    assert bias(oracle) < 1e-11 / abs(oracle.gap)
    own, others = oracle.variance(1), oracle.variance(0)
    if isinstance(oracle, Warner):  # whose formula is about category 1; both have the same error
        assert np.allclose(variances(oracle), np.array([[others], [own]]))
    else:
        assert np.allclose(variances(oracle), np.where(np.eye(oracle.k), own, others), rtol=1e-9)
        assert oracle.gap == pytest.approx(oracle.p - oracle.q, rel=1e-9)


@pytest.mark.parametrize("oracle", DBITS, ids=told)
def test_those_who_were_asked_give_an_unbiased_estimate(oracle):
    """dBitFlip: given that a category is asked about, the debiased bit has mean 1 or 0; with all asked it is SUE."""
    reports, probabilities = all_reports(oracle), laws(oracle)
    for v in range(oracle.k):
        about = reports >> 1 == v
        bit = np.where(about, (reports & 1) - oracle.q, 0)
        asked = about.any(axis=1)
        found = probabilities @ (bit.sum(axis=1) / oracle.gap) / (probabilities @ asked)
        assert np.allclose(probabilities @ asked, oracle.d / oracle.k)
        assert np.allclose(found, np.arange(oracle.k) == v, atol=1e-11)
    if oracle.d == oracle.k:
        assert oracle.variance(0.3) == pytest.approx(SUE(oracle.k, epsilon=oracle.epsilon).variance(0.3))


DRAWS = 120_000
SAMPLED = [
    *(kind(k, epsilon=1) for kind in ORACLES.values() for k in (2, 4, 6)),
    Warner(p=0.9, q=0.5),
    OLH(4, epsilon=1, g=2),
    SubsetSelection(6, epsilon=1, omega=3),
    DBitFlip(4, epsilon=1, d=1),
    DBitFlip(5, epsilon=2, d=2),
]


@pytest.mark.parametrize("oracle", SAMPLED, ids=told)
def test_reports_follow_the_law_and_no_other(oracle):
    """Draws are compatible with the law of their answer, and refuse that of another answer."""
    probabilities = laws(oracle)
    for x in (0, oracle.k - 1):
        drawn = oracle.sample(np.full(DRAWS, x), bits=SeededBits(f"{told(oracle)} {x}"))
        counts = np.bincount(index_of(oracle, drawn), minlength=probabilities.shape[1])
        assert np.array_equal(oracle.checked(drawn), drawn)
        assert compatible(counts, probabilities[x])
        wrong = probabilities[1 if x == 0 else 0]
        assert detectable(probabilities[x], wrong, DRAWS)
        assert not compatible(counts, wrong)


@pytest.mark.parametrize("kind", ORACLES.values(), ids=ORACLES)
def test_another_epsilon_is_refused(kind):
    """Draws at epsilon 1 are not compatible with the law at 0.8 or 1.2."""
    oracle = kind(4, epsilon=1)
    drawn = oracle.sample(np.full(DRAWS, 2), bits=SeededBits(f"{kind.__name__} at another epsilon"))
    counts = np.bincount(index_of(oracle, drawn), minlength=len(all_reports(oracle)))
    assert compatible(counts, oracle.law(2).pmf(all_reports(oracle)))
    for epsilon in (0.8, 1.2):
        wrong = kind(4, epsilon=epsilon).law(2).pmf(all_reports(oracle))
        assert not compatible(counts, wrong)


@pytest.mark.parametrize("kind", ORACLES.values(), ids=ORACLES)
@pytest.mark.parametrize("k", [13, 128, 300])
def test_many_categories_come_out_right(kind, k):
    """The estimates of 40,000 answers lie within seven standard deviations of the truth, also over several chunks."""
    oracle = kind(k, epsilon=2)
    answers = np.arange(40_000) ** 2 % k
    reports = oracle.randomise(answers, bits=SeededBits(f"{kind.__name__} {k}"))
    truth = np.bincount(answers, minlength=k) / answers.size
    deviation = np.sqrt([oracle.variance(f) / answers.size for f in truth])
    assert np.all(np.abs(oracle.estimate(reports, consistent="none").value - truth) < 7 * deviation)


BAD = {
    "GRR": (GRR(4, epsilon=1), [[4], [-1], [0.5], [[1]], ["a"], 3]),
    "Warner": (Warner(epsilon=1), [[2], [-1], [0.5], [[1]]]),
    "OLH": (OLH(4, epsilon=1), [[27], [-1], [0.5], [[1, 2]]]),
    "Hadamard": (Hadamard(4, epsilon=1), [[8], [-1], [0.5], [[1]]]),
    "OUE": (OUE(12, epsilon=1), [[1, 2], [[1]], [[1, 2, 3]], [[256, 0]], [[-1, 0]], [[0, 1]], [[0, 8]], [[0.5, 0]], 7]),
    "subset": (SubsetSelection(12, epsilon=1), [[[255, 0]], [[0, 0]], [[224, 1]], [[3]], [[3.0, 0]]]),
    "dBitFlip": (DBitFlip(4, epsilon=1, d=2), [[[0, 8]], [[2, 3]], [[4, 2]], [[0, -1]], [[1]], [1, 2]]),
}


@pytest.mark.parametrize(("oracle", "bad"), BAD.values(), ids=BAD)
def test_what_nobody_can_have_sent_is_refused_and_nothing_is_counted(oracle, bad):
    """One malformed report refuses its batch, and no message shows a report."""
    good = oracle.sample(np.zeros(20, dtype=np.int64), bits=SeededBits(1))
    aggregate = oracle.aggregate(good)
    for reports in bad:
        with pytest.raises(InvalidData):
            aggregate.add(reports)
        if np.ndim(reports) == good.ndim and np.shape(reports)[1:] == good.shape[1:]:
            with pytest.raises(InvalidData):
                aggregate.add(np.concatenate([good.astype(float), np.asarray(reports, dtype=object)]).tolist())
    assert aggregate.people == 20
    assert aggregate.add([]).people == 20
    assert aggregate.add(good[:0]).people == 20


@pytest.mark.parametrize("oracle", [*(kind(12, epsilon=1) for kind in ORACLES.values()), DBitFlip(12, epsilon=1, d=3)])
def test_aggregates_add_up_and_travel(oracle):
    """Batches in any order and grouping, and through bytes, give the same sums; other questions are kept out."""
    reports = oracle.randomise(np.arange(500) % 12, bits=SeededBits(2))
    whole, merged = oracle.aggregate(reports), oracle.aggregate()
    for part in np.array_split(reports, 6)[::-1]:
        merged.merge(Aggregate.from_bytes(oracle, oracle.aggregate(part).to_bytes()))
    assert merged == whole
    assert merged.people == 500
    assert np.array_equal(merged.estimate().value, oracle.estimate(reports).value)
    more = {"d": 3} if isinstance(oracle, DBitFlip) else {}
    for other in (type(oracle)(12, epsilon=2, **more), type(oracle)(11, epsilon=1, **more), GRR(12, epsilon=1.5)):
        with pytest.raises(InvalidData, match="another question"):
            other.aggregate().merge(whole)


@pytest.mark.parametrize("oracle", [*(kind(12, epsilon=1) for kind in ORACLES.values()), DBitFlip(12, epsilon=1, d=3)])
def test_sums_that_cannot_be_are_refused(oracle):
    """More support than people, negative sums, and for all but unary encodings another total."""
    whole = oracle.aggregate(oracle.randomise(np.arange(500) % 12, bits=SeededBits(2)))
    changes = [501, -1 - int(whole.sums[0])] + ([] if isinstance(oracle, SUE | OUE) else [1])
    for change in changes:
        changed = oracle.aggregate().merge(whole)
        changed.sums[0] += change
        with pytest.raises(InvalidData, match="These sums"):
            Aggregate.from_bytes(oracle, changed.to_bytes())


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_answers_of_any_integer_type_are_codes(dtype):
    """Small types hold fewer numbers than there are categories, and large unsigned ones more."""
    oracle = SUE(300, epsilon=1)
    assert oracle.codes(np.array([0, 5, 127], dtype=dtype)).tolist() == [0, 5, 127]
    assert oracle.codes(np.array([2**63 + 7], dtype=np.uint64)).tolist() == [299]
    assert oracle.codes(np.array([-3], dtype=np.int8)).tolist() == [0]


@pytest.mark.parametrize(("k", "size"), [(2, 1), (9, 8), (40, 1), (40, 20), (40, 37), (3000, 2), (3000, 2900)])
def test_uniform_sets_have_their_size_and_favour_nobody(k, size):
    """Small, middling and large ones, without the one that is left out."""
    rows = 2_000
    without = np.arange(rows) // 2 % k
    sizes = np.full(rows, min(size, k - 1)) - np.arange(rows) % 2
    found = unpacked(uniform_subsets(sizes, k, SeededBits(f"{k} {size}"), without=without, usual=size), k)
    assert np.array_equal(found.sum(axis=1), sizes)
    assert not found[np.arange(rows), without].any()
    expected = sizes.sum() / k
    assert np.all(np.abs(found.sum(axis=0) - expected) < 8 * np.sqrt(expected) + 8)


def test_other_choices_within_a_kind_are_other_questions():
    """Another g, omega, d or coin makes reports that mean something else."""
    pairs = [
        (OLH(12, epsilon=1, g=3), OLH(12, epsilon=1, g=5)),
        (SubsetSelection(12, epsilon=1, omega=3), SubsetSelection(12, epsilon=1, omega=4)),
        (DBitFlip(12, epsilon=1, d=3), DBitFlip(12, epsilon=1, d=4)),
        (Warner(p=0.75, q=0.25), Warner(p=0.25, q=0.75)),
        (SUE(12, epsilon=1), OUE(12, epsilon=1)),
    ]
    for one, other in pairs:
        with pytest.raises(InvalidData, match="another question"):
            one.aggregate().merge(other.aggregate())


@pytest.mark.parametrize("epsilon", [1e-15, 1e-6, 40, 1e4])
@pytest.mark.parametrize("kind", [*ORACLES.values(), Warner], ids=[*ORACLES, "Warner"])
def test_extreme_epsilons_give_finite_answers(kind, epsilon):
    """Also where next to nothing is told, or everything, and where nobody answered."""
    oracle = kind(2, epsilon=epsilon)
    for reports in (oracle.randomise([0, 1, 1], bits=SeededBits(1)), oracle.randomise([], bits=SeededBits(1))):
        release = oracle.estimate(reports)
        assert np.isfinite(release.value).all()
        assert release.value.sum() == pytest.approx(1)
        for of in ("data", "population"):
            low, high = release.interval(of=of)
            assert np.all((low >= 0) & (low <= high) & (high <= 1))


def test_warner_debiases_as_it_should():
    """With two fair coins the share of ones is 2 mean - 1/2; reversed coins say the same."""
    reports = np.array([1] * 60 + [0] * 40)
    assert Warner(p=0.75, q=0.25).estimate(reports).value == pytest.approx([0.3, 0.7])
    assert Warner(p=0.25, q=0.75).estimate(1 - reports).value == pytest.approx([0.3, 0.7])
    assert Warner(p=0.75, q=0.25).guarantee.epsilon == pytest.approx(math.log(3))
    assert Warner(["no", "yes"], epsilon=1).estimate(reports).labels == ("no", "yes")
    one, two = Warner(epsilon=1).estimate(reports), GRR(2, epsilon=1).estimate(reports)
    assert np.allclose(one.value, two.value)
    for of in ("data", "population"):
        assert np.allclose(one.interval(of=of), two.interval(of=of))
    for wrong in ({"epsilon": 1, "p": 0.5, "q": 0.2}, {}, {"p": 0.5}, {"p": 0.5, "q": 0.5}, {"p": 1, "q": 0.5}):
        with pytest.raises(InvalidParameter):
            Warner(**wrong)
    with pytest.raises(InvalidParameter, match="two answers"):
        Warner(3, epsilon=1)


def test_the_best_omega_and_g_have_the_least_variance():
    """No other subset size, and no other prime, has less."""
    for k in (2, 3, 7, 16, 40, 128):
        for epsilon in (0.1, 0.5, 1, 2, 3, 6):
            subset = SubsetSelection(k, epsilon=epsilon)
            least = min(SubsetSelection(k, epsilon=epsilon, omega=w).variance(1 / k) for w in range(1, k))
            assert subset.variance(1 / k) == pytest.approx(least, rel=1e-12)
            assert abs(subset.omega - k / (math.exp(epsilon) + 1)) <= 1
            hashed = OLH(k, epsilon=epsilon)
            assert hashed.g**hashed.t >= k
            for g in (2, 3, 5, 7, 11):
                if g <= k:
                    assert hashed.variance(1 / k) <= OLH(k, epsilon=epsilon, g=g).variance(1 / k) * (1 + 1e-12)


def test_two_categories_collide_under_exactly_one_seed_in_g():
    """For every pair, with the seed 0 among the seeds."""
    for k, g in ((6, 2), (6, 3), (30, 5), (7, 7)):
        oracle = OLH(k, epsilon=1, g=g)
        table = oracle.hashed(np.arange(oracle.seeds)[:, None], np.arange(k)[None])
        for x in range(k):
            for y in range(x):
                assert np.count_nonzero(table[:, x] == table[:, y]) * g == oracle.seeds


def test_the_transforms_count_support():
    """OLH's and Hadamard's fast transforms give what counting report by report gives."""
    for oracle in (OLH(50, epsilon=1, g=3), OLH(50, epsilon=1, g=7), OLH(5, epsilon=3, g=5), Hadamard(50, epsilon=1)):
        reports = oracle.randomise(np.arange(300) % oracle.k, bits=SeededBits(3))
        x = np.arange(oracle.k)
        if isinstance(oracle, OLH):
            supported = oracle.hashed(reports[:, None] // oracle.g, x[None]) == reports[:, None] % oracle.g
        else:
            supported = np.bitwise_count(reports[:, None] & (x + 1)[None]) % 2 == 0
        assert np.array_equal(oracle.support(oracle.aggregate(reports)), supported.sum(axis=0))


def test_what_cannot_be_asked_is_refused():
    """Too many categories for a kind, a g that is no prime, an omega or d out of range, answers that are no codes."""
    for make in (
        lambda: OUE(2**21, epsilon=1),
        lambda: SubsetSelection(2**21, epsilon=1),
        lambda: Hadamard(2**24, epsilon=1),
        lambda: OLH(2**24, epsilon=1),
        lambda: OLH(10, epsilon=1, g=4),
        lambda: SubsetSelection(4, epsilon=1, omega=4),
        lambda: DBitFlip(4, epsilon=1, d=5),
        lambda: DBitFlip(4, epsilon=1, d=0),
    ):
        with pytest.raises(InvalidParameter):
            make()
    for answers in (3, [[1]], [0.5], ["a"]):
        with pytest.raises(InvalidData):
            OUE(4, epsilon=1).sample(answers)
