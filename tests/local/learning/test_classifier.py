"""Classifiers that learn from reports: what a person pays, what is learned, and what scikit-learn expects."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import flou
from flou.bits import SeededBits
from flou.errors import InvalidData, InvalidParameter
from flou.local import (
    Collection,
    GaussianModel,
    LinearDiscriminant,
    NaiveBayes,
    batch_of,
    reports_in,
)
from flou.local.learning.labelled_bins import LabelledBins
from flou.local.learning.naive_bayes import class_moments
from goodness import compatible, draws_to_detect
from local.enumerated import all_reports, index_of, laws, worst_loss
from local.learning.two_classes import FEATURES, two_classes

LEARNERS = (NaiveBayes, LinearDiscriminant)
each = pytest.mark.parametrize("learner", LEARNERS)
TINY = {"a": flou.Integers(0, 2), "b": flou.Boolean(), "c": flou.Interval(0, 1, cells=2)}


def report_law(classifier, codes, label) -> np.ndarray:
    """P[question and report | features and label], over all questions and reports."""
    answers = classifier.questions.answers(np.array([codes]), np.array([label]))
    oracles = classifier.survey.randomisers.items()
    return np.concatenate([laws(oracle)[int(answers[name][0])] for name, oracle in oracles]) / len(answers)


@each
@pytest.mark.parametrize("epsilon", [0.5, 2])
def test_features_and_label_cost_epsilon_together(learner, epsilon):
    """All rows of a tiny table and all reports: the largest log-ratio is epsilon, and it is reached."""
    classifier = learner(TINY, flou.Categories(["u", "v"]), epsilon=epsilon, bins=2)
    rows = itertools.product(itertools.product(range(3), range(2), range(2)), range(3))
    found = np.array([report_law(classifier, codes, label) for codes, label in rows])
    assert found.shape[0] == 36
    assert np.allclose(found.sum(axis=1), 1)
    assert worst_loss(found) == pytest.approx(epsilon, rel=1e-12)
    assert classifier.guarantee.epsilon == epsilon


def test_a_second_question_would_cost_twice():
    """The enumeration is seen to refuse a client that answers two questions with all of epsilon."""
    classifier = NaiveBayes({"a": flou.Boolean(), "b": flou.Boolean()}, flou.Boolean(), epsilon=1, bins=2)
    found = []
    for a, b, y in itertools.product(range(2), repeat=3):
        answers = classifier.questions.answers(np.array([[a, b]]), np.array([y]))
        both = (laws(oracle)[int(answers[name][0])] for name, oracle in classifier.survey.randomisers.items())
        found.append(np.kron(*both))
    assert worst_loss(np.array(found)) == pytest.approx(2)


@each
def test_reports_follow_the_enumerated_law(learner):
    """What respondents send has the probabilities by which the loss was enumerated."""
    classifier = learner(TINY, flou.Boolean(), epsilon=1, bins=2)
    people = draws_to_detect(0.1)
    rows = {"a": np.full(people, 2), "b": [True] * people, "c": [0.2] * people}
    reports = classifier.randomise(rows, [True] * people, bits=SeededBits(8))
    counts = np.concatenate(
        [
            np.bincount(index_of(oracle, reports[name]), minlength=len(all_reports(oracle)))
            for name, oracle in classifier.survey.randomisers.items()
        ]
    )
    assert counts.sum() == people
    assert compatible(counts, report_law(classifier, [2, 1, 0], 1))
    assert not compatible(counts, report_law(classifier, [2, 1, 0], 0))


@pytest.mark.parametrize("variances", ["shared", "own"])
def test_the_parameters_are_those_of_the_classes(variances):
    """From many reports priors, means and variances come out without the randomisers' noise."""
    rows, label = two_classes(400_000)
    learner = NaiveBayes(FEATURES, flou.Boolean(), epsilon=2, bins=8, variances=variances)
    learner.fit(rows, label, bits=SeededBits(1))
    plain = GaussianModel.fitted(rows, label.astype(np.int64), 2)
    assert learner.model_.priors == pytest.approx(plain.priors, abs=0.01)
    assert learner.model_.means == pytest.approx(plain.means, abs=0.6)
    assert learner.model_.means[:, 0] == pytest.approx([0, 1.5], abs=0.08)
    assert learner.model_.variances[:, 0] == pytest.approx([1, 1], abs=0.25)
    assert np.sqrt(learner.model_.variances[:, 1]) == pytest.approx([10, 10], abs=1.5)
    others, truth = two_classes(20_000, seed=1)
    best = np.mean(plain.scores(others).argmax(axis=1) == truth)
    assert learner.score(others, truth) == pytest.approx(best, abs=0.01)


