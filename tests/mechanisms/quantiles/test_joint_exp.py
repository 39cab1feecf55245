"""JointExp: its tables against brute force, its draws against its law whatever the tables say, and what it costs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.mechanisms.quantiles import QExp, SortedRecords
from flou.mechanisms.quantiles.joint_exp import JointExp
from flou.mechanisms.quantiles.joint_path import draw_jointly, first_reach
from flou.mechanisms.quantiles.joint_tables import Tables
from flou.mechanisms.quantiles.joint_windows import Gaps, Windows
from flou.mechanisms.quantiles.log_sums import total
from goodness import tilted
from mechanisms.quantiles.tiny import RELATIONS, as_counts, follows, in_memory, pairs
from privacy.exhaustive import loss, neighbours, tables

ASKED = [[0.5], [0.25, 0.75], [0, 0.3], [0, 0.5, 1], [0.1, 0.3, 0.77]]
DATA = [
    ((), 4),
    ((2,), 5),
    ((1, 1), 2),
    ((0, 0, 0, 2, 3), 4),
    ((5, 5, 5, 5, 5), 6),
    ((0, 0, 0), 5),
    ((0, 1, 1, 4, 6, 6), 7),
]


class Kept:
    """Tables that are computed once for each reach, so that many draws are cheap."""

    def __init__(self, kind=Tables) -> None:
        self.kind, self.known = kind, {}

    def __call__(self, gaps, windows, runs):
        key = windows.lower, windows.upper, runs
        if key not in self.known:
            self.known[key] = self.kind(gaps, windows, runs)
        return self.known[key]


def drawn(gaps, records, law, count, seed, **options):
    """The numbers of the outcomes of many draws, and the law's probabilities in the same order."""
    bits, outcomes = SeededBits(seed), {outcome: i for i, outcome in enumerate(law.outcomes())}
    options.setdefault("make", Kept())
    draws = [outcomes[tuple(draw_jointly(gaps, records, bits, **options).tolist())] for _ in range(count)]
    return draws, np.array([law.pmf(outcome) for outcome in outcomes])


# The law


@pytest.mark.parametrize("probabilities", ASKED)
@pytest.mark.parametrize(("table", "cells"), DATA)
def test_tables_add_up_to_brute_force(probabilities, table, cells):
    """The sum of all path weights is that over all tuples of cells, divided by their m! orders."""
    records = in_memory(table, cells)
    rank = [records.below(cell + 1) for cell in range(cells)]
    for relation, epsilon in itertools.product(RELATIONS, (0.1, 1, 30)):
        mechanism = JointExp(probabilities, epsilon=epsilon, relation=relation)
        gaps, m = mechanism.gaps(len(table)), len(probabilities)
        made = Tables(gaps, Windows(gaps, records, len(table) + 1), m)
        every = itertools.product(range(cells), repeat=m)
        brute = math.fsum(
            math.exp(-gaps.rate * gaps.score(sorted(rank[c] for c in tuple_), len(table))) for tuple_ in every
        )
        assert made.windows.whole
        assert total(made.last) == pytest.approx(math.log(brute / math.factorial(m)), abs=1e-11)


def test_random_tables_add_up_to_brute_force():
    """The same for many random tables, windows of all sizes bounding the sum from above."""
    generator = np.random.default_rng(1)
    for _ in range(60):
        n, cells, m = (int(generator.integers(a, b)) for a, b in ((0, 7), (1, 7), (1, 4)))
        table = tuple(sorted(generator.integers(0, cells, n).tolist()))
        targets = sorted(Fraction(int(k), 12) for k in generator.choice(12 * n + 12, m, replace=False))
        gaps = Gaps(tuple(targets), Fraction(n + 1), Fraction(1, 3))
        records = in_memory(table, cells)
        rank = [records.below(cell + 1) for cell in range(cells)]
        every = itertools.product(range(cells), repeat=m)
        brute = math.log(
            math.fsum(math.exp(-gaps.rate * gaps.score(sorted(rank[c] for c in o), n)) for o in every)
            / math.factorial(m)
        )
        whole = Tables(gaps, Windows(gaps, records, 20), m)
        assert total(whole.last) == pytest.approx(brute, abs=1e-11)
        for reach, runs in itertools.product((1, 2, 4), (1, 2, 3)):
            assert total(Tables(gaps, Windows(gaps, records, reach), runs).last) >= brute - 1e-11


