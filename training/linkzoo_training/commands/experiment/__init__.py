"""`linkzoo experiment`: several runs, their curves and ratings, and best responses."""
