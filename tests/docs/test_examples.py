"""Every example of the documentation runs, and prints what the page says it prints.

The blocks of a page share one namespace and run in order, in an empty folder that holds the files the page shows (a
block whose fence says ``toml salaries.toml`` is that file). Pages call flou as people do, without a seed; here
``SYSTEM`` serves bits that depend on the page alone, so that a page may show a release and still be checked.
"""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import flou.bits
from docs.pages import PAGES, ROOT, Block, blocks
from flou.bits import SeededBits
from flou.mechanisms import Laplace

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS  # long sentences are wrapped on the page
LANGUAGES = {"", "console", "python", "text", "toml"}


def complaint(block: Block, namespace: dict, page: str) -> str:
    """Run one block; what is wrong with it, or nothing."""
    if ">>>" not in block.text:
        try:
            exec(compile("\n" * (block.line - 1) + block.text, page, "exec"), namespace)
        except Exception as error:
            return f"{page}, block at line {block.line}: {type(error).__name__}: {error}"
        return ""
    test = doctest.DocTestParser().get_doctest(block.text, namespace, page, page, block.line - 1)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False, optionflags=OPTIONS).run(test, out=said.append, clear_globs=False)
    namespace.update(test.globs)
    return "".join(said)


def complaints(text: str, page: str) -> list[str]:
    """Run all blocks of a page in the current folder; what is wrong with them."""
    namespace: dict = {"__name__": "__main__"}
    found = []
    for block in blocks(text):
        if block.file:
            Path(block.file).write_text(block.text)
        if block.language == "python":
            found.append(complaint(block, namespace, page))
    return list(filter(None, found))


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """Somebody who reads a page in an empty folder, with bits that are the page's own."""

    def read(text: str, page: str) -> list[str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setitem(vars(flou.bits.SYSTEM), "take", SeededBits(f"noise of {page}").take)
        return complaints(text, page)

    return read


WITH_EXAMPLES = [page for page in PAGES if any(block.language == "python" for block in blocks(page.read_text()))]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_run(page, reader):
    """Every Python block of the page runs and prints what is written below it."""
    wrong = reader(page.read_text(), page.relative_to(ROOT).as_posix())
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_example_hides_behind_another_language(page):
    """Blocks are tagged with one of a few languages, so no Python block escapes by being called py."""
    assert {block.language for block in blocks(page.read_text())} <= LANGUAGES


def test_the_pages_that_must_have_examples_have_them():
    """The front page, the tutorial and the guides show code."""
    names = {page.relative_to(ROOT).as_posix() for page in WITH_EXAMPLES}
    wanted = {page.relative_to(ROOT).as_posix() for page in PAGES if page.parent.name in {"tutorials", "how-to"}}
    assert {"README.md"} | wanted <= names
    assert len(wanted) >= 4


@pytest.mark.parametrize(
    "wrong",
    [
        "```python\n>>> 1 + 1\n3\n```\n",  # another result
        "```python\n>>> 1 + 1\n```\n",  # a result that is not shown
        "```python\n>>> x = 1\n1\n```\n",  # a result that does not come
        "```python\nassert 1 + 1 == 3\n```\n",
        "```python\nimport flou.nothing\n```\n",
        "```python\nif True\n```\n",
        "```python\nx = 1\n```\n\n```python\n>>> y\n```\n",  # a name nobody made
        "```python\n>>> int('one')\n```\n",  # an error that is not shown
        "```python\n>>> import flou\n>>> flou.PureDP(0)\nTraceback (most recent call last):\n    ...\n"
        "flou.errors.InvalidParameter: another message\n```\n",
    ],
)
def test_wrong_examples_are_refused(wrong, reader):
    """The check is seen to refuse what a page must not say."""
    assert len(reader(wrong, "wrong.md")) == 1


def test_blocks_share_a_namespace_and_see_the_files_of_the_page(reader):
    """A page is one story: later blocks know earlier names and the files that were shown."""
    page = (
        "```toml a.toml\nx = 1\n```\n\n```python\nfrom pathlib import Path\nhere = Path('a.toml')\n```\n\n"
        "```python\n>>> here.read_text()\n'x = 1\\n'\n>>> two = 2\n```\n\n```python\nassert two == 2\n```\n"
    )
    assert reader(page, "story.md") == []


def test_releases_on_a_page_are_repeatable_and_fresh_elsewhere(reader):
    """The bits of a page depend on its name: the same page shows the same noise, another page another."""
    page = """```python
from pathlib import Path
from flou.mechanisms import Laplace
Path("release").write_text(str(Laplace(sensitivity=1, epsilon=1e-9).sample(0)))
```"""
    seen = []
    for name in ("a.md", "a.md", "b.md"):
        assert reader(page, name) == []
        seen.append(Path("release").read_text())
    assert seen[0] == seen[1] != seen[2]


def test_the_fixture_gives_the_system_its_own_bits_back():
    """Outside a page, noise is fresh: two releases at this scale agree once in a billion."""
    mechanism = Laplace(sensitivity=1, epsilon=1e-9)
    assert mechanism.sample(0) != mechanism.sample(0)
    assert "take" not in vars(flou.bits.SYSTEM)


def test_a_block_without_end_is_refused():
    """A fence that never closes would swallow the rest of the page."""
    with pytest.raises(ValueError, match="line 2 never ends"):
        blocks("```python\nx = 1\n")
