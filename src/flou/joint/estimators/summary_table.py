"""A fit as a table: the layout that econometricians know, and below it who took part and what was opened."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["WIDTH", "SummaryTable", "decimal"]

WIDTH = 78

Facts: TypeAlias = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class SummaryTable:
    """Facts in two columns, a line for each coefficient, facts about the protocol, and notes."""

    title: str
    left: Facts
    right: Facts
    heads: Sequence[str]  # of the columns of numbers, for example ("coef", "std err")
    rows: Sequence[Sequence[str]]  # a name, then a text under each head
    provenance: Facts = ()
    notes: Sequence[str] = ()

    def text(self) -> str:
        """The table in characters of equal width."""
        names = max([len(row[0]) for row in self.rows], default=0)
        widths = [max(10, *(len(row[place]) for row in [["", *self.heads], *self.rows])) for place in self._places]
        body = [_line(row, names, widths) for row in [["", *self.heads], *self.rows]]
        width = max(WIDTH, *map(len, body))
        body = [_line(row, names + width - len(body[0]), widths) for row in [["", *self.heads], *self.rows]]
        double, single = "=" * width, "-" * width
        lines = [self.title.center(width).rstrip(), double, *self._facts(width), double]
        lines += [body[0], single, *body[1:], double]
        if self.provenance:
            lines += [*_provenance_lines(self.provenance), double]
        lines += [f"[{number}] {note}" for number, note in enumerate(self.notes, 1)]
        return "\n".join(lines)

    def html(self) -> str:
        """The table for a notebook."""
        facts = "".join(
            f"<tr><th>{_safe(a)}</th><td>{_safe(b)}</td><th>{_safe(c)}</th><td>{_safe(d)}</td></tr>"
            for (a, b), (c, d) in self._pairs()
        )
        head = "".join(f"<th>{_safe(word)}</th>" for word in ("", *self.heads))
        body = "".join(
            f"<tr><th>{_safe(row[0])}</th>{''.join(f'<td>{_safe(word)}</td>' for word in row[1:])}</tr>"
            for row in self.rows
        )
        last = "".join(f"<tr><th>{_safe(a)}</th><td>{_safe(b)}</td></tr>" for a, b in self.provenance)
        notes = "".join(f"<li>{_safe(note)}</li>" for note in self.notes)
        return (
            f"<table><caption>{_safe(self.title)}</caption>{facts}</table>"
            f"<table><tr>{head}</tr>{body}</table>"
            + (f"<table>{last}</table>" if last else "")
            + (f"<ol>{notes}</ol>" if notes else "")
        )

    @property
    def _places(self) -> range:
        return range(1, len(self.heads) + 1)

    def _pairs(self) -> Iterable[tuple[tuple[str, str], tuple[str, str]]]:
        length = max(len(self.left), len(self.right))
        left = [*self.left, *[("", "")] * (length - len(self.left))]
        right = [*self.right, *[("", "")] * (length - len(self.right))]
        return zip(left, right, strict=True)

    def _facts(self, width: int) -> list[str]:
        half = (width - 2) // 2
        lines = []
        for (a, b), (c, d) in self._pairs():
            lines.append(f"{_fact(a, b, half)}  {_fact(c, d, width - 2 - half)}".rstrip())
        return lines


def _fact(label: str, text: str, width: int) -> str:
    mark = f"{label}:" if label else ""
    return mark + text.rjust(max(width - len(mark), len(text) + 1)) if label else " " * width


def _line(row: Sequence[str], names: int, widths: Sequence[int]) -> str:
    return row[0].ljust(names) + "".join(" " + word.rjust(width) for word, width in zip(row[1:], widths, strict=True))


def _provenance_lines(facts: Facts) -> list[str]:
    longest = max(len(label) for label, _ in facts) + 1
    return [f"{label + ':':<{longest}}  {text}" for label, text in facts]


def _safe(text: str) -> str:
    return html.escape(text)


def decimal(number: float, digits: int = 3) -> str:
    """A number as statsmodels prints it: fixed decimals, or an exponent when it is very large or very small."""
    if not math.isfinite(number):
        return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"
    if number != 0 and not 1e-4 <= abs(number) < 1e4:
        return f"{number:.{digits}g}"
    return f"{number:.{digits}f}"