def test_noise_that_is_ignored_is_noticed():
    """Taking reports for answers gives other means: the estimate does correct them."""
    rows, label = two_classes(200_000)
    learner = NaiveBayes(FEATURES, flou.Boolean(), epsilon=2, bins=4).fit(rows, label, bits=SeededBits(2))
    questions = learner.questions
    reports = learner.randomise(rows, label, bits=SeededBits(3))
    naive = np.bincount(reports["x"], minlength=8).reshape(2, 4) / len(reports["x"])
    wrong = class_moments(naive, questions.edges(0), questions.cell(0))[1]
    assert abs(learner.model_.means[1, 0] - 1.5) < 0.2
    assert abs(wrong[1] - 1.5) > 0.25


def test_the_discriminant_knows_correlations():
    """Where features are correlated within classes it beats naive Bayes, and its coefficients are the right ones."""
    rows, label = two_classes(300_000, correlation=-0.8)
    others, truth = two_classes(20_000, seed=1, correlation=-0.8)
    bayes = NaiveBayes(FEATURES, flou.Boolean(), epsilon=3, bins=6).fit(rows, label, bits=SeededBits(4))
    linear = LinearDiscriminant(FEATURES, flou.Boolean(), epsilon=3, bins=6).fit(rows, label, bits=SeededBits(4))
    within = np.cov((rows - np.where(label[:, None], rows[label].mean(0), rows[~label].mean(0))).T)
    wanted = np.linalg.solve(within, rows[label].mean(0) - rows[~label].mean(0))
    found = linear.coef_[1] - linear.coef_[0]
    assert found / np.linalg.norm(found) == pytest.approx(wanted / np.linalg.norm(wanted), abs=0.1)
    assert linear.score(others, truth) >= bayes.score(others, truth)
    scores = others @ wanted
    limit = (rows[label].mean(0) + rows[~label].mean(0)) @ wanted / 2 + math.log(0.6 / 0.4)
    assert linear.score(others, truth) == pytest.approx(np.mean((scores > limit) == truth), abs=0.01)


def test_reports_travel_and_are_merged():
    """Batches go through JSON, collectors are merged, and what is learned is the same as from all reports at once."""
    rows, label = two_classes(3000)
    learner = NaiveBayes(FEATURES, flou.Boolean(), epsilon=2)
    parts = [learner.randomise(rows[i::2], label[i::2], bits=SeededBits(i)) for i in range(2)]
    collectors = [
        Collection(learner.survey).add(reports_in(learner.survey, batch_of(learner.survey, part))) for part in parts
    ]
    merged = learner.fit_reports(collectors[0].merge(collectors[1])).predict_proba(rows[:50])
    together = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    assert np.array_equal(
        NaiveBayes(FEATURES, flou.Boolean(), epsilon=2).fit_reports(together).predict_proba(rows[:50]), merged
    )
    assert learner.people_ == 3000


@each
def test_rows_of_any_kind(learner):
    """Arrays, lists, dictionaries and frames are the same rows, missing values count as the public one."""
    rows, label = two_classes(500)
    rows[0, 0] = math.nan
    fitted = learner(FEATURES, flou.Boolean(), epsilon=3).fit(rows, label, bits=SeededBits(5))
    named = {"z": rows[:, 1], "other": label, "x": rows[:, 0]}
    for table in (rows.tolist(), named, pd.DataFrame(named)):
        assert np.array_equal(fitted.predict_proba(table), fitted.predict_proba(rows))
    assert np.array_equal(fitted.predict_proba([[math.nan, 99]]), fitted.predict_proba([[0.5, 40]]))


def test_labels_of_several_classes():
    """Labels are categories in their order; probabilities add up to 1."""
    generator = np.random.default_rng(0)
    label = generator.integers(0, 3, 6000)
    rows = (generator.normal(size=6000) + 2 * label - 2)[:, None]
    learner = NaiveBayes({"x": flou.Interval(-6, 6)}, flou.Categories(["low", "mid", "high"]), epsilon=3, bins=6)
    learner.fit(rows, np.array(["low", "mid", "high"])[label], bits=SeededBits(6))
    assert learner.classes_.tolist() == ["low", "mid", "high", "other"]
    assert learner.predict([[-4], [0], [4]]).tolist() == ["low", "mid", "high"]
    assert learner.predict_proba(rows).sum(axis=1) == pytest.approx(1)


@each
def test_few_reports_are_no_reason_to_fail(learner):
    """From one report on, something is predicted; from none nothing."""
    for people in (1, 2, 10):
        rows, label = two_classes(people)
        fitted = learner(FEATURES, flou.Boolean(), epsilon=0.1).fit(rows, label, bits=SeededBits(people))
        assert np.isfinite(fitted.predict_proba(rows)).all()
    classifier = learner(FEATURES, flou.Boolean(), epsilon=1)
    with pytest.raises(InvalidData, match="has not learned yet"):
        classifier.predict([[0, 0]])
    with pytest.raises(InvalidData, match="no reports to learn from"):
        classifier.fit_reports({})


