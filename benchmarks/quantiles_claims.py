"""What is claimed about rank errors, held against what was found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from harness.outcome import Verdict
from quantiles_cells import CALL, PLAIN_CALL, Found, Setting

__all__ = ["as_accurate", "error_verdicts", "groups", "times_more_accurate"]

STANDARD_ERRORS = 4  # so far apart the least of many equal errors does not come by chance
TIMES, ON = 100, Setting("salaries", 10**5, 9, 1.0)

Groups = dict[tuple[Setting, str], list[Found]]


def groups(found: Iterable[Found]) -> Groups:
    """What can be compared: the same setting under the same relation."""
    together: Groups = {}
    for one in found:
        together.setdefault((one.setting, one.column.relation), []).append(one)
    return together


def error_verdicts(found: list[Found]) -> list[Verdict]:
    together = groups(found)
    return [
        *(as_accurate(ours, kinds, text, together) for ours in (CALL, PLAIN_CALL) for kinds, text in RIVALS),
        *times_more_accurate([one for one in found if one.setting == ON]),
    ]


RIVALS = (
    ({"method"}, "as accurate as flou's best method in every row"),
    ({"peer"}, "as accurate as the best peer in every row"),
)


def as_accurate(ours: str, kinds: set[str], text: str, together: Groups) -> Verdict:
    """Whether a call is, within the noise of the simulation, as accurate as the best of others wherever both are."""
    limit = f"within {STANDARD_ERRORS} standard errors"
    rows, worse = 0, []
    for (setting, relation), cells in together.items():
        call = next((one for one in cells if one.column.name == ours and one.errors), None)
        others = [one for one in cells if one.column.kind in kinds and one.errors]
        if call is None or not others:
            continue
        rows += 1
        best = min(others, key=lambda one: one.error)
        if call.error > best.error + STANDARD_ERRORS * math.hypot(call.doubt, best.doubt):
            ratio = call.error / best.error if best.error else math.inf
            worse.append(
                (ratio, f"{setting}, {relation}: {call.error:.3g} against {best.error:.3g}, {best.column.name}")
            )
    if not rows:
        return Verdict(f"{ours}: {text}", None, "not measured", limit)
    worse.sort(reverse=True)
    measured = f"{rows - len(worse)} of {rows} rows" + (f"; furthest off: {worse[0][1]}" if worse else "")
    return Verdict(f"{ours}: {text}", not worse, measured, limit, worse[0][0] if worse else None)


def times_more_accurate(found: list[Found]) -> Iterator[Verdict]:
    """How many times smaller flou's error is than each peer's.

    An error of 0 in all releases is called exact, and counts as one rank in all of them together.
    """
    for theirs in (one for one in found if one.column.kind == "peer"):
        relation = theirs.column.relation
        text = f"{ON}, {relation}: more accurate than {theirs.column.name}"
        limit = f"at least {TIMES} times"
        ours = next(
            (one for one in found if one.column.name == CALL and one.column.relation == relation and one.errors), None
        )
        if ours is None or not theirs.errors:
            yield Verdict(text, None, theirs.problem or "not measured", limit)
        elif ours.error == 0:
            shown = f"exact in {len(ours.errors)} releases, against {theirs.error:.3g}"
            yield Verdict(text, theirs.error / ours.doubt >= TIMES, shown, limit)
        else:
            ratio = theirs.error / ours.error
            shown = f"{ratio:.3g} times ({ours.error:.3g} against {theirs.error:.3g})"
            yield Verdict(text, ratio >= TIMES, shown, limit, ratio)
