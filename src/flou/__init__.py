"""flou: statistics on confidential data. Every answer with its privacy cost, proved, and its error, known.

*Flou* is French for blur: blur the person, keep the picture.

    flou.mechanisms   what spends privacy: each knows its guarantee, its exact law, and draws from it
    flou.laws         exact laws on the integers, sampled at array speed
    flou.guarantee    what a release costs, how costs add up, and what they mean in words
    flou.domain       what is public about a table: bounds, grids, categories
    flou.joint        several organisations compute one regression, and nobody shows a row
    flou.local        each person randomises their own answer; reports become estimates with intervals
    flou.open         any table, with its public schema and a budget; ask it for private statistics
    flou.mean, ...    the shortest call that can be right, for one column
"""

from typing import TYPE_CHECKING, Any

from flou import bits, central, domain, guarantee, laws, mechanisms, release
from flou.central import deciles, quartiles, short_calls
from flou.central import open_table as open
from flou.central.short_calls import *  # noqa: F403
from flou.domain import Boolean, Categories, Integers, Interval, Schema
from flou.errors import (
    BudgetExceeded,
    FlouError,
    GuaranteeMismatch,
    InvalidData,
    InvalidParameter,
    MissingExtra,
    ProtocolError,
)
from flou.guarantee import ZCDP, ApproxDP, PureDP, compose, parallel
from flou.release import Release
from flou.summaries import column
from flou.version import __version__ as __version__

if TYPE_CHECKING:
    from flou import joint, local

__all__ = [
    "ZCDP",
    "ApproxDP",
    "Boolean",
    "BudgetExceeded",
    "Categories",
    "FlouError",
    "GuaranteeMismatch",
    "Integers",
    "Interval",
    "InvalidData",
    "InvalidParameter",
    "MissingExtra",
    "ProtocolError",
    "PureDP",
    "Release",
    "Schema",
    "bits",
    "central",
    "column",
    "compose",
    "deciles",
    "domain",
    "guarantee",
    "joint",
    "laws",
    "local",
    "mechanisms",
    "open",
    "parallel",
    "quartiles",
    "release",
]
__all__ += short_calls.__all__


def __getattr__(name: str) -> Any:
    """``flou.local`` and ``flou.joint`` are imported when they are first used: they take their time."""
    if name not in ("joint", "local"):
        raise AttributeError(f"module 'flou' has no attribute {name!r}")
    from importlib import import_module

    return import_module(f"flou.{name}")


def __dir__() -> list[str]:
    return sorted(__all__)
