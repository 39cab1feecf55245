"""A plan against a policy: one patient's exact value, asked for in ways that once worked."""

from __future__ import annotations

import numpy as np
import pytest

from flou import joint
from flou.errors import ProtocolError
from flou.joint import Policy, PrivateHistogram
from flou.joint.agreement.plan import Plan
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.party import PartySession
from flou.joint.simulation import converse

PATIENT = 417
CAREFUL = Policy(columns=("pressure",), rows_per_scalar=100)
SCREENING = {"edges": [float(place) - 0.5 for place in range(60, 221)], "honest": 2}


def hospitals():
    """Three hospitals with 200 patients each; patient 417 is in the third one, with a pressure of 173."""
    made = np.random.default_rng(7)
    tables = [{"id": np.arange(200) + 200 * place, "pressure": made.integers(60, 220, 200)} for place in range(3)]
    tables[2]["pressure"][PATIENT - 400] = 173
    return tables


def attacked(policy, where=f"id == {PATIENT}", epsilon=10_000):
    """What the histogram shows of the one row that is left."""
    program = PrivateHistogram("pressure", epsilon=epsilon, **SCREENING)
    fit = joint.simulate(hospitals(), program, where=where, policy=policy)
    return [place + 60 for place, count in enumerate(fit.counts) if count > 0]


def test_the_attack_is_one():
    """Where a party allows every column and any epsilon, the answer is the patient's own value."""
    assert attacked(Policy(most_epsilon=10_000)) == [173]


def test_one_patient_from_a_policy_that_lists_one_column():
    """The condition reads who is who, and the policy does not list it."""
    with pytest.raises(ProtocolError, match="reads the column 'id'; your policy does not list it"):
        attacked(CAREFUL)


@pytest.mark.parametrize(
    "where",
    [
        "ID == 417",
        "`id` == 417",
        "not (id < 417 or id > 417)",
        "pressure > 0 and (pressure < 0 or (id == 417 and pressure > 0))",
        "pressure > 0 and 'id' == 417",
    ],
)
def test_other_ways_to_name_the_patient(where):
    """In other letters, in quotes, behind a not, or deep in parentheses."""
    with pytest.raises(ProtocolError, match=r"(?i)reads the column 'id'; your policy does not list it"):
        attacked(CAREFUL, where)


@pytest.mark.parametrize("epsilon", [10_000, 30, 1.01, "20000/2"])
def test_noise_that_hides_nothing_does_not_lift_the_rule_of_rows(epsilon):
    """Also where the policy lists the column: one row is not 100 rows a number, and epsilon is beyond the policy's."""
    both = Policy(columns=("pressure", "id"), rows_per_scalar=100)
    with pytest.raises(ProtocolError, match="from 0 rows; your policy allows one in 100, and noise instead of rows"):
        attacked(both, epsilon=epsilon)
    with pytest.raises(ProtocolError, match="from 200 rows; your policy allows one in 100, and noise instead of rows"):
        attacked(CAREFUL, where="", epsilon=epsilon)


def test_noise_that_hides_a_row_is_welcome():
    """With an epsilon of 1 nobody can tell where patient 417 is, and the session runs."""
    found = attacked(CAREFUL, where="", epsilon=1)
    assert len(found) > 10


def test_sessions_refuse_before_they_sign():
    """A party that refuses has sent nothing: there is no session of it, and the coordinator waits in vain."""
    identities = [joint.Identity.generate(name) for name in ("north", "south", "west")]
    program = PrivateHistogram("pressure", epsilon=10_000, **SCREENING)
    plan = Plan(joint.Roster.of(identities), program, where=f"id == {PATIENT}")
    sessions = {}
    for identity, rows in zip(identities, hospitals(), strict=True):
        with pytest.raises(ProtocolError):
            sessions[plan.roster.index(identity)] = PartySession(identity, plan, plan.rows(rows), CAREFUL)
    coordinator = CoordinatorSession(plan)
    assert converse(coordinator, sessions).fits == {}
    assert coordinator.fit is None
