"""Matches, statistics, ratings, tournaments, ladders and solved positions."""
