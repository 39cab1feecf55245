"""A plan in words: all that a party agrees to when it signs, on one page.

Whole      every entry of the plan's tables is written out: known ones with what they mean, and whatever else a plan or
           a statistic may come to say by its name. Only lists of more than 1000 entries are cut, which the page says
Honest     names and texts are somebody else's. They stand in quotes, and a character that could hide, move or reorder
           what is read is written by its number: \\n, \\x1b, \\u202e, and \\x20 for a space after a space
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from flou.release.digits import cost_line

if TYPE_CHECKING:
    from flou.joint.agreement.plan import Plan

__all__ = ["Fact", "plan_facts", "quoted", "rows_fact"]

Fact: TypeAlias = tuple[str, str]  # what it is about, and what the plan says

MOST = 1000  # entries of a list
SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"'}
INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # letters and signs without ink
REORDERED = frozenset({"R", "AL", "AN"})  # written from right to left, with the numbers and signs around them


def plan_facts(plan: Plan) -> list[Fact]:
    """What is computed, from what, between whom; then everything else that the plan says."""
    tables = plan.to_dict()
    settings, estimate, parties = (dict(tables.pop(key)) for key in ("plan", "estimate", "parties"))
    return [
        ("plan", f"{quoted(settings.pop('name'))}, version {_written(settings.pop('version'))}"),
        ("hash", plan.hash.hex()),
        ("computes", _written(estimate.pop("estimator"))),
        *_lines(estimate),
        ("rows", _rows(settings.pop("where"), settings.pop("max_rows"))),
        ("columns read", _listed(plan.reading.columns)),
        ("opened", _opened(plan)),
        ("noise", _noise(plan)),
        ("parties", _parties(plan, settings.pop("minimum"), settings.pop("dropouts"))),
        *((("party", f"{quoted(name)}, key {key}") for name, key in list(parties.items())[:MOST])),
        *([("party", f"and {len(parties) - MOST:,} more, which the plan file lists")] if len(parties) > MOST else []),
        ("differences", _differences(settings.pop("differences"))),
        ("expires", _written(settings.pop("expires"))),
        *_lines(settings),
        *_lines(tables),
    ]


def rows_fact(plan: Plan, rows: int) -> Fact:
    """How many rows of a party stand behind each number."""
    each = rows * 10 // plan.scalars / 10  # rounded down
    return "your rows", f"{rows:,} count, {each:,.1f} for each of {plan.scalars:,} numbers"


def quoted(text: str) -> str:
    """A text of somebody else as it is, but for characters that do not show what they are."""
    before, parts = "", []
    for letter in text:
        parts.append(SHORT.get(letter) or (_number(letter) if _misleads(letter, before) else letter))
        before = letter
    return f'"{"".join(parts)}"'


def _misleads(letter: str, before: str) -> bool:
    if letter == " ":
        return before == " "
    return (
        not letter.isprintable()
        or letter in INVISIBLE
        or unicodedata.bidirectional(letter) in REORDERED
        or "VARIATION SELECTOR" in unicodedata.name(letter, "")
    )


def _number(letter: str) -> str:
    place = ord(letter)
    return f"\\x{place:02x}" if place < 256 else f"\\u{place:04x}" if place < 65536 else f"\\U{place:08x}"


def _written(value: Any) -> str:
    """Any value of a plan: texts in quotes, lists in brackets, tables as key = value."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{_key(key)} = {_written(part)}" for key, part in value.items())
    if isinstance(value, Sequence):
        return f"[{_listed(value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _key(key: str) -> str:
    return key if key.isidentifier() and key.isascii() else quoted(key)


def _listed(values: Sequence[Any]) -> str:
    more = f", and {len(values) - MOST:,} more, which the plan file lists" if len(values) > MOST else ""
    return ", ".join(map(_written, values[:MOST])) + more


def _lines(table: Mapping[str, Any]) -> Iterator[Fact]:
    """A line for each entry; for each part of it where the parts are tables."""
    for key, value in table.items():
        if isinstance(value, Mapping) and any(isinstance(part, Mapping) for part in value.values()):
            yield from ((key, f"{quoted(name)}: {_written(part)}") for name, part in value.items())
        else:
            yield key, _written(value)


def _rows(where: str, most: int) -> str:
    condition = f"only those with {quoted(where)}" if where else "all, without a condition"
    return f"{condition}; at most {most:,} of each party"


def _opened(plan: Plan) -> str:
    conspire = {0: "as long as nobody conspires", 1: "even if one of them conspires"}.get(
        plan.colluders, f"even if {plan.colluders} of them conspire"
    )
    return (
        f"at most {plan.scalars:,} numbers. Everyone learns these sums and nothing else, {conspire} with the "
        "coordinator."
    )


def _noise(plan: Plan) -> str:
    cost = plan.program.guarantee
    if cost is None:
        return "none. The sums are exact, and promise nothing against someone who knows all rows but one."
    several = " Somebody with several rows has several times this cost." if cost.unit == "row" else ""
    return f"in all rounds together {cost_line(cost)}{several}"


def _parties(plan: Plan, minimum: int, dropouts: int) -> str:
    lost = {0: "A round needs all of them", 1: "A round survives the loss of one"}.get(
        dropouts, f"A round survives the loss of {dropouts}"
    )
    return f"{len(plan.roster)}. {lost}, and no sum is opened over fewer than {minimum}."


def _differences(choice: str) -> str:
    meaning = {
        "refuse": "no sum is opened again without a party that was in it",
        "accept": "sums may be opened with and without a party that is lost, and show what it sent",
    }
    return f"{quoted(choice)}: {meaning[choice]}"
