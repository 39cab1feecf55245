"""``--model``: likelihoods of one's own for the command line, in Python files that register them."""

from __future__ import annotations

import runpy
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from flou.errors import FlouError, InvalidParameter

__all__ = ["Models", "run_models"]

Models = Annotated[
    list[Path] | None,
    typer.Option(
        "--model",
        help="A Python file of yours that calls flou.joint.register_model. It is run here, and must be the same "
        "everywhere: the plan has its fingerprint. Repeat it for more.",
    ),
]


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
                "A plan names a model, and every party needs its code: it does not travel.",
                "Check the path, or ask who wrote the plan for the file.",
            ) from None
        except Exception as error:
            raise InvalidParameter(
                f"The file of models {str(path)!r} stops with {type(error).__name__}.",
                "It is run before anything else, as Python runs it.",
                f"Run it by itself to see where: python {path}.",
            ) from error
