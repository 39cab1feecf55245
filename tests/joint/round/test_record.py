"""One hash stands for all masked words, and a short path proves that a party's own are among them."""

from __future__ import annotations

import pytest

from flou.joint.round.record import included, inclusions, root


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9, 33])
def test_a_tree_proves_each_of_its_texts_and_no_other(count):
    """Every text has a path, short as a logarithm; it proves no other text, under no other root."""
    texts = [f"text {i}".encode() for i in range(count)]
    top = root(texts)
    for place, path in enumerate(inclusions(texts)):
        assert len(path) <= (count - 1).bit_length()
        assert included(texts[place], path, top)
        assert not included(b"another", path, top)
        assert not included(texts[place], path, root([*texts, b"more"]))
        for at in range(len(path)):
            assert not included(texts[place], path[:at] + path[at + 1 :], top)
            for lie in (path[at][:-1], path[at] + b"\0", b"", 5, None, bytes(33)):
                assert not included(texts[place], [*path[:at], lie, *path[at + 1 :]], top)


def test_roots_differ_with_order_and_number():
    """Neither can texts be moved, nor the last be doubled, nor a node be passed off as a text."""
    texts = [b"a", b"b", b"c"]
    roots = {root(some) for some in ([], texts, texts[::-1], [*texts, b"c"], texts[:2], [b"ab", b"c"], [b""])}
    assert len(roots) == 7
    top = root([b"a", b"b"])
    path = inclusions([b"a", b"b"])[0]
    assert not included(b"\x00a" + path[0][1:], [], top)
