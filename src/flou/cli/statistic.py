"""The options that say what several parties compute, and the statistic that they describe."""

from __future__ import annotations

import inspect
import runpy
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flou.cli.template import filled_in
from flou.domain.table import closest
from flou.errors import FlouError, InvalidParameter
from flou.parameters import shown

if TYPE_CHECKING:
    from flou.joint.estimators.program import Program

__all__ = ["Columns", "Covariance", "Estimator", "Formula", "Models", "PublicSchema", "Settings", "Where"]
__all__ += ["run_models", "statistic"]

Estimator = Annotated[
    str,
    typer.Option(
        help="The statistic. Exact sums: ols, logit, likelihood, moments, histogram, ecdf, quantiles, vector sum. "
        "With noise that hides every row: private ols, private logit, private histogram, private quantiles."
    ),
]
Formula = Annotated[str | None, typer.Option(help="Of a regression: 'y ~ x1 + x2', 'wage ~ log(age) + C(region)'.")]
Columns = Annotated[str | None, typer.Option(help="The columns of any other statistic, such as age,wage.")]
Covariance = Annotated[str | None, typer.Option(help="The standard errors: nonrobust, HC0 to HC3, or cluster.")]
PublicSchema = Annotated[Path | None, typer.Option("--schema", help="Public bounds and categories, a TOML file.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Any other setting of the statistic, such as bins=20 or bounds=[0,100]. Repeatable."),
]
Where = Annotated[str, typer.Option(help="Use only rows where, say, \"age >= 18 and not x == 'y'\".")]
Models = Annotated[
    list[Path] | None,
    typer.Option(
        "--model",
        help="Your Python file that calls flou.joint.register_model. The command runs it. Everyone needs the same "
        "file: the plan contains its fingerprint. Repeatable.",
    ),
]


def statistic(
    estimator: str,
    *,
    formula: str | None,
    columns: str | None,
    covariance: str | None,
    schema: Path | None,
    settings: Sequence[str] | None,
) -> Program:
    """The statistic that the options describe; an unknown or missing setting is refused by name."""
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
                f"The statistic {estimator!r} has no setting {shown(key)}.",
                "An ignored setting could hide a typing mistake.",
                f"{closest(key, list(known))} (its settings: {', '.join(known)}).",
            )
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in given:
            option = {"formula": "--formula", "column": "--columns", "columns": "--columns"}.get(
                key, f"--set {key}=..."
            )
            raise InvalidParameter(
                f"The statistic {estimator!r} needs {key!r}.",
                "Without it the computation is not defined.",
                f"Pass it as {option}.",
            )
    try:
        return kind(**given)
    except FlouError:
        raise
    except (TypeError, ValueError, AttributeError):
        raise InvalidParameter(
            f"The settings of the statistic {estimator!r} cannot be used.",
            "One of them has the wrong type.",
            "Write numbers as they are, lists as [1,2,3], and texts without quotes.",
        ) from None


def _setting(text: str) -> tuple[str, Any]:
    """``key=value``; a value that is not TOML is a text."""
    key, sign, value = text.partition("=")
    if not sign or not key.isidentifier():
        raise InvalidParameter(
            f"--set must be a name and a value, got {shown(text)}.",
            "It is a setting of the statistic.",
            "Write for example --set bins=20 or --set bounds=[0,100].",
        )
    try:
        found = tomllib.loads(f"value = {value}")
    except (ValueError, RecursionError):
        found = {"value": value}
    plain = list(found) == ["value"] and isinstance(found["value"], str | int | float | bool | list)
    return key, found["value"] if plain else value


def run_models(paths: Iterable[Path] | None) -> None:
    """Run the files, so that their models are known by name."""
    for path in paths or ():
        try:
            runpy.run_path(str(path))
        except FlouError:
            raise
        except OSError:
            raise InvalidParameter(
                f"The file of models {str(path)!r} cannot be read.",
                "A plan names a model but does not contain its code, so every party needs the file.",
                "Check the path, or ask the author of the plan for the file.",
            ) from None
        except Exception as error:
            raise InvalidParameter(
                f"The file of models {str(path)!r} stops with {type(error).__name__}.",
                "The command runs this file as Python code before anything else.",
                f"Run the file by itself to see where it stops: python {path}.",
            ) from error
