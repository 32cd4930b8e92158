"""The schema of `configs/*.yaml`."""
