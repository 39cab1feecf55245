"""Answers that are one of some categories: randomisers, the choice between them, and asking again."""
