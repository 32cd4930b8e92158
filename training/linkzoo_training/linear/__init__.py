"""A wing: makes linear scorers from labels and by self-play. Commands and tests alone import it."""
