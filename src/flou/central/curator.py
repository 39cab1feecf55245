"""The curator: who may look at the rows and draw random bits, while a question is answered and no longer.

An answer takes the curator as an argument, uses it and returns public values. A curator that is kept all the same is of
no use to whoever finds it: it can be neither copied nor pickled, and it lets go of the rows and of the bits as soon as
the questions are answered.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NoReturn

from flou.bits import SYSTEM, Bits
from flou.errors import InvalidParameter
from flou.summaries.request import Code
from flou.summaries.rows import Rows, Spans, Tally

__all__ = ["Curator"]


class Curator:
    """The rows, for a second look, and the bits, from ``with`` to its end."""

    __slots__ = ("_bits", "_rows")

    def __init__(self, bits: Bits = SYSTEM, rows: Rows | None = None) -> None:
        self._bits: Bits | None = bits
        self._rows = rows

    def __enter__(self) -> Curator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, error, trace
        self._bits = self._rows = None

    def __repr__(self) -> str:
        return "Curator(...)"

    @property
    def bits(self) -> Bits:
        """Where noise is drawn."""
        if self._bits is None:
            raise _over()
        return self._bits

    def tally(self, code: Code, spans: Spans, by: Code | None = None) -> Tally:
        """A second look at the rows, see ``Rows.tally``."""
        if self._rows is None:
            raise _over()
        return self._rows.tally(code, spans, by)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise InvalidParameter(
            "A curator can be neither pickled nor copied.",
            "It leads to confidential rows, and what is pickled or copied leaves their keeper.",
            "Keep what it helped to release, which is public.",
        )


def _over() -> InvalidParameter:
    return InvalidParameter(
        "The curator has no rows to look at, or no longer.",
        "It serves while a question is answered, and only where a second look would see the same rows as the first.",
        "Ask the table a new question.",
    )
