"""What several parties compute, from the options of the command line."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flou.cli.template import filled_in
from flou.domain.table import closest
from flou.errors import FlouError, InvalidParameter
from flou.parameters import shown

if TYPE_CHECKING:
    from flou.joint.estimators.program import Program

__all__ = ["Columns", "Covariance", "Estimator", "Formula", "SchemaFile", "Settings", "Where", "statistic"]

Estimator = Annotated[
    str,
    typer.Option(
        help="ols, logit, likelihood, moments, histogram, ecdf, quantiles, vector sum; with noise that hides every "
        "row: private ols, private logit, private histogram, private quantiles."
    ),
]
Formula = Annotated[str | None, typer.Option(help="For regressions: 'y ~ x1 + x2', 'wage ~ log(age) + C(region)'.")]
Columns = Annotated[str | None, typer.Option(help="For all others: the columns, such as age,wage.")]
Covariance = Annotated[str | None, typer.Option(help="Standard errors: nonrobust, HC0 to HC3, cluster.")]
SchemaFile = Annotated[Path | None, typer.Option("--schema", help="Public bounds and categories, a TOML file.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Any other choice, such as bins=20 or bounds=[0,100]. Repeat it.")
]
Where = Annotated[str, typer.Option(help="Use only rows like these: \"age >= 18 and not x == 'y'\".")]


def statistic(
    estimator: str,
    *,
    formula: str | None,
    columns: str | None,
    covariance: str | None,
    schema: Path | None,
    settings: Sequence[str] | None,
) -> Program:
    """The statistic that is meant; what it does not know, or lacks, is refused by name."""
    from flou.joint.estimators.program import program_type

    kind = program_type(estimator)
    known = inspect.signature(kind).parameters
    given = dict(map(_setting, settings or ()))
    if columns is not None:
        names = [name.strip() for name in columns.split(",")]
        single = "column" in known and len(names) == 1
        given["column" if single else "columns"] = names[0] if single else names
    given |= {"formula": formula} if formula is not None else {}
    given |= {"covariance": covariance} if covariance is not None else {}
    given |= {"schema": filled_in(schema)} if schema is not None else {}
    for key in given:
        if key not in known:
            raise InvalidParameter(
                f"The statistic {estimator!r} has no choice {shown(key)}.",
                "A choice that is silently ignored may be a typing mistake.",
                f"{closest(key, list(known))} (it knows: {', '.join(known)}).",
            )
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in given:
            option = {"formula": "--formula", "column": "--columns", "columns": "--columns"}.get(
                key, f"--set {key}=..."
            )
            raise InvalidParameter(
                f"The statistic {estimator!r} needs {key!r}.",
                "It says what is to be computed.",
                f"Pass it as {option}.",
            )
    try:
        return kind(**given)
    except FlouError:
        raise
    except (TypeError, ValueError, AttributeError):
        raise InvalidParameter(
            f"The choices for the statistic {estimator!r} cannot be used.",
            "One of them is of another kind than it should be.",
            "Write numbers as they are, lists as [1,2,3], and texts without quotes.",
        ) from None


def _setting(text: str) -> tuple[str, Any]:
    """``key=value``; a value that is not TOML is a text."""
    key, sign, value = text.partition("=")
    if not sign or not key.isidentifier():
        raise InvalidParameter(
            f"--set must be a name and a value, got {shown(text)}.",
            "It is a choice of the statistic.",
            "Write for example --set bins=20 or --set bounds=[0,100].",
        )
    try:
        found = tomllib.loads(f"value = {value}")
    except (ValueError, RecursionError):
        found = {"value": value}
    plain = list(found) == ["value"] and isinstance(found["value"], str | int | float | bool | list)
    return key, found["value"] if plain else value
