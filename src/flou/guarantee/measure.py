"""What all measures of privacy loss share: exact parameters, a relation, a unit, and how they combine.

In each of the three measures, sequential composition adds the parameters one by one, parallel composition
takes their maxima one by one, and a guarantee is at least as strong as another when none of its
parameters is larger. So all three live here, once; a measure adds its name and its own formulas.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast, overload

from flou.errors import GuaranteeMismatch, InvalidParameter
from flou.parameters import RELATIONS, Number, Relation, choice, integer, rounded_up, shown

if TYPE_CHECKING:
    from flou.guarantee.approx import ApproxDP
    from flou.guarantee.pure import PureDP

__all__ = ["Guarantee", "combined"]

G = TypeVar("G", bound="Guarantee")

# Fractions stay short however many are added: a finer one is rounded up to this grid, and nothing that
# is worth stating lies beyond the weakest.
FINEST = 10**300
WEAKEST = 10**100


def fitted(value: Fraction) -> Fraction:
    if value.denominator > FINEST:
        value = Fraction(-(-value.numerator * FINEST // value.denominator), FINEST)
    if value > WEAKEST:
        raise InvalidParameter(
            "The privacy loss would exceed 1e100.",
            "A loss of this size protects nothing, and flou does not compute with larger numbers.",
            "Use a smaller group, or a stronger guarantee to begin with.",
        )
    return value


def whose(unit: Any) -> str:
    if not isinstance(unit, str) or not unit.strip() or not unit.isprintable() or len(unit) > 100:
        raise InvalidParameter(
            f"unit must be a short name, got {shown(unit)}.",
            "It says on every certificate whose privacy is protected.",
            "Pass 'row', or the name of the column that tells people apart, for example unit='employee_id'.",
        )
    return unit


@dataclass(frozen=True, init=False, repr=False)
class Guarantee(ABC):
    """A privacy loss: a measure with its parameters, the relation and the unit that it speaks about."""

    measure: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]]

    _exact: tuple[Fraction, ...]
    relation: Relation
    unit: str

    @classmethod
    def _of(cls, *exact: Fraction, relation: Relation, unit: str) -> Self:
        """A value that was computed: the limits for parameters that people type do not apply."""
        self = object.__new__(cls)
        self._fill(*exact, relation=relation, unit=unit)
        return self

    def _fill(self, *values: Fraction, relation: Relation, unit: str) -> None:
        object.__setattr__(self, "_exact", tuple(map(fitted, values)))
        object.__setattr__(self, "relation", choice("relation", relation, RELATIONS))
        object.__setattr__(self, "unit", whose(unit))

    def _with(self, *exact: Fraction) -> Self:
        return self._of(*exact, relation=self.relation, unit=self.unit)

    def _as(self, measure: type[Guarantee]) -> Guarantee | None:
        """The same loss in another measure, where that takes no further choice."""
        return self if type(self) is measure else None

    def _within(self, budget: Guarantee) -> Guarantee | None:
        """The same loss, as the measure of a budget sees it."""
        return self._as(type(budget))

    @abstractmethod
    def times(self, k: int) -> Self:
        """Group privacy: what holds for neighbours that differ in ``k`` units instead of one."""

    @abstractmethod
    def to_approx(self, *, delta: Number) -> ApproxDP:
        """The (epsilon, delta) statement that this guarantee implies."""

    @abstractmethod
    def in_words(self, prior: Number = 0.5, *, false_alarms: Number = 0.05) -> str:
        """What this means for one person, as one sentence whose percentages are rounded up.

        Pure guarantees speak about an observer who knows every other row and is ``prior`` sure to begin
        with; the others about a test that accuses ``false_alarms`` of the innocent.
        """

    def to_substitute(self) -> Self:
        """What this implies when one unit is replaced: a removal and an addition, so ``times(2)``."""
        if self.relation == "substitute":
            return self
        twice = self.times(2)
        return twice._of(*twice._exact, relation="substitute", unit=self.unit)

    def to_unit(self, unit: str, *, max_rows: int) -> Self:
        """What a guarantee for each row implies for a unit of at most ``max_rows`` rows: ``times(max_rows)``."""
        if self.unit != "row" or self.relation != "add-remove":
            raise GuaranteeMismatch(
                f"Only an add-remove guarantee for each row can be restated for {unit!r}.",
                "Adding or removing a unit is adding or removing its rows one by one; replacing it may "
                "also change how many rows there are.",
                "Restate the add-remove guarantee first, and call .to_substitute() on the result if needed.",
            )
        group = self.times(integer("max_rows", max_rows, 1, 10**9))
        return group._of(*group._exact, relation="add-remove", unit=unit)

    def covers(self, cost: Guarantee) -> bool:
        """Whether every answer that keeps ``cost`` also keeps this guarantee, say a budget.

        A pure cost fits an approximate budget by its epsilon and a zCDP budget by epsilon^2/2; a zCDP
        cost fits an approximate budget if its conversion at the budget's delta does. Guarantees about
        different neighbours cannot be compared: that raises an error instead of returning False.
        """
        agree(self, cost)
        seen = cost._within(self)
        return seen is not None and all(a >= b for a, b in zip(self._exact, seen._exact, strict=True))

    @overload
    def __add__(self: G, other: PureDP) -> G: ...
    @overload
    def __add__(self: G, other: G) -> G: ...
    def __add__(self, other: Guarantee) -> Guarantee:
        """Sequential composition; see :func:`flou.guarantee.compose`."""
        return combined([self, other], total) if isinstance(other, Guarantee) else NotImplemented

    def __radd__(self, other: int) -> Self:
        """``sum([a, b])`` starts with ``0 + a``."""
        return self if type(other) is int and other == 0 else NotImplemented

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.parameters)
        return f"{type(self).__name__}({values}, relation={self.relation!r}, unit={self.unit!r})"

    def to_dict(self) -> dict[str, str | float]:
        """A form for certificates, ready for JSON; :func:`flou.guarantee.guarantee_from_dict` reads it."""
        result: dict[str, str | float] = {"measure": self.measure}
        for name, value in zip(self.parameters, self._exact, strict=True):
            result[name] = rounded_up(value)
            result[f"exact_{name}"] = f"{value.numerator}/{value.denominator}"
        return {**result, "relation": self.relation, "unit": self.unit}


def total(values: Iterable[Fraction]) -> Fraction:
    return sum(values, Fraction(0))


def agree(first: Guarantee, other: Guarantee) -> None:
    """Refuse two guarantees that do not speak about the same neighbours."""
    if not isinstance(other, Guarantee):
        raise InvalidParameter(
            f"A guarantee is needed, got a {type(other).__name__}.",
            "A number alone says neither which measure nor which neighbours it is about.",
            "Pass a guarantee, for example PureDP(0.1).",
        )
    if first.relation != other.relation:
        raise GuaranteeMismatch(
            f"One guarantee is for relation={first.relation!r}, the other for relation={other.relation!r}.",
            "They compare different pairs of tables, so no common statement follows.",
            "Use one relation throughout, or call .to_substitute() on the add-remove guarantee.",
        )
    if first.unit != other.unit:
        raise GuaranteeMismatch(
            f"One guarantee protects the unit {first.unit!r}, the other the unit {other.unit!r}.",
            "A promise for each row is not a promise for a person who has several.",
            "State both for the same unit, for example with .to_unit('employee_id', max_rows=3).",
        )


def combined(guarantees: Sequence[G], rule: Callable[[Iterable[Fraction]], Fraction]) -> G:
    """One guarantee whose parameters are the total or the maximum of those given, in a common measure."""
    for other in guarantees[1:]:
        agree(guarantees[0], other)
    for measure in dict.fromkeys(map(type, guarantees)):
        seen = [value for guarantee in guarantees if (value := guarantee._as(measure)) is not None]
        if len(seen) == len(guarantees):
            columns = zip(*(value._exact for value in seen), strict=True)
            return cast(G, seen[0]._with(*map(rule, columns)))
    raise GuaranteeMismatch(
        "An (epsilon, delta) guarantee and a zCDP guarantee cannot be put together as they are.",
        "zCDP becomes (epsilon, delta) only once a delta is chosen, and flou does not choose it for you.",
        "Convert the zCDP guarantee first with .to_approx(delta=...), after adding up all zCDP costs.",
    )
