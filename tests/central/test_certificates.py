"""Certificates are true: what they say about reads, draws and proofs is what happened."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import flou
from flou.bits import Bits, SeededBits
from flou.central import Mean
from flou.central.question import Question
from flou.summaries.array.rows import ArrayRows
from privacy.canaries import KINDS, made, schema

ROOT = Path(__file__).parents[2]


class Watched(Bits):
    """Bits that write down when they are drawn."""

    def __init__(self, log):
        self._bits, self._log = SeededBits(5), log

    def take(self, size):
        self._log.append("draw")
        return self._bits.take(size)


def watched(monkeypatch, log, relation="add-remove", unit=False):
    """A table whose reads and draws are written down."""
    for name in ("collect", "tally", "key_counts"):
        plain = getattr(ArrayRows, name)

        def read(self, *given, plain=plain, **named):
            log.append("read")
            return plain(self, *given, **named)

        monkeypatch.setattr(ArrayRows, name, read)
    return flou.open(made().lists(), schema=schema(relation, unit), bits=Watched(log))


def read_after_draw(log):
    return "read" in log[log.index("draw") :] if "draw" in log else False


@pytest.mark.parametrize("kind", KINDS)
def test_reads_are_those_that_the_certificate_says(kind, monkeypatch):
    """A certificate that denies a read after noise is right, and one that allows it names every draw as paid."""
    log = []
    table = watched(monkeypatch, log)
    if "selected" in kind or "no group" in kind:
        table.keys("city", epsilon=2, delta=1e-5)  # a question of its own, which is certified by itself
    log.clear()
    release = KINDS[kind](table)
    if "selected" in kind or "no group" in kind:
        del log[: log.index("draw") + 1]  # that of the selection
        log[:] = log[log.index("read") :] if "read" in log else []
    processing = release.certificate["processing"]
    assert processing["touches_data_again"] or not read_after_draw(log), log
    assert processing["touches_data_again"] == processing["reads"].startswith("more than once")


@pytest.mark.parametrize(
    ("probabilities", "unit", "again"), [((0.5,), False, True), ((0.1, 0.5), False, True), ((0.5,), True, False)]
)
def test_quantiles_say_that_they_look_again(monkeypatch, probabilities, unit, again):
    """Quantiles of many values look again after noise, and say so; where a second look sees others they do not."""
    log = []
    table = watched(monkeypatch, log, unit=unit)
    seen = []
    for _ in range(5):
        log.clear()
        release = table.quantiles("x", probabilities, epsilon=1)
        del log[: log.index("read")]  # before it, units draw which of their rows count
        seen.append(read_after_draw(log) or log.count("read") > 1)
        assert release.certificate["processing"]["touches_data_again"] is again
    assert any(seen) is again


def test_a_second_look_that_was_not_announced_is_refused():
    """A question that says nothing of a second look gets no rows for one."""

    class Greedy(Mean):
        def prepare(self, facts):
            def answer(found, curator):
                curator.tally(facts.code("g"), [(0, 2)], None)
                return honest.answer(found, curator)

            honest = super().prepare(facts)
            return replace(honest, answer=answer)

    table = flou.open(made().lists(), schema=schema("add-remove"))
    with pytest.raises(flou.InvalidParameter, match="curator"):
        table.ask(Greedy("x", 1))


def questions(kind=Question):
    for one in kind.__subclasses__():
        yield one
        yield from questions(one)


@pytest.mark.parametrize("kind", KINDS)
def test_proofs_are_pages(kind):
    """A certificate names the page that proves its mechanism, which is there and speaks of it."""
    table = flou.open(made().lists(), schema=schema("substitute"))
    pages = KINDS[kind](table).certificate["assurance"]["proof"]
    assert pages
    for page in pages:
        assert (ROOT / page).is_file()


def test_proofs_are_those_of_the_modules():
    """The page of a question is one of those that the docstring of its module names."""
    import sys

    for question in set(questions()):
        text = sys.modules[question.__module__].__doc__ or ""
        proof = question.__dict__.get("proof")
        if isinstance(proof, str) and question.__module__.startswith("flou.") and "Proof" in text:
            assert f"docs/explanation/proofs/{proof}.md" in text, question


def test_caps_are_drawn_from_the_bits_of_the_table():
    """Which rows of a unit count is drawn from the bits that the table was opened with."""
    rows = {"x": np.arange(100.0), "person": ["p"] * 100}
    capped = flou.Schema({"x": flou.Interval(0, 100)}, unit="person", max_rows_per_unit=1)
    values = [flou.open(rows, schema=capped, bits=SeededBits(s)).sum("x", epsilon=1000).value for s in (1, 1, 2, 3)]
    assert values[0] == values[1]
    assert len({round(value) for value in values}) > 1
