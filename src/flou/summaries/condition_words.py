"""``age >= 18 and not (department == 'care' or hours < 20)`` becomes a condition on rows.

condition = both {or both}      both = part {and part}      part = not part | ( condition ) | column sign constant
sign = < <= > >= == !=          constant = number | 'text' | true | false

Tokens are words, quoted texts, numbers and signs. Questions in words (``ask/questions.py``) are made of them as well.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from flou.errors import InvalidParameter
from flou.parameters import shown
from flou.summaries.condition import Comparison, Condition, Constant, Operator

__all__ = ["Token", "condition", "tokens"]

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
SIGNS: dict[str, Operator] = {
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
    "==": "==",
    "=": "==",
    "!=": "!=",
    "<>": "!=",
}
LONGEST = 400  # tokens, so that no condition is nested deeper than Python can follow


@dataclass(frozen=True)
class Token:
    """A word, a quoted text, a number or a sign; ``text`` is without its quotes."""

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
    """The tokens of a text; kind ``open`` is a character that begins no token, such as a quote that is not closed."""
    found = []
    for match in PATTERN.finditer(text):
        kind = match.lastgroup
        content = match[kind] if kind else ""
        if kind == "text":
            quote = content[0]
            content = content[1:-1].replace(quote * 2, quote)
        found.append(Token(kind or "open", content))
    return found


def condition(text: str) -> Condition:
    """A condition in words."""
    reader = _Reader(text)
    found = reader.either()
    if reader.next is not None:
        raise reader.refused(f"{reader.next} is not expected there")
    return found


class _Reader:
    """Reads the tokens from left to right, with one function for each rule of the grammar."""

    def __init__(self, text: str) -> None:
        self.text, self.place, self.tokens = text, 0, tokens(text)
        if len(self.tokens) > LONGEST:
            raise self.refused(f"it has more than {LONGEST} words")
        if any(token.kind == "open" for token in self.tokens):
            raise self.refused("a quote is not closed or a sign is not known")

    def refused(self, what: str) -> InvalidParameter:
        return InvalidParameter(
            f"The condition {shown(self.text)} was not understood: {what}.",
            "A condition is made of parts 'column sign constant' (signs < <= > >= == !=), joined by and, or, not and "
            "parentheses, with texts in quotes.",
            "Write for example --where \"age >= 18 and department == 'care'\".",
        )

    @property
    def next(self) -> Token | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self, *words: str) -> bool:
        """Step over the next token if it is one of these words."""
        here = self.next
        if here is None or not here.says(*words):
            return False
        self.place += 1
        return True

    def either(self) -> Condition:
        found = self.both()
        while self.take("or"):
            found = found | self.both()
        return found

    def both(self) -> Condition:
        found = self.part()
        while self.take("and"):
            found = found & self.part()
        return found

    def part(self) -> Condition:
        if self.take("not"):
            return ~self.part()
        if self.take("("):
            found = self.either()
            if not self.take(")"):
                raise self.refused("a parenthesis is not closed")
            return found
        return self.comparison()

    def comparison(self) -> Condition:
        column = self.next
        if column is None:
            raise self.refused("it ends too early")
        if not column.is_name or column.says("and", "or", "not"):
            raise self.refused(f"a column is expected in place of {column}")
        self.place += 1
        sign = self.next
        if sign is None or sign.kind != "sign" or sign.text not in SIGNS:
            raise self.refused(f"a sign is expected after {column}")
        self.place += 1
        return Comparison(column.text, SIGNS[sign.text], self.constant(sign))

    def constant(self, sign: Token) -> Constant:
        token = self.next
        if token is None:
            raise self.refused(f"a constant is expected after {sign}")
        self.place += 1
        if token.kind == "text":
            return token.text
        if token.says("true", "false"):
            return token.says("true")
        if token.kind != "number":
            raise self.refused(f"{token} is neither a number nor a text in quotes")
        number = float(token.text)
        if not math.isfinite(number):
            raise self.refused(f"{token} is too large")
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
