"""Search over any game, compiled: greedy play and Monte Carlo tree search; exact solvers."""
