"""Write what is made from the registry of statistics: a table of the reference, and the types of the short calls.

    python docs/make_signatures.py [--write | --check]

The types go to src/flou/central/short_calls.pyi, for type checkers and editors.
"""

from __future__ import annotations

import inspect
import sys

from marked_page import ROOT, fill

from flou.ask import form
from flou.central import short_calls
from flou.central.registry import STATISTICS

STUB = ROOT / "src/flou/central/short_calls.pyi"
PAGE = ROOT / "docs/reference/tables.md"
HEAD = """\
# Written by docs/make_signatures.py from the registry of statistics (registry.py); do not edit.

from collections.abc import Iterable, Sequence

from flou.arrays import Bounds, Values
from flou.central.price import Given
from flou.domain import Domain
from flou.parameters import Number, Relation
from flou.release import Release

"""


def stub() -> str:
    """The text of the stub."""
    listed = "".join(f'    "{name}",\n' for name in short_calls.__all__)
    return f"{HEAD}__all__ = [\n{listed}]\n\n" + "".join(_function(name) for name in short_calls.__all__)


def _function(name: str) -> str:
    parameters, keyword = [], False
    for one in inspect.signature(getattr(short_calls, name)).parameters.values():
        if one.kind is one.KEYWORD_ONLY and not keyword:
            parameters.append("*")
            keyword = True
        default = "" if one.default is one.empty else " = ..."
        parameters.append(f"{one.name}: {one.annotation}{default}")
    return f"def {name}(\n" + "".join(f"    {one},\n" for one in parameters) + ") -> Release: ...\n"


def statistics() -> str:
    """The table of all statistics."""
    lines = ["| method | answer | by group | one column | in words |", "|---|---|---|---|---|"]
    for word, one in STATISTICS.items():
        says = one.says.split("\n\n")[0].replace("``", "`").rstrip(".")
        call = f"`flou.{one.name}`" if one.values is not None else ""
        words = form(word).replace("|", "\\|")
        lines.append(f"| `{one.name}` | {says} | {'yes' if one.grouped else 'no'} | {call} | `{words}` |")
    return "\n".join(lines)


if __name__ == "__main__":
    if "--write" in sys.argv:
        STUB.write_text(stub())
    elif "--check" in sys.argv and STUB.read_text() != stub():
        print("The types of the short calls are not those of the registry: python docs/make_signatures.py --write")
        sys.exit(1)
    sys.exit(fill("make_signatures.py", PAGE, {"statistics": statistics()}, "the registry"))
