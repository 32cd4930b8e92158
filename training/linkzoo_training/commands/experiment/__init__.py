"""`linkzoo experiment`: several runs, their curves and ratings, best responses, and equilibria."""
