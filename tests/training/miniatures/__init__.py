"""Poker so small that its exact values are known, to catch the faults of a trainer."""
