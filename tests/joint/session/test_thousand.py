"""A thousand parties with few neighbours each: exact sums with losses at every step, and messages that stay short."""

from __future__ import annotations

import math

import numpy as np

from flou.joint.agreement.canonical import decode
from flou.joint.estimators.distribution.vector_sum import VectorSum
from flou.joint.simulation import Simulation, simulated
from joint.session.sessions import STEPS

LENGTH = 5000
BEFORE = ("join", "reveal", "share", "mask")


def held(m: int, losses: dict[int, tuple[int, str]]) -> tuple[Simulation, np.ndarray, np.ndarray]:
    """A session of m parties, some of which go at a step: what came of it, the tables, and the bytes that each sent."""
    rng = np.random.default_rng(m)
    tables = rng.integers(-(2**40), 2**40, (m, LENGTH), endpoint=True)
    sent, gone = np.zeros(m, dtype=np.int64), set()

    def lost(number, address):
        if losses.get(number) == address:
            gone.add(number)
        return number in gone

    outcome = simulated([{"v": table} for table in tables], VectorSum("v", LENGTH), lost=lost)
    for key, data in outcome.coordinator.memory._kept.items():
        parts = key.split("/")
        if parts[-1].isdigit():
            sent[int(parts[-1])] += len(data)
    return outcome, tables, sent


def test_a_thousand_parties_lose_one_in_twenty():
    """Fifty losses, spread over all steps: the sum is exact, and everyone else has it."""
    m = 1000
    losses = {20 * i + 7: STEPS[i % len(STEPS)] for i in range(m // 20)}
    outcome, tables, sent = held(m, losses)
    counted = [i for i in range(m) if losses.get(i, (9, ""))[1] not in BEFORE]
    assert outcome.fit.exact == tuple(tables[counted].sum(axis=0).tolist())
    assert len(outcome.fit.provenance.parties) == len(counted)
    assert len(outcome.fits) == m - len(losses)
    assert not outcome.refusals
    assert all(fit.exact == outcome.fit.exact for fit in outcome.fits.values())

    smaller, few, less = held(200, {})
    assert smaller.fit.exact == tuple(few.sum(axis=0).tolist())
    overhead = [float(np.median(each)) - 8 * LENGTH for each in (less, sent)]
    neighbours = [found.coordinator.plan.resilience.neighbours for found in (smaller, outcome)]
    assert overhead[1] / overhead[0] < 2.2  # five times as many parties
    assert neighbours[1] / neighbours[0] < 2
    assert overhead[1] < 400 * neighbours[1]
    assert neighbours[1] < 16 * math.log(m)
    path = decode(outcome.coordinator.reply((1, "unmask"), 0))["path"]
    assert len(path) <= (m - 1).bit_length()
