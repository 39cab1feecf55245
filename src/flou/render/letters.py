"""How wide a text is on paper, about, and how it is shortened to fit."""

from __future__ import annotations

import unicodedata

__all__ = ["BOLD", "FINE", "shortened", "width_of"]

LETTER, BOLD, FINE = 7.8, 9.0, 6.2  # pixels of a letter, of a bold one and of a small one
LONGEST = 34  # letters of a name


def width_of(text: str, letter: float = LETTER) -> float:
    """About so many pixels; letters of East Asia are twice as wide, and accents that combine have no width."""
    wide = (unicodedata.east_asian_width(c) in "WF" for c in text if not unicodedata.combining(c))
    return letter * sum(1.8 if one else 1.0 for one in wide)


def shortened(text: str, room: float = LONGEST * LETTER, letter: float = LETTER) -> str:
    """A text that fits, without its middle: names of groups often differ at the end."""
    left = len(text)
    head, tail = text, ""
    while left > 1 and width_of(head + tail, letter) > room:
        left -= 1
        head, tail = text[: left - left // 3].rstrip() + "…", text[len(text) - left // 3 :].lstrip()
    return head + tail