def test_one_quantile_is_that_of_q_exp():
    """For m = 1 the law is QExp's, under both relations."""
    for relation, p in itertools.product(RELATIONS, (0, 0.3, 0.5, 1)):
        records = in_memory((0, 2, 2, 5), 8)
        joint = JointExp(p, epsilon=1, relation=relation).law(records)
        single = QExp(p, epsilon=1, relation=relation).law(records)
        assert [joint.pmf((c,)) for c in range(8)] == pytest.approx(single.pmf(np.arange(8)), rel=1e-12)


@pytest.mark.parametrize("probabilities", ASKED[1:])
@pytest.mark.parametrize(("table", "cells"), DATA)
@pytest.mark.parametrize(("reach", "runs"), [(None, None), (1, 1)])
def test_draws_follow_the_law(probabilities, table, cells, reach, runs):
    """Draws from whole tables, and from the smallest windows, whose lumps are refused often, have the same law."""
    mechanism = JointExp(probabilities, epsilon=3, relation=RELATIONS[len(table) % 2])
    make = as_counts if len(table) % 3 else in_memory
    records, gaps = make(table, cells), mechanism.gaps(len(table))
    law = mechanism.law(records)
    draws, p = drawn(gaps, records, law, 600, f"{table} {probabilities} {reach}", reach=reach, runs=runs)
    assert follows(draws, p)


@pytest.mark.parametrize("make", [in_memory, as_counts])
def test_many_draws_follow_the_law_and_refuse_another(make):
    """The mechanism itself on both kinds of records; half of the mass off by a quarter is noticed."""
    mechanism = JointExp([0.25, 0.75], epsilon=2, relation="substitute")
    records = make((0, 1, 1, 3), 4)
    law, gaps = mechanism.law(records), mechanism.gaps(4)
    draws, p = drawn(gaps, records, law, 5_000, f"many {make.__name__}")
    assert follows(draws, p)
    assert not follows(draws, tilted(p, 0.25))
    assert not follows(draws, tilted(p, -0.25))
    few = [tuple(mechanism.sample(records, bits=SeededBits(f"few {i}")).tolist()) for i in range(300)]
    counts = Counter(few)
    assert follows([list(law.outcomes()).index(o) for o in few], p)
    assert len(counts) > 3


class Distorted(Tables):
    """Tables whose every entry is wrong, by up to a factor of e^(wrong), and which say so."""

    wrong = 0.15

    def _enter(self, j):
        super()._enter(j)
        noise = np.random.default_rng(j).uniform(-self.wrong, self.wrong, self.entry[j].size)
        self.entry[j] += noise
        self.lump_entry[:, j] += self.wrong * (-1) ** j

    def slack(self):
        return super().slack() + self.wrong


class Boastful(Distorted):
    """The same tables without the confession."""

    def slack(self):
        return Tables.slack(self)


@pytest.mark.parametrize("reach", [None, 1])
def test_wrong_tables_cost_time_and_no_probability(reach):
    """With entries off by up to a sixth, kept draws still follow the law: the coin corrects what tables get wrong."""
    mechanism = JointExp([0.25, 0.75], epsilon=2, relation="substitute")
    records = in_memory((0, 1, 1, 3), 5)
    law, gaps = mechanism.law(records), mechanism.gaps(4)
    options = {"reach": reach, "runs": 1 if reach else None}
    draws, p = drawn(gaps, records, law, 2_500, f"distorted {reach}", make=Kept(Distorted), **options)
    assert follows(draws, p)
    assert not follows(draws, tilted(p, 0.35))
    assert not follows(draws, tilted(p, -0.35))


