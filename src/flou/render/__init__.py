"""Pictures: what they show is said once, and two back ends draw it, Matplotlib and SVG."""

from flou.render.axis import Axis, Lanes
from flou.render.picture import Band, Bar, Box, Cell, Interval, Line, Panel, Picture, Point, Rule

__all__ = ["Axis", "Band", "Bar", "Box", "Cell", "Interval", "Lanes", "Line", "Panel", "Picture", "Point", "Rule"]