def test_refusals():
    """Parameters and reports that cannot be right are refused."""
    with pytest.raises(InvalidParameter, match="features must map"):
        NaiveBayes({}, flou.Boolean(), epsilon=1)
    with pytest.raises(InvalidParameter, match="features must map at least 2 names"):
        LinearDiscriminant({"x": flou.Boolean()}, flou.Boolean(), epsilon=1)
    with pytest.raises(InvalidParameter, match="The feature 'x' must be"):
        NaiveBayes({"x": flou.Categories(["a"])}, flou.Boolean(), epsilon=1)
    with pytest.raises(InvalidParameter, match="label must be"):
        NaiveBayes(FEATURES, flou.Interval(0, 1), epsilon=1)
    with pytest.raises(InvalidParameter, match="bins must be"):
        NaiveBayes(FEATURES, flou.Boolean(), epsilon=1, bins=1)
    with pytest.raises(InvalidParameter, match="epsilon must be"):
        NaiveBayes(FEATURES, flou.Boolean(), epsilon=-1)
    learner = NaiveBayes(FEATURES, flou.Boolean(), epsilon=1)
    with pytest.raises(InvalidData, match="as many labels as rows"):
        learner.randomise([[0, 0]], [True, False])
    with pytest.raises(InvalidData, match="a table of 2 columns"):
        learner.randomise([[0, 0, 0]], [True])
    with pytest.raises(InvalidData, match="another classifier"):
        learner.fit_reports(Collection(NaiveBayes(FEATURES, flou.Boolean(), epsilon=2).survey))


def test_features_that_are_not_normal():
    """Waiting times and a yes-or-no, and labels whose log-odds are linear: the coefficients come near to the right."""
    generator, right = np.random.default_rng(0), np.array([1.2, 1.5, -0.8])
    a, b = np.minimum(generator.exponential(size=200_000), 6), generator.random(200_000) < 0.3
    c = np.minimum(0.5 * a + generator.exponential(size=200_000), 8)
    rows = np.stack([a, b, c], axis=1)
    label = generator.random(200_000) < 1 / (1 + np.exp(1.5 - rows @ right))
    features = {"a": flou.Interval(0, 6), "b": flou.Boolean(), "c": flou.Interval(0, 8)}
    learner = LinearDiscriminant(features, flou.Boolean(), epsilon=3, bins=6).fit(rows, label, bits=SeededBits(1))
    found = learner.coef_[1] - learner.coef_[0]
    assert np.all(np.abs(found - right) < 0.45)
    assert np.all(found * right > 0)


def test_bins_of_whole_numbers_hold_their_middles():
    """The edges of bins lie between whole numbers, and moments of a uniform feature are exact."""
    bins = LabelledBins({"n": flou.Integers(1, 12), "b": flou.Boolean()}, flou.Boolean(), 4)
    assert bins.edges(0).tolist() == [0.5, 3.5, 6.5, 9.5, 12.5]
    assert bins.edges(1).tolist() == [-0.5, 0.5, 1.5]
    share, mean, variance = class_moments(np.full((2, 4), 1 / 8), bins.edges(0), bins.cell(0))
    assert share.tolist() == [0.5, 0.5]
    assert mean.tolist() == [6.5, 6.5]
    assert variance == pytest.approx([144 / 12 - 9 / 12 - 8 / 12] * 2)  # Sheppard, for whole numbers


# scikit-learn


@each
def test_parameters_as_scikit_learn_asks_for_them(learner):
    """The arguments come back as they were given, and can be set; the result is not fitted."""
    classifier = learner(FEATURES, flou.Boolean(), epsilon=2, bins=5)
    params = classifier.get_params()
    assert params["features"] is FEATURES
    assert {name: params[name] for name in ("epsilon", "bins")} == {"epsilon": 2, "bins": 5}
    rows, label = two_classes(100)
    assert "fitted" in repr(classifier.fit(rows, label))
    assert classifier.set_params(epsilon=3).get_params()["epsilon"] == 3
    assert classifier.guarantee.epsilon == 3
    assert "not fitted" in repr(classifier)


@each
def test_scikit_learn_takes_them(learner):
    """Clone, cross-validation and pipelines work."""
    pytest.importorskip("sklearn")
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline

    classifier = learner(FEATURES, flou.Boolean(), epsilon=4)
    assert is_classifier(classifier)
    assert clone(classifier).get_params()["epsilon"] == 4
    rows, label = two_classes(3000)
    assert cross_val_score(classifier, rows, label, cv=3).min() > 0.7
    assert make_pipeline(classifier).fit(rows, label).score(rows, label) > 0.7


def test_plain_training_is_scikit_learns():
    """Means, variances and probabilities of the plain model are those of GaussianNB."""
    naive_bayes = pytest.importorskip("sklearn.naive_bayes")
    rows, label = two_classes(300)
    theirs = naive_bayes.GaussianNB().fit(rows, label)
    ours = GaussianModel.fitted(rows, label.astype(np.int64), 2)
    assert np.array_equal(ours.means, theirs.theta_) or ours.means == pytest.approx(theirs.theta_, rel=1e-13)
    assert ours.variances == pytest.approx(theirs.var_, rel=1e-12)
    assert ours.scores(rows) == pytest.approx(theirs.predict_joint_log_proba(rows), rel=1e-10)
