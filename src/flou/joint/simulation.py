"""Several organisations on one laptop: the shortest way to try a joint statistic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from flou.errors import InvalidParameter
from flou.joint.agreement.policy import Policy
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.program import Program
from flou.joint.session import simulate as session

if TYPE_CHECKING:
    from flou.domain import Schema
    from flou.joint.estimators.linear.linear import Covariance
    from flou.joint.estimators.linear.linear_fit import LinearFit

__all__ = ["simulate"]


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
    fit: Fit = session.simulate(tables, program, policy=policy, **terms).fit
    return fit
