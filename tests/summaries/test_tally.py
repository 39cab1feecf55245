"""Second looks on every engine: few spans, many spans, groups, nothing at all."""

from __future__ import annotations

import numpy as np
import pytest

import flou
from flou.summaries import rows_of
from flou.summaries.request import Code
from summaries.engines import Made


@pytest.mark.parametrize("many", [0, 1, 3, 50])
def test_occupied_codes_of_spans(source, many):
    generator = np.random.default_rng(many)
    x, g = generator.uniform(0, 1, 800), np.array(["a", "b", "?"])[generator.integers(0, 3, 800)]
    rows = rows_of(source(Made({"x": ("double", [*x.tolist(), None]), "g": ("text", [*g.tolist(), None])})))
    code, by = Code("x", flou.Interval(0, 1, cells=2**12)), Code("g", flou.Categories(["a", "b"]))
    starts = np.sort(generator.choice(256, many, replace=False)) * 16
    spans = [(int(start), int(start) + 16) for start in starts]
    codes = np.append(code.domain.encode(x), code.domain.missing_code)
    groups = np.append(by.domain.encode(g), by.domain.missing_code)
    inside = np.array([any(a <= c < b for a, b in spans) for c in codes.tolist()], dtype=bool)
    for grouping, of in ((None, np.zeros_like(codes)), (by, groups)):
        expected = sorted(zip(of[inside].tolist(), codes[inside].tolist(), strict=True))
        found = rows.tally(code, spans, grouping)
        told = [(g, c) for g, c, n in zip(*(part.tolist() for part in found), strict=True) for _ in range(n)]
        assert told == expected
