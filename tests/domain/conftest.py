"""How a refusal must look."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from flou.errors import FlouError, InvalidParameter


def sentences(text: str) -> int:
    """How many sentences a text has: full stops that end it or are followed by a capital letter."""
    return len(re.findall(r"\.(?:$| (?=[A-Z]))", text))


@pytest.fixture
def refuses() -> Callable[..., str]:
    """Call something that must be refused in three sentences that name the parameter; return the message."""

    def check(
        call: Callable[[], Any], *words: str, error: type[FlouError] = InvalidParameter, longest: int = 600
    ) -> str:
        with pytest.raises(error) as caught:
            call()
        raised, message = caught.value, str(caught.value)
        assert all(part.endswith(".") and part[0].isupper() for part in (raised.why, raised.do)), message
        assert raised.what.endswith("."), message
        assert sentences(message) == 3, message
        assert len(message) <= longest, message
        for word in words:
            assert word in message, (word, message)
        return message

    return check
