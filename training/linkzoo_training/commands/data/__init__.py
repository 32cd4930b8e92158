"""`linkzoo data`: files of games and of positions."""
