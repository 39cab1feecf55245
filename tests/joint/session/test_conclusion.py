"""Words that no rows give end a session with a reason, at every party, at the coordinator and in the transcript."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from flou.errors import InvalidData, ProtocolError
from flou.joint.agreement.identity import Identity, Roster
from flou.joint.agreement.plan import Plan
from flou.joint.estimators.linear.linear import LinearRegression
from flou.joint.session.conclusion import concluded, next_ask
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.party import PartySession
from flou.joint.simulation import ANY, converse
from joint.session.sessions import Integers


@pytest.mark.parametrize("place", [1, 3, 4, 5])
def test_an_insider_with_impossible_words(place):
    """One word at the end of its range: a refusal in three sentences, and no stumble over a square root."""
    identities = [Identity.generate(name) for name in "abc"]
    plan = Plan(Roster.of(identities), LinearRegression("x ~ z", covariance="HC1"), expires="2099-01-01T00:00:00Z")
    made = np.random.default_rng(1)
    tables = [{"x": made.normal(size=50), "z": made.normal(size=50)} for _ in identities]

    class Insider(PartySession):
        def _plain_words(self, ask):
            words = list(super()._plain_words(ask))
            if not self.opened:
                words[place % len(words)] = -ask.limit
            return words

    kinds = (PartySession, PartySession, Insider)
    sessions = {i: kinds[i](identities[i], plan, plan.rows(tables[i]), ANY) for i in range(3)}
    outcome = converse(CoordinatorSession(plan), sessions)
    assert not outcome.fits
    with pytest.raises((ProtocolError, InvalidData)):
        outcome.fit  # noqa: B018


@pytest.mark.parametrize(
    "error", [ValueError("math domain error"), ZeroDivisionError(), np.linalg.LinAlgError("singular")]
)
def test_arithmetic_that_fails_is_a_refusal(error):
    """Whatever a program stumbles over in public sums; its own refusals stay what they are."""

    class Stumbling(Integers):
        def next(self, _opened):
            raise error

        def result(self, _opened):
            raise error

    for call in (lambda: next_ask(Stumbling(), []), lambda: concluded(SimpleNamespace(program=Stumbling()), [], b"")):
        with pytest.raises(ProtocolError, match="Nothing follows from these sums"):
            call()
    error = InvalidData("What.", "Why.", "Do.")
    with pytest.raises(InvalidData, match="What"):
        next_ask(Stumbling(), [])
