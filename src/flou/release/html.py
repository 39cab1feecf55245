"""A release as a small table for notebooks: values, intervals, and the same intervals drawn, in one piece of HTML.

It brings all that it needs: no script, no style sheet, no picture from elsewhere. Colours follow those of the page, so
that it can be read on white and on black. Every label is escaped.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from flou.release.digits import cost_line
from flou.release.entries import Entry, entries, worth_drawing
from flou.render.axis import Scale

if TYPE_CHECKING:
    from flou.release.release import Release

__all__ = ["html_of", "interval_bar"]

MOST = 60  # lines of a table
WIDTH, HEIGHT = 180, 16
CELL = "padding:.15em .8em .15em 0;border:0;text-align:{}"


def html_of(release: Release) -> str:
    """The table."""
    lines = entries(release)
    axis = Scale.around(worth_drawing(lines), zero=release.is_counts)
    heads = [("", "left"), ("95 % interval", "left"), ("value", "right"), ("these rows", "right")]
    head = "".join(_cell("th", text, side) for text, side in [*heads, ("population", "right")])
    rows = "".join(f"<tr>{_line(line, axis)}</tr>" for line in lines[:MOST])
    if len(lines) > MOST:
        rows += f"<tr>{_cell('td', f'and {len(lines) - MOST} more', 'left')}</tr>"
    note = f"<br>{escape(release.note)}" if release.note else ""
    return (
        '<table style="border-collapse:collapse;font-variant-numeric:tabular-nums;background:none">'
        f'<caption style="text-align:left;font-weight:bold;caption-side:top">{escape(release.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f'<p style="margin:.3em 0;opacity:.75">{escape(cost_line(release.cost))}{note}</p>'
    )


def _line(entry: Entry, axis: Scale) -> str:
    cells = [_cell("th", escape(entry.label), "left"), _cell("td", interval_bar(entry, axis), "left")]
    return "".join(cells + [_cell("td", escape(text), "right") for text in entry.texts])


def _cell(tag: str, content: str, side: str) -> str:
    scope = ' scope="row"' if tag == "th" and content and side == "left" else ""
    weight = ";font-weight:normal" if tag == "th" else ""
    return f'<{tag}{scope} style="{CELL.format(side)}{weight}">{content}</{tag}>'


def interval_bar(entry: Entry, axis: Scale) -> str:
    """One line of a table, drawn: thin for the population, thick for these rows, a dot for the value."""
    if not entry.is_number:
        return ""
    middle = HEIGHT / 2

    def at(number: float) -> float:
        return round(4 + axis.share(number) * (WIDTH - 8), 2)

    parts = []
    for (low, high), thick, opacity in ((entry.population, 2, 0.45), (entry.data, 6, 0.45)):
        if not math.isnan(low + high):
            a, b = at(low), at(high)
            parts.append(
                f'<line x1="{a}" x2="{b}" y1="{middle}" y2="{middle}" stroke="currentColor" '
                f'stroke-width="{thick}" stroke-opacity="{opacity}" stroke-linecap="round"/>'
            )
    if axis.holds(entry.value):
        parts.append(f'<circle cx="{at(entry.value)}" cy="{middle}" r="3.2" fill="currentColor"/>')
    words = escape(f"{entry.text}, 95 % interval {entry.between(entry.data)}")
    return (
        f'<svg role="img" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"><title>{words}</title>'
        f"{''.join(parts)}</svg>"
    )
