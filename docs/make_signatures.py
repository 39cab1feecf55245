"""Write what is made from the registry of statistics: the types of the short calls, for type checkers and editors.

python docs/make_signatures.py           print them
python docs/make_signatures.py --write   into src/flou/central/short.pyi
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from flou.central import short

STUB = Path(__file__).parents[1] / "src/flou/central/short.pyi"
HEAD = """\
# Written by docs/make_signatures.py from the registry of statistics (statistics.py); do not edit.

from collections.abc import Iterable, Sequence

from flou.arrays import Bounds, Values
from flou.central.price import Given
from flou.domain import Domain
from flou.parameters import Number, Relation
from flou.release import Release

__all__: list[str]

"""


def stub() -> str:
    """The text of the stub."""
    listed = "".join(f'    "{name}",\n' for name in short.__all__)
    return f"{HEAD}__all__ = [\n{listed}]\n\n" + "".join(_function(name) for name in short.__all__)


def _function(name: str) -> str:
    parameters, keyword = [], False
    for one in inspect.signature(getattr(short, name)).parameters.values():
        if one.kind is one.KEYWORD_ONLY and not keyword:
            parameters.append("*")
            keyword = True
        default = "" if one.default is one.empty else " = ..."
        parameters.append(f"{one.name}: {one.annotation}{default}")
    return f"def {name}(\n" + "".join(f"    {one},\n" for one in parameters) + ") -> Release: ...\n"


if __name__ == "__main__":
    if "--write" in sys.argv:
        STUB.write_text(stub())
    else:
        print(stub())
