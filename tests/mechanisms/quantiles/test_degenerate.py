"""Every method on every strange table: answers lie on the grid, in order, and no exception tells about the data."""

from __future__ import annotations

import inspect
import pathlib

import numpy as np
import pytest

import flou.mechanisms.quantiles as quantiles
from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.mechanisms.quantiles import QuantileMechanism
from mechanisms.quantiles.tiny import RELATIONS, as_counts, in_memory

ROOT = pathlib.Path(__file__).parents[3]
CELLS = 9
TABLES = {
    "none": (),
    "one": (3,),
    "two": (3, 7),
    "two alike": (5, 5),
    "all alike": (4,) * 40,
    "all at the lower bound": (0,) * 40,
    "all at the upper bound": (CELLS - 1,) * 40,
    "both bounds": (0,) * 20 + (CELLS - 1,) * 20,
    "one in each cell": tuple(range(CELLS)),
}
QUESTIONS = {
    "lowest": [0],
    "highest": [1],
    "ends": [0, 1],
    "middle": [0.5],
    "again": [0.9, 0.1, 0.5, 0.5, 0.1, 0, 1],
    "tiny gaps": [0.5, 0.500000001, 0.499999999],
}
METHODS = [
    kind
    for kind in (getattr(quantiles, name) for name in quantiles.__all__)
    if isinstance(kind, type) and issubclass(kind, QuantileMechanism) and not inspect.isabstract(kind)
]


def made(kind: type[QuantileMechanism], probabilities, relation: str, epsilon: float = 1) -> QuantileMechanism | None:
    """The method with what it needs beyond epsilon; None where it does not serve this question or relation."""
    needs = inspect.signature(kind).parameters
    more = {"delta": 1e-3} if "delta" in needs and needs["delta"].default is inspect.Parameter.empty else {}
    try:
        return kind(probabilities, epsilon=epsilon, relation=relation, **more)
    except InvalidParameter:
        return None


def in_order(probabilities, answers) -> bool:
    by_probability = sorted(zip(probabilities, answers.tolist(), strict=True))
    cells = [cell for _, cell in by_probability]
    same = dict(by_probability)
    return cells == sorted(cells) and all(same[p] == cell for p, cell in by_probability)


@pytest.mark.parametrize("kind", METHODS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_lie_on_the_grid_in_order(kind, relation, question):
    """No records, one, two, all alike, all at a bound; p = 0 and 1, probabilities that repeat or nearly do."""
    probabilities = QUESTIONS[question]
    mechanism = made(kind, probabilities, relation)
    if mechanism is None:
        assert len(set(probabilities)) > 1 or relation == "substitute", (
            "one quantile is served, under add/remove at least"
        )
        return
    for name, table in TABLES.items():
        for summary in (in_memory, as_counts):
            answers = mechanism.sample(summary(table, CELLS), bits=SeededBits(f"{kind} {relation} {question} {name}"))
            assert answers.shape == (len(probabilities),)
            assert answers.dtype == np.int64
            assert np.all((answers >= 0) & (answers < CELLS))
            assert in_order(probabilities, answers)


@pytest.mark.parametrize("kind", METHODS)
def test_a_grid_of_one_cell(kind):
    """There is one answer, and it is given."""
    for relation in RELATIONS:
        mechanism = made(kind, [0.5], relation)
        for table in ((), (0,), (0,) * 5):
            assert mechanism is None or mechanism.sample(in_memory(table, 1)).tolist() == [0]


@pytest.mark.parametrize("kind", METHODS)
def test_a_large_epsilon_finds_the_exact_answer(kind):
    """On many records and with next to no noise the median is found, or missed by a cell."""
    table = tuple(np.repeat(np.arange(101), 20).tolist())
    for relation in RELATIONS:
        mechanism = made(kind, [0.5], relation, epsilon=2000)
        assert mechanism is None or abs(int(mechanism.sample(in_memory(table, 101))[0]) - 50) <= 1


@pytest.mark.parametrize("kind", METHODS)
def test_a_thousand_quantiles(kind):
    """More quantiles than records, and than cells."""
    many = 50 if kind.__name__ in ("SmoothSensitivity", "UnboundedQuantile") else 1000  # one after the other
    probabilities = np.arange(many) / (many - 1)
    mechanism = made(kind, probabilities, "add-remove")
    if mechanism is not None:
        for table in ((), (2, 3, 3, 8)):
            assert in_order(probabilities.tolist(), mechanism.sample(in_memory(table, CELLS)))


@pytest.mark.parametrize("kind", METHODS)
def test_docstrings_say_what_must_be_known(kind):
    """Every method states its eight facts, from law to proof, and the proof speaks about its file."""
    words = ["Law", "Guarantee", "Why", "Error", "Numerics", "Limits", "Source", "Proof"]
    lines = inspect.getmodule(kind).__doc__.splitlines()
    stated = [line.split()[0] for line in lines if line and not line.startswith(" ") and line.split()[0] in words]
    assert stated == words
    page = ROOT / next(line for line in lines if line.startswith("Proof")).split()[1]
    assert kind.__module__.rsplit(".", 1)[1] in page.read_text()


def test_methods_were_found():
    """The walk over the public names sees the methods."""
    assert {"QExp", "GridInverseSensitivity", "IndExp", "UnboundedQuantile"} <= {kind.__name__ for kind in METHODS}
