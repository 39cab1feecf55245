"""The pages that people read, taken apart: fenced blocks, links, headings, code words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(DOCS.rglob("*.md")),
]

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*(.*?)\s*$")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
SOURCE = re.compile(r"""<(?:img|a|source)\b[^>]*?\b(?:src|srcset|href)=["']([^"']+)["']""")
HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
INLINE = re.compile(r"(`+)(.+?)\1", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: ``info`` is what follows the fence, ``line`` the line of the first line inside, from 1."""

    info: str
    text: str
    line: int

    @property
    def language(self) -> str:
        return self.info.split()[0] if self.info else ""

    @property
    def file(self) -> str | None:
        """The second word of ``info``: a file that the page assumes to be there, with this text."""
        words = self.info.split()
        return words[1] if len(words) > 1 else None


def blocks(text: str) -> list[Block]:
    """All fenced blocks; a fence that never closes is an error of the page."""
    found: list[Block] = []
    fence, info, start, inside = "", "", 0, []
    for number, line in enumerate(text.splitlines(), start=1):
        match = FENCE.match(line)
        if not fence and match:
            fence, info, start, inside = match[1], match[2], number + 1, []
        elif fence and match and match[1].startswith(fence) and not match[2]:
            found.append(Block(info, "".join(f"{one}\n" for one in inside), start))
            fence = ""
        elif fence:
            inside.append(line)
    if fence:
        raise ValueError(f"the block that begins at line {start} never ends")
    return found


def prose(text: str) -> str:
    """The page without its fenced blocks."""
    lines, fence = [], ""
    for line in text.splitlines():
        match = FENCE.match(line)
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and not match[2]:
            fence = ""
        elif not fence:
            lines.append(line)
    return "\n".join(lines)


def links(text: str) -> list[str]:
    """Where the page points to, pictures included; code is not looked at."""
    visible = INLINE.sub("code", prose(text))
    return LINK.findall(visible) + SOURCE.findall(visible)


def anchors(text: str) -> set[str]:
    """The names under which the headings of a page can be linked to."""
    found: set[str] = set()
    for line in prose(text).splitlines():
        if match := HEADING.match(line):
            title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", match[2])
            slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            number = 0
            while (name := f"{slug}-{number}" if number else slug) in found:
                number += 1
            found.add(name)
    return found


def code_words(text: str) -> set[str]:
    """Every identifier that the prose of a page shows as code."""
    shown = " ".join(match[1] for match in INLINE.findall(prose(text)))
    return set(re.findall(r"[A-Za-z_]\w*", shown))


def commands(text: str) -> Iterator[tuple[int, str]]:
    """The lines that console blocks ask people to type, with their line numbers."""
    for block in blocks(text):
        if block.language == "console":
            for number, line in enumerate(block.text.splitlines(), start=block.line):
                if line.startswith("$ "):
                    yield number, line[2:]
