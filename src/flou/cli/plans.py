"""A plan on the screen: everything that a party agrees to, a line for each thing that it says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from flou.joint.agreement.plan_words import Fact

__all__ = ["show_facts"]


def show_facts(console: Console, facts: Iterable[Fact]) -> None:
    """Labels on the left, what the plan says on the right: a text that goes on below cannot pass for a label."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in facts:
        grid.add_row(Text(label), Text(text))
    console.print(grid)
