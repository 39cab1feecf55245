"""All comparisons with real numbers run at 60 digits, whatever other tests have set."""

import pytest
from mpmath import mp


@pytest.fixture(autouse=True, scope="module")
def _sixty_digits():
    with mp.workdps(60):
        yield
