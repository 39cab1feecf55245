"""Several organisations on one laptop: the shortest way to try a joint statistic.

The parties and the coordinator are the same as over the network, joined by a loop. It serves to try a plan, to test
thousands of parties, and to inject faults: ``lost`` says which party's message never arrives, and ``tampered`` lets a
coordinator lie.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from flou.errors import FlouError, InvalidParameter
from flou.joint.agreement.identity import Identity, Roster
from flou.joint.agreement.plan import Plan
from flou.joint.agreement.policy import Policy
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.program import Program
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.party import Address, PartySession

if TYPE_CHECKING:
    from flou.domain import Schema
    from flou.joint.estimators.linear.linear import Covariance
    from flou.joint.estimators.linear.linear_fit import LinearFit

__all__ = ["Simulation", "converse", "simulate", "simulated"]

ANY = Policy(rows_per_scalar=0, colluders=0, accept_differences=True)  # on a laptop, rows are not hidden from anyone


@dataclass
class Simulation:
    """What came of a simulated session: at the coordinator, at each party, and who stopped with which reason."""

    coordinator: CoordinatorSession
    fits: dict[str, Fit] = field(default_factory=dict)
    refusals: dict[str, FlouError] = field(default_factory=dict)

    @property
    def fit(self) -> Fit:
        """The result; or the reason why there is none."""
        if self.coordinator.fit is not None:
            return self.coordinator.fit
        raise self.coordinator.failure or next(iter(self.refusals.values()))


def converse(
    coordinator: CoordinatorSession,
    parties: Mapping[int, PartySession],
    *,
    lost: Callable[[int, Address], bool] = lambda _party, _address: False,
    tampered: Callable[[int, Address, bytes], bytes] = lambda _party, _address, reply: reply,
) -> Simulation:
    """Let everyone talk until nobody has anything left to say."""
    outcome, names = Simulation(coordinator), coordinator.names
    running = {party: session.run() for party, session in parties.items()}
    outgoing = {}
    for party, steps in running.items():
        try:
            outgoing[party] = next(steps)
        except FlouError as error:
            outcome.refusals[names[party]] = error
    while outgoing and not coordinator.done:
        for party, (address, message) in list(outgoing.items()):
            if lost(party, address):
                del outgoing[party]
                continue
            try:
                coordinator.receive(address, message)
            except FlouError as error:
                outcome.refusals[names[party]] = error
                del outgoing[party]
        coordinator.close()
        for party, (address, _) in list(outgoing.items()):
            del outgoing[party]
            reply = coordinator.reply(address, party)
            if reply is None:
                continue
            try:
                outgoing[party] = running[party].send(tampered(party, address, reply))
            except StopIteration as stop:
                outcome.fits[names[party]] = stop.value
            except FlouError as error:
                outcome.refusals[names[party]] = error
    return outcome


def simulated(
    tables: Sequence[Any] | Mapping[str, Any],
    program: Program,
    *,
    lost: Callable[[int, Address], bool] = lambda _party, _address: False,
    policy: Policy | None = None,
    **terms: Any,
) -> Simulation:
    """A session of parties with these tables, all in this process, each with this policy. ``terms`` are the plan's."""
    named = dict(tables) if isinstance(tables, Mapping) else {f"party {i + 1:05d}": t for i, t in enumerate(tables)}
    if len(named) < 3:
        raise InvalidParameter(
            f"There must be at least 3 parties, got {len(named)}.",
            "With two, each learns the sums of the other by subtraction.",
            "Pass one table a party.",
        )
    identities = {name: Identity.generate(name) for name in named}
    plan = Plan(Roster.of(list(identities.values())), program, **terms)
    parties = {
        plan.roster.index(identity): PartySession(identity, plan, plan.rows(named[name]), policy or ANY)
        for name, identity in identities.items()
    }
    return converse(CoordinatorSession(plan), parties, lost=lost)


@overload
def simulate(
    tables: Sequence[Any] | Mapping[str, Any],
    *,
    formula: str,
    schema: Schema | Mapping[str, Any] | None = None,
    covariance: Covariance = "nonrobust",
    policy: Policy | None = None,
    **terms: Any,
) -> LinearFit: ...


@overload
def simulate(
    tables: Sequence[Any] | Mapping[str, Any],
    program: Program,
    *,
    policy: Policy | None = None,
    **terms: Any,
) -> Any: ...


def simulate(
    tables: Sequence[Any] | Mapping[str, Any],
    program: Program | None = None,
    *,
    formula: str | None = None,
    schema: Any = None,
    covariance: Any = "nonrobust",
    policy: Policy | None = None,
    **terms: Any,
) -> Any:
    """What parties with these tables would compute together, run in this process with all keys, masks and checks.

    ``tables`` holds one table a party: paths, data frames or mappings of columns, in a list or by name. Pass a program,
    such as ``Quantiles(...)``, or a formula for a linear regression. With a policy every party checks the plan against
    it; without one everything is allowed. ``terms`` are those of a :class:`Plan`.
    """
    if (program is None) == (formula is None):
        raise InvalidParameter(
            "Pass a program or a formula, and not both.",
            "One of them says what is computed.",
            "Write for example formula='y ~ x1 + x2'.",
        )
    if formula is not None:
        from flou.joint.estimators.linear.linear import LinearRegression

        program = LinearRegression(formula, schema, covariance=covariance)
    assert program is not None
    fit: Fit = simulated(tables, program, policy=policy, **terms).fit
    return fit
