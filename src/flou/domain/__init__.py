"""Public knowledge about the data: what a column may hold, and what a schema says about a table."""

from flou.domain.boolean import Boolean
from flou.domain.categories import Categories
from flou.domain.domain import Domain, Numbers, require_numbers
from flou.domain.integers import Integers
from flou.domain.interval import Interval
from flou.domain.kinds import domain_from_dict
from flou.domain.schema import Schema

__all__ = [
    "Boolean",
    "Categories",
    "Domain",
    "Integers",
    "Interval",
    "Numbers",
    "Schema",
    "domain_from_dict",
    "require_numbers",
]
