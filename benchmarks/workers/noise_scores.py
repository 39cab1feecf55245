"""The utilities among which every participant chooses. Standard library only."""

__all__ = ["scores"]


def scores(candidates: int) -> list[int]:
    """Utilities 0 to 999, well mixed; each occurs in a thousandth of the candidates."""
    return [i * 7919 % 1000 for i in range(candidates)]
