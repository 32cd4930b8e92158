"""Hypothesis profile: deterministic examples, and no deadline because first calls compile."""

from hypothesis import settings

settings.register_profile("linkzoo", deadline=None, derandomize=True)
settings.load_profile("linkzoo")
