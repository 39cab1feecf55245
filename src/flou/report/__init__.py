"""Answers as one page of HTML that works without a network, without scripts, on paper and in the dark."""

from flou.report.page import page

__all__ = ["page"]
