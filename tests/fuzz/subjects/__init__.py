"""A module for each subject, with `warm` and `attempt` (see `tests.fuzz`)."""
