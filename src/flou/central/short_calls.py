"""One column, its public bounds, a price: ``flou.mean(x, bounds=(0, 100), epsilon=0.5)``.

The short calls are made from the registry of statistics. ``short_calls.pyi`` states their types, for type checkers and
editors; ``docs/make_signatures.py`` writes it.
"""

from flou.central import one_column
from flou.central.registry import STATISTICS

_CALLS = {one.name: one.short_call(one_column.answer) for one in STATISTICS.values() if one.values is not None}
__all__ = sorted(_CALLS)
globals().update(_CALLS)
