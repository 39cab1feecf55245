"""Read back the dictionary of a certificate. It may come from anyone, so every field is checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flou.errors import InvalidParameter
from flou.guarantee.approx import ApproxDP
from flou.guarantee.measure import Guarantee
from flou.guarantee.pure import PureDP
from flou.guarantee.zcdp import ZCDP
from flou.parameters import choice, rounded_up

__all__ = ["guarantee_from_dict"]

MEASURES: dict[str, type[Guarantee]] = {cls.measure: cls for cls in (PureDP, ApproxDP, ZCDP)}
FRACTION = re.compile(r"([0-9]{1,500})/([1-9][0-9]{0,300})", re.ASCII)


def guarantee_from_dict(values: Mapping[str, Any]) -> Guarantee:
    """The guarantee that ``to_dict`` wrote; refused if a field is missing, strange or contradicts another."""
    if not isinstance(values, Mapping):
        raise refused("A guarantee must be read from a dictionary.")
    measure = MEASURES[choice("measure", values.get("measure"), MEASURES)]
    names = [name for parameter in measure.parameters for name in (parameter, f"exact_{parameter}")]
    if set(values) != {"measure", *names, "relation", "unit"}:
        raise refused(f"A {measure.measure} guarantee has the fields measure, {', '.join(names)}, relation and unit.")
    exact = [parameter(name, values[name], values[f"exact_{name}"]) for name in measure.parameters]
    if not (all(exact) or (measure is ApproxDP and exact[1])):
        raise refused("Only the epsilon of an (epsilon, delta) guarantee can be zero.")
    return measure._of(*exact, relation=values["relation"], unit=values["unit"])


def parameter(name: str, stated: Any, text: Any) -> Fraction:
    match = FRACTION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise refused(f"exact_{name} must be a fraction such as '3/10'.")
    value = Fraction(int(match[1]), int(match[2]))
    if value > (1 if name == "delta" else 10**100):
        raise refused(f"exact_{name} is larger than any value that flou states.")
    if not isinstance(stated, int | float) or isinstance(stated, bool) or stated != rounded_up(value):
        raise refused(f"{name} must be exact_{name} as a float, rounded up.")
    return value


def refused(what: str) -> InvalidParameter:
    return InvalidParameter(
        what,
        "A certificate whose fields do not fit together may have been changed by hand.",
        "Read the dictionary that to_dict() wrote, without changes.",
    )
