"""Hypothesis: the same examples each time, and no deadline, for a first call compiles."""

from hypothesis import settings

settings.register_profile("linkzoo", deadline=None, derandomize=True)
settings.load_profile("linkzoo")
