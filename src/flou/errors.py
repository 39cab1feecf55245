"""Every exception that flou raises on purpose.

An error is an output like any other: it says what is wrong, why that matters and what to do, in three
sentences, and it never quotes a record. Public facts (a parameter, a bound, a column's name) may appear.

    FlouError
    ├── InvalidParameter    a public choice that cannot be right: epsilon=0, lower above upper
    ├── InvalidData         a source whose shape or type does not fit the declared domain
    ├── GuaranteeMismatch   two guarantees that cannot be put together
    ├── BudgetExceeded      a question that costs more than what is left
    ├── MissingExtra        an optional dependency that is not installed
    └── ProtocolError       a message between parties that breaks the agreed rules
"""

from __future__ import annotations

from types import TracebackType

__all__ = [
    "BudgetExceeded",
    "FlouError",
    "GuaranteeMismatch",
    "InvalidData",
    "InvalidParameter",
    "MissingExtra",
    "ProtocolError",
]


class FlouError(Exception):
    """The root of all errors of flou: ``except flou.FlouError`` catches every one of them."""

    def __init__(self, what: str, why: str, do: str) -> None:
        super().__init__(what, why, do)
        self.what = what
        self.why = why
        self.do = do

    def __str__(self) -> str:
        return f"{self.what} {self.why} {self.do}"


class InvalidParameter(FlouError, ValueError):
    """A public choice of the caller that cannot be right."""


class InvalidData(FlouError, ValueError):
    """A source whose shape or type does not fit what was declared; never raised because of one value."""


class GuaranteeMismatch(FlouError, ValueError):
    """Two guarantees that speak about different neighbours, units or measures."""


class BudgetExceeded(FlouError):
    """A question that costs more than what is left; nothing was charged and nothing was answered."""


class MissingExtra(FlouError, ImportError):
    """An optional dependency is needed and not installed."""


class ProtocolError(FlouError):
    """A message between parties that breaks the agreed rules."""


class instead:  # noqa: N801 - a word of a with statement, as contextlib.suppress is
    """Raise this error where the block raises one of these kinds, and drop the original error.

    ``raise ... from None`` hides the original error from the screen only: it stays in ``__context__`` with what it
    quotes, and its frames hold the values they were working on. Here both are removed. Errors of flou pass through,
    without the frames below them.
    """

    def __init__(
        self, error: FlouError, *kinds: type[BaseException], but: tuple[type[BaseException], ...] = ()
    ) -> None:
        self._error, self._kinds, self._but = error, kinds, but

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, caught: BaseException | None, frames: TracebackType | None
    ) -> None:
        if isinstance(caught, FlouError):
            caught.__cause__ = caught.__context__ = caught.__traceback__ = None
        elif isinstance(caught, self._kinds) and not isinstance(caught, self._but):
            error = self._error
            del kind, caught, frames  # this frame is the first that the new error remembers
            try:
                raise error
            except FlouError:
                error.__context__ = None  # which raising has set to what is being handled
                raise
