"""How compiled code runs: compilation, cache, threads, counter-based random numbers. Knows no game."""
