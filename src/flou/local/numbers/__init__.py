"""Answers that are numbers: means, whole distributions, values that stay within bounds, and several at once."""