def test_tables_that_hide_their_errors_are_noticed():
    """Without the matching constant the law is wrong, and the same check sees it."""
    mechanism = JointExp([0.25, 0.75], epsilon=2, relation="substitute")
    records = in_memory((0, 1, 1, 3), 5)

    class Louder(Boastful):
        wrong = 1.5

    draws, p = drawn(mechanism.gaps(4), records, mechanism.law(records), 2_500, "boast", make=Kept(Louder))
    assert not follows(draws, p)


class Unsure(Tables):
    """Tables with which floats never dare to decide."""

    largest = 2.0**50

    def slack(self):
        return 1e-9


@pytest.mark.parametrize("reach", [None, 1])
def test_floats_decide_as_integers_do(reach):
    """The same bits give the same answers, whether floats decide or enclosures do."""

    class Sure(Tables):
        def slack(self):
            return 1e-9

    records = in_memory((0, 1, 1, 3, 4), 6)
    gaps = JointExp([0.2, 0.5, 0.75], epsilon=2).gaps(5)
    draws = []
    for kind in (Sure, Unsure):
        bits, make = SeededBits("who decides"), Kept(kind)
        draws.append([draw_jointly(gaps, records, bits, reach=reach, runs=1, make=make).tolist() for _ in range(300)])
    assert draws[0] == draws[1]


# Privacy


def measured(mechanism, law=None, cells=6, most=5) -> float:
    if len(mechanism.ordered) > 2:
        cells, most = 5, 4
    return loss(
        law or mechanism.law,
        lambda table: in_memory(table, cells),
        pairs(mechanism.relation, range(cells), most),
        lambda found: list(found.outcomes()),
    )


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("probabilities", [*ASKED, [0], [1], [0, 1]])
def test_loss_is_at_most_epsilon(relation, probabilities):
    """sup log P(answers)/P'(answers) <= epsilon over all neighbours of a tiny grid."""
    assert 0.3 < measured(JointExp(probabilities, epsilon=1, relation=relation)) <= 1 + 1e-9


class Greedy(JointExp):
    """The exponent for half of the true sensitivity."""

    @property
    def rate(self):
        return 2 * super().rate


@pytest.mark.parametrize("relation", RELATIONS)
def test_half_the_sensitivity_is_refused(relation):
    """The same check refuses twice the exponent."""
    assert measured(Greedy([0.25, 0.75], epsilon=1, relation=relation)) > 1.05


class Volume(JointExp):
    """Intervals count by their lengths without the 1/k!: a measure that depends on the data."""

    def law(self, records):
        found = super().law(records)
        rank = {c: records.below(c + 1) for c in range(records.cells)}
        weights = {
            o: found.pmf(o) * math.prod(math.factorial(n) for n in Counter(rank[c] for c in o).values())
            for o in found.outcomes()
        }
        norm = sum(weights.values())
        return type(found)({o: w / norm for o, w in weights.items()})


def test_a_measure_that_depends_on_the_data_is_refused():
    """Forgetting the orders of answers in one interval makes the measure depend on the records, and shows."""
    assert measured(Volume([0, 0.5, 1], epsilon=0.1, relation="substitute")) > 0.15


FAR = 2**40


