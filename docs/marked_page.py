"""Tables between two marks of a page, made from a committed run: print them, put them in, or check that they are there.

<!-- name: docs/script.py -->
...
<!-- end of name -->
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

__all__ = ["ROOT", "fill"]

ROOT = Path(__file__).parents[1]


def fill(script: str, page: Path, tables: Mapping[str, str], source: str) -> int:
    """What a script with the name does: ``tables`` by their marks, made from the file ``source``."""
    parser = argparse.ArgumentParser(prog=f"docs/{script}")
    parser.add_argument("--page", type=Path, default=page)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", action="store_true", help="put the tables into the page")
    action.add_argument("--check", action="store_true", help="fail if the page has others")
    chosen = parser.parse_args()
    if not (chosen.write or chosen.check):
        print(*tables.values(), sep="\n\n")
        return 0
    old = chosen.page.read_text()
    new = old
    for name, table in tables.items():
        new = _with(new, f"<!-- {name}: docs/{script} -->", f"<!-- end of {name} -->", table)
    if chosen.write:
        chosen.page.write_text(new)
    elif new != old:
        print(f"A table is from another run than {source}.")
        print(f"Run: python docs/{script} --write")
        return 1
    return 0


def _with(page: str, start: str, stop: str, table: str) -> str:
    before, _, rest = page.partition(start)
    _, mark, after = rest.partition(stop)
    if not mark:
        raise SystemExit(f"The page has no {start} ... {stop}.")
    return f"{before}{start}\n{table}\n{stop}{after}"
