"""Policies of small games, written down for every position, as agents."""
