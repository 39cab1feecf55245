"""Questions in words: ``mean salary by department``, ``age >= 18 and not department == 'care'``, and their answers."""

from flou.ask.answers import Answer, Answers, ask_file, epsilon_of, shares
from flou.ask.questions import Asked, form, parsed
from flou.summaries.condition_words import condition

__all__ = ["Answer", "Answers", "Asked", "ask_file", "condition", "epsilon_of", "form", "parsed", "shares"]
