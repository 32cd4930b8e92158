"""Compiled search for any game: greedy play, Monte Carlo tree search and exact solvers."""
