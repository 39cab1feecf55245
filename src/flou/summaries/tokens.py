"""Words, quoted texts, numbers and signs: what questions and conditions are made of."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Token", "tokens"]

PATTERN = re.compile(
    r"""\s*(?:
      (?P<text>"(?:[^"]|"")*" | '(?:[^']|'')*' | `(?:[^`]|``)*`)
    | (?P<number>[+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?)(?![^\s()<>=!])
    | (?P<sign><=|>=|==|!=|<>|[<>=()])
    | (?P<word>[^\s"'`()<>=!]+)
    | (?P<open>\S)
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """One of them; ``text`` is without its quotes."""

    kind: str  # word, text, number, sign or open
    text: str

    def __str__(self) -> str:
        return repr(self.text) if len(self.text) <= 40 else f"{self.text[:30]!r}..."

    def says(self, *words: str) -> bool:
        """Whether it is one of these words, in capitals or not; a quoted text never is."""
        return self.kind in {"word", "sign"} and self.text.lower() in words

    @property
    def is_name(self) -> bool:
        """Whether it can name a column."""
        return self.kind in {"word", "text"}


def tokens(text: str) -> list[Token]:
    """The tokens of a text; ``open`` is a character that begins nothing, such as a quote without its end."""
    found = []
    for match in PATTERN.finditer(text):
        kind = match.lastgroup
        content = match[kind] if kind else ""
        if kind == "text":
            quote = content[0]
            content = content[1:-1].replace(quote * 2, quote)
        found.append(Token(kind or "open", content))
    return found
