"""`linkzoo linear`: labels for a linear scorer, its fit and its improvement by self-play."""
