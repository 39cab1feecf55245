"""Pictures: what they show is stated once, and two back ends draw it, Matplotlib and SVG."""

from flou.render.picture import BandMark, BarMark, BoxMark, CellMark, IntervalMark, LineMark, PointMark, RuleMark

__all__ = ["BandMark", "BarMark", "BoxMark", "CellMark", "IntervalMark", "LineMark", "PointMark", "RuleMark"]
