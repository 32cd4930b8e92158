"""Matches and what they say: intervals, ratings, ladders, solved positions."""
