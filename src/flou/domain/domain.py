"""What every domain can do."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Domain"]


@runtime_checkable
class Domain(Protocol):
    """What is public about one column: a fixed list of codes, and the rule that gives every row one of them.

    The code of a row depends on that row alone: no value in another row changes it, and no value raises.
    """

    @property
    def size(self) -> int:
        """How many codes there are: 0, 1, ..., size - 1."""
        ...

    @property
    def missing_code(self) -> int:
        """The code of a row that holds nothing usable (NULL, NaN, another type)."""
        ...

    def encode(self, values: object) -> NDArray[np.int64]:
        """The code of each row."""
        ...

    def decode(self, codes: object) -> NDArray[Any]:
        """What each code stands for, in the user's units."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """The domain as a TOML table, every choice written out."""
        ...
