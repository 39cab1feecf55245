"""The helper that judges messages is itself judged."""

from __future__ import annotations

import pytest

from flou.errors import InvalidData, InvalidParameter


def raising(error):
    def call():
        raise error

    return call


def test_a_good_message_passes(refuses):
    """Three sentences that name the parameter are accepted, decimals and file names included."""
    good = InvalidParameter("step must be 0.5, got 1.5.", "It is so in salaries.toml.", "Pass step=0.5.")
    assert refuses(raising(good), "step") == "step must be 0.5, got 1.5. It is so in salaries.toml. Pass step=0.5."


@pytest.mark.parametrize(
    "error",
    [
        InvalidParameter("step is wrong.", "It is.", "Change"),
        InvalidParameter("step is wrong. Really.", "It is.", "Change it."),
        InvalidParameter("cells is wrong.", "It is.", "Change it."),
        InvalidParameter("step is wrong.", "It is.", "Change " + "it " * 300 + "."),
        InvalidData("step is wrong.", "It is.", "Change it."),
        ValueError("step"),
    ],
)
def test_a_bad_message_is_caught(refuses, error):
    """No full stop, four sentences, another name, a novel, or another error: each fails the check."""
    with pytest.raises((AssertionError, InvalidData, ValueError)):
        refuses(raising(error), "step")


def test_no_error_is_caught(refuses):
    """A call that raises nothing fails the check."""
    with pytest.raises(pytest.fail.Exception):
        refuses(lambda: None)