def far_loss(mechanism, sizes) -> float:
    """The largest log-ratio on a long grid: normalisers from the tables, outcomes among a few cells."""
    every = tables([0, 1, 2, FAR // 2, FAR - 1], sizes)
    outcomes = list(itertools.combinations_with_replacement([0, 1, 5, FAR // 2, FAR - 1], len(mechanism.ordered)))
    logs = {}
    for table in every:
        records, gaps = in_memory(table, FAR), mechanism.gaps(len(table))
        norm = total(Tables(gaps, Windows(gaps, records, len(table) + 1), 9).last)
        scores = [gaps.score([records.below(c + 1) for c in outcome], len(table)) for outcome in outcomes]
        logs[table] = np.array([-float(gaps.rate * score) - norm for score in scores])
    return max(float(np.max(logs[a] - logs[b])) for a, b in neighbours(mechanism.relation, every))


@pytest.mark.parametrize(("relation", "sizes"), [("substitute", [4, 5]), ("add-remove", range(5))])
@pytest.mark.parametrize("probabilities", [[0], [0.5], [0.25, 0.75], [0, 1], [0, 0.5]])
def test_the_claim_is_reached(relation, sizes, probabilities):
    """On a long grid the loss comes within a twentieth of epsilon, and mostly reaches it: no budget is wasted."""
    assert 0.95 <= far_loss(JointExp(probabilities, epsilon=1, relation=relation), sizes) <= 1 + 1e-9


# Every kind of data


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("codes", [[], [3], [0, 7], [4] * 50, [0] * 9, [7] * 9, list(range(8)) * 3])
def test_there_is_always_an_answer(relation, codes):
    """Whatever the data, answers lie on the grid and increase; repeated probabilities get equal answers."""
    asked = [0.5, 0, 1, 0.5, 0.123456789]
    answers = JointExp(asked, epsilon=0.5, relation=relation).sample(
        SortedRecords(np.array(codes, dtype=np.int64), cells=8), bits=SeededBits(f"always {codes}")
    )
    assert answers[0] == answers[3]
    assert np.all(np.diff(answers[np.argsort(asked, kind="stable")]) >= 0)
    assert answers.min() >= 0
    assert answers.max() < 8


@pytest.mark.parametrize("codes", [[], [5], [900] * 40, list(range(0, 1000, 20))])
@pytest.mark.parametrize("epsilon", [1e-15, 1, 1e4])
def test_a_thousand_quantiles(codes, epsilon):
    """Many more quantiles than records, at any price."""
    asked = [Fraction(i, 1001) for i in range(1, 300 if codes else 1001)]
    records = SortedRecords(np.array(codes, dtype=np.int64), cells=1000)
    answers = JointExp(asked, epsilon=epsilon).sample(records, bits=SeededBits(f"thousand {epsilon}"))
    assert np.all(np.diff(answers) >= 0)


def test_far_from_the_first_windows():
    """Atoms wider than the windows, and targets inside of them, are answered after wider looks."""
    codes = np.concatenate([np.full(3000, 10), np.full(4000, 2**30), np.full(3000, 2**39)])
    records = SortedRecords(codes, cells=2**40)
    mechanism = JointExp([0.2, 0.5, 0.6], epsilon=4)
    assert first_reach(mechanism.gaps(10_000), 10_000) < 200
    answers = mechanism.sample(records, bits=SeededBits("atoms"))
    assert np.all(np.diff(answers) >= 0)


def test_ranks_are_close_to_their_targets():
    """Nine deciles of a hundred thousand spread-out records are a few ranks off at epsilon = 1."""
    codes = np.sort(np.random.default_rng(5).integers(0, 2**32, 100_000))
    records = SortedRecords(codes, cells=2**32, ordered=True)
    deciles = [Fraction(i, 10) for i in range(1, 10)]
    mechanism, bits = JointExp(deciles, epsilon=1, relation="substitute"), SeededBits("deciles")
    off = [
        np.abs(np.searchsorted(codes, mechanism.sample(records, bits=bits), side="right") - 10_000 * np.arange(1, 10))
        for _ in range(20)
    ]
    assert 1 < np.mean(off) < 12


class Watched(SortedRecords):
    """Records that remember how many of them were looked at."""

    seen = 0
    announced = 0

    def ranked(self, first, last):
        found = super().ranked(first, last)
        self.seen += found.size
        return found

    def prepare(self, spans):
        self.announced += sum(last - first + 1 for first, last in spans)


def test_only_records_near_the_targets_are_looked_at():
    """A draw announces what it will look at, and looks at nothing else."""
    records = Watched(np.random.default_rng(6).integers(0, 2**32, 100_000), cells=2**32)
    JointExp([0.25, 0.5, 0.75], epsilon=1).sample(records, bits=SeededBits("near"))
    assert records.seen == records.announced < 5000


def test_laws_with_too_many_outcomes_are_refused():
    """The law is for tiny grids; samples are not."""
    mechanism, records = JointExp([0.2, 0.4, 0.6], epsilon=1), in_memory((1, 2), 1000)
    with pytest.raises(InvalidParameter, match="Samples are not affected"):
        mechanism.law(records)
    assert mechanism.sample(records).shape == (3,)
