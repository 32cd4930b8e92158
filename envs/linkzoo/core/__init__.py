"""Core of a game: contract, record, observation, options and loops. Knows no environment."""
